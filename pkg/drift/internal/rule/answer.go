// Package rule says what a rule is, what it is asked about and what it answers.
//
// A rule looks at an [Application], at a resource that only one side has ([OneSided]), or
// at the open differences of a resource ([Field]). It answers for those that it can
// explain and changes nothing.
package rule

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// Application answers for the Application as a whole.
type Application struct {
	// Mechanism is that of the answers; "" where they say it themselves.
	Mechanism drift.Mechanism
	Match     func(s *state.Application) []Answer
	// Why says why the rule stands where it stands.
	Why string
}

// OneSided answers for a resource that only Git or only the cluster has.
type OneSided struct {
	// Mechanism is that of the answer, where it does not say another itself.
	Mechanism drift.Mechanism
	Match     func(r *state.Resource) (Answer, bool)
	// Why says why the rule stands where it stands.
	Why string
}

// Field answers for some of a resource's open differences.
type Field struct {
	// Mechanism is that of the answers; "" where there are several, and they say it
	// themselves.
	Mechanism drift.Mechanism
	// Match looks at one difference at a time, MatchAll at all that are open. A rule has
	// one of the two.
	Match    func(r *state.Resource, d *diff.Difference) (Answer, bool)
	MatchAll func(r *state.Resource, open []*diff.Difference) []Answer
	// SkipEdited keeps from the rule, which judges by the values alone, what a person wrote
	// and what Git has changed since live was applied: however alike the two values are,
	// somebody wants another one, and a later rule says who.
	SkipEdited bool
	// Why says why the rule stands where it stands.
	Why string
}

// Grade turns two independent signs into a confidence.
func Grade(a, b bool) drift.Confidence {
	switch {
	case a && b:
		return drift.Certain
	case a || b:
		return drift.Likely
	}
	return drift.Possible
}

// GitOnly asks a rule only about what Git renders and the cluster lacks.
func GitOnly(match func(*state.Resource) (Answer, bool)) func(*state.Resource) (Answer, bool) {
	return func(r *state.Resource) (Answer, bool) {
		if r.OfHook() || r.Application.Incomparable || r.Target == nil || r.Live != nil {
			return Answer{}, false
		}
		return match(r)
	}
}

// LiveOnly asks a rule only about what is live, or listed by Argo CD as live, and
// that Git does not render.
func LiveOnly(match func(*state.Resource) (Answer, bool)) func(*state.Resource) (Answer, bool) {
	return func(r *state.Resource) (Answer, bool) {
		listed := r.Live != nil || r.Status != nil && r.Status.RequiresPruning
		if r.OfHook() || r.Application.Incomparable || r.Target != nil || !listed || state.OtherGroup(r) {
			return Answer{}, false
		}
		return match(r)
	}
}

// NameLoss names the object that a destructive sync deletes.
func NameLoss(r *state.Resource, c *Answer) {
	if c.Sync != drift.Destructive {
		return
	}
	loss := r.Ref.Words() + " would be deleted"
	if made := object.Text(r.Live, "metadata", "creationTimestamp"); made != "" {
		loss += "; it exists since " + made
	}
	if writer, known := owners.LastWriter(r.Live); known {
		loss += ", last written by " + owners.By(writer)
	}
	c.Loss = append(c.Loss, loss)
}

// Lost says which live value a sync overwrites, and who wrote it.
func Lost(r *state.Resource, d *diff.Difference) string {
	said := fmt.Sprintf("%s: %s", d.Pointer, r.Show(d.Pointer, d.Live, d.InLive))
	w := r.WritersOf(d)
	switch {
	case w.Role != owners.Nobody:
		said += ", written by " + owners.By(w.Last)
	case w.Argo:
		if owner, found := owners.Newest(w.All); found {
			said += ", owned by " + owners.By(owner)
		}
	}
	return said
}

// InUse says which rendered value a sync replaces, though nobody changed it live.
func InUse(r *state.Resource, d *diff.Difference) string {
	return fmt.Sprintf("%s: %s, which is in use", d.Pointer, r.Show(d.Pointer, d.Live, d.InLive))
}

// AnswerFor is an answer about one difference whose live value somebody wrote: what is
// lost by a sync is named.
//
//nolint:revive // what it is about, how sure it is and what a sync does read as one sentence
func AnswerFor(r *state.Resource, d *diff.Difference, confidence drift.Confidence, sync drift.Sync, evidence ...string) Answer {
	c := Answer{Confidence: confidence, Sync: sync, Evidence: evidence}
	if sync == drift.OverwritesLive || sync == drift.Destructive || sync == drift.FightsController {
		if d.InLive {
			c.Loss = []string{Lost(r, d)}
		} else {
			c.Evidence = append(c.Evidence, state.PutBack(d))
		}
	}
	return c
}

// Answer is a rule's answer.
type Answer struct {
	Mechanism   drift.Mechanism
	Differences []*diff.Difference
	// Hidden are fields that Argo CD does not flag.
	Hidden     []drift.Field
	Confidence drift.Confidence
	Evidence   []string
	Sync       drift.Sync
	// Incomparable tells that for this Argo CD could not compare the Application at all.
	Incomparable bool
	// Summary is one sentence; when empty, the mechanism's own stands.
	Summary string
	// Loss names live values that a sync would overwrite, with who wrote them.
	Loss []string
	// About names another object than the rule was asked about.
	About *drift.ResourceRef
}

// Finding is a finding on its way into a report, with what it comes of: its fixes are
// written of that, once nothing makes its effect another.
type Finding struct {
	drift.Finding

	// Of is the resource that the rule was asked about; nil for an answer about the
	// Application.
	Of *state.Resource
	By *Answer
}

// ByResource are the places of the findings about each resource.
func ByResource(findings []Finding) map[drift.Key][]int {
	about := make(map[drift.Key][]int, len(findings))
	for i := range findings {
		of := drift.KeyOf(findings[i].Resource)
		about[of] = append(about[of], i)
	}
	return about
}
