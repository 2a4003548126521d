// Package classify says why an Argo CD Application is OutOfSync.
//
// [Classify] takes a snapshot and answers with a report; [PreviewRules] says what
// further ignore rules would do, and [PlanFor] how to get rid of what was left behind.
//
// The differences are Argo CD's own: its packages normalise and compare, by the
// strategy that the Application uses. What differs is then told apart by an ordered
// table of rules; the first that answers has the field, and a field that none
// answers for is unexplained, never left out.
//
// The package touches no network, disk, clock or log. Any JSON object may stand for a
// target or a live object. Values of Secrets never reach a report.
package classify

import (
	"context"
	"sync"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/source"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/trial"
	"github.com/moorpin/moorpin/pkg/drift/plan"
)

// Options say how much to do.
type Options struct {
	// Prove tries the fixes that can be tried, which costs a comparison each.
	Prove bool
	// Guard is for snapshots from somebody else: ignore rules that could take the
	// process's time or memory are not run, and the report says so.
	Guard bool
	// Secrets are values of Secrets that were masked in the snapshot before, so that they
	// are hidden where somebody's message quotes them.
	Secrets []drift.SecretValue
}

// Classify explains the snapshot. It does not change it. The end of the context ends
// the work, with its cause. A *PanicError is a mistake of this package; any other error
// says which part of the snapshot cannot be read. Whatever the objects look like, there
// is a report.
func Classify(ctx context.Context, snapshot *drift.Snapshot, options Options) (report *drift.Report, err error) {
	defer state.Catch(&err)
	s, err := arranged(ctx, snapshot, options)
	if err != nil {
		return nil, err
	}
	findings := findAll(s)
	fix.Write(s, findings)
	explained := reportOf(s, findings)
	plan.WarnUsed(s, explained)
	redact(s, explained)
	if options.Prove {
		trial.Prove(s, explained)
	}
	if err := s.Ended(); err != nil {
		return nil, err
	}
	return explained, nil
}

// arranged is the snapshot made ready and compared.
func arranged(ctx context.Context, snapshot *drift.Snapshot, options Options) (*state.Application, error) {
	s, err := state.New(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	s.Masked = options.Secrets
	if options.Guard {
		compare.Guard(ctx, s)
	}
	compare.All(s)
	return s, nil
}

// findAll asks all rules, and corrects what they find.
func findAll(s *state.Application) []rule.Finding {
	findings := ask(s, applicationRules)
	for _, found := range explainAll(s) {
		findings = append(findings, found...)
	}
	for _, correction := range corrections {
		findings = correction.apply(s, findings)
	}
	return findings
}

// ask returns what rules find about the Application, as far as the time goes.
func ask(s *state.Application, rules []rule.Application) []rule.Finding {
	var findings []rule.Finding
	for _, asked := range rules {
		if s.Ctx.Err() != nil {
			break
		}
		for _, c := range asked.Match(s) {
			if c.Mechanism == "" {
				c.Mechanism = asked.Mechanism
			}
			s.Incomparable = s.Incomparable || c.Incomparable
			findings = append(findings, finding(s, nil, &c))
		}
	}
	return findings
}

// explainAll explains every resource, on all processors, in the order of the snapshot.
func explainAll(s *state.Application) [][]rule.Finding {
	found := make([][]rule.Finding, len(s.Resources))
	var running sync.WaitGroup
	for _, portion := range state.Portions(len(s.Resources), 1) {
		running.Go(func() {
			defer s.Recover()
			for i := portion[0]; i < portion[1] && s.Ctx.Err() == nil; i++ {
				found[i] = explainResource(s.Resources[i])
			}
		})
	}
	running.Wait()
	return found
}

// explainResource returns the findings about one resource.
func explainResource(r *state.Resource) []rule.Finding {
	if r.Given.Hook {
		return oneSided(r)
	}
	if r.Target == nil || r.Live == nil {
		return oneSided(r)
	}
	if r.Application.Incomparable || r.Unfit != nil {
		return nil
	}
	r.Prepare()
	var answers []rule.Answer
	for i := range fieldRules {
		open := open(r)
		if len(open) == 0 || r.Application.Ctx.Err() != nil {
			break
		}
		for _, c := range askField(&fieldRules[i], r, open) {
			answers = append(answers, take(c)...)
		}
	}
	if left := open(r); len(left) > 0 {
		answers = append(answers, take(source.Unexplained(r, left))...)
	}
	for _, merge := range merges {
		answers = merge.apply(r, answers)
	}
	for _, rule := range hiddenRules {
		if r.Application.Ctx.Err() != nil {
			break
		}
		answers = append(answers, rule(r)...)
	}
	return findings(r, answers)
}

// askField asks a rule about the open differences.
func askField(f *rule.Field, r *state.Resource, open []*diff.Difference) []rule.Answer {
	if f.MatchAll != nil {
		return f.MatchAll(r, open)
	}
	var answers []rule.Answer
	for _, d := range open {
		if r.Application.Ctx.Err() != nil {
			break
		}
		if f.Alike && outcome.Wanted(r, d) {
			continue
		}
		if c, ok := f.Match(r, d); ok {
			c.Mechanism, c.Differences = f.Mechanism, []*diff.Difference{d}
			answers = append(answers, c)
		}
	}
	return answers
}

// oneSided returns the finding about a resource that is only in Git, only in the
// cluster, or a hook.
func oneSided(r *state.Resource) []rule.Finding {
	for _, asked := range oneSidedRules {
		if c, ok := asked.Match(r); ok {
			if c.Mechanism == "" {
				c.Mechanism = asked.Mechanism
			}
			return []rule.Finding{finding(r.Application, r, &c)}
		}
	}
	return nil
}

// open are the differences that no rule has answered for.
func open(r *state.Resource) []*diff.Difference {
	var open []*diff.Difference
	for _, d := range r.Differences {
		if !d.Claimed {
			open = append(open, d)
		}
	}
	return open
}

// take marks the answer's differences as answered for; a difference that another
// rule had answered for is taken out. A answer that is left without any is none.
func take(c rule.Answer) []rule.Answer {
	var mine []*diff.Difference
	for _, d := range c.Differences {
		if !d.Claimed {
			d.Claimed = true
			mine = append(mine, d)
		}
	}
	if len(mine) == 0 && len(c.Hidden) == 0 {
		return nil
	}
	c.Differences = mine
	return []rule.Answer{c}
}

// findings merges the answers of one mechanism into one finding each.
func findings(r *state.Resource, answers []rule.Answer) []rule.Finding {
	type id struct {
		mechanism drift.Mechanism
		hidden    bool
	}
	var order []id
	merged := map[id]*rule.Answer{}
	for _, c := range answers {
		name := id{c.Mechanism, len(c.Differences) == 0}
		into, found := merged[name]
		if !found {
			order = append(order, name)
			merged[name] = &c
			continue
		}
		into.Differences = append(into.Differences, c.Differences...)
		into.Hidden = append(into.Hidden, c.Hidden...)
		into.Evidence = append(into.Evidence, c.Evidence...)
		into.Loss = append(into.Loss, c.Loss...)
		into.Sync = drift.Worse(into.Sync, c.Sync)
		into.Confidence = drift.Lower(into.Confidence, c.Confidence)
	}
	findings := make([]rule.Finding, 0, len(order))
	for _, name := range order {
		findings = append(findings, finding(r.Application, r, merged[name]))
	}
	return findings
}
