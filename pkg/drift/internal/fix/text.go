package fix

import (
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// Argocd spells a command about the Application.
func Argocd(s *state.Application, words ...string) string {
	name := s.Object.Name
	if s.Object.Namespace != "" {
		name = s.Object.Namespace + "/" + name
	}
	return snippet.Command(append(append([]string{"argocd", "app"}, words...), snippet.Operand(name)...)...)
}

// hasOwnerKind returns the name of the owner of that kind, and whether there is one.
func hasOwnerKind(o object.Object, kind string) (string, bool) {
	for _, owner := range object.List(o, "metadata", "ownerReferences") {
		if object.Text(owner, "kind") == kind {
			return object.Text(owner, "name"), true
		}
	}
	return "", false
}

// home says where the Application's own manifest is edited: a generated one is not
// the place.
func home(s *state.Application) string {
	name := s.Ref().Words()
	if set, found := hasOwnerKind(s.Snapshot.Application, "ApplicationSet"); found {
		return name + " is generated: edit spec.template of ApplicationSet " + set
	}
	if id, found := state.ParseTrackingID(object.Annotation(s.Snapshot.Application, mark.TrackingID)); found {
		return name + " comes from Application " + id.App + ": edit it in that one's Git"
	}
	return name
}

// application spells an edit of the Application: annotations, ignoreDifferences and
// sync options, each to be added to those that are there.
func application(s *state.Application, annotations map[string]any, rules []v1alpha1.ResourceIgnoreDifferences, options ...string) string {
	var out strings.Builder
	out.WriteString(snippet.Commented("", home(s)))
	if len(annotations) > 0 {
		out.WriteString("metadata:\n" + snippet.Keyed("  annotations:", annotations, "  "))
	}
	if len(rules) == 0 && len(options) == 0 {
		return out.String()
	}
	out.WriteString("spec:\n")
	if len(rules) > 0 {
		out.WriteString(snippet.Beside(len(s.Object.Spec.IgnoreDifferences)) + "  ignoreDifferences:\n")
		for _, rule := range rules {
			out.WriteString(snippet.Dashed(ruleText(rule), "    "))
		}
	}
	if len(options) > 0 {
		out.WriteString("  syncPolicy:\n    syncOptions:\n")
		there := map[string]bool{}
		if policy := s.Object.Spec.SyncPolicy; policy != nil {
			for _, option := range policy.SyncOptions {
				there[option] = true
				out.WriteString("      - " + snippet.YamlScalar(option) + "\n")
			}
		}
		for _, option := range options {
			if !there[option] {
				out.WriteString("      - " + snippet.YamlScalar(option) + "\n")
			}
		}
	}
	return out.String()
}
