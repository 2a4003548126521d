package schema

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// compiler builds the trees of one CRD. Equal nodes are kept once.
type compiler struct {
	intern interner
	budget *budget
}

func newCompiler(budget *budget) *compiler {
	return &compiler{intern: newInterner(budget), budget: budget}
}

// version compiles one version against the storage version.
func (c *compiler) version(crd *apiextensions.CustomResourceDefinition, version apiextensions.CustomResourceDefinitionVersion, request, storage *versionSchema) *Version {
	result := &Version{Name: strings.Clone(version.Name)}
	switch {
	case !version.Served:
		result.Obstacle, result.Detail = NotServed, "the CRD says served: false"
	case request != storage && crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensions.WebhookConverter:
		result.Obstacle = ConvertedByWebhook
	case request.obstacle != "":
		result.Obstacle, result.Detail = request.obstacle, request.detail
	case storage.obstacle != "":
		result.Obstacle, result.Detail = storage.obstacle, "of the storage version: "+storage.detail
	case crd.Spec.PreserveUnknownFields != nil && *crd.Spec.PreserveUnknownFields:
		// Neither pruned nor defaulted: nothing is ever pinned.
	default:
		r, t := side{schema: asRoot(request.structural)}, side{schema: asRoot(storage.structural)}
		result.Root = c.node(r, t, scope{
			root:   true,
			hidden: [][]string{request.replicasPtr, storage.replicasPtr},
		})
		if c.budget.stopped() {
			result.Root, result.Obstacle, result.Detail = nil, TooLarge, c.budget.over
		}
	}
	return result
}

// asRoot marks the top of a schema as a resource, as the server's pruning does.
func asRoot(s *structuralschema.Structural) *structuralschema.Structural {
	root := *s
	root.XEmbeddedResource = true
	return &root
}

// scope is what a node needs to know of its place.
type scope struct {
	root bool
	// hidden are the paths, from here down, that are never pinned.
	hidden [][]string
}

// below returns the scope of the field called name, and whether that field is itself hidden.
func (s scope) below(name string) (scope, bool) {
	var child scope
	for _, path := range s.hidden {
		if len(path) == 0 || path[0] != name {
			continue
		}
		if len(path) == 1 {
			return scope{}, true
		}
		child.hidden = append(child.hidden, path[1:])
	}
	return child, false
}

// belowAny returns the scope of a field of any name: hidden there is what is hidden
// below one of them, since it cannot be told which.
func (s scope) belowAny() scope {
	var child scope
	for _, path := range s.hidden {
		if len(path) > 1 {
			child.hidden = append(child.hidden, path[1:])
		}
	}
	return child
}

// node compiles the value that the request version knows as r and the storage version as t.
func (c *compiler) node(r, t side, place scope) *Node {
	if r.schema == nil && t.schema == nil || c.budget.stopped() {
		return nil
	}
	node := &Node{
		AtomicList: r.atomicList(), AtomicMap: r.atomicMap(),
		Embedded: !place.root && (r.embedded() || t.embedded()),
	}
	node.Rest = c.rest(r, t, place)
	var dormant []Field
	for _, name := range knownFields(r, t) {
		if !c.budget.spend(fieldWork) {
			return nil
		}
		field, ok := c.namedField(name, r, t, place)
		switch {
		case ok && (field.HasDefault || field.HoldsDefaults()):
			node.Fields = append(node.Fields, field)
		case ok && field.Null == NullDropped && field.Child == nil:
			node.DropNulls = append(node.DropNulls, field.Name)
		case ok && (field.Null != NullKept || field.Child != nil):
			dormant = append(dormant, field)
		case node.Rest != nil:
			// Nothing happens to it, but it must not be taken for one of the rest.
			dormant = append(dormant, Field{Name: c.intern.text(name)})
		}
	}
	node.Defaulting = len(node.Fields)
	node.Fields = append(node.Fields, dormant...)
	node.Items = c.items(r, t)
	node.HoldsDefaults = node.Defaulting > 0 || node.Rest.HoldsDefaults() || node.Items.HoldsDefaults()
	return c.intern.node(node)
}

var metaFields = map[string]bool{"apiVersion": true, "kind": true, "metadata": true}

// knownFields returns the names that either side gives a meaning of their own, sorted.
func knownFields(r, t side) []string {
	names := map[string]bool{}
	for _, side := range []side{r, t} {
		if side.schema == nil {
			continue
		}
		for name := range side.schema.Properties {
			names[name] = true
		}
		if side.schema.XEmbeddedResource {
			maps.Copy(names, metaFields)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// namedField compiles one named field in its place; false when it is left alone.
func (c *compiler) namedField(name string, r, t side, place scope) (Field, bool) {
	if place.root && (name == "status" || metaFields[name]) {
		return Field{}, false
	}
	below, hidden := place.below(name)
	field, ok := c.field(name, r, t, below)
	if hidden && ok {
		// Never pinned, but a null that the server replaces is no value either.
		field = Field{Name: field.Name, Element: Element{Null: min(field.Null, NullDropped)}}
	}
	return field, ok
}

// field compiles one named field; false when the request version does not know it:
// then it is the user's unknown field, and left alone.
func (c *compiler) field(name string, r, t side, place scope) (Field, bool) {
	element, ok := c.element(name, r, t, place)
	if !ok {
		return Field{}, false
	}
	field := Field{Name: c.intern.text(name), Element: element}
	if value, found := c.budget.settle(map[string]any{}, name, r, t); found {
		field.Default, field.HasDefault = c.withoutHidden(value, place), true
		if field.Null == NullDropped {
			// The null keeps the default away: without it, the default would come.
			field.Null = NullKept
		}
	}
	return field, true
}

// element compiles the value of the field called name, when it is there; false when
// the request version does not know it. What it alone knows the storage version
// removes: a null is dropped there too, and a value is the user's, and left alone.
func (c *compiler) element(name string, r, t side, place scope) (Element, bool) {
	rChild, rKept := r.field(name)
	tChild, tKept := t.field(name)
	if !rKept {
		return Element{}, false
	}
	if !tKept {
		return Element{Null: NullDropped}, true
	}
	var element Element
	value, found := c.budget.settle(map[string]any{name: nil}, name, r, t)
	switch {
	case !found:
		element.Null = NullDropped
	case value != nil:
		element.Null, element.NullValue = NullReplaced, c.withoutHidden(value, place)
	}
	element.Child = c.node(rChild, tChild, place)
	return element, true
}

// anyOtherField stands for every field name that a schema does not mention: no
// field can be called so, since YAML and JSON keys hold valid UTF-8.
const anyOtherField = "\xff"

// rest compiles the values of the fields that no schema names.
func (c *compiler) rest(r, t side, place scope) *Element {
	if !r.mentionsRest() && !t.mentionsRest() {
		return nil
	}
	element, ok := c.element(anyOtherField, r, t, place.belowAny())
	if !ok || (element.Null == NullKept && element.Child == nil) {
		return nil
	}
	return &element
}

// items compiles the items of a list.
func (c *compiler) items(r, t side) *Element {
	rItems, tItems := r.items(), t.items()
	if rItems.schema == nil && tItems.schema == nil {
		return nil
	}
	element := Element{Child: c.node(rItems, tItems, scope{})}
	if value := c.budget.settleItem(r, t); value != nil {
		element.Null, element.NullValue = NullReplaced, c.intern.value(value)
	}
	if element.Null == NullKept && element.Child == nil {
		return nil
	}
	return &element
}

// withoutHidden returns the default without what must never be pinned below it.
func (c *compiler) withoutHidden(value any, place scope) any {
	for _, path := range place.hidden {
		remove(value, path)
	}
	return c.intern.value(value)
}

func remove(value any, path []string) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	if len(path) == 1 {
		delete(object, path[0])
		return
	}
	remove(object[path[0]], path[1:])
}
