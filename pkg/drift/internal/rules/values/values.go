// Package values has the rules that judge by the values and the schema of a field: two
// spellings of one value, defaults, fields that the API server drops, lists in another
// order, and what no comparison shows of them.
package values

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	netutils "k8s.io/utils/net"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// LastAppliedInGit answers: Git holds what the API server or kubectl alone should write,
// because the manifest was exported from a cluster. Evidence: Git itself declares
// the field.
func LastAppliedInGit(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if !d.InGit || len(d.Steps) < 2 || d.Steps[0] != "metadata" {
		return rule.Answer{}, false
	}
	exported := []string{"creationTimestamp", "uid", "resourceVersion", "generation", "selfLink", "managedFields", "deletionTimestamp"}
	lastApplied := d.Steps[1] == "annotations" && len(d.Steps) == 3 && d.Steps[2] == mark.LastApplied
	if !lastApplied && (!slices.Contains(exported, d.Steps[1]) || object.Annotation(r.Target, mark.LastApplied) == "") {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{"Git declares " + string(d.Pointer) + ", which only kubectl and the API server write: the manifest was exported from a cluster"}}, true
}

// StatusInGit answers: Git declares a status, which a sync cannot write because status is
// a subresource. Evidence: the field lies below /status and Git has it.
func StatusInGit(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if d.Steps[0] != "status" || r.StatusIsPlain() {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{"Git declares " + string(d.Pointer) + "; a sync cannot write status, its controller does"}}, d.InGit || d.InTarget
}

// PreserveUnknownFields answers: CRDs of v1 never keep spec.preserveUnknownFields: false.
// Source: the API server drops the default of the field on writing.
func PreserveUnknownFields(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	found := r.Ref.Group == "apiextensions.k8s.io" && r.Ref.Kind == "CustomResourceDefinition" && d.Pointer == "/spec/preserveUnknownFields"
	return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{"the API server drops preserveUnknownFields: false from CRDs"}}, found && !d.InLive
}

// AggregatedClusterRole answers: the rules of a ClusterRole with an aggregationRule are
// written by kube-controller-manager from the roles that it selects.
func AggregatedClusterRole(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if r.Ref.Group != "rbac.authorization.k8s.io" || r.Ref.Kind != "ClusterRole" || d.Steps[0] != "rules" {
		return rule.Answer{}, false
	}
	_, live := object.At(r.Live, "aggregationRule")
	_, target := object.At(r.Target, "aggregationRule")
	if !live && !target {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Likely, Sync: drift.FightsController, Evidence: []string{"the ClusterRole has an aggregationRule, so kube-controller-manager fills its rules from the roles that it selects"}}
	if w := r.WritersOf(d); w.Role == owners.Controller {
		c.Confidence = drift.Certain
		c.Evidence = append(c.Evidence, string(d.Pointer)+" was written by "+owners.By(w.Last))
	}
	return c, true
}

// QuantityFormat answers: both values are the same amount in another spelling ("1000m" and
// "1"). Kubernetes' own kinds are normalised by Argo CD unless the object has an
// unknown field; custom kinds never are. Counter-evidence: a person wrote another
// amount (then the amounts differ), or the field is text that merely looks like one.
func QuantityFormat(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if !d.InLive || !d.InTarget || !amounts(d.Steps) {
		return rule.Answer{}, false
	}
	live, isOne := value.Quantity(value.Text(d.Live))
	target, isToo := value.Quantity(value.Text(d.Target))
	if !isOne || !isToo || live.Cmp(target) != 0 {
		return rule.Answer{}, false
	}
	found, known := r.Shape()
	if known {
		found, known = found.At(d.Steps)
	}
	typed := known && (found.Quantity() || found.IntOrString())
	if !typed && (known && found.GoType != nil || !hasUnit(d.Live) && !hasUnit(d.Target)) {
		return rule.Answer{}, false // 1.1 and 1.10 are two versions
	}
	return rule.Answer{Confidence: drift.Certain, Sync: drift.HarmlessFlap, Evidence: []string{
		string(d.Pointer) + ": " + r.Show(d.Pointer, d.Target, true) + " in Git and " + r.Show(d.Pointer, d.Live, true) + " live are the same quantity",
	}}, true
}

// hasUnit reports whether a value is spelled as nothing but a quantity is: with a unit.
func hasUnit(v any) bool {
	spelled := value.Text(v)
	return spelled != "" && strings.ContainsAny(spelled[len(spelled)-1:], "munkKMGTPEi")
}

// amounts reports whether a field can hold a quantity: text in metadata or of a
// ConfigMap is never one.
func amounts(steps []string) bool {
	return steps[0] != "metadata" && steps[0] != "data" && !slices.Contains(steps, "annotations") && !slices.Contains(steps, "labels")
}

// ValueCanonicalised answers: both values mean the same: durations, times, IP addresses,
// host names in another case, numbers and texts of one number, white space at the
// end. Counter-evidence: data of ConfigMaps and Secrets, where every byte counts,
// and a person as the last writer.
func ValueCanonicalised(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if !d.InLive || !d.InTarget || !amounts(d.Steps) || r.Ref.Group == "" && (r.Ref.Kind == "ConfigMap" || r.Ref.Kind == "Secret") {
		return rule.Answer{}, false
	}
	as, same := sameMeaning(value.Text(d.Live), value.Text(d.Target))
	w := r.WritersOf(d)
	if !same {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{
		string(d.Pointer) + ": " + r.Show(d.Pointer, d.Target, true) + " in Git and " + r.Show(d.Pointer, d.Live, true) + " live are the same " + as,
	}}
	if w.Role != owners.Nobody && !w.Argo {
		c.Sync = drift.HarmlessFlap
		c.Evidence = append(c.Evidence, "the live spelling was written by "+owners.By(w.Last))
	}
	return c, true
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9*]([A-Za-z0-9.-]*[A-Za-z0-9])?\.?$`)

// sameMeaning says as what two different texts are equal: a live one, and Git's.
func sameMeaning(a, b string) (string, bool) {
	if a == "" || b == "" {
		return "", false
	}
	var x, y metav1.Duration
	if x.UnmarshalJSON([]byte(value.Canonical(a))) == nil && y.UnmarshalJSON([]byte(value.Canonical(b))) == nil && x.Duration == y.Duration {
		return "duration", true
	}
	if s, errA := state.ParseTime(a); errA == nil {
		if t, errB := state.ParseTime(b); errB == nil && s.Equal(&t) {
			return "time", true
		}
	}
	if s, t := netutils.ParseIPSloppy(a), netutils.ParseIPSloppy(b); s != nil && t != nil && s.Equal(t) {
		return "IP address", true
	}
	if _, s, errA := netutils.ParseCIDRSloppy(a); errA == nil {
		if _, t, errB := netutils.ParseCIDRSloppy(b); errB == nil && s.String() == t.String() {
			return "network", true
		}
	}
	// Only what has a dot is for sure the name of a host, and live has it in lower case.
	if hostName.MatchString(a) && hostName.MatchString(b) && strings.Contains(a, ".") && strings.ToLower(a) == a &&
		strings.TrimSuffix(a, ".") == strings.ToLower(strings.TrimSuffix(b, ".")) {
		return "host name, whatever its case", true
	}
	if a == b {
		return "number", true
	}
	if a == strings.TrimSpace(b) {
		return "text, white space at the ends apart", true
	}
	return "", false
}

// ListReordered answers: a list holds the same items on both sides in another order.
// Evidence: the multisets of items are equal. Counter-evidence: a person or Git moved
// an item, which somebody wants.
func ListReordered(r *state.Resource, open []*diff.Difference) []rule.Answer {
	moved := map[string][]*diff.Difference{}
	judged := map[string]bool{}
	w := map[string]bool{}
	for _, d := range open {
		// The outermost list decides: its items may hold lists themselves.
		for i := 1; i < len(d.Steps); i++ {
			if !value.IsIndex(d.Steps[i]) {
				continue
			}
			held := strings.Join(d.Steps[:i], "\x00")
			if _, known := judged[held]; !known && r.Application.Ctx.Err() == nil {
				judged[held] = permuted(r, d.Steps[:i])
			}
			if judged[held] {
				moved[held] = append(moved[held], d)
				w[held] = w[held] || outcome.Wanted(r, d)
				break
			}
		}
	}
	var answers []rule.Answer
	for _, held := range slices.Sorted(maps.Keys(moved)) {
		for _, d := range moved[held] {
			if !w[held] {
				answers = append(answers, reordered(r, d))
			}
		}
	}
	return answers
}

func reordered(r *state.Resource, d *diff.Difference) rule.Answer {
	c := rule.AnswerFor(r, d, drift.Certain, drift.HarmlessFlap, "the list that holds "+string(d.Pointer)+" has the same items in another order")
	// The order of items with keys has no owner.
	if remover, found := r.Remover(); found && owners.RoleOf(r.Ref.Kind, remover) == owners.Person {
		c = rule.AnswerFor(r, d, drift.Likely, drift.OverwritesLive, c.Evidence[0], "after Argo CD, the object was written by "+owners.By(remover))
	}
	c.Mechanism, c.Differences = drift.ListReordered, []*diff.Difference{d}
	return c
}

// permuted reports whether the list at the steps holds the same items in another order.
func permuted(r *state.Resource, steps []string) bool {
	live, _ := diff.Follow(r.Normalized, r.Normalized, steps)
	target, _ := diff.Follow(r.Predicted, r.Normalized, steps)
	a, isList := live.([]any)
	b, isListToo := target.([]any)
	if !isList || !isListToo || len(a) != len(b) || len(a) < 2 {
		return false
	}
	return diff.SameTokens(diff.Spell(a), diff.Spell(b)) && !value.Equal(live, target)
}

// withoutFilled leaves out what the API server filled in beside another change: what
// comes back by itself when all the additions are taken away.
func withoutFilled(r *state.Resource, found []addition) []addition {
	if len(found) == 0 || !r.BuiltIn() {
		return found
	}
	data, err := json.Marshal(r.Live)
	if err != nil {
		return found
	}
	var bare object.Object
	if kjson.Unmarshal(data, &bare) != nil {
		return found
	}
	taken := fieldpath.NewSet()
	for _, one := range found {
		steps := one.pointer.Steps()
		above, _ := one.pointer.Parent().Value(bare)
		if holder, ok := above.(map[string]any); ok { // an item of a list comes with no default
			delete(holder, steps[len(steps)-1])
			taken.Insert(one.pointer)
		}
	}
	filled := kind.WithDefaults(bare)
	return slices.DeleteFunc(found, func(one addition) bool {
		v, back := one.pointer.Value(filled)
		return back && taken.Has(one.pointer) && value.Equal(v, one.value)
	})
}
