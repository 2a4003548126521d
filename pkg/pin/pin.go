// Package pin gives objects the fields that the API server would give them, and
// takes away those that a controller would take away, so that neither shows as drift.
//
// [All] looks every object's kind up among the CRDs that are rendered with it and
// then in [Options.Schemas], walks the object along the compiled schema, and returns
// it with the list of what it changed and why. It adds defaults, treats explicit
// nulls as the server does (replaced by the default, kept where nullable, dropped
// otherwise) and removes what the table of [Rules] says is dropped. Nothing else
// changes: fields that the schema does not know stay, and so does every value that
// is neither null nor in the table.
//
// Never changed are status, what stands behind the scale subresource's
// specReplicasPath, what an annotation of the object ([AnnotationPin],
// [AnnotationSkip]) or a rule excludes, and objects whose schema cannot be had:
// those pass unchanged, with a [Warning].
//
// The package refuses a mode that it does not know and rules that do not parse.
// It reads no file, asks no network, and never changes what the caller gave it.
package pin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/manifest"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// Mode says which defaults are pinned.
type Mode string

// The modes. The zero Mode is [ModeAll].
const (
	// ModeAll pins every default.
	ModeAll Mode = "all"
	// ModeAtomic pins the defaults inside the atomic lists and maps that Git sets:
	// the ones that Argo CD's structured-merge diff flags.
	ModeAtomic Mode = "atomic"
	// ModeNone changes nothing.
	ModeNone Mode = "none"
)

// ParseMode reads a mode by its name; the empty text is [ModeAll].
func ParseMode(text string) (Mode, error) {
	switch mode := Mode(text); mode {
	case "":
		return ModeAll, nil
	case ModeAll, ModeAtomic, ModeNone:
		return mode, nil
	default:
		return "", fmt.Errorf("pin mode %q is not known; use all, atomic or none", text)
	}
}

// annotationPrefix is that of all annotations of Moorpin's.
const annotationPrefix = "moorpin.dev/"

// The annotations that steer pinning from within an object.
const (
	// AnnotationPin sets the object's own [Mode].
	AnnotationPin = "moorpin.dev/pin"
	// AnnotationSkip lists pointers, separated by commas or white space, that are
	// left as they are, with all they hold. "*" stands for any one step.
	AnnotationSkip = "moorpin.dev/skip"
)

// Options steer [All]. The zero value pins all defaults with the CRDs among the
// objects alone, and drops what the built-in table lists.
type Options struct {
	Mode Mode
	// Schemas answers for the kinds whose CRD is not among the objects.
	Schemas crd.Lookup
	// Rules is the dropping table and the exclusions; nil stands for [DefaultRules].
	Rules *Rules
	// Served lists what the destination serves, "group/version" or
	// "group/version/Kind" as Argo CD passes it in KUBE_API_VERSIONS. Empty means unknown.
	Served []string
	// Budget bounds the work; the zero value is more than any real object needs.
	Budget Budget
}

// Action says what was done to a field.
type Action string

// The actions.
const (
	// Pinned: the field was absent and got its default.
	Pinned Action = "pinned"
	// Dropped: the field held a value that its controller removes.
	Dropped Action = "dropped"
	// NullReplaced: the field was null and got its default.
	NullReplaced Action = "null-replaced"
	// NullDropped: the field was null, which the API server removes.
	NullDropped Action = "null-dropped"
)

// Change is one field that was changed.
type Change struct {
	Action  Action
	Pointer fieldpath.Pointer
	// Value is what was put in, or, for [Dropped], what was taken away; nil for
	// [NullDropped]. It must not be changed.
	Value any
	// Reason says why, for people; Source names the CRD or the rule.
	Reason string
	Source string
}

// Warning says why an object passed unchanged, or with less done to it than asked for.
type Warning struct {
	Kind schema.GroupVersionKind
	// Obstacle is the closed reason, for counting; Text the sentence for people.
	Obstacle crd.Obstacle
	Text     string
}

// The obstacles that pinning adds to those of the schema.
const (
	// NoSchema: no CRD is known for the kind.
	NoSchema crd.Obstacle = "no CRD known"
	// NotServedByDestination: the destination does not list the version.
	NotServedByDestination crd.Obstacle = "not served by the destination"
	// InvalidAnnotation: an annotation of Moorpin's does not parse.
	InvalidAnnotation crd.Obstacle = "invalid annotation"
	// InvalidCRD: a CRD among the objects does not decode.
	InvalidCRD crd.Obstacle = "invalid CRD"
)

// Result is one object after pinning. The object shares with the input what was not
// changed: neither may be changed afterwards.
type Result struct {
	Object   manifest.Object
	Changes  []Change
	Warnings []Warning
}

// All pins every object and returns the results in the same order. Objects that
// cannot be pinned, or only beyond the budget, pass unchanged. The error is about the
// options, or the cause of the context's end, after which there are no results.
func All(ctx context.Context, objects []manifest.Object, options Options) ([]Result, error) {
	mode, err := ParseMode(string(options.Mode))
	if err != nil {
		return nil, err
	}
	pinner, err := newPinner(ctx, mode, options, objects)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(objects))
	for i, object := range objects {
		results[i] = pinner.pin(i, object)
		if pinner.walk.meter.ended {
			return nil, fmt.Errorf("object %d of %d: %w", i+1, len(objects), context.Cause(ctx))
		}
	}
	return results, nil
}

// pinner holds what is the same for all objects of one call.
type pinner struct {
	mode     Mode
	rules    *Rules
	schemas  crd.Lookup
	rendered renderedCRDs
	served   served
	plans    map[schema.GroupVersionKind]*plan
	walk     walk
}

// plan is what is to be done to the objects of one kind and version.
type plan struct {
	root     *crd.Node
	source   string
	drops    *dropNode
	skips    []pattern
	warnings []Warning
}

func newPinner(ctx context.Context, mode Mode, options Options, objects []manifest.Object) (*pinner, error) {
	rules := options.Rules
	if rules == nil {
		rules = DefaultRules()
	}
	rendered, err := findCRDs(ctx, objects)
	if err != nil {
		return nil, err
	}
	return &pinner{
		mode: mode, rules: rules, rendered: rendered,
		schemas: crd.Layer(rendered.set, options.Schemas),
		served:  newServed(options.Served),
		plans:   map[schema.GroupVersionKind]*plan{},
		walk:    walk{meter: meter{done: ctx.Done(), budget: options.Budget.withDefaults()}},
	}, nil
}

func (p *pinner) pin(i int, object manifest.Object) Result {
	result := Result{Object: object}
	if !p.walk.meter.steps(1) && p.walk.meter.ended {
		return result
	}
	mode, skips, warning := p.annotations(object)
	if warning != nil {
		result.Warnings = append(result.Warnings, *warning)
		return result
	}
	if mode == ModeNone {
		return result
	}
	plan := p.planFor(object.Kind())
	result.Warnings = append(result.Warnings, p.rendered.faults[i]...)
	result.Warnings = append(result.Warnings, plan.warnings...)
	if plan.root == nil && plan.drops == nil {
		return result
	}
	walk := &p.walk
	walk.reset(plan.source, mode == ModeAll, append(skips, plan.skips...))
	content := object.Content
	if plan.drops != nil {
		content = walk.drop(content, plan.drops)
	}
	if plan.root != nil {
		walk.nulls = holdsNull(content)
		content = walk.object(content, plan.root)
	}
	if walk.meter.stopped() {
		result.Warnings = append(result.Warnings, overBudget(object, walk.meter.over))
		return result
	}
	result.Object.Content, result.Changes = content, slices.Clone(walk.changes)
	return result
}

func overBudget(object manifest.Object, bound string) Warning {
	return Warning{
		Kind: object.Kind(), Obstacle: OverBudget,
		Text: fmt.Sprintf("%s: pinning it takes more than %s; the object passes unchanged", object, bound),
	}
}

// annotations reads what the object itself asks for. An annotation that does not
// parse leaves the object alone: that never breaks a deployment.
func (p *pinner) annotations(object manifest.Object) (Mode, []pattern, *Warning) {
	refuse := func(name string, err error) *Warning {
		return &Warning{
			Kind: object.Kind(), Obstacle: InvalidAnnotation,
			Text: fmt.Sprintf("%s: annotation %s: %v; the object passes unchanged", object, name, err),
		}
	}
	if unknown := unknownAnnotation(object); unknown != "" {
		return "", nil, refuse(unknown, fmt.Errorf("is not known; use %s or %s", AnnotationPin, AnnotationSkip))
	}
	mode := p.mode
	if text, found := object.Annotation(AnnotationPin); found && mode != ModeNone {
		own, err := ParseMode(text)
		if err != nil {
			return "", nil, refuse(AnnotationPin, err)
		}
		mode = own
	}
	text, found := object.Annotation(AnnotationSkip)
	if !found {
		return mode, nil, nil
	}
	skips, err := parsePatterns(text)
	if err != nil {
		return "", nil, refuse(AnnotationSkip, err)
	}
	return mode, skips, nil
}

// unknownAnnotation returns an annotation that claims to be Moorpin's and is not.
func unknownAnnotation(object manifest.Object) string {
	for _, name := range object.AnnotationNames() {
		if strings.HasPrefix(name, annotationPrefix) && name != AnnotationPin && name != AnnotationSkip {
			return name
		}
	}
	return ""
}

// planFor decides once for each kind and version.
func (p *pinner) planFor(kind schema.GroupVersionKind) *plan {
	if known, found := p.plans[kind]; found {
		return known
	}
	made := &plan{drops: p.rules.drops[kind.GroupKind()], skips: p.rules.skips[kind.GroupKind()]}
	p.plans[kind] = made
	if builtInGroups[kind.Group] {
		return made
	}
	obstacle, detail := NoSchema, "pass its CRD with --crds, or name its cluster with --kubeconfig"
	if definition, found := p.schemas.Definition(kind.GroupKind()); found {
		version := definition.Version(kind.Version)
		obstacle, detail = version.Obstacle, version.Detail
		if obstacle == "" && !p.rendered.defines(kind.GroupKind()) && !p.served.has(kind) {
			obstacle, detail = NotServedByDestination, "the cluster lists other versions"
		}
		if obstacle == "" {
			made.root = version.Root
			made.source = fmt.Sprintf("%s/%s (%s)", definition.Name, version.Name, definition.Source)
		}
	}
	if obstacle != "" {
		text := fmt.Sprintf("%s, kind %s: %s", kind.GroupVersion(), kind.Kind, obstacle)
		if detail != "" {
			text += " (" + detail + ")"
		}
		made.warnings = []Warning{{Kind: kind, Obstacle: obstacle, Text: text + "; its objects get no defaults"}}
	}
	return made
}
