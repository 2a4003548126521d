package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
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
func (p *Forecast) covers(r *state.Resource, rules []v1alpha1.ResourceIgnoreDifferences) {
	var found []fieldpath.Pointer
	for _, document := range []object.Object{r.Target, r.Live} {
		for _, pointer := range selected(r, document, rules) {
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
		p.Preview.CoversTotal++
		if len(p.Preview.Covers) < maxCovers {
			p.Preview.Covers = append(p.Preview.Covers, drift.PreviewPlace{Resource: r.Ref, Pointer: pointer})
		}
	}
}

// selected are the places of the document that the rules name.
func selected(r *state.Resource, document object.Object, rules []v1alpha1.ResourceIgnoreDifferences) []fieldpath.Pointer {
	var found []fieldpath.Pointer
	if document == nil {
		return found
	}
	for _, rule := range rules {
		for _, pointer := range rule.JSONPointers {
			found = append(found, fieldpath.Pointer(pointer))
		}
		for _, path := range rule.JQPathExpressions {
			e := r.Application.Expression(path)
			if e.Err != nil {
				continue // was compiled before
			}
			places, err := jq.Select(r.Application.Ctx, e.Code, jq.Numbers(document))
			if err != nil {
				continue // does not fit the object, so that it deletes nothing
			}
			found = append(found, places...)
		}
		if len(rule.ManagedFieldsManagers) > 0 {
			found = append(found, ownedBy(r, rule.ManagedFieldsManagers)...)
		}
	}
	return found
}

// ownedBy are the fields that the managers own.
func ownedBy(r *state.Resource, managers []string) []fieldpath.Pointer {
	var bits owners.OwnerSet
	for i, owner := range r.Ownership().Entries {
		if slices.Contains(managers, owner.Manager) {
			bits |= 1 << i
		}
	}
	var found []fieldpath.Pointer
	for pointer, owners := range r.Ownership().Whole {
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

// TryRules runs the rules' jq paths once on every resource that they are for.
func TryRules(parent context.Context, s *state.Application, rules []v1alpha1.ResourceIgnoreDifferences) error {
	ctx, cancel := context.WithTimeout(parent, jq.GuardedTotal)
	defer cancel()
	for i, rule := range rules {
		for j, path := range rule.JQPathExpressions {
			if why := compare.Unsafe(ctx, s, compare.JQUse{Path: path, Rule: rule}); why != "" {
				if parent.Err() != nil {
					return fmt.Errorf("try the rules: %w", context.Cause(parent))
				}
				return &drift.RuleError{Part: fmt.Sprintf("rules[%d].jqPathExpressions[%d]", i, j), Reason: s.Shortened(path) + " is not run: " + why}
			}
		}
	}
	return nil
}
