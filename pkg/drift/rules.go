package drift

import (
	"fmt"
	"runtime"
)

// applicationRule answers for the Application as a whole.
type applicationRule struct {
	mechanism Mechanism
	match     func(s *situation) []claim
}

// oneSidedRule answers for a resource that only Git or only the cluster has.
type oneSidedRule struct {
	mechanism Mechanism
	match     func(r *resource) (claim, bool)
}

// fieldRule answers for some of a resource's open differences.
type fieldRule func(r *resource, open []*difference) []claim

// fieldRules is the table of what makes fields differ. The order is the order of
// evidence: first what the field itself says (it can only have come about in one
// way), then whether the values mean the same, then what the schema does, then who
// wrote it, and last what Git did.
var fieldRules = []fieldRule{
	foldedFields,
	sharedResource, instanceLabelConflict,
	foreignTakeover,
	trackingMissing,
	each(LastAppliedInGit, lastAppliedInGit),
	each(StatusInGit, statusInGit),
	each(CRDPreserveUnknownFields, preserveUnknownFields),
	each(AggregatedClusterrole, aggregatedClusterRole),
	each(CABundleInjection, caBundle),
	duplicateListKey,
	likeness(each(QuantityFormat, quantityFormat)),
	likeness(each(ValueCanonicalised, valueCanonicalised)),
	each(STSVolumeclaimtemplate, volumeClaimTemplate),
	crdListDefault,
	each(DeprecatedAlias, deprecatedAlias),
	each(UnknownFieldPruned, unknownFieldPruned),
	each(EmptyVsAbsent, emptyVsAbsent),
	likeness(each(ExplicitDefaultDropped, explicitDefaultDropped)),
	listReordered,
	each(RolloutRestart, rolloutRestart),
	replicas,
	each(ProgressiveDelivery, progressiveDelivery),
	selfhealFight,
	each(ApplicationSpecEdit, applicationSpecEdit),
	failedApply,
	mergeKeyForeseen,
	each(ManualEdit, manualEdit),
	each(ForeignApply, foreignApply),
	each(RuntimePopulatedData, runtimePopulated),
	each(OperatorWriteback, operatorWriteback),
	each(OperatorWriteback, removedByController),
	render,
	each(GitAhead, gitAhead),
	each(WebhookInjection, webhookInjection),
	each(WebhookOverwrite, webhookOverwrite),
	each(ManualEdit, removedByHand),
}

// hiddenRules find what Argo CD does not flag.
var hiddenRules = []func(r *resource) []claim{hiddenByRules, hiddenDuplicates, hiddenAdditions}

// likeness keeps a rule that judges by the values alone from what a person wrote, and
// from what Git has changed since live was applied: however alike the two values are,
// somebody wants another one.
func likeness(rule fieldRule) fieldRule {
	return func(r *resource, open []*difference) []claim {
		left := make([]*difference, 0, len(open))
		for _, d := range open {
			if !r.wanted(d) {
				left = append(left, d)
			}
		}
		return rule(r, left)
	}
}

// wanted reports whether somebody made the two sides differ: a person live, or Git.
func (r *resource) wanted(d *difference) bool {
	_, edited := manualEdit(r, d)
	return edited || r.moved(d)
}

// foldedFields answers for what differs in too many fields to look at each: anybody
// may have written some of them.
func foldedFields(r *resource, open []*difference) []claim {
	var claims []claim
	for _, d := range open {
		if !d.folded {
			continue
		}
		c := r.claimOf(d, Possible, OverwritesLive, fmt.Sprintf("more differs below %s than can be named field by field; compare the two sides by themselves", d.pointer))
		c.mechanism, c.differences = Unexplained, []*difference{d}
		claims = append(claims, c)
	}
	return claims
}

// each makes a rule of one that looks at one difference at a time.
func each(mechanism Mechanism, match func(r *resource, d *difference) (claim, bool)) fieldRule {
	return func(r *resource, open []*difference) []claim {
		var claims []claim
		for _, d := range open {
			if r.situation.ctx.Err() != nil {
				break
			}
			if c, ok := match(r, d); ok {
				c.mechanism, c.differences = mechanism, []*difference{d}
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
