// Package child renders and pins in child processes that are confined before they see a
// byte of a repository: parsing, Jsonnet, Helm, Kustomize, compiling the CRDs of the
// render, and pinning.
//
// A [Pool] keeps children ready. [Pool.Take] gives one away for a while, as a [Slot] with
// a folder of its own, in which the caller puts the private copy of a repository;
// [Slot.Do] has the child render and pin it and returns texts and counts, which the
// caller passes on without looking into them. The child asks for the compiled schemas
// that it needs of the caller's, one kind at a time. When its time is over or a bound is
// passed, the child is killed with all that it has started, and what it wrote is removed.
//
// What a user's program was run in ends with that render; a child that only read YAML is
// used again, its folder emptied.
//
// It refuses what package render refuses, with the same [*render.Refusal] and
// [*manifest.Error], and names the bound that a render passes as a [*render.Refusal] of
// the app's folder.
package child

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// Task is one render.
type Task struct {
	// Root is the private copy of the repository, below the folder of the slot, which
	// the render changes. Path is the app's folder in it.
	Root, Path string
	// Entries counts the files, folders and links below Root.
	Entries int
	// Env is the environment that Argo CD gives to a plugin. It says what is rendered,
	// unless Request does.
	Env map[string]string
	// Request, where set, says what is rendered; its Root and Path are those of the task.
	Request *render.Request
	// Mode is what is pinned when the request does not say so itself.
	Mode pin.Mode
	// Changes asks for every single change, not only for their number.
	Changes bool
}

// Outcome is what became of a task.
type Outcome struct {
	// Texts are the pinned objects, one JSON text each, in the renderer's order.
	Texts []string
	// Kinds counts what was done, by kind. Objects that passed unchanged are not in it.
	Kinds []KindCount
	// Warned counts the objects that passed unchanged although they may have defaults.
	Warned int
	// Warnings says why, each sentence once.
	Warnings []Warning
	// Changes has a list for each text, where the task asks for it.
	Changes [][]pin.Change
	// Pinning is how long pinning and encoding took.
	Pinning time.Duration
}

// KindCount counts what was done to the objects of a kind.
type KindCount struct {
	schema.GroupKind

	Pinned, Dropped, NullsReplaced, NullsDropped int
}

// Warning is a reason why Objects objects of a kind passed unchanged.
type Warning struct {
	Kind     schema.GroupVersionKind
	Obstacle crd.Obstacle
	Text     string
	Objects  int
}

// Runner renders; outside tests it is a [render.Renderer].
type Runner interface {
	Run(ctx context.Context, request render.Request) ([]manifest.Object, error)
}

// Perform does a task in this process.
func Perform(ctx context.Context, task Task, runner Runner, options pin.Options) (*Outcome, error) {
	request, err := task.request()
	if err != nil {
		return nil, fmt.Errorf("render: read the environment: %w", err)
	}
	objects, err := runner.Run(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	start := time.Now()
	options.Mode, options.Served = task.Mode, request.APIVersions
	if request.Pin != "" {
		options.Mode = pin.Mode(request.Pin)
	}
	results, err := pin.All(ctx, objects, options)
	if err != nil {
		return nil, fmt.Errorf("pin: %w", err)
	}
	outcome, err := summarize(results, task.Changes)
	if err != nil {
		return nil, err
	}
	outcome.Pinning = time.Since(start)
	return outcome, nil
}

func (t *Task) request() (render.Request, error) {
	if t.Request == nil {
		request, err := render.FromEnvironment(t.Env, t.Root, t.Path)
		return request, err //nolint:wrapcheck // the caller names the step.
	}
	request := *t.Request
	request.Root, request.Path = t.Root, t.Path
	return request, nil
}

// Bounds of what an outcome tells beside its texts.
const (
	maxSentences = 100     // different warnings
	maxSentence  = 1 << 10 // bytes of one
	maxName      = 253     // bytes of a group or kind: the API server takes no longer ones
)

func shortKind(kind schema.GroupVersionKind) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: cli.Cut(kind.Group, maxName), Version: cli.Cut(kind.Version, maxName), Kind: cli.Cut(kind.Kind, maxName)}
}

func summarize(results []pin.Result, withChanges bool) (*Outcome, error) {
	outcome := &Outcome{}
	kinds, warnings := map[schema.GroupKind]int{}, map[string]int{}
	objects := make([]manifest.Object, len(results))
	for i, result := range results {
		objects[i] = result.Object
		outcome.count(kinds, result)
		outcome.warn(warnings, result.Warnings)
		if withChanges {
			outcome.Changes = append(outcome.Changes, result.Changes)
		}
	}
	texts, err := manifest.EncodeTexts(objects)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	outcome.Texts = texts
	return outcome, nil
}

func (o *Outcome) count(places map[schema.GroupKind]int, result pin.Result) {
	if len(result.Changes) == 0 {
		return
	}
	kind := shortKind(result.Object.Kind()).GroupKind()
	place, found := places[kind]
	if !found {
		place = len(o.Kinds)
		places[kind] = place
		o.Kinds = append(o.Kinds, KindCount{GroupKind: kind})
	}
	count := &o.Kinds[place]
	for _, change := range result.Changes {
		switch change.Action {
		case pin.Pinned:
			count.Pinned++
		case pin.Dropped:
			count.Dropped++
		case pin.NullReplaced:
			count.NullsReplaced++
		case pin.NullDropped:
			count.NullsDropped++
		}
	}
}

func (o *Outcome) warn(places map[string]int, warnings []pin.Warning) {
	if len(warnings) > 0 {
		o.Warned++
	}
	for _, warning := range warnings {
		place, found := places[warning.Text]
		if !found {
			if len(o.Warnings) == maxSentences {
				continue
			}
			place = len(o.Warnings)
			places[warning.Text] = place
			o.Warnings = append(o.Warnings, Warning{Kind: shortKind(warning.Kind), Obstacle: warning.Obstacle, Text: cli.Cut(warning.Text, maxSentence)})
		}
		o.Warnings[place].Objects++
	}
}
