package classify

import (
	"fmt"
	"runtime"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
)

// applicationRule answers for the Application as a whole.
type applicationRule struct {
	mechanism drift.Mechanism
	match     func(s *situation) []claim
}

// oneSidedRule answers for a resource that only Git or only the cluster has.
type oneSidedRule struct {
	mechanism drift.Mechanism
	match     func(r *resource) (claim, bool)
}

// fieldRule answers for some of a resource's open differences.
type fieldRule func(r *resource, open []*diff.Difference) []claim

// fieldRules is the table of what makes fields differ. The order is the order of
// evidence: first what the field itself says (it can only have come about in one
// way), then whether the values mean the same, then what the schema does, then who
// wrote it, and last what Git did.
var fieldRules = []fieldRule{
	foldedFields,
	sharedResource, instanceLabelConflict,
	foreignTakeover,
	trackingMissing,
	each(drift.LastAppliedInGit, lastAppliedInGit),
	each(drift.StatusInGit, statusInGit),
	each(drift.CRDPreserveUnknownFields, preserveUnknownFields),
	each(drift.AggregatedClusterrole, aggregatedClusterRole),
	each(drift.CABundleInjection, caBundle),
	duplicateListKey,
	likeness(each(drift.QuantityFormat, quantityFormat)),
	likeness(each(drift.ValueCanonicalised, valueCanonicalised)),
	each(drift.STSVolumeclaimtemplate, volumeClaimTemplate),
	crdListDefault,
	each(drift.DeprecatedAlias, deprecatedAlias),
	each(drift.UnknownFieldPruned, unknownFieldPruned),
	each(drift.EmptyVsAbsent, emptyVsAbsent),
	likeness(each(drift.ExplicitDefaultDropped, explicitDefaultDropped)),
	listReordered,
	each(drift.RolloutRestart, rolloutRestart),
	replicas,
	each(drift.ProgressiveDelivery, progressiveDelivery),
	selfhealFight,
	each(drift.ApplicationSpecEdit, applicationSpecEdit),
	failedApply,
	mergeKeyForeseen,
	each(drift.ManualEdit, manualEdit),
	each(drift.ForeignApply, foreignApply),
	each(drift.RuntimePopulatedData, runtimePopulated),
	each(drift.OperatorWriteback, operatorWriteback),
	each(drift.OperatorWriteback, removedByController),
	render,
	each(drift.GitAhead, gitAhead),
	each(drift.WebhookInjection, webhookInjection),
	each(drift.WebhookOverwrite, webhookOverwrite),
	each(drift.ManualEdit, removedByHand),
}

// hiddenRules find what Argo CD does not flag.
var hiddenRules = []func(r *resource) []claim{hiddenByRules, hiddenDuplicates, hiddenAdditions}

// likeness keeps a rule that judges by the values alone from what a person wrote, and
// from what Git has changed since live was applied: however alike the two values are,
// somebody wants another one.
func likeness(rule fieldRule) fieldRule {
	return func(r *resource, open []*diff.Difference) []claim {
		left := make([]*diff.Difference, 0, len(open))
		for _, d := range open {
			if !r.wanted(d) {
				left = append(left, d)
			}
		}
		return rule(r, left)
	}
}

// wanted reports whether somebody made the two sides differ: a person live, or Git.
func (r *resource) wanted(d *diff.Difference) bool {
	_, edited := manualEdit(r, d)
	return edited || r.moved(d)
}

// foldedFields answers for what differs in too many fields to look at each: anybody
// may have written some of them.
func foldedFields(r *resource, open []*diff.Difference) []claim {
	var claims []claim
	for _, d := range open {
		if !d.Folded {
			continue
		}
		c := r.claimOf(d, drift.Possible, drift.OverwritesLive, fmt.Sprintf("more differs below %s than can be named field by field; compare the two sides by themselves", d.Pointer))
		c.mechanism, c.differences = drift.Unexplained, []*diff.Difference{d}
		claims = append(claims, c)
	}
	return claims
}

// each makes a rule of one that looks at one difference at a time.
func each(mechanism drift.Mechanism, match func(r *resource, d *diff.Difference) (claim, bool)) fieldRule {
	return func(r *resource, open []*diff.Difference) []claim {
		var claims []claim
		for _, d := range open {
			if r.situation.ctx.Err() != nil {
				break
			}
			if c, ok := match(r, d); ok {
				c.mechanism, c.differences = mechanism, []*diff.Difference{d}
				claims = append(claims, c)
			}
		}
		return claims
	}
}

// portions splits n things for all processors.
func portions(n int) [][2]int {
	size := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var split [][2]int
	for start := 0; start < n; start += size {
		split = append(split, [2]int{start, min(start+size, n)})
	}
	return split
}
