package lua

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/moorpin/moorpin/lua/generate"
	"github.com/moorpin/moorpin/lua/overrides"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/health"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// outcome is what became of a kind.
type outcome string

const (
	written   outcome = "written"   // its check is proven
	abstained outcome = "abstained" // the evidence is not good enough
	refused   outcome = "refused"   // its CRD cannot be used
	disproven outcome = "disproven" // its check did not prove right
)

// result is what generate has to say of one kind.
type result struct {
	kind    schema.GroupKind
	outcome outcome
	// why there is no check; empty where there is one.
	why    string
	check  health.Check
	script string
	proof  verify.Proof
	live   trial
}

func (r *result) name() string { return overrides.Name(r.kind) }

func compareResults(a, b result) int {
	return cmp.Or(cmp.Compare(a.kind.Group, b.kind.Group), cmp.Compare(a.kind.Kind, b.kind.Kind), cmp.Compare(a.why, b.why))
}

// source is a CRD to make a check from.
type source struct {
	kind schema.GroupKind
	crd  manifest.Object
}

// distinct keeps one CRD for each kind. Of equal ones the first counts; a kind whose
// CRDs disagree is refused, for nobody can tell which of them the cluster has.
func distinct(crds []manifest.Object) ([]source, []result) {
	var sources []source
	var bad []result
	at := map[schema.GroupKind]int{}
	disagree := map[schema.GroupKind]string{}
	for _, crd := range crds {
		kind, err := kindOf(crd)
		if err != nil {
			bad = append(bad, result{kind: schema.GroupKind{Kind: crd.Name()}, outcome: refused, why: err.Error()})
			continue
		}
		if why := misnamed(kind); why != "" {
			bad = append(bad, result{kind: kind, outcome: refused, why: fmt.Sprintf("%s: %s", crd.Origin, why)})
			continue
		}
		first, seen := at[kind]
		switch {
		case !seen:
			at[kind] = len(sources)
			sources = append(sources, source{kind, crd})
		case !reflect.DeepEqual(sources[first].crd.Content["spec"], crd.Content["spec"]):
			disagree[kind] = fmt.Sprintf("its CRDs in %s and %s disagree; keep the one that the cluster has", sources[first].crd.Origin, crd.Origin)
		}
	}
	for kind, why := range disagree {
		bad = append(bad, result{kind: kind, outcome: refused, why: why})
	}
	return slices.DeleteFunc(sources, func(s source) bool { return disagree[s.kind] != "" }), bad
}

// misnamed says why no API server takes a kind of this name; empty for one that it takes.
// The name becomes those of files and of a key in argocd-cm, where one that is malformed
// takes all settings of Argo CD away.
func misnamed(kind schema.GroupKind) string {
	problems := validation.IsDNS1123Subdomain(kind.Group)
	problems = append(problems, validation.IsDNS1035Label(strings.ToLower(kind.Kind))...)
	problems = append(problems, validation.IsConfigMapKey(overrides.HealthKey(kind))...)
	if len(problems) == 0 {
		return ""
	}
	return fmt.Sprintf("the group %q and the kind %q are no names that an API server takes: %s", kind.Group, kind.Kind, problems[0])
}

// derive makes the check for one CRD, unproven as yet.
func (g *generating) derive(from source) result {
	made := result{kind: from.kind}
	check, err := health.Derive(from.crd.Content, health.Options{ReadyFalse: health.ReadyFalse(g.readyFalse)})
	if err != nil {
		made.outcome, made.why = refused, fmt.Sprintf("%s: %v", from.crd.Origin, err)
		return made
	}
	made.check = check
	if at := slices.Index(grades, check.Grade); at < 0 || at > slices.Index(grades, health.Grade(g.minGrade)) {
		made.outcome, made.why = abstained, strings.Join(check.Evidence, "; ")
		return made
	}
	made.outcome = disproven
	if made.script, err = generate.Script(check); err != nil {
		made.why = err.Error()
	}
	return made
}

// prove proves a check that has a script. The error is that ctx has ended.
func (r *result) prove(ctx context.Context) error {
	if r.script == "" {
		return nil
	}
	var err error
	r.proof, err = verify.Prove(ctx, r.check, r.script)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("prove the checks: %w", ctx.Err())
	case err != nil:
		r.why = err.Error()
	default:
		r.outcome = written
	}
	return nil
}

// trial is how a check did on live objects.
type trial struct {
	tried    bool
	codes    map[health.Code]int
	problems []string
}

// String counts the answers, "3 Healthy, 1 Degraded".
func (t trial) String() string {
	if !t.tried {
		return ""
	}
	parts := []string{}
	for _, code := range slices.Sorted(maps.Keys(t.codes)) {
		parts = append(parts, fmt.Sprintf("%d %s", t.codes[code], code))
	}
	if len(parts) == 0 {
		return "no objects"
	}
	return strings.Join(parts, ", ")
}

// tryLive runs each check on the cluster's objects of its kind. A check that fails on
// one is disproven; objects that cannot be read are only spoken of.
func tryLive(ctx context.Context, from cluster, results []result) {
	for i := range results {
		if results[i].outcome != written {
			continue
		}
		one := &results[i]
		one.live = try(ctx, from, one.kind, func(object map[string]any) (health.Status, error) {
			return verify.Compare(ctx, one.check, one.script, object)
		})
		for _, problem := range one.live.problems {
			if strings.HasPrefix(problem, onObject) {
				one.outcome, one.why = disproven, problem
			}
		}
	}
}

// onObject begins the problems that are the check's own.
const onObject = "on the live object "

func try(ctx context.Context, from cluster, kind schema.GroupKind, run func(map[string]any) (health.Status, error)) trial {
	made := trial{tried: true, codes: map[health.Code]int{}}
	if _, served, err := from.Count(ctx, kind.Group, kind.Kind); err == nil && !served {
		return made
	}
	for object, err := range from.All(ctx, kind.Group, kind.Kind, "") {
		if err != nil {
			made.problems = append(made.problems, fmt.Sprintf("its live objects are not all tried: %v", err))
			return made
		}
		status, err := run(object)
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			made.problems = append(made.problems, "its live objects are not all tried: interrupted")
			return made
		}
		if err != nil {
			made.problems = append(made.problems, fmt.Sprintf("%s%s: %v", onObject, manifest.Object{Content: object}, err))
			continue
		}
		made.codes[status.Code]++
	}
	return made
}
