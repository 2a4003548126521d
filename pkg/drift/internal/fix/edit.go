package fix

import (
	"maps"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// Edit is what a trial of a fix changes.
type Edit struct {
	Resource *state.Resource
	// Fields are those that the fix is for.
	Fields []drift.Field
	// Changes are edits of what Git renders.
	Changes []snippet.Change
	// Ignores are added to the Application's own rules, which without leaves out.
	Ignores []v1alpha1.ResourceIgnoreDifferences
	Without bool
	// Strategy takes the place of the resource's own; "" leaves it.
	Strategy drift.Strategy
	// Rewritten tells that a controller writes the live value again after a sync.
	Rewritten bool
}

// Edited returns the document with the changes made in it, and whether all of them
// found their place. The document itself stays: what lies on a change's path is
// copied. git tells that the document is what Git renders, so that list items are
// where Git has them.
func Edited(document object.Object, changes []snippet.Change, git bool) (object.Object, bool) {
	var result any = document
	// Items are removed from the last to the first, so that none moves before its turn.
	for _, c := range slices.Backward(changes) {
		done := false
		if result, done = changed(result, c.Path, c, git); !done {
			return nil, false
		}
	}
	made, ok := result.(map[string]any)
	return made, ok
}

// changed makes one change at the path below the node.
func changed(node any, path []snippet.Step, c snippet.Change, git bool) (any, bool) {
	if len(path) == 0 {
		return c.Value, !c.Remove
	}
	step := path[0]
	if step.Item {
		return changedItem(node, path, c, git)
	}
	holder, ok := node.(map[string]any)
	if !ok && node != nil {
		return nil, false
	}
	copied := maps.Clone(holder)
	if copied == nil {
		copied = map[string]any{}
	}
	if len(path) == 1 && c.Remove {
		delete(copied, step.Field)
		return copied, true
	}
	below, done := changed(copied[step.Field], path[1:], c, git)
	copied[step.Field] = below
	return copied, done
}

func changedItem(node any, path []snippet.Step, c snippet.Change, git bool) (any, bool) {
	items, ok := node.([]any)
	if !ok && node != nil {
		return nil, false
	}
	step := path[0]
	index := step.Index
	if git {
		index = step.InGit
	}
	missing := index < 0 || index >= len(items)
	copied := slices.Clone(items)
	switch {
	case len(path) == 1 && c.Remove:
		if missing {
			return copied, true
		}
		return slices.Delete(copied, index, index+1), true
	case missing && (len(path) == 1 || step.Identity != nil):
		if len(path) == 1 {
			return append(copied, c.Value), true
		}
		item := map[string]any{}
		for _, key := range step.Identity {
			item[key.Name] = key.Value
		}
		below, done := changed(item, path[1:], c, git)
		return append(copied, below), done
	case missing:
		return nil, false
	}
	below, done := changed(copied[index], path[1:], c, git)
	copied[index] = below
	return copied, done
}

// Rules are the entries of ignoreDifferences that the edit adds to the Application.
func (e *Edit) Rules() []v1alpha1.ResourceIgnoreDifferences { return slices.Clone(e.Ignores) }

// Edited returns the manifest as it is after the edit, and whether it is one of the
// manifest that can be made so. It does not change the manifest.
func (e *Edit) Edited(manifest map[string]any) (map[string]any, bool) {
	if len(e.Changes) == 0 {
		return nil, false
	}
	return Edited(manifest, e.Changes, true)
}
