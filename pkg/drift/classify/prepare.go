package classify

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/object"
	"github.com/moorpin/moorpin/pkg/pin"
	moorschema "github.com/moorpin/moorpin/pkg/schema"
)

// shared is what rules about several resources read; it is made before they run.
type shared struct {
	definitions sync.Map // schema.GroupKind to *schema.Definition
}

// prepare reads from the resource what the rules ask for again and again.
func (r *resource) prepare() {
	r.items = itemFinder{}
	if len(r.differences) == 0 {
		return
	}
	r.lastApplied = lastAppliedOf(r.live)
	for _, d := range r.differences {
		if r.situation.ctx.Err() != nil {
			return
		}
		steps := d.targetPointer.Steps()
		d.git, d.inGit = r.items.follow(r.target, r.predicted, steps)
		d.applied, d.inApplied = r.items.follow(r.lastApplied, r.predicted, steps)
		if !d.inTarget {
			// The item is live's alone, so its siblings are too.
			d.git, d.inGit = r.items.follow(r.target, r.normalized, d.steps)
			d.applied, d.inApplied = r.items.follow(r.lastApplied, r.normalized, d.steps)
		}
	}
}

// lastAppliedOf returns the object in the last-applied-configuration annotation; nil
// when there is none.
func lastAppliedOf(live object.Object) object.Object {
	spelled := object.Annotation(live, lastAppliedAnnotation)
	if spelled == "" {
		return nil
	}
	var applied object.Object
	if kjson.Unmarshal([]byte(spelled), &applied) != nil {
		return nil
	}
	return applied
}

// follow returns the node of the document at the place that the steps name in the
// model: items of lists that have an identity are found by it, others by index.
func follow(document, model any, steps []string) (any, bool) {
	return itemFinder(nil).follow(document, model, steps)
}

// itemFinder remembers where the items of lists are, for many questions about them;
// nil remembers nothing.
type itemFinder map[listIdentity]map[string]int

// listIdentity is a list, by its first item, and the fields that tell its items apart.
type listIdentity struct {
	first *any
	names string
}

func (f itemFinder) follow(document, model any, steps []string) (any, bool) {
	for _, step := range steps {
		switch holder := document.(type) {
		case map[string]any:
			child, found := holder[step]
			if !found {
				return nil, false
			}
			document, model = child, childOf(model, step)
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil {
				return nil, false
			}
			modelItem := childOf(model, step)
			j, found := f.sameItem(holder, modelItem, i)
			if !found {
				return nil, false
			}
			document, model = holder[j], modelItem
		default:
			return nil, false
		}
	}
	return document, true
}

func childOf(model any, step string) any {
	switch model := model.(type) {
	case map[string]any:
		return model[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(model) {
			return model[i]
		}
	}
	return nil
}

// sameItem finds the item of a list that has the identity of the model item; it
// looks at the model's own index first.
func (f itemFinder) sameItem(items []any, model any, i int) (int, bool) {
	for _, names := range identities {
		wanted, ok := identity(model, names)
		if !ok {
			continue
		}
		if i < len(items) {
			if found, ok := identity(items[i], names); ok && found == wanted {
				return i, true
			}
		}
		return f.search(items, names, wanted)
	}
	return i, i < len(items)
}

// search finds the first item of an identity.
func (f itemFinder) search(items []any, names []string, wanted string) (int, bool) {
	if f == nil || len(items) == 0 {
		for j, item := range items {
			if found, ok := identity(item, names); ok && found == wanted {
				return j, true
			}
		}
		return 0, false
	}
	list := listIdentity{&items[0], strings.Join(names, " ")}
	index, known := f[list]
	if !known {
		index = make(map[string]int, len(items))
		for j, item := range slices.Backward(items) {
			if found, ok := identity(item, names); ok {
				index[found] = j
			}
		}
		f[list] = index
	}
	j, found := index[wanted]
	return j, found
}

func identity(item any, names []string) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	value, found := m[names[0]]
	if !found {
		return "", false
	}
	spelled := canonical(value)
	if len(names) > 1 {
		spelled += canonical(m[names[1]])
	}
	return spelled, true
}

// Definition returns the compiled CRD of a group and kind, and whether the
// snapshot has one.
func (s *situation) Definition(kind schema.GroupKind) (*moorschema.Definition, bool) {
	if found, ok := s.shared.definitions.Load(kind); ok {
		definition, _ := found.(*moorschema.Definition)
		return definition, definition != nil
	}
	var definition *moorschema.Definition
	if crd, ok := s.crd(kind.Group, kind.Kind); ok {
		if parsed, err := moorschema.Parse(s.ctx, crd, "live"); err == nil {
			definition = parsed
		}
	}
	s.shared.definitions.Store(kind, definition)
	return definition, definition != nil
}

// pinned returns what Git renders with every default of the CRD, and whether
// anything was added.
func (r *resource) pinned() (object.Object, bool) {
	if r.pinnedOnce {
		return r.pinnedTarget, r.pinnedTarget != nil
	}
	r.pinnedOnce = true
	results, err := pin.All(r.situation.ctx, []manifest.Object{{Content: r.target}}, pin.Options{Mode: pin.ModeAll, Schemas: r.situation, Rules: &pin.Rules{}})
	if err != nil || len(results) != 1 {
		return nil, false
	}
	if len(results[0].Changes) > 0 {
		r.pinnedTarget = results[0].Object.Content
	}
	return r.pinnedTarget, r.pinnedTarget != nil
}
