package classify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// maxCovers is how many covered fields a preview lists; all are counted.
const maxCovers = 200

// neverCompared is what only the API server writes; it is never compared.
var neverCompared = fieldpath.NewSet(
	"/metadata/managedFields", "/metadata/uid", "/metadata/resourceVersion", "/metadata/generation",
	"/metadata/creationTimestamp", "/metadata/selfLink",
)

// covers adds the leaves of either side that the rules take out of the comparison.
func (p *previewing) covers(r *resource, rules []v1alpha1.ResourceIgnoreDifferences) {
	var found []fieldpath.Pointer
	for _, document := range []object.Object{r.target, r.live} {
		for _, pointer := range r.selected(document, rules) {
			value, there := pointer.Value(document)
			if there {
				found = leaves(found, pointer, value)
			}
		}
	}
	slices.SortFunc(found, fieldpath.Compare)
	for _, pointer := range slices.Compact(found) {
		if neverCompared.Covers(pointer) {
			continue
		}
		p.preview.CoversTotal++
		if len(p.preview.Covers) < maxCovers {
			p.preview.Covers = append(p.preview.Covers, drift.PreviewPlace{Resource: r.ref, Pointer: pointer})
		}
	}
}

// selected are the places of the document that the rules name.
func (r *resource) selected(document object.Object, rules []v1alpha1.ResourceIgnoreDifferences) []fieldpath.Pointer {
	var found []fieldpath.Pointer
	if document == nil {
		return found
	}
	for _, rule := range rules {
		for _, pointer := range rule.JSONPointers {
			found = append(found, fieldpath.Pointer(pointer))
		}
		for _, path := range rule.JQPathExpressions {
			e := r.situation.expression(path)
			if e.err != nil {
				continue // was compiled before
			}
			places, err := jq.Select(r.situation.ctx, e.code, jq.Numbers(document))
			if err != nil {
				continue // does not fit the object, so that it deletes nothing
			}
			found = append(found, places...)
		}
		if len(rule.ManagedFieldsManagers) > 0 {
			found = append(found, r.ownedBy(rule.ManagedFieldsManagers)...)
		}
	}
	return found
}

// ownedBy are the fields that the managers own.
func (r *resource) ownedBy(managers []string) []fieldpath.Pointer {
	var bits owners.OwnerSet
	for i, owner := range r.ownership().Entries {
		if slices.Contains(managers, owner.Manager) {
			bits |= 1 << i
		}
	}
	var found []fieldpath.Pointer
	for pointer, owners := range r.ownership().Whole {
		if owners&bits != 0 {
			found = append(found, pointer)
		}
	}
	return found
}

// leaves adds the values below a place that hold no others.
func leaves(found []fieldpath.Pointer, pointer fieldpath.Pointer, value any) []fieldpath.Pointer {
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			found = leaves(found, pointer.Key(name), child)
		}
		if len(value) > 0 {
			return found
		}
	case []any:
		for i, child := range value {
			found = leaves(found, pointer.Index(i), child)
		}
		if len(value) > 0 {
			return found
		}
	}
	return append(found, pointer)
}

// withoutIgnored is the document without what the rules' pointers and paths name, by
// Argo CD's own code. What it cannot do leaves the document as it is.
func withoutIgnored(document object.Object, rules []v1alpha1.ResourceIgnoreDifferences) (left object.Object) {
	defer func() {
		if recover() != nil {
			left = document
		}
	}()
	normalizer, err := normalizers.NewIgnoreNormalizer(rules, nil, normalizers.IgnoreNormalizerOpts{})
	if err != nil {
		return document
	}
	data, err := json.Marshal(document)
	if err != nil {
		return document
	}
	copied := &unstructured.Unstructured{}
	if copied.UnmarshalJSON(data) != nil || normalizer.Normalize(copied) != nil {
		return document
	}
	return copied.Object
}

// tryRules runs the rules' jq paths once on every resource that they are for.
func (s *situation) tryRules(parent context.Context, rules []v1alpha1.ResourceIgnoreDifferences) error {
	ctx, cancel := context.WithTimeout(parent, jq.GuardedTotal)
	defer cancel()
	for i, rule := range rules {
		for j, path := range rule.JQPathExpressions {
			if why := s.worry(ctx, jqUse{path, rule}); why != "" {
				if parent.Err() != nil {
					return fmt.Errorf("try the rules: %w", context.Cause(parent))
				}
				return &drift.RuleError{Part: fmt.Sprintf("rules[%d].jqPathExpressions[%d]", i, j), Reason: s.shortened(path) + " is not run: " + why}
			}
		}
	}
	return nil
}
