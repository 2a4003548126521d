package pin

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/manifest"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// builtInGroups are the groups that Kubernetes itself defines in code: their kinds
// have no CRD, and nothing is amiss when none is found.
var builtInGroups = map[string]bool{
	"": true, "apps": true, "autoscaling": true, "batch": true, "extensions": true, "policy": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"authentication.k8s.io": true, "authorization.k8s.io": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true,
	"flowcontrol.apiserver.k8s.io": true, "internal.apiserver.k8s.io": true, "networking.k8s.io": true,
	"node.k8s.io": true, "rbac.authorization.k8s.io": true, "resource.k8s.io": true,
	"scheduling.k8s.io": true, "storage.k8s.io": true, "storagemigration.k8s.io": true,
}

// renderedSource names the CRDs that come from the same render.
const renderedSource = "rendered"

// renderedCRDs are the CRDs among the objects: in force after the sync.
type renderedCRDs struct {
	set *crd.Set
	// faults are the warnings about CRDs that do not decode, by their place among the objects.
	faults map[int][]Warning
}

func (r renderedCRDs) defines(kind schema.GroupKind) bool {
	_, found := r.set.Definition(kind)
	return found
}

// findCRDs reads the CRDs among the objects, those alone whose kind is used there too:
// reading one takes as long as decoding hundreds of objects.
func findCRDs(ctx context.Context, objects []manifest.Object) (renderedCRDs, error) {
	used := map[schema.GroupKind]bool{}
	for _, object := range objects {
		used[object.Kind().GroupKind()] = true
	}
	found := renderedCRDs{faults: map[int][]Warning{}}
	var definitions []*crd.Definition
	for i, object := range objects {
		if !crd.IsCRD(object.Content) || !used[definedKind(object.Content)] {
			continue
		}
		definition, err := crd.Parse(ctx, object.Content, renderedSource)
		if ctx.Err() != nil {
			return renderedCRDs{}, fmt.Errorf("read the CRDs among the objects: %w", context.Cause(ctx))
		}
		if err != nil {
			found.faults[i] = append(found.faults[i], Warning{
				Kind: object.Kind(), Obstacle: InvalidCRD,
				Text: fmt.Sprintf("%s: %v; it is not used for pinning", object, err),
			})
			continue
		}
		definitions = append(definitions, definition)
	}
	found.set = crd.NewSet(definitions...)
	return found, nil
}

// definedKind returns the group and kind that a CRD defines.
func definedKind(object map[string]any) schema.GroupKind {
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	return schema.GroupKind{Group: group, Kind: kind}
}

// served is what the destination lists: "group/version" and "group/version/Kind".
type served struct {
	versions map[string]bool
	kinds    map[string]bool
	// detailed are the versions for which kinds are listed.
	detailed map[string]bool
}

func newServed(list []string) served {
	result := served{versions: map[string]bool{}, kinds: map[string]bool{}, detailed: map[string]bool{}}
	for _, entry := range list {
		entry = strings.TrimSpace(entry)
		parts := strings.Split(entry, "/")
		switch {
		case len(parts) == 3:
			version := parts[0] + "/" + parts[1]
			result.versions[version], result.detailed[version], result.kinds[entry] = true, true, true
		case entry != "":
			result.versions[entry] = true
		}
	}
	return result
}

// has reports whether the destination serves the kind; true where that is unknown.
func (s served) has(kind schema.GroupVersionKind) bool {
	if len(s.versions) == 0 {
		return true
	}
	version := kind.GroupVersion().String()
	return s.versions[version] && (!s.detailed[version] || s.kinds[version+"/"+kind.Kind])
}
