package install

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/lua/overrides"
)

const (
	partOfLabel        = "app.kubernetes.io/part-of"
	trackingAnnotation = "argocd.argoproj.io/tracking-id"
)

// state is the live ConfigMap as planning needs it.
type state struct {
	namespace, name, version string

	data     map[string]string
	binary   int // bytes of binaryData, in base64 a third too many
	checks   overrides.Set
	owners   owners
	warnings []string
}

// owners tells who manages which keys of data.
type owners map[string][]string // managers by key, sorted

// read takes a ConfigMap apart. It refuses what Argo CD cannot load as it stands.
func read(live map[string]any) (state, error) {
	object := unstructured.Unstructured{Object: live}
	if object.GetKind() != "ConfigMap" || object.GetName() == "" {
		return state{}, fmt.Errorf("%s %q is no ConfigMap", object.GetKind(), object.GetName())
	}
	found := state{namespace: object.GetNamespace(), name: object.GetName(), version: object.GetResourceVersion()}
	data, _, err := unstructured.NestedStringMap(live, "data")
	if err != nil {
		return state{}, fmt.Errorf("read data of %s: %w", found.name, err)
	}
	found.data = data
	if found.data == nil {
		found.data = map[string]string{}
	}
	binary, _, err := unstructured.NestedStringMap(live, "binaryData")
	if err != nil {
		return state{}, fmt.Errorf("read binaryData of %s: %w", found.name, err)
	}
	found.binary = size(binary)
	if found.checks, err = overrides.Parse(found.data); err != nil {
		return state{}, fmt.Errorf("read %s: %w", found.name, err)
	}
	if found.owners, err = ownersOf(object.GetManagedFields()); err != nil {
		return state{}, fmt.Errorf("read managedFields of %s: %w", found.name, err)
	}
	if object.GetLabels()[partOfLabel] != "argocd" {
		found.warnings = append(found.warnings, fmt.Sprintf("%s has no label %s: argocd, without which Argo CD does not read it", found.name, partOfLabel))
	}
	if id, tracked := object.GetAnnotations()[trackingAnnotation]; tracked {
		application, _, _ := strings.Cut(id, ":")
		found.warnings = append(found.warnings, fmt.Sprintf("%s belongs to the Application %s; with Replace=true its next sync takes the checks away, so commit argocd-cm.patch.yaml to its source instead", found.name, application))
	}
	return found, nil
}

// ownersOf reads who manages the keys of data.
func ownersOf(entries []metav1.ManagedFieldsEntry) (owners, error) {
	found := owners{}
	for _, entry := range entries {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		var fields map[string]json.RawMessage
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(entry.FieldsV1.Raw, &fields); err != nil {
			return nil, fmt.Errorf("manager %s: %w", entry.Manager, err)
		}
		if raw, some := fields["f:data"]; some {
			if err := json.Unmarshal(raw, &keys); err != nil {
				return nil, fmt.Errorf("manager %s: %w", entry.Manager, err)
			}
		}
		manager := entry.Manager
		if manager == Manager && entry.Operation != metav1.ManagedFieldsOperationApply {
			manager += " (" + string(entry.Operation) + ")" // somebody writes under our name, by other means
		}
		for key := range keys {
			if name, is := strings.CutPrefix(key, "f:"); is {
				found[name] = append(found[name], manager)
			}
		}
	}
	for _, managers := range found {
		slices.Sort(managers)
	}
	return found, nil
}

func (o owners) has(key, manager string) bool { return slices.Contains(o[key], manager) }

// others returns the managers of a key besides ours.
func (o owners) others(key string) []string {
	return slices.DeleteFunc(slices.Clone(o[key]), func(manager string) bool { return manager == Manager })
}

// keys returns the keys of a manager, sorted.
func (o owners) keys(manager string) []string {
	found := []string{}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if o.has(key, manager) {
			found = append(found, key)
		}
	}
	return found
}

// applied is the object to apply: our keys and nothing else, for the state that was
// read and no later one.
func (s state) applied(wanted map[string]string) map[string]any {
	metadata := map[string]any{"name": s.name, "namespace": s.namespace}
	if s.version != "" {
		metadata["resourceVersion"] = s.version
	}
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
	data := map[string]any{}
	for key, script := range wanted {
		data[key] = script
	}
	if len(data) > 0 {
		object["data"] = data
	}
	return object
}

// size counts bytes as the API server's limit does.
func size(data map[string]string) int {
	bytes := 0
	for _, value := range data {
		bytes += len(value)
	}
	return bytes
}
