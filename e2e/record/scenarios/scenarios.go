// Package scenarios holds the tables of what package recorder plays: what Git and the
// cluster hold, and what is done. The label of each stands in its case of the corpus: it
// follows from what is done, and not from what any program says about it.
package scenarios

import (
	"slices"

	"github.com/moorpin/moorpin/e2e/record/recorder"
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
