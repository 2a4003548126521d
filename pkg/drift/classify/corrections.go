package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/application"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
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

// replacing makes worse what is said of resources that a sync replaces: all that
// only live has is lost, and with Force=true the object itself.
func replacing(s *state.Application, findings []rule.Finding) []rule.Finding {
	about := rule.ByResource(findings)
	for _, r := range s.Resources {
		if s.Ctx.Err() != nil {
			break
		}
		if r.Target == nil || r.Live == nil || r.Given.Hook {
			continue
		}
		replaces, deletes := r.Replaces()
		if !replaces {
			continue
		}
		for _, i := range about[drift.KeyOf(r.Ref)] {
			if f := &findings[i]; len(f.Fields) > 0 {
				replaced(r, &f.Finding, deletes)
			}
		}
	}
	return findings
}

func replaced(r *state.Resource, f *drift.Finding, deletes bool) {
	if deletes {
		f.Sync = drift.Worse(f.Sync, drift.Destructive)
		f.Evidence = append(slices.Clone(f.Evidence), "Replace=true and Force=true are set: a sync deletes the object and creates it anew")
		f.Loss = append(slices.Clone(f.Loss), r.Ref.Words()+" itself, until it is there again")
		return
	}
	if f.Flagged {
		return // the rules know whose value it is
	}
	f.Sync = drift.Worse(f.Sync, drift.OverwritesLive)
	f.Evidence = append(slices.Clone(f.Evidence), "Replace=true is set: a sync puts Git's manifest in the object's place, without what only live has")
	f.Loss = slices.Clone(f.Loss)
	for _, field := range f.Fields {
		f.Loss = append(f.Loss, string(field.Pointer)+", which only live has")
	}
}

// addDryRuns adds what dry runs say to the findings. A refusal makes an effect worse; that
// a sync changes nothing makes better only what was feared for want of knowledge.
func addDryRuns(s *state.Application, findings []rule.Finding) []rule.Finding {
	heard, of := map[drift.Key]bool{}, rule.ByResource(findings)
	for _, r := range s.Resources {
		dry := r.Given.DryRun
		if s.Ctx.Err() != nil || dry == nil || r.Given.Hook || r.Target == nil || heard[drift.KeyOf(r.Ref)] {
			continue
		}
		heard[drift.KeyOf(r.Ref)] = true
		about := of[drift.KeyOf(r.Ref)]
		for _, i := range about {
			addDryRun(r, dry, &findings[i].Finding)
		}
		if len(about) == 0 && outcome.Refused(dry) {
			// A sync applies what does not differ too.
			c := outcome.DryRunAnswer(r, dry)
			c.About = &r.Ref
			findings = append(findings, finding(s, nil, &c))
		}
	}
	return findings
}

// addDryRun adds what the dry run says to one finding about the resource.
func addDryRun(r *state.Resource, dry *drift.DryRun, f *drift.Finding) {
	switch {
	case outcome.Refused(dry):
		if f.Mechanism == drift.ExcludedResource {
			return // Argo CD never applies it
		}
		c := outcome.DryRunAnswer(r, dry)
		f.Sync = drift.Worse(f.Sync, c.Sync)
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), c.Evidence...))
		f.Loss = words.Unique(append(slices.Clone(f.Loss), c.Loss...))
		if f.Mechanism == c.Mechanism && f.Mechanism != drift.Unexplained {
			f.Confidence = drift.Certain
		}
	case dry.Result == nil:
	case r.Live == nil:
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync creates it"))
	default:
		if changed, err := changedBy(r, dry); err == nil {
			addChanges(f, changed)
		}
	}
}

// addChanges adds how many fields the dry run of a sync changes.
func addChanges(f *drift.Finding, changed []*diff.Difference) {
	if len(changed) > 0 {
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync changes "+words.Plural(len(changed), "field")+" of the object"))
		worsen(f, changed)
		return
	}
	f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync changes nothing"))
	feared := f.Mechanism == drift.Unexplained && f.Sync == drift.OverwritesLive
	if feared || f.Sync == drift.Safe {
		// The rules of other mechanisms know who loses what, also where the API
		// server happens to put the same value in again.
		f.Sync, f.Loss = drift.Noop, nil
	}
}

// worsen corrects a finding that holds for lasting what the dry run changes.
func worsen(f *drift.Finding, changed []*diff.Difference) {
	if f.Sync != drift.Noop {
		return
	}
	places := diff.PlacesOf(changed)
	for _, field := range f.Fields {
		if places.Meet(field.Pointer) {
			f.Sync = drift.OverwritesLive
			f.Evidence = append(f.Evidence, fmt.Sprintf("the dry run changes %s, which was held to stay as it is", field.Pointer))
			f.Loss = append(slices.Clone(f.Loss), fmt.Sprintf("%s as it is live", field.Pointer))
		}
	}
}

// changedBy are the fields that the dry run changes, those aside that every write
// changes or that say only who wrote.
func changedBy(r *state.Resource, dry *drift.DryRun) ([]*diff.Difference, error) {
	found, err := diff.Between(r.Application.Ctx, diff.NewAllowance(), r.Live, dry.Result)
	if err != nil {
		return nil, fmt.Errorf("dry run: %w", err)
	}
	return slices.DeleteFunc(found, diff.Bookkeeping), nil
}

// addUnaccounted adds findings about the resources that Argo CD flags, or that cannot be
// compared, and about which no rule has said a word. None of them is in sync.
func addUnaccounted(s *state.Application, findings []rule.Finding) []rule.Finding {
	about := map[drift.Key]bool{}
	explained := s.Incomparable
	for i := range findings {
		about[drift.KeyOf(findings[i].Resource)] = true
		explained = explained || slices.Contains(outdated, findings[i].Mechanism)
	}
	for _, r := range s.Resources {
		if s.Ctx.Err() != nil {
			break
		}
		if r.Given.Hook || r.Target == nil || r.Live == nil || about[drift.KeyOf(r.Ref)] {
			continue
		}
		if why := whyUnaccounted(r, explained); why != "" {
			about[drift.KeyOf(r.Ref)] = true
			summary := "Argo CD flags the resource, and nothing that can be seen here differs."
			if r.CompareError != nil {
				summary = "Moorpin cannot compare the resource: what differs is not known."
			}
			findings = append(findings, finding(s, r, &rule.Answer{Mechanism: drift.Unexplained, Confidence: drift.Possible, Sync: drift.OverwritesLive, Evidence: []string{why}, Summary: summary}))
		}
	}
	return findings
}

// whyUnaccounted says why a resource without any difference is not in sync, or "".
// explained tells that a finding about the Application says why its status is wrong.
func whyUnaccounted(r *state.Resource, explained bool) string {
	switch {
	case len(r.Differences) > 0:
		return ""
	case r.Unfit != nil:
		return "it cannot be compared: " + r.Quote(r.Unfit.Error())
	case r.Modified && r.CompareError == nil:
		return "Argo CD's comparison finds that the two sides differ, but no field of theirs does"
	case explained:
		return ""
	case r.CompareError != nil:
		return "it cannot be compared: " + r.Quote(r.CompareError.Error())
	case r.SaidOutOfSync() && !r.OfHook():
		return "Argo CD lists it as OutOfSync, but in the snapshot nothing of it differs"
	}
	return ""
}

// unseen is the answer for an Application that Argo CD calls OutOfSync, and of which
// the snapshot shows nothing that is.
func unseen(s *state.Application) rule.Answer {
	c := rule.Answer{Mechanism: drift.Unexplained, Confidence: drift.Possible, Sync: drift.OverwritesLive, Summary: "Argo CD calls the Application OutOfSync, and the snapshot does not show why."}
	c.Evidence = []string{"Argo CD's status says OutOfSync, but nothing in the snapshot differs"}
	if listed := listedOutOfSync(s); len(listed) > 0 {
		c.Evidence = append(c.Evidence, "it lists as OutOfSync: "+words.Some(listed))
	}
	return c
}

// listedOutOfSync are the resources that the status lists as OutOfSync.
func listedOutOfSync(s *state.Application) []string {
	var names []string
	for _, listed := range s.Object.Status.Resources {
		if listed.Status == v1alpha1.SyncStatusCodeOutOfSync {
			names = append(names, drift.ResourceRef{Kind: listed.Kind, Namespace: listed.Namespace, Name: listed.Name}.Words())
		}
	}
	return names
}

// addClosing adds what is left to say when nothing else was found.
func addClosing(s *state.Application, findings []rule.Finding) []rule.Finding {
	if len(findings) > 0 {
		return findings
	}
	c := application.InSync(s)
	switch {
	case s.Object.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync:
		c = unseen(s)
	case outcome.Uncompared(s):
		c = application.NotCompared(s)
	}
	return []rule.Finding{finding(s, nil, &c)}
}
