package drift

import (
	"regexp"
	"slices"
	"strings"

	quantities "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	netutils "k8s.io/utils/net"
)

// lastAppliedInGit: Git holds what the API server or kubectl alone should write,
// because the manifest was exported from a cluster. Evidence: Git itself declares
// the field.
func lastAppliedInGit(r *resource, d *difference) (claim, bool) {
	if !d.inGit || len(d.steps) < 2 || d.steps[0] != "metadata" {
		return claim{}, false
	}
	exported := []string{"creationTimestamp", "uid", "resourceVersion", "generation", "selfLink", "managedFields", "deletionTimestamp"}
	lastApplied := d.steps[1] == "annotations" && len(d.steps) == 3 && d.steps[2] == lastAppliedAnnotation
	if !lastApplied && (!slices.Contains(exported, d.steps[1]) || annotation(r.target, lastAppliedAnnotation) == "") {
		return claim{}, false
	}
	return claim{confidence: Certain, sync: Noop, evidence: []string{"Git declares " + string(d.pointer) + ", which only kubectl and the API server write: the manifest was exported from a cluster"}}, true
}

// statusInGit: Git declares a status, which a sync cannot write because status is
// a subresource. Evidence: the field lies below /status and Git has it.
func statusInGit(_ *resource, d *difference) (claim, bool) {
	if d.steps[0] != "status" {
		return claim{}, false
	}
	return claim{confidence: Certain, sync: Noop, evidence: []string{"Git declares " + string(d.pointer) + "; a sync cannot write status, its controller does"}}, d.inGit || d.inTarget
}

// preserveUnknownFields: CRDs of v1 never keep spec.preserveUnknownFields: false.
// Source: the API server drops the default of the field on writing.
func preserveUnknownFields(r *resource, d *difference) (claim, bool) {
	found := r.ref.Group == "apiextensions.k8s.io" && r.ref.Kind == "CustomResourceDefinition" && d.pointer == "/spec/preserveUnknownFields"
	return claim{confidence: Certain, sync: Noop, evidence: []string{"the API server drops preserveUnknownFields: false from CRDs"}}, found && !d.inLive
}

// aggregatedClusterRole: the rules of a ClusterRole with an aggregationRule are
// written by kube-controller-manager from the roles that it selects.
func aggregatedClusterRole(r *resource, d *difference) (claim, bool) {
	if r.ref.Group != "rbac.authorization.k8s.io" || r.ref.Kind != "ClusterRole" || d.steps[0] != "rules" {
		return claim{}, false
	}
	_, live := at(r.live, "aggregationRule")
	_, target := at(r.target, "aggregationRule")
	if !live && !target {
		return claim{}, false
	}
	c := claim{confidence: Likely, sync: FightsController, evidence: []string{"the ClusterRole has an aggregationRule, so kube-controller-manager fills its rules from the roles that it selects"}}
	if w := r.writersOf(d); w.role == controller {
		c.confidence = Certain
		c.evidence = append(c.evidence, string(d.pointer)+" was written by "+by(w.last))
	}
	return c, true
}

// quantityFormat: both values are the same amount in another spelling ("1000m" and
// "1"). Kubernetes' own kinds are normalised by Argo CD unless the object has an
// unknown field; custom kinds never are. Counter-evidence: a person wrote another
// amount (then the amounts differ), or the field is text that merely looks like one.
func quantityFormat(r *resource, d *difference) (claim, bool) {
	if !d.inLive || !d.inTarget || !amounts(d.steps) {
		return claim{}, false
	}
	live, errLive := quantities.ParseQuantity(plain(d.live))
	target, errTarget := quantities.ParseQuantity(plain(d.target))
	if errLive != nil || errTarget != nil || live.Cmp(target) != 0 {
		return claim{}, false
	}
	found, known := r.shape()
	if known {
		if found, known = found.at(d.steps); known && found.goType != nil && !found.quantity() && !found.intOrString() {
			return claim{}, false
		}
	}
	return claim{confidence: Certain, sync: HarmlessFlap, evidence: []string{
		string(d.pointer) + ": " + canonical(d.target) + " in Git and " + canonical(d.live) + " live are the same quantity",
	}}, true
}

// amounts reports whether a field can hold a quantity: text in metadata or of a
// ConfigMap is never one.
func amounts(steps []string) bool {
	return steps[0] != "metadata" && steps[0] != "data" && !slices.Contains(steps, "annotations") && !slices.Contains(steps, "labels")
}

func plain(value any) string {
	if spelled, ok := value.(string); ok {
		return spelled
	}
	if _, ok := number(value); ok {
		return canonical(value)
	}
	return ""
}

// valueCanonicalised: both values mean the same: durations, times, IP addresses,
// host names in another case, numbers and texts of one number, white space at the
// end. Counter-evidence: data of ConfigMaps and Secrets, where every byte counts,
// and a person as the last writer.
func valueCanonicalised(r *resource, d *difference) (claim, bool) {
	if !d.inLive || !d.inTarget || !amounts(d.steps) || r.ref.Group == "" && (r.ref.Kind == "ConfigMap" || r.ref.Kind == "Secret") {
		return claim{}, false
	}
	as, same := sameMeaning(plain(d.live), plain(d.target))
	w := r.writersOf(d)
	if !same || w.role == person && as == "text" {
		return claim{}, false
	}
	c := claim{confidence: Certain, sync: Noop, evidence: []string{
		string(d.pointer) + ": " + canonical(d.target) + " in Git and " + canonical(d.live) + " live are the same " + as,
	}}
	if w.role != nobody && !w.argo {
		c.sync = HarmlessFlap
		c.evidence = append(c.evidence, "the live spelling was written by "+by(w.last))
	}
	return c, true
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9*]([A-Za-z0-9.-]*[A-Za-z0-9])?\.?$`)

// sameMeaning says as what two different texts are equal.
func sameMeaning(a, b string) (string, bool) {
	if a == "" || b == "" {
		return "", false
	}
	var x, y metav1.Duration
	if x.UnmarshalJSON([]byte(canonical(a))) == nil && y.UnmarshalJSON([]byte(canonical(b))) == nil && x.Duration == y.Duration {
		return "duration", true
	}
	if s, errA := parseTime(a); errA == nil {
		if t, errB := parseTime(b); errB == nil && s.Equal(&t) {
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
	if hostName.MatchString(a) && hostName.MatchString(b) && strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, ".")) {
		return "name, whatever its case", true
	}
	if a == b {
		return "number", true
	}
	if strings.TrimSpace(a) == strings.TrimSpace(b) {
		return "text, white space at the ends apart", true
	}
	return "", false
}

// listReordered: a list holds the same items on both sides in another order.
// Evidence: the multisets of items are equal.
func listReordered(r *resource, open []*difference) []claim {
	judged := map[string]bool{}
	var claims []claim
	for _, d := range open {
		// The outermost list decides: its items may hold lists themselves.
		for i := 1; i < len(d.steps); i++ {
			if !isIndex(d.steps[i]) {
				continue
			}
			held := strings.Join(d.steps[:i], "\x00")
			same, known := judged[held]
			if !known {
				same = permuted(r, d.steps[:i])
				judged[held] = same
			}
			if same {
				claims = append(claims, claim{
					mechanism: ListReordered, differences: []*difference{d}, confidence: Certain, sync: HarmlessFlap,
					evidence: []string{"the list that holds " + string(d.pointer) + " has the same items in another order"},
				})
				break
			}
		}
	}
	return claims
}

// permuted reports whether the list at the steps holds the same items in another order.
func permuted(r *resource, steps []string) bool {
	live, _ := follow(r.normalized, r.normalized, steps)
	target, _ := follow(r.predicted, r.normalized, steps)
	a, isList := live.([]any)
	b, isListToo := target.([]any)
	if !isList || !isListToo || len(a) != len(b) || len(a) < 2 {
		return false
	}
	return sameTokens(spell(a), spell(b)) && !equal(live, target)
}
