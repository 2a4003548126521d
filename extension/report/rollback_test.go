package report_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/drift"
)

const leftBehind = `
application:
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: shop, namespace: argocd}
  spec: {destination: {server: https://kubernetes.default.svc, namespace: web}}
resources:
- live: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {password: "++++++++"}}
- live: {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: web}}
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: web, annotations: {argocd.argoproj.io/sync-options: Prune=false}}}
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: masked, namespace: web}, data: {secret.yaml: 'password: "++++++++++++"'}}
- live:
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: plain
      namespace: web
      uid: u1
      resourceVersion: "5"
      generation: 1
      creationTimestamp: "2026-01-01T00:00:00Z"
      deletionTimestamp: "2026-01-02T00:00:00Z"
      finalizers: [foregroundDeletion, example.com/mine]
      managedFields: [{manager: m}]
      labels: {app: shop}
      ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: u0}]
    data: {text: "a\n---\nb: c\n"}
- live: {apiVersion: v1, kind: Service, metadata: {name: old, namespace: web}, spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80}]}, status: {loadBalancer: {}}}
- live: {apiVersion: v1, kind: Service, metadata: {name: headless, namespace: web}, spec: {clusterIP: None, ports: [{port: 80}]}}
- live:
    apiVersion: batch/v1
    kind: Job
    metadata: {name: once, namespace: web, labels: {job-name: once, mine: "1"}}
    spec:
      selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}
      template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u, controller-uid: u, job-name: once, mine: "1"}}, spec: {restartPolicy: Never}}
`

func pruned(t *testing.T, text string) (*drift.Snapshot, *drift.Report) {
	t.Helper()
	snapshot, err := drift.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found := &drift.Report{Application: "argocd/shop"}
	for _, r := range snapshot.Resources {
		metadata := r.Live["metadata"].(object)
		group, version, named := strings.Cut(r.Live["apiVersion"].(string), "/")
		if !named {
			group, version = "", group
		}
		namespace, _ := metadata["namespace"].(string)
		found.Findings = append(found.Findings, drift.Finding{Mechanism: drift.PendingPrune, Resource: drift.ResourceRef{
			Group: group, Version: version, Kind: r.Live["kind"].(string), Namespace: namespace, Name: metadata["name"].(string),
		}})
	}
	return snapshot, found
}

// documents reads what kubectl would read.
func documents(t *testing.T, text []byte) []object {
	t.Helper()
	var found []object
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if o != nil {
			found = append(found, o)
		}
	}
}

func TestRollback(t *testing.T) {
	snapshot, found := pruned(t, leftBehind)
	before := encode(snapshot)
	text, err := report.Rollback(snapshot, found)
	if err != nil {
		t.Fatal(err)
	}
	if encode(snapshot) != before {
		t.Error("the snapshot was changed")
	}
	got := map[string]object{}
	var order []string
	for _, o := range documents(t, text) {
		name := o["kind"].(string) + " " + tree(o, "metadata")["name"].(string)
		got[name] = o
		order = append(order, name)
	}
	want := map[string]object{
		"ConfigMap plain": {"apiVersion": "v1", "kind": "ConfigMap", "data": object{"text": "a\n---\nb: c\n"}, "metadata": object{
			"name": "plain", "namespace": "web", "labels": object{"app": "shop"}, "finalizers": []any{"example.com/mine"},
			"ownerReferences": []any{object{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u0"}},
		}},
		"Service old":      {"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "old", "namespace": "web"}, "spec": object{"ports": []any{object{"port": 80.0}}}},
		"Service headless": {"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "headless", "namespace": "web"}, "spec": object{"clusterIP": "None", "ports": []any{object{"port": 80.0}}}},
		"Job once": {"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": "once", "namespace": "web", "labels": object{"mine": "1"}}, "spec": object{
			"template": object{"metadata": object{"labels": object{"mine": "1"}}, "spec": object{"restartPolicy": "Never"}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if order[0] != "ConfigMap plain" || order[len(order)-1] != "Job once" {
		t.Errorf("what others need comes first: %v", order)
	}
	for _, phrase := range []string{
		"kubectl get --output=yaml --namespace=web Secret/db > ", "Not in this file: ConfigMap web/masked", "Not in this file: PersistentVolumeClaim web/data",
		"kept on purpose, so that nothing deletes them: 1 objects", "It has ownerReferences",
	} {
		if !strings.Contains(string(text), "# ") || !strings.Contains(string(text), phrase) {
			t.Errorf("%q is missing in\n%s", phrase, text)
		}
	}
	if strings.Contains(string(text), "++++") {
		t.Errorf("a mask is in\n%s", text)
	}
}

// TestRollbackOfHostileNames holds that no name leaves its comment.
func TestRollbackOfHostileNames(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\v", "\x00"} {
		snapshot, found := pruned(t, leftBehind)
		evil := "x" + end + "---" + end + "kind: Evil"
		found.Application = evil
		for i := range found.Findings {
			found.Findings[i].Resource.Name = evil
			tree(snapshot.Resources[i].Live, "metadata")["name"] = evil
		}
		text, err := report.Rollback(snapshot, found)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range documents(t, text) {
			if o["kind"] == "Evil" {
				t.Errorf("%q ends a comment:\n%s", end, text)
			}
		}
	}
}

func TestRollbackOfNothing(t *testing.T) {
	snapshot, _ := pruned(t, leftBehind)
	text, err := report.Rollback(snapshot, &drift.Report{Application: "argocd/shop"})
	if err != nil || len(documents(t, text)) != 0 || !strings.Contains(string(text), "nothing to bring back") {
		t.Errorf("%v:\n%s", err, text)
	}
}
