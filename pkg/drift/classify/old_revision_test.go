package classify

import (
	"testing"
)

// A failure of another revision counts only as far as Git may still hold what was refused,
// and never silences that the operation retries that revision.
func TestOldRevision(t *testing.T) {
	retries := func(message, target string) string {
		return `
application:
  spec: {syncPolicy: {automated: {}}}
  status:
    sync: {status: OutOfSync}
    history: [{id: 1, revision: cccccccccccccccccccccccccccccccccccccccc, deployedAt: "2026-01-01T00:00:00Z"}]
    operationState: {phase: Running, retryCount: 2, startedAt: "2026-01-02T09:00:00Z", message: "one or more objects failed to apply. Retrying attempt #2", operation: {sync: {revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}}, syncResult: {revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, resources: [{group: apps, kind: Deployment, name: api, namespace: web, version: v1, status: SyncFailed, message: '` + message + `'}]}}
resources:
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: ` + target + `}`
	}
	const replicas = `Deployment.apps "api" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`
	const image = `Deployment.apps "api" is invalid: spec.template.spec.containers[0].image: Required value`
	const retried, ahead = "autosync-gave-up Application/web wait certain", "git-ahead Deployment/api safe certain"
	situations{
		"another value":       {"Git has 3 there by now", retries(replicas, "{replicas: 3}"), []string{retried, ahead}},
		"the same value":      {"Git still has it", retries(replicas, "{replicas: -1}"), []string{retried, "invalid-manifest Deployment/api will-fail possible"}},
		"given by now":        {"Git names an image", retries(image, `{template: {spec: {containers: [{name: a, image: a}]}}}`), []string{retried, ahead}},
		"still not given":     {"Git names none", retries(image, `{template: {spec: {containers: [{name: a}]}}}`), []string{retried, "invalid-manifest Deployment/api will-fail possible"}},
		"a field that went":   {"Git no longer has the field", retries(`strict decoding error: unknown field "spec.replica"`, "{replicas: 3}"), []string{retried, ahead}},
		"another type":        {"Git has a number by now", retries(`json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`, "{replicas: 3}"), []string{retried, ahead}},
		"nothing that quotes": {"the policy may refuse it again", retries(`admission webhook "policy.example.com" denied the request: no`, "{replicas: 3}"), []string{"admission-denied Deployment/api will-fail possible", retried}},
	}.run(t)
}
