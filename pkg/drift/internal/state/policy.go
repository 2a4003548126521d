package state

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Conditions returns the messages of the Application's conditions of a type.
func (s *Application) Conditions(kind v1alpha1.ApplicationConditionType) []string {
	var messages []string
	for _, condition := range s.Object.Status.Conditions {
		if condition.Type == kind {
			messages = append(messages, condition.Message)
		}
	}
	return messages
}

// Automated reports whether the Application syncs by itself, and the policy. The
// policy is read from the document, as newer versions know more of it: "enabled:
// false" turns it off since v3.1.
func (s *Application) Automated() (policy map[string]any, enabled bool) {
	node, found := object.At(s.Snapshot.Application, "spec", "syncPolicy", "automated")
	policy, _ = node.(map[string]any)
	if !found || node == nil || policy["enabled"] == false {
		return policy, false
	}
	return policy, true
}

// Prunes reports whether a sync by the Application's own policy deletes what Git
// no longer renders.
func (s *Application) Prunes() bool {
	policy, enabled := s.Automated()
	return enabled && policy["prune"] == true
}

// PruneEffect is what a sync does to what it would prune, and a sentence about it.
func (s *Application) PruneEffect() (effect drift.Sync, sentence string) {
	if s.Prunes() {
		return drift.Destructive, "the Application prunes automatically, so the next sync deletes it"
	}
	return drift.Noop, "automatic pruning is off: a sync leaves it in place, a sync with --prune deletes it"
}

// Webhooks are the names of the mutating webhooks that are asked for the resource's kind.
func (r *Resource) Webhooks() []string {
	var found []string
	for _, configuration := range r.Application.Related.Of("admissionregistration.k8s.io", "MutatingWebhookConfiguration") {
		for _, webhook := range object.List(configuration, "webhooks") {
			for _, rule := range object.List(webhook, "rules") {
				if matches(object.List(rule, "apiGroups"), r.Ref.Group) && matchesResource(object.List(rule, "resources"), r.Ref.Kind) {
					found = append(found, object.Text(configuration, "metadata", "name")+"/"+object.Text(webhook, "name"))
				}
			}
		}
	}
	return words.Unique(found)
}

func matches(patterns []any, name string) bool {
	return slices.ContainsFunc(patterns, func(p any) bool { return p == "*" || p == name })
}

// matchesResource reports whether a plural resource name may be the kind's.
func matchesResource(patterns []any, kind string) bool {
	lower := strings.ToLower(kind)
	plurals := []string{lower + "s", lower + "es", strings.TrimSuffix(lower, "y") + "ies", lower}
	return slices.ContainsFunc(patterns, func(p any) bool {
		name, _ := p.(string)
		name, _, _ = strings.Cut(name, "/")
		return name == "*" || slices.Contains(plurals, name)
	})
}
