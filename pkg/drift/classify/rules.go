package classify

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// fieldRules is the table of what makes fields differ. The order is the order of
// evidence: first what the field itself says (it can only have come about in one
// way), then whether the values mean the same, then what the schema does, then who
// wrote it, and last what Git did.
var fieldRules = []rule.Field{
	foldedFields,
	sharedResource, instanceLabelConflict,
	foreignTakeover,
	trackingMissing,
	rule.Each(drift.LastAppliedInGit, lastAppliedInGit),
	rule.Each(drift.StatusInGit, statusInGit),
	rule.Each(drift.CRDPreserveUnknownFields, preserveUnknownFields),
	rule.Each(drift.AggregatedClusterrole, aggregatedClusterRole),
	rule.Each(drift.CABundleInjection, caBundle),
	duplicateListKey,
	likeness(rule.Each(drift.QuantityFormat, quantityFormat)),
	likeness(rule.Each(drift.ValueCanonicalised, valueCanonicalised)),
	rule.Each(drift.STSVolumeclaimtemplate, volumeClaimTemplate),
	crdListDefault,
	rule.Each(drift.DeprecatedAlias, deprecatedAlias),
	rule.Each(drift.UnknownFieldPruned, unknownFieldPruned),
	rule.Each(drift.EmptyVsAbsent, emptyVsAbsent),
	likeness(rule.Each(drift.ExplicitDefaultDropped, explicitDefaultDropped)),
	listReordered,
	rule.Each(drift.RolloutRestart, rolloutRestart),
	replicas,
	rule.Each(drift.ProgressiveDelivery, progressiveDelivery),
	selfhealFight,
	rule.Each(drift.ApplicationSpecEdit, applicationSpecEdit),
	failedApply,
	mergeKeyForeseen,
	rule.Each(drift.ManualEdit, manualEdit),
	rule.Each(drift.ForeignApply, foreignApply),
	rule.Each(drift.RuntimePopulatedData, runtimePopulated),
	rule.Each(drift.OperatorWriteback, operatorWriteback),
	rule.Each(drift.OperatorWriteback, removedByController),
	render,
	rule.Each(drift.GitAhead, gitAhead),
	rule.Each(drift.WebhookInjection, webhookInjection),
	rule.Each(drift.WebhookOverwrite, webhookOverwrite),
	rule.Each(drift.ManualEdit, removedByHand),
}

// hiddenRules find what Argo CD does not flag.
var hiddenRules = []func(r *state.Resource) []rule.Answer{hiddenByRules, hiddenDuplicates, hiddenAdditions}

// likeness keeps a rule that judges by the values alone from what a person wrote, and
// from what Git has changed since live was applied: however alike the two values are,
// somebody wants another one.
func likeness(entry rule.Field) rule.Field {
	return func(r *state.Resource, open []*diff.Difference) []rule.Answer {
		left := make([]*diff.Difference, 0, len(open))
		for _, d := range open {
			if !outcome.Wanted(r, d) {
				left = append(left, d)
			}
		}
		return entry(r, left)
	}
}

// foldedFields answers for what differs in too many fields to look at each: anybody
// may have written some of them.
func foldedFields(r *state.Resource, open []*diff.Difference) []rule.Answer {
	var claims []rule.Answer
	for _, d := range open {
		if !d.Folded {
			continue
		}
		c := rule.AnswerFor(r, d, drift.Possible, drift.OverwritesLive, fmt.Sprintf("more differs below %s than can be named field by field; compare the two sides by themselves", d.Pointer))
		c.Mechanism, c.Differences = drift.Unexplained, []*diff.Difference{d}
		claims = append(claims, c)
	}
	return claims
}
