package gaps

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster is what Census asks.
type Cluster interface {
	// Count returns how many objects of a kind there are, and false where the kind is
	// not served.
	Count(ctx context.Context, group, kind string) (int64, bool, error)
	// All returns every object of a kind in a namespace, or in all when it is "".
	All(ctx context.Context, group, kind, namespace string) iter.Seq2[map[string]any, error]
}

const applicationGroup = "argoproj.io"

// Census adds to the rows of gaps how many objects each hides, and which Applications
// sync such objects in waves. It needs the verb list on them. A kind whose objects
// cannot be counted keeps no number; the sentences returned say why.
func Census(ctx context.Context, cluster Cluster, rows []Row) ([]string, error) {
	var warnings []string
	for i := range rows {
		if rows[i].State != Gap {
			continue
		}
		count, served, err := cluster.Count(ctx, rows[i].Group, rows[i].Kind)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("count objects: %w", ctx.Err())
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("the objects of %s.%s are not counted: %v", rows[i].Kind, rows[i].Group, err))
		case served:
			rows[i].Objects = &count
		}
	}
	users := map[schema.GroupKind][]string{}
	_, served, err := cluster.Count(ctx, applicationGroup, "Application")
	if err == nil && !served {
		return append(warnings, "the cluster has no Applications of Argo CD, so sync waves are not looked at"), nil
	}
	for application, err := range cluster.All(ctx, applicationGroup, "Application", "") {
		if err != nil {
			return append(warnings, fmt.Sprintf("sync waves are not looked at: %v", err)), nil
		}
		for _, kind := range awaited(application) {
			object := unstructured.Unstructured{Object: application}
			users[kind] = append(users[kind], object.GetNamespace()+"/"+object.GetName())
		}
	}
	for i := range rows {
		rows[i].Waves = users[schema.GroupKind{Group: rows[i].Group, Kind: rows[i].Kind}]
		slices.Sort(rows[i].Waves)
	}
	return warnings, nil
}

// awaited returns the kinds that something in the Application comes after: an object
// of a later wave, or a hook.
func awaited(application map[string]any) []schema.GroupKind {
	resources, _, err := unstructured.NestedSlice(application, "status", "resources")
	if err != nil {
		return nil // no status that Argo CD wrote
	}
	last, hooks := int64(0), false
	waves := map[schema.GroupKind]int64{}
	for i, item := range resources {
		resource, _ := item.(map[string]any)
		group, _ := resource["group"].(string)
		name, _ := resource["kind"].(string)
		hook, _ := resource["hook"].(bool)
		wave, _, _ := unstructured.NestedInt64(resource, "syncWave")
		hooks = hooks || hook
		if i == 0 {
			last = wave
		}
		last = max(last, wave)
		kind := schema.GroupKind{Group: group, Kind: name}
		first, seen := waves[kind]
		if !seen || wave < first {
			waves[kind] = wave
		}
	}
	var found []schema.GroupKind
	for kind, wave := range waves {
		if wave < last || hooks {
			found = append(found, kind)
		}
	}
	return found
}
