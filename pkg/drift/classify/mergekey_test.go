package classify_test

import (
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// TestAVolumeMayBeMountedTwice holds that items which share a name are refused only where
// names are unique.
func TestAVolumeMayBeMountedTwice(t *testing.T) {
	report := classifyText(t, `
application: {metadata: {name: shop, namespace: argocd}, spec: {project: default}, status: {sync: {status: OutOfSync, revision: two}, operationState: {phase: Succeeded, syncResult: {revision: one}}}}
resources:
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: p, namespace: web}, spec: {template: {spec: {containers: [{name: c, volumeMounts: [{name: data, mountPath: /a}, {name: data, mountPath: /b, subPath: y}]}]}}}}
  live: {apiVersion: apps/v1, kind: Deployment, metadata: {name: p, namespace: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p","namespace":"web"},"spec":{"template":{"spec":{"containers":[{"name":"c","volumeMounts":[{"name":"data","mountPath":"/a"},{"name":"data","mountPath":"/b","subPath":"x"}]}]}}}}'}}, spec: {template: {spec: {containers: [{name: c, volumeMounts: [{name: data, mountPath: /a}, {name: data, mountPath: /b, subPath: x}]}]}}}}
`)
	for _, f := range report.Findings {
		if f.Mechanism == drift.MergeKeyConflict {
			t.Errorf("have %s: %q", f.Mechanism, f.Evidence)
		}
	}
}
