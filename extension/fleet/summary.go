package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/util/glob"
	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/object"
)

// Options say which Applications are read, and how deep.
type Options struct {
	// Settings are those of the snapshots, such as the time and Argo CD's version.
	Settings drift.Settings
	// Projects and Namespaces are those to look at; globs, and none is all.
	Projects, Namespaces []string
	// Classify explains what an Application's own status says; default [classify.Classify].
	Classify func(context.Context, *drift.Snapshot) (*drift.Report, error)
	// Log is told where a panic was met; nil for none. What it was met at is a problem.
	Log *slog.Logger
	// Fields reads the fields of one Application; nil leaves it at the status.
	Fields func(context.Context, argocd.Ref) (*Explained, error)
	// All reads the fields of Synced Applications too, for drift that Argo CD hides.
	All bool
	// Restarts tells the restarts of an Application's Pods; nil leaves them out.
	Restarts Restarts
	// Parallel is how many Applications are asked about at once; default 4.
	Parallel int
	// Timeout bounds what is asked about one; default one minute.
	Timeout time.Duration
	// Progress is told of each Application: the step, and how many of how many are
	// done; the total is 0 while it is not known. It may be nil.
	Progress func(step string, done, total int)
}

// Explained is what reading the fields of one Application gave.
type Explained struct {
	Report *drift.Report
	// Read are the resources whose fields were there to read.
	Read []drift.ResourceRef
	// Warnings say what could not be had or was not heeded.
	Warnings []string
}

// Steps of Summarise.
const (
	StepList     = "applications"
	StepFields   = "fields"
	StepRestarts = "restarts"
)

const (
	defaultParallel = 4
	defaultTimeout  = time.Minute
)

// Summarise reads the Applications and returns the Overview. What is wrong with one of
// them is in the Overview; an error of the list itself, or the end of ctx, is an error,
// for half a fleet would look like a better one.
func Summarise(ctx context.Context, apps iter.Seq2[map[string]any, error], options Options) (*Overview, error) {
	s := &summary{options: options}
	if s.options.Parallel <= 0 {
		s.options.Parallel = defaultParallel
	}
	if s.options.Timeout <= 0 {
		s.options.Timeout = defaultTimeout
	}
	if s.options.Classify == nil {
		s.options.Classify = func(ctx context.Context, snapshot *drift.Snapshot) (*drift.Report, error) {
			return classify.Classify(ctx, snapshot, classify.Options{})
		}
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	for app, err := range apps {
		if err != nil {
			return nil, err // it names the step
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("list applications: %w", context.Cause(ctx))
		}
		s.add(ctx, app)
	}
	overview := &Overview{}
	if options.Fields != nil {
		overview.Fields = s.readFields(ctx)
	}
	restarts := s.readRestarts(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read applications: %w", context.Cause(ctx))
	}
	s.fold(overview, restarts)
	return overview, nil
}

// summary is one run of Summarise.
type summary struct {
	options  Options
	apps     []*Application
	problems []Problem
}

// add reads an Application, where it is asked for.
func (s *summary) add(ctx context.Context, app map[string]any) {
	project := cmp.Or(object.Text(app, "spec", "project"), defaultProject)
	if !admits(s.options.Projects, project) || !admits(s.options.Namespaces, object.Text(app, "metadata", "namespace")) {
		return
	}
	a, err := read(ctx, app, &s.options)
	if err != nil {
		s.problem(a, err)
	}
	s.apps = append(s.apps, a)
	s.progress(StepList, len(s.apps), 0)
}

// admits reports whether a pattern of the list matches, as in Argo CD's lists of
// namespaces; a list without patterns admits everything.
func admits(patterns []string, name string) bool {
	return len(patterns) == 0 || glob.MatchStringInList(patterns, name, glob.REGEXP)
}

func (s *summary) problem(a *Application, err error) {
	if broken, ok := errors.AsType[*fault.PanicError](err); ok {
		s.options.Log.Error("panic", "application", a.Ref().String(), "kind", broken.Kind, "stack", broken.Stack)
	}
	s.problems = append(s.problems, Problem{Application: a.Ref().String(), Error: shorten(err.Error())})
}

func (s *summary) progress(step string, done, total int) {
	if s.options.Progress != nil {
		s.options.Progress(step, done, total)
	}
}

// readFields asks about the fields. An Application that cannot be read keeps what its
// status says.
func (s *summary) readFields(ctx context.Context) *Reading {
	var asked []*Application
	for _, a := range s.apps {
		if s.options.All || a.Sync != synced {
			asked = append(asked, a)
		}
	}
	begin := time.Now()
	ask := func(ctx context.Context, a *Application) (*Explained, error) {
		return s.options.Fields(ctx, a.Ref())
	}
	use := func(a *Application, explained *Explained) {
		a.take(explained)
		a.FieldsRead = true
		if len(explained.Warnings) > 0 {
			s.problem(a, errors.New("read "+StepFields+": "+strings.Join(explained.Warnings, "; ")))
		}
	}
	round[*Explained]{step: StepFields, apps: asked, ask: ask, use: use}.run(ctx, s)
	took := time.Since(begin).Seconds()
	reading := &Reading{Applications: len(asked), Seconds: took}
	if took > 0 {
		reading.PerSecond = float64(len(asked)) / took
	}
	return reading
}

// readRestarts asks for those of the Applications that are ill behind their drift.
func (s *summary) readRestarts(ctx context.Context) map[*Application]int {
	found := map[*Application]int{}
	if s.options.Restarts == nil {
		return found
	}
	var asked []*Application
	for _, a := range s.apps {
		if a.behind() {
			asked = append(asked, a)
		}
	}
	type answer struct {
		restarts int
		known    bool
	}
	ask := func(ctx context.Context, a *Application) (answer, error) {
		restarts, known, err := s.options.Restarts(ctx, Pods{Application: a.Ref(), Workloads: a.notes.workloads, Destination: a.notes.destination})
		return answer{restarts, known}, err
	}
	use := func(a *Application, got answer) {
		if got.known {
			found[a] = got.restarts
		}
	}
	round[answer]{step: StepRestarts, apps: asked, ask: ask, use: use}.run(ctx, s)
	return found
}

// round is one question about several Applications.
type round[T any] struct {
	step string
	apps []*Application
	ask  func(context.Context, *Application) (T, error)
	// use gets the answers, one at a time.
	use func(*Application, T)
}

// run asks about the Applications, some at once. What goes wrong with one is a problem
// of that one.
func (r round[T]) run(ctx context.Context, s *summary) {
	type outcome struct {
		app    *Application
		answer T
		err    error
	}
	outcomes := make(chan outcome)
	go func() {
		defer close(outcomes)
		var group errgroup.Group
		group.SetLimit(s.options.Parallel)
		for _, a := range r.apps {
			if ctx.Err() != nil {
				break
			}
			group.Go(func() error {
				bounded, cancel := context.WithTimeout(ctx, s.options.Timeout)
				defer cancel()
				answer, err := fault.Contained(func() (T, error) { return r.ask(bounded, a) })
				outcomes <- outcome{a, answer, err}
				return nil
			})
		}
		_ = group.Wait() // no function of it returns an error
	}()
	done := 0
	for o := range outcomes {
		done++
		if o.err != nil {
			s.problem(o.app, fmt.Errorf("read %s: %w", r.step, o.err))
		} else {
			r.use(o.app, o.answer)
		}
		s.progress(r.step, done, len(r.apps))
	}
}

// fold makes the Overview of the entries.
func (s *summary) fold(o *Overview, restarts map[*Application]int) {
	slices.SortFunc(s.apps, func(a, b *Application) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	states := map[[2]string]int{}
	o.Applications = len(s.apps)
	o.Unexplained, o.Behind, o.Affected = []Unexplained{}, []Behind{}, []Application{}
	for _, a := range s.apps {
		o.Resources += a.notes.resources
		o.Unread += a.Unread
		a.AtLeast = a.partial()
		states[[2]string{a.Sync, a.Health}]++
		o.Unexplained = append(o.Unexplained, a.notes.unexplained...)
		if a.affected() {
			o.Affected = append(o.Affected, *a)
		}
		if a.behind() {
			b := Behind{Application: a.Ref().String(), Sync: a.Sync, Health: a.Health, Since: a.Since, Resources: a.notes.ill, More: a.notes.moreIll}
			if n, known := restarts[a]; known {
				b.Restarts = &n
			}
			o.Behind = append(o.Behind, b)
		}
	}
	o.Drifting = len(o.Affected)
	o.States = make([]State, 0, len(states))
	for _, name := range slices.SortedFunc(maps.Keys(states), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		o.States = append(o.States, State{Sync: name[0], Health: name[1], Applications: states[name]})
	}
	o.Mechanisms, o.Kinds = mechanisms(s.apps), kinds(s.apps)
	o.Problems = slices.SortedStableFunc(slices.Values(s.problems), func(a, b Problem) int { return cmp.Compare(a.Application, b.Application) })
	if o.Problems == nil {
		o.Problems = []Problem{}
	}
	sortLists(o)
}
