package classify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// hostile are snapshots of some megabytes each that are large in one way.
var hostile = map[string]func() *drift.Snapshot{
	"many resources":  func() *drift.Snapshot { return large(4000) },
	"many fields":     func() *drift.Snapshot { return deployment(counted(40_000, "1"), counted(40_000, "2")) },
	"many items":      func() *drift.Snapshot { return deployment(namesList(20_000, "a"), namesList(20_001, "b")) },
	"many containers": func() *drift.Snapshot { return deployment(containers(8_000, "a"), containers(8_000, "b")) },
	"deep":            func() *drift.Snapshot { return deployment(nestedMap(3000, "1"), nestedMap(3000, "2")) },
	"many deep":       func() *drift.Snapshot { return deployment(manyDeep(300, 200, "1"), manyDeep(300, 200, "2")) },
	"long texts": func() *drift.Snapshot {
		return deployment(counted(20, strings.Repeat("x", 300_000)), counted(20, strings.Repeat("y", 300_000)))
	},
	"many managers":        func() *drift.Snapshot { return managed(3000, 60) },
	"large CRD":            func() *drift.Snapshot { return custom(12_000, 500) },
	"CRD with defaults":    func() *drift.Snapshot { return custom(500, 3000) },
	"many related":         manyRelated,
	"many events":          manyEvents,
	"many Secrets":         manySecrets,
	"many rules":           manyRules,
	"many operation words": longMessages,
	"large last-applied":   func() *drift.Snapshot { return lastApplied(30_000) },
	"many differing CRs":   func() *drift.Snapshot { return manyCustom(1500) },
}

// deployment is a two-sided custom object with two states of what it holds, compared
// here.
func deployment(live, target any) *drift.Snapshot {
	object := func(held any) map[string]any {
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "x"}, "spec": map[string]any{"held": held, "replicas": int64(1)}}
	}
	return snapshotOf(drift.Resource{
		ResourceRef: drift.ResourceRef{Group: "example.com", Version: "v1", Kind: "Widget", Namespace: "x", Name: "w"}, Target: object(target), Live: object(live),
	})
}

func namesList(n int, prefix string) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprint(prefix, i)
	}
	return list
}

func containers(n int, value string) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"name": fmt.Sprint("i", i), "image": value, "env": []any{map[string]any{"name": "A", "value": value}}}
	}
	return list
}

func nestedMap(depth int, value string) any {
	inner := any(value)
	for range depth {
		inner = map[string]any{"a": inner}
	}
	return inner
}

func manyDeep(n, depth int, value string) any {
	fields := map[string]any{}
	for i := range n {
		fields[fmt.Sprint("k", i)] = nestedMap(depth, value)
	}
	return fields
}

func managed(keys, managers int) *drift.Snapshot {
	snapshot := deployment(counted(keys, "1"), counted(keys, "2"))
	owned := map[string]any{}
	for i := range keys {
		owned[fmt.Sprint("f:k", i)] = map[string]any{}
	}
	var entries []any
	for i := range managers {
		entries = append(entries, map[string]any{
			"manager": fmt.Sprint("m", i), "operation": "Update", "time": "2026-01-01T00:00:00Z", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:spec": map[string]any{"f:held": owned}},
		})
	}
	snapshot.Resources[0].Live["metadata"].(map[string]any)["managedFields"] = entries
	return snapshot
}

func custom(properties, items int) *drift.Snapshot {
	snapshot := deployment(containers(items, "1"), containers(items, "2"))
	fields := map[string]any{}
	for i := range properties {
		fields[fmt.Sprint("p", i)] = map[string]any{"type": "string", "default": "d", "description": strings.Repeat("w", 100)}
	}
	fields["name"], fields["image"] = map[string]any{"type": "string"}, map[string]any{"type": "string"}
	snapshot.Related = []map[string]any{{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Widget", "plural": "widgets", "listKind": "WidgetList", "singular": "widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{
					"replicas": map[string]any{"type": "integer"},
					"held":     map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": fields}},
				}}},
			}}}},
		},
	}}
	snapshot.Settings = drift.Settings{drift.SettingStrategy: string(drift.StructuredMerge)}
	return snapshot
}

func manyCustom(n int) *drift.Snapshot {
	snapshot := custom(50, 3)
	one := snapshot.Resources[0]
	for i := range n {
		r := one
		r.Name = fmt.Sprint("w", i)
		snapshot.Resources = append(snapshot.Resources, r)
	}
	return snapshot
}

func manyRelated() *drift.Snapshot {
	snapshot := large(300)
	for i := range 10_000 {
		name := fmt.Sprint("o", i)
		snapshot.Related = append(snapshot.Related,
			map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": map[string]any{"name": name}, "webhooks": []any{map[string]any{
				"name": name, "rules": []any{map[string]any{"apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "resources": []any{"*"}, "operations": []any{"*"}}},
				"namespaceSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "NotIn", "values": []any{"b"}}}},
			}}},
			map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": name, "namespace": "argocd"}},
			map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "large"}, "status": map[string]any{"phase": "Pending"}},
			map[string]any{"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": map[string]any{"name": name, "namespace": "large"}, "spec": map[string]any{"scaleTargetRef": map[string]any{"name": name}}},
		)
	}
	return snapshot
}

func manyEvents() *drift.Snapshot {
	snapshot := large(2000)
	for i := range 40_000 {
		snapshot.Events = append(snapshot.Events, map[string]any{
			"reason": "FailedCreate", "message": `error: secret "s" not found ` + strings.Repeat("y", 100), "lastTimestamp": "2026-01-01T00:00:00Z",
			"involvedObject": map[string]any{"kind": "Deployment", "apiVersion": "apps/v1", "namespace": "large", "name": fmt.Sprintf("web-%05d", i%2000)},
		})
	}
	for i := range snapshot.Resources {
		if i%2 == 0 {
			snapshot.Resources[i].Live = nil
		}
	}
	return snapshot
}

func manySecrets() *drift.Snapshot {
	snapshot := large(300)
	for i := range 2000 {
		data := map[string]any{}
		for j := range 50 {
			data[fmt.Sprint("k", j)] = fmt.Sprintf("c2VjcmV0LQ%d%d=", i, j)
		}
		snapshot.Related = append(snapshot.Related, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": fmt.Sprint("s", i)}, "data": data})
	}
	return snapshot
}

func manyRules() *drift.Snapshot {
	snapshot := large(2000)
	var pointers []any
	for i := range 900 {
		pointers = append(pointers, fmt.Sprintf("/spec/template/spec/none%d", i))
	}
	snapshot.Application["spec"].(map[string]any)["ignoreDifferences"] = []any{map[string]any{"group": "*", "kind": "*", "jsonPointers": pointers}}
	return snapshot
}

func longMessages() *drift.Snapshot {
	snapshot := large(1000)
	var conditions, results []any
	for i := range 1000 {
		conditions = append(conditions, map[string]any{"type": "SyncError", "message": strings.Repeat(fmt.Sprint("denied ", i, " \""), 200)})
		results = append(results, map[string]any{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "large", "name": fmt.Sprintf("web-%05d", i), "status": "SyncFailed", "message": strings.Repeat("is invalid: spec: Forbidden: ", 100)})
	}
	snapshot.Application["status"] = map[string]any{
		"sync": map[string]any{"status": "OutOfSync", "revision": "one"}, "conditions": conditions,
		"operationState": map[string]any{"phase": "Failed", "message": strings.Repeat("one or more objects failed to apply, ", 20_000), "syncResult": map[string]any{"revision": "one", "resources": results}},
	}
	return snapshot
}

func lastApplied(keys int) *drift.Snapshot {
	snapshot := deployment(counted(keys, "1"), counted(keys, "2"))
	applied, err := json.Marshal(snapshot.Resources[0].Target)
	if err != nil {
		panic(err)
	}
	snapshot.Resources[0].Live["metadata"].(map[string]any)["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(applied)}
	return snapshot
}

// TestHostileSnapshotsEnd holds that the end of the context ends the work on snapshots
// that are large in one way.
func TestHostileSnapshotsEnd(t *testing.T) {
	for name, snapshotOf := range hostile {
		t.Run(name, func(t *testing.T) {
			snapshot := snapshotOf()
			if data, err := json.Marshal(snapshot); err == nil {
				t.Logf("%d KiB", len(data)>>10)
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), 400*time.Millisecond, errEnough)
			defer cancel()
			began := time.Now()
			_, err := classify.Classify(ctx, snapshot, classify.Options{Prove: true, Guard: true})
			took := time.Since(began)
			t.Logf("took %v: %v", took, err)
			if err != nil && !errors.Is(err, errEnough) {
				t.Errorf("have %v, want the cause of the end", err)
			}
			if took > lateness {
				t.Errorf("took %v, want %v at most", took, lateness)
			}
		})
	}
}

var errEnough = errors.New("enough")

// lateness is how long after the start the work of 400 ms may end on a busy machine.
const lateness = 10 * time.Second
