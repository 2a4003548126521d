package state

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/object"
	"github.com/moorpin/moorpin/pkg/pin"
	moorschema "github.com/moorpin/moorpin/pkg/schema"
)

// shared is what rules about several resources read; it is made before they run.
type shared struct {
	definitions sync.Map // schema.GroupKind to *schema.Definition
}

// Prepare reads from the resource what the rules ask for again and again.
func (r *Resource) Prepare() {
	r.Items = diff.Finder{}
	if len(r.Differences) == 0 {
		return
	}
	r.LastApplied = LastAppliedOf(r.Live)
	for _, d := range r.Differences {
		if r.Application.Ctx.Err() != nil {
			return
		}
		steps := d.TargetPointer.Steps()
		d.Git, d.InGit = r.Items.Follow(r.Target, r.Predicted, steps)
		d.Applied, d.InApplied = r.Items.Follow(r.LastApplied, r.Predicted, steps)
		if !d.InTarget {
			// The item is live's alone, so its siblings are too.
			d.Git, d.InGit = r.Items.Follow(r.Target, r.Normalized, d.Steps)
			d.Applied, d.InApplied = r.Items.Follow(r.LastApplied, r.Normalized, d.Steps)
		}
	}
}

// LastAppliedOf returns the object in the last-applied-configuration annotation; nil
// when there is none.
func LastAppliedOf(live object.Object) object.Object {
	spelled := object.Annotation(live, mark.LastApplied)
	if spelled == "" {
		return nil
	}
	var applied object.Object
	if kjson.Unmarshal([]byte(spelled), &applied) != nil {
		return nil
	}
	return applied
}

// Definition returns the compiled CRD of a group and kind, and whether the
// snapshot has one.
func (s *Application) Definition(kind schema.GroupKind) (*moorschema.Definition, bool) {
	if found, ok := s.shared.definitions.Load(kind); ok {
		definition, _ := found.(*moorschema.Definition)
		return definition, definition != nil
	}
	var definition *moorschema.Definition
	if crd, ok := s.Crd(kind.Group, kind.Kind); ok {
		if parsed, err := moorschema.Parse(s.Ctx, crd, "live"); err == nil {
			definition = parsed
		}
	}
	s.shared.definitions.Store(kind, definition)
	return definition, definition != nil
}

// Pinned returns what Git renders with every default of the CRD, and whether
// anything was added.
func (r *Resource) Pinned() (object.Object, bool) {
	if r.pinnedOnce {
		return r.pinnedTarget, r.pinnedTarget != nil
	}
	r.pinnedOnce = true
	results, err := pin.All(r.Application.Ctx, []manifest.Object{{Content: r.Target}}, pin.Options{Mode: pin.ModeAll, Schemas: r.Application, Rules: &pin.Rules{}})
	if err != nil || len(results) != 1 {
		return nil, false
	}
	if len(results[0].Changes) > 0 {
		r.pinnedTarget = results[0].Object.Content
	}
	return r.pinnedTarget, r.pinnedTarget != nil
}
