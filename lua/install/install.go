// Package install puts proven health checks into a live argocd-cm, and takes them out
// again.
//
// [New] compares the live ConfigMap with the checks that are wanted and decides, pure
// of any network; [Plan.Diff] shows what would happen; [Plan.Write] does it in one
// server-side apply under a field manager of its own, [Manager]. What Moorpin wrote
// before and is no longer wanted goes, so the checks given are the whole set; an empty
// set uninstalls. The same plan twice changes nothing the second time.
//
// It never touches what is not its own: a key of another manager, a kind that another
// check of argocd-cm covers already, and a kind that Argo CD checks by itself are left
// alone with a [Refusal], unless the options name them. It refuses altogether a
// ConfigMap that Argo CD cannot load, or that would grow beyond what the API server
// takes.
package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/moorpin/moorpin/lua/gaps"
	"github.com/moorpin/moorpin/lua/overrides"
)

// Manager is the field manager under which checks are written.
const Manager = "moorpin-lua"

// MaxBytes is how much the API server lets the values of a ConfigMap hold.
const MaxBytes = 1 << 20

// Check is a proven check for a kind.
type Check struct {
	Kind   schema.GroupKind
	Script string
}

// Options say how to plan.
type Options struct {
	// TakeOver names keys, "resource.customizations.health.group_Kind" or "group_Kind",
	// that are written although something else has a say in them.
	TakeOver []string
}

// ConfigMaps is the cluster as Write needs it.
type ConfigMaps interface {
	// Apply writes an object by server-side apply; force takes over the fields of
	// other managers.
	Apply(ctx context.Context, manager string, object map[string]any, force bool) error
}

// Action is what happens to a key.
type Action string

// The actions on a key.
const (
	Add    Action = "add"
	Update Action = "update"
	Remove Action = "remove"
	Keep   Action = "keep"
)

// Change is what happens to one key.
type Change struct {
	Key           string
	Action        Action
	Before, After string
}

// Refusal says why a check is not written.
type Refusal struct {
	Key, Reason string
}

// String is the refusal for people.
func (r Refusal) String() string { return r.Key + " is left alone: " + r.Reason }

// Plan is what an installation would do.
type Plan struct {
	// Changes holds every key of ours, sorted.
	Changes []Change
	// Refusals holds the checks that are not written, sorted by key.
	Refusals []Refusal
	// Warnings are sentences about what is written.
	Warnings []string
	// Bytes is what the ConfigMap's values hold afterwards.
	Bytes int

	object map[string]any
	force  bool
}

// New plans to make the given checks the whole set of ours in the live ConfigMap.
func New(live map[string]any, checks []Check, options Options) (Plan, error) {
	state, err := read(live)
	if err != nil {
		return Plan{}, err
	}
	allowed, err := takeOvers(checks, options)
	if err != nil {
		return Plan{}, err
	}
	planner := planner{state: state, allowed: allowed, wanted: map[string]string{}}
	for _, check := range checks {
		if err := planner.add(check); err != nil {
			return Plan{}, err
		}
	}
	return planner.finish()
}

// Empty reports whether the plan changes nothing.
func (p Plan) Empty() bool {
	return !slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Keep })
}

// Write makes the plan's changes in one apply, unless there are none. It fails when
// the ConfigMap has changed since it was read.
func (p Plan) Write(ctx context.Context, cluster ConfigMaps) error {
	if p.Empty() {
		return nil
	}
	if err := cluster.Apply(ctx, Manager, p.object, p.force); err != nil {
		return fmt.Errorf("write argocd-cm: %w", err)
	}
	return nil
}

// takeOvers returns the keys that may be taken over.
func takeOvers(checks []Check, options Options) (map[string]bool, error) {
	known := map[string]bool{}
	for _, check := range checks {
		known[overrides.HealthKey(check.Kind)] = true
	}
	allowed := map[string]bool{}
	for _, name := range options.TakeOver {
		key := name
		if kind, ok := overrides.ParseName(name); ok && !known[name] {
			key = overrides.HealthKey(kind)
		}
		if !known[key] {
			return nil, fmt.Errorf("take over %s: no check of that name is to be installed; name a kind as group_Kind", name)
		}
		allowed[key] = true
	}
	return allowed, nil
}

// planner gathers the decisions on single checks.
type planner struct {
	state    state
	allowed  map[string]bool
	wanted   map[string]string
	refusals []Refusal
	warnings []string
	force    bool
}

// add decides on one check.
func (p *planner) add(check Check) error {
	key := overrides.HealthKey(check.Kind)
	if problems := validation.IsConfigMapKey(key); len(problems) > 0 {
		return fmt.Errorf("kind %s: its key %s is none that a ConfigMap can hold: %s", check.Kind, key, strings.Join(problems, "; "))
	}
	if _, twice := p.wanted[key]; twice {
		return fmt.Errorf("kind %s: there are two checks for it; keep one", check.Kind)
	}
	reason, forced := p.obstacle(check.Kind, key, check.Script)
	if reason != "" && !p.allowed[key] {
		p.refusals = append(p.refusals, Refusal{key, reason + "; --take-over " + overrides.Name(check.Kind) + " writes it all the same"})
		return nil
	}
	p.force = p.force || reason != "" && forced
	p.wanted[key] = check.Script
	if by, later := gaps.Later(check.Kind); later {
		p.warnings = append(p.warnings, fmt.Sprintf("%s: Argo CD %s checks this kind by itself; take this key away when you upgrade, for it would hide that check", key, by))
	}
	return nil
}

// obstacle says what else has a say in a kind's health, and whether writing the key
// takes a field from its manager. An empty reason means nothing has.
func (p *planner) obstacle(kind schema.GroupKind, key, script string) (reason string, forced bool) {
	value, present := p.state.data[key]
	ours := p.state.owners.has(key, Manager)
	others := p.state.owners.others(key)
	switch {
	case present && ours && (len(others) == 0 || value == script):
		return "", false
	case present && value == script:
		return "it holds this very check already, and belongs to " + named(others), true
	case present:
		return "it belongs to " + named(others), true
	}
	if check, found := p.state.checks.Find(kind); found {
		return check.Where() + " checks the kind already, and this key would hide it", false
	}
	if _, builtin := gaps.Builtin(kind); builtin {
		return "Argo CD checks the kind by itself, and this key would hide that check", false
	}
	return "", false
}

func named(managers []string) string {
	if len(managers) == 0 {
		return "a manager that the API server has not recorded"
	}
	return "the field manager " + strings.Join(managers, " and ")
}

// finish turns the decisions into a plan.
func (p *planner) finish() (Plan, error) {
	plan := Plan{Refusals: p.refusals, Warnings: slices.Concat(p.state.warnings, p.warnings), force: p.force}
	after := maps.Clone(p.state.data)
	for _, key := range p.state.owners.keys(Manager) {
		value, present := p.state.data[key]
		if _, still := p.wanted[key]; present && !still && len(p.state.owners.others(key)) == 0 {
			delete(after, key)
			plan.Changes = append(plan.Changes, Change{Key: key, Action: Remove, Before: value})
		}
	}
	for key, script := range p.wanted {
		after[key] = script
		before, present := p.state.data[key]
		action := Update
		switch {
		case !present:
			action = Add
		case before == script && p.state.owners.has(key, Manager):
			action = Keep
		}
		plan.Changes = append(plan.Changes, Change{Key: key, Action: action, Before: before, After: script})
	}
	slices.SortFunc(plan.Changes, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
	slices.SortFunc(plan.Refusals, func(a, b Refusal) int { return strings.Compare(a.Key, b.Key) })
	slices.Sort(plan.Warnings)
	plan.Bytes = p.state.binary + size(after)
	plan.object = p.state.applied(p.wanted)
	if _, err := overrides.Parse(after); err != nil {
		return Plan{}, fmt.Errorf("check the outcome: %w", err)
	}
	if plan.Bytes > MaxBytes && !plan.Empty() {
		return Plan{}, tooLarge(plan, size(p.state.data)+p.state.binary)
	}
	return plan, nil
}

func tooLarge(plan Plan, before int) error {
	return fmt.Errorf("argocd-cm would hold %d bytes, %d more than the %d that a ConfigMap may hold: it holds %d now; install fewer kinds, or free space in it",
		plan.Bytes, plan.Bytes-MaxBytes, MaxBytes, before)
}
