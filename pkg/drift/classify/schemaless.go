package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// doubtGuesses lowers the confidence of what was found without a schema that would
// have decided it, and says so.
func doubtGuesses(s *state.Application, findings []rule.Finding) []rule.Finding {
	for i := range findings {
		f := &findings[i].Finding
		if !slices.Contains(guesses, f.Mechanism) || !s.Schemaless(f.Resource) || proven(s, f) {
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
func proven(s *state.Application, f *drift.Finding) bool {
	switch f.Mechanism { //nolint:exhaustive // all others need the schema
	case drift.MissingCRD:
		// Argo CD itself tells a kind from a version that is not served.
		said := slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.Contains(e, "CRD is installed on the destination") })
		return said || len(s.Related.Of("apiextensions.k8s.io", "CustomResourceDefinition")) > 0
	case drift.ManualEdit:
		r := &state.Resource{Application: s, Ref: f.Resource}
		return !slices.ContainsFunc(f.Fields, func(field drift.Field) bool {
			return field.Owner == nil || owners.RoleOf(r.Ref.Kind, *field.Owner) != owners.Person
		})
	}
	return false
}

// withoutCRD says what the missing schema leaves open.
func withoutCRD(f *drift.Finding) string {
	if f.Mechanism == drift.MissingCRD {
		return fmt.Sprintf("the snapshot has no CRD of %s, so a kind that is missing and a version that is no longer served cannot be told apart; take it with --kubeconfig", f.Resource.Kind)
	}
	return state.NoCRD(f.Resource.Kind)
}
