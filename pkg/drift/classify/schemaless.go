package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// schemaless reports whether nothing in the snapshot says which fields a custom kind
// has: without its CRD, what the API server adds or drops by itself looks like the
// work of a webhook or of a person.
func (s *situation) schemaless(ref drift.ResourceRef) bool {
	if !strings.Contains(ref.Group, ".") || scheme.Scheme.IsGroupRegistered(ref.Group) || servedByAPIServer(ref.Group) {
		return false
	}
	_, found := s.crd(ref.Group, ref.Kind)
	return !found
}

// servedByAPIServer reports whether a group is Kubernetes' own, though Argo CD does
// not know its types.
func servedByAPIServer(group string) bool {
	return group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// guesses are the mechanisms that only a schema tells from one another.
var guesses = []drift.Mechanism{drift.WebhookInjection, drift.ManualEdit, drift.UnknownFieldPruned, drift.ExplicitDefaultDropped, drift.MissingCRD}

// doubtGuesses lowers the confidence of what was found without a schema that would
// have decided it, and says so.
func (s *situation) doubtGuesses(findings []drift.Finding) []drift.Finding {
	for i := range findings {
		f := &findings[i]
		if !slices.Contains(guesses, f.Mechanism) || !s.schemaless(f.Resource) || s.proven(f) {
			continue
		}
		f.Confidence = drift.Possible
		f.Evidence = append(f.Evidence, withoutCRD(f))
		if f.Mechanism == drift.ManualEdit {
			f.Summary = "A person changed live what Git declares, or the API server dropped a field that the kind does not have."
		}
	}
	return findings
}

// proven reports whether something else than a schema shows what was found: a
// person among the owners of every field, or that the snapshot looked for CRDs.
func (s *situation) proven(f *drift.Finding) bool {
	switch f.Mechanism { //nolint:exhaustive // all others need the schema
	case drift.MissingCRD:
		// Argo CD itself tells a kind from a version that is not served.
		said := slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.Contains(e, "CRD is installed on the destination") })
		return said || len(s.related.of("apiextensions.k8s.io", "CustomResourceDefinition")) > 0
	case drift.ManualEdit:
		r := &resource{situation: s, ref: f.Resource}
		return !slices.ContainsFunc(f.Fields, func(field drift.Field) bool {
			return field.Owner == nil || owners.RoleOf(r.ref.Kind, *field.Owner) != owners.Person
		})
	}
	return false
}

// withoutCRD says what the missing schema leaves open.
func withoutCRD(f *drift.Finding) string {
	if f.Mechanism == drift.MissingCRD {
		return fmt.Sprintf("the snapshot has no CRD of %s, so a kind that is missing and a version that is no longer served cannot be told apart; take it with --kubeconfig", f.Resource.Kind)
	}
	return noCRD(f.Resource.Kind)
}

func noCRD(kind string) string {
	return fmt.Sprintf("the snapshot has no CRD of %s, so defaults and unknown fields cannot be told apart; take it with --kubeconfig", kind)
}

// guessedDefaults: a field of a list item that only live has, of a kind whose schema
// is not known. Evidence: Argo CD's own write is its only owner, as it is of the
// defaults that come with a write, or nobody is, as under server-side apply; fields
// that a webhook adds are owned by nobody. Counter-evidence: another owner, and a
// webhook that is asked for the kind.
func (r *resource) guessedDefaults(open []*diff.Difference) []claim {
	if !r.situation.schemaless(r.ref) || len(r.webhooks()) > 0 || !r.hasOwners() {
		return nil
	}
	var claims []claim
	for _, d := range open {
		w := r.writersOf(d)
		belowItem := len(d.Steps) > 1 && slices.ContainsFunc(d.Steps[:len(d.Steps)-1], value.IsIndex)
		if !belowItem || !d.InLive || d.InTarget || d.InGit || d.InApplied || w.role != owners.Nobody || !w.argo && r.strategy == drift.Legacy {
			continue
		}
		claims = append(claims, claim{mechanism: drift.CRDListDefault, differences: []*diff.Difference{d}, confidence: drift.Possible, sync: drift.Noop, evidence: []string{
			fmt.Sprintf("%s is in no manifest, and nobody but Argo CD's own write owns it, as it is with defaults of a CRD", d.Pointer),
			"no mutating webhook in the snapshot is asked for the kind",
			noCRD(r.ref.Kind),
		}})
	}
	return claims
}
