package classify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Options say how much to do.
type Options struct {
	// Prove tries the fixes that can be tried, which costs a comparison each.
	Prove bool
	// Guard is for snapshots from somebody else: ignore rules that could take the
	// process's time or memory are not run, and the report says so.
	Guard bool
}

// Classify explains the snapshot. It does not change it. The end of the context ends
// the work, with its cause. A *PanicError is a mistake of this package; any other error
// says which part of the snapshot cannot be read. Whatever the objects look like, there
// is a report.
func Classify(ctx context.Context, snapshot *drift.Snapshot, options Options) (report *drift.Report, err error) {
	defer catch(&err)
	s, err := arranged(ctx, snapshot, options)
	if err != nil {
		return nil, err
	}
	explained := s.explain()
	if options.Prove {
		s.prove(explained)
	}
	if err := s.ended(); err != nil {
		return nil, err
	}
	return explained, nil
}

// arranged is the snapshot made ready and compared.
func arranged(ctx context.Context, snapshot *drift.Snapshot, options Options) (*situation, error) {
	s, err := newSituation(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	if options.Guard {
		s.guard(ctx)
	}
	s.compare()
	return s, nil
}

// ended returns why the work was not done to its end, if it was not.
func (s *situation) ended() error {
	if s.ctx.Err() != nil {
		return fmt.Errorf("classify: %w", context.Cause(s.ctx))
	}
	if broken := s.broken.Load(); broken != nil {
		return broken //nolint:wrapcheck // it is this package's own
	}
	return nil
}

// explain asks all rules.
func (s *situation) explain() *drift.Report {
	findings := s.ask(applicationRules)
	for _, found := range s.explainAll() {
		findings = append(findings, found...)
	}
	findings = s.heed(s.heedReplacing(s.doubtGuesses(subsume(findings))))
	findings = append(findings, s.unaccounted(findings)...)
	findings = append(findings, s.closing(findings)...)
	s.heedEffects(findings)
	report := s.report(findings)
	s.warnUsed(report)
	s.redact(report)
	return report
}

// ask returns what rules find about the Application, as far as the time goes.
func (s *situation) ask(rules []applicationRule) []drift.Finding {
	var findings []drift.Finding
	for _, rule := range rules {
		if s.ctx.Err() != nil {
			break
		}
		for _, c := range rule.match(s) {
			if c.mechanism == "" {
				c.mechanism = rule.mechanism
			}
			s.incomparable = s.incomparable || c.incomparable
			findings = append(findings, s.finding(nil, &c))
		}
	}
	return findings
}

// explainAll explains every resource, on all processors, in the order of the snapshot.
func (s *situation) explainAll() [][]drift.Finding {
	found := make([][]drift.Finding, len(s.resources))
	var running sync.WaitGroup
	for _, portion := range portions(len(s.resources)) {
		running.Go(func() {
			defer s.survive()
			for i := portion[0]; i < portion[1] && s.ctx.Err() == nil; i++ {
				found[i] = s.resources[i].explain()
			}
		})
	}
	running.Wait()
	return found
}

// explain returns the findings about one resource.
func (r *resource) explain() []drift.Finding {
	if r.given.Hook {
		return r.oneSided()
	}
	if r.target == nil || r.live == nil {
		return r.oneSided()
	}
	if r.situation.incomparable || r.unfit != nil {
		return nil
	}
	r.prepare()
	var claims []claim
	for _, rule := range fieldRules {
		open := r.open()
		if len(open) == 0 || r.situation.ctx.Err() != nil {
			break
		}
		for _, c := range rule(r, open) {
			claims = append(claims, r.settle(c)...)
		}
	}
	if left := r.open(); len(left) > 0 {
		claims = append(claims, r.settle(unexplained(r, left))...)
	}
	claims = r.reviseDeadRules(failWhole(followTemplate(claims)))
	for _, rule := range hiddenRules {
		if r.situation.ctx.Err() != nil {
			break
		}
		claims = append(claims, rule(r)...)
	}
	return r.findings(claims)
}

// oneSided returns the finding about a resource that is only in Git, only in the
// cluster, or a hook.
func (r *resource) oneSided() []drift.Finding {
	for _, rule := range oneSidedRules {
		if c, ok := rule.match(r); ok {
			if c.mechanism == "" {
				c.mechanism = rule.mechanism
			}
			return []drift.Finding{r.situation.finding(r, &c)}
		}
	}
	return nil
}

// open are the differences that no rule has answered for.
func (r *resource) open() []*diff.Difference {
	var open []*diff.Difference
	for _, d := range r.differences {
		if !d.Claimed {
			open = append(open, d)
		}
	}
	return open
}

// settle marks the claim's differences as answered for; a difference that another
// rule had answered for is taken out. A claim that is left without any is none.
func (r *resource) settle(c claim) []claim {
	var mine []*diff.Difference
	for _, d := range c.differences {
		if !d.Claimed {
			d.Claimed = true
			mine = append(mine, d)
		}
	}
	if len(mine) == 0 && len(c.hidden) == 0 {
		return nil
	}
	c.differences = mine
	return []claim{c}
}

// findings merges the claims of one mechanism into one finding each.
func (r *resource) findings(claims []claim) []drift.Finding {
	type id struct {
		mechanism drift.Mechanism
		hidden    bool
	}
	var order []id
	merged := map[id]*claim{}
	for _, c := range claims {
		name := id{c.mechanism, len(c.differences) == 0}
		into, found := merged[name]
		if !found {
			order = append(order, name)
			merged[name] = &c
			continue
		}
		into.differences = append(into.differences, c.differences...)
		into.hidden = append(into.hidden, c.hidden...)
		into.evidence = append(into.evidence, c.evidence...)
		into.loss = append(into.loss, c.loss...)
		into.sync = drift.Worse(into.sync, c.sync)
		into.confidence = drift.Lower(into.confidence, c.confidence)
	}
	findings := make([]drift.Finding, 0, len(order))
	for _, name := range order {
		findings = append(findings, r.situation.finding(r, merged[name]))
	}
	return findings
}

// finding writes a claim out. r is nil for a claim about the Application.
func (s *situation) finding(r *resource, c *claim) drift.Finding {
	c.evidence = together(c.evidence, c.differences)
	f := drift.Finding{
		Mechanism: c.mechanism, Class: c.mechanism.Class(), Flagged: len(c.hidden) == 0 && c.mechanism != drift.None, Confidence: c.confidence,
		Evidence: slices.Clone(c.evidence), Sync: c.sync, Loss: words.Unique(c.loss), Summary: c.summary, Fields: []drift.Field{},
	}
	switch {
	case c.about != nil:
		f.Resource = *c.about
	case r != nil:
		f.Resource = r.ref
	default:
		f.Resource = s.ref()
	}
	if r != nil {
		f.Fields = r.fieldsOf(c)
	}
	if f.Summary == "" {
		f.Summary = c.mechanism.Summary()
	}
	f.Fixes = fixesFor(s, r, c, f.Fields)
	return f
}

// fieldsOf writes the claim's fields out, values of Secrets masked.
func (r *resource) fieldsOf(c *claim) []drift.Field {
	found := make([]drift.Field, 0, len(c.differences)+len(c.hidden))
	for _, d := range c.differences {
		field := drift.Field{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive}
		w := r.writersOf(d)
		if owner, ok := owners.Newest(w.all); ok {
			if w.role != owners.Nobody && !w.argo {
				owner = w.last
			}
			field.Owner = &owner
		}
		found = append(found, field)
	}
	found = append(found, c.hidden...)
	slices.SortStableFunc(found, func(a, b drift.Field) int { return fieldpath.Compare(a.Pointer, b.Pointer) })
	return r.masked(found)
}

// report puts the findings together.
func (s *situation) report(findings []drift.Finding) *drift.Report {
	report := &drift.Report{Application: s.app.Name, Counts: map[drift.Mechanism]int{}, Findings: findings, Sync: drift.NothingToDo, Unheeded: s.unheeded}
	if s.app.Namespace != "" {
		report.Application = s.app.Namespace + "/" + s.app.Name
	}
	slices.SortStableFunc(report.Findings, func(a, b drift.Finding) int {
		return cmp.Or(b.Sync.Severity()-a.Sync.Severity(), cmp.Compare(a.Mechanism, b.Mechanism),
			cmp.Compare(a.Resource.Kind, b.Resource.Kind), cmp.Compare(a.Resource.Namespace, b.Resource.Namespace), cmp.Compare(a.Resource.Name, b.Resource.Name))
	})
	for i := range report.Findings {
		report.Counts[report.Findings[i].Mechanism]++
		report.Sync = drift.Worse(report.Sync, report.Findings[i].Sync)
	}
	report.Verdict = verdict(report)
	return report
}

// closing is what is left to say when nothing else was found.
func (s *situation) closing(findings []drift.Finding) []drift.Finding {
	if len(findings) > 0 {
		return nil
	}
	c := inSync(s)
	if s.app.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync {
		c = unseen(s)
	}
	return []drift.Finding{s.finding(nil, &c)}
}
