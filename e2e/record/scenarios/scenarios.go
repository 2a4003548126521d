// Package scenarios holds the tables of what package recorder plays: what Git and the
// cluster hold, what is done, and the label. The labels follow from what is done, and
// not from what any program says about it.
package scenarios

import (
	"slices"

	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/pkg/drift"
)

// All returns every scenario.
func All() []recorder.Scenario {
	return slices.Concat(
		manualEdits(), foreignApplies(), rolloutRestarts(), hiddenAdditions(),
		missingResources(), gitAhead(), applicationEdits(),
		autoscalers(), kedaScalers(), progressiveDelivery(), caBundles(), writebacks(),
		aggregatedRoles(), populatedData(),
		listDefaults(), volumeClaims(), statusInGit(), preserveUnknown(), droppedDefaults(), quantities(), canonicalValues(),
		reorderedLists(), emptyValues(), unknownFields(), aliases(), duplicates(), exported(),
		overwrites(), injections(), randomRenders(), timestampRenders(), checksumChurn(),
		mixedWorkloads(), mixedCustom(), mixedRenders(), inSyncs(), inSyncByRule(), decoys(), furtherInSyncs(),
		lifecycle(), further(),
	)
}

// Sync policies and annotations that decide how Argo CD compares.
var (
	serverSideApply = map[string]any{"syncOptions": []any{"ServerSideApply=true"}}
	serverSideDiff  = map[string]string{"argocd.argoproj.io/compare-options": "ServerSideDiff=true"}
)

// flagged is a finding on an object whose difference Argo CD shows.
func flagged(on string, mechanism drift.Mechanism, effect drift.Sync, fix drift.FixKind) finding {
	return finding{recorder.Finding{On: on, Mechanism: mechanism, Sync: effect, Fix: fix}}
}

// hidden is a finding on an object whose difference Argo CD does not show.
func hidden(on string, mechanism drift.Mechanism, effect drift.Sync, fix drift.FixKind) finding {
	return finding{recorder.Finding{On: on, Mechanism: mechanism, Sync: effect, Fix: fix, Hidden: true}}
}

// inSync is the label of an Application without drift.
func inSync() []recorder.Finding {
	return []recorder.Finding{{Mechanism: drift.None, Sync: drift.NothingToDo, Fix: drift.FixNoneNeeded, Hidden: true}}
}

// finding reads as a sentence: flagged(...).at("/spec/replicas").
type finding struct{ recorder.Finding }

func (f finding) at(fields ...string) recorder.Finding {
	f.Fields = fields
	return f.Finding
}
