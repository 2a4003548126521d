package refusal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// immutableField foresees that the API server refuses the change: it would change
// what the API's rules, or the CRD's, hold fixed after creation.
// Evidence: the API's validation of the kind; a transition rule of the CRD; an
// immutable ConfigMap or Secret. Counter-evidence: the values mean the same, which
// rules before this one have answered for. Sources: Kubernetes' validation of
// updates; x-kubernetes-validations; #12439, #14910, #1068, #5882.
func immutableField(r *state.Resource, open []*diff.Difference) (rule.Answer, bool) {
	fixed := immutable(r, open)
	if len(fixed) == 0 {
		return rule.Answer{}, false
	}
	c := rule.Answer{Mechanism: drift.ImmutableField, Differences: fixed, Confidence: drift.Likely, Sync: drift.WillFail}
	for _, d := range fixed {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s cannot change after creation: %s", d.Pointer, immutableBecause(r, d)))
	}
	outcome.Recreates(r, &c)
	return c, true
}

// immutable are the differences at fields that cannot change.
func immutable(r *state.Resource, open []*diff.Difference) []*diff.Difference {
	var fixed []*diff.Difference
	for _, d := range open {
		if immutableBecause(r, d) != "" {
			fixed = append(fixed, d)
		}
	}
	return fixed
}

// immutableBecause says which rule holds the field of a difference fixed, or "".
func immutableBecause(r *state.Resource, d *diff.Difference) string {
	if len(d.Steps) == 0 || sameAfterAllocation(d) {
		return ""
	}
	if on, _ := object.At(r.Live, "immutable"); on == true && r.Ref.Group == "" {
		switch d.Steps[0] {
		case "data", "binaryData", "stringData", "immutable":
			return "the object is marked immutable"
		}
	}
	if shrinks(r, d) {
		return "a claim cannot shrink, nor change before it is bound"
	}
	if r.Ref.Kind == "Job" && d.Pointer == "/spec/completions" && object.Text(r.Live, "spec", "completionMode") != "Indexed" {
		return "the API holds spec.completions fixed"
	}
	for _, rule := range FrozenRules[[2]string{r.Ref.Group, r.Ref.Kind}] {
		if rule.Covers(d.Steps) {
			return "the API holds " + rule.words() + " fixed"
		}
	}
	return transitionRule(r, d)
}

// sameAfterAllocation reports whether Git leaves empty what the API server
// allocates: an update without it keeps the live value.
func sameAfterAllocation(d *diff.Difference) bool {
	return d.InLive && (!d.InTarget || d.Target == "" || d.Target == nil) && len(d.Steps) > 1 && strings.HasPrefix(d.Steps[1], "clusterIP")
}

// shrinks reports whether a PersistentVolumeClaim would ask for less than it has,
// or for another size before it is bound.
func shrinks(r *state.Resource, d *diff.Difference) bool {
	if r.Ref.Group != "" || r.Ref.Kind != "PersistentVolumeClaim" || d.Pointer != "/spec/resources/requests/storage" {
		return false
	}
	if phase := object.Text(r.Live, "status", "phase"); phase != "" && phase != "Bound" {
		return true // an unbound answer cannot change at all
	}
	had, isOne := value.Quantity(words.Show(d.Live))
	wants, isToo := value.Quantity(words.Show(d.Target))
	if !isOne || !isToo || wants.Cmp(had) >= 0 {
		return false
	}
	// A larger request that was never granted may be taken back.
	granted, known := value.Quantity(object.Text(r.Live, "status", "capacity", "storage"))
	return !known || wants.Cmp(granted) <= 0
}

// frozen is a part of a kind that the API server holds fixed: everything at or
// below the path, except what begins with one of the exceptions.
type frozen struct {
	path   string
	except []string
}

// Covers reports whether the rule is for the field.
func (f frozen) Covers(steps []string) bool {
	path := strings.Split(f.path, ".")
	if len(steps) < len(path) {
		// A difference above the path changes it when it takes the path along.
		return len(f.except) == 0 && diff.Within(path, steps)
	}
	if !slices.Equal(path, steps[:len(path)]) {
		return false
	}
	rest := strings.Join(steps[len(path):], ".")
	for _, exception := range f.except {
		if rest == exception || strings.HasPrefix(rest, exception+".") || matchesWithItem(exception, steps[len(path):]) {
			return false
		}
	}
	return rest != "" || len(f.except) == 0
}

// matchesWithItem compares an exception in which "*" stands for any step.
func matchesWithItem(exception string, steps []string) bool {
	pattern := strings.Split(exception, ".")
	if len(steps) < len(pattern) {
		return false
	}
	for i, step := range pattern {
		if step != "*" && step != steps[i] {
			return false
		}
	}
	return true
}

func (f frozen) words() string {
	if len(f.except) == 0 {
		return f.path
	}
	return f.path + " other than " + strings.Join(f.except, ", ")
}

// FrozenRules are what Kubernetes' own validation of updates forbids, by group and
// kind. The roleRef of bindings is none of them here: Argo CD writes RBAC with
// `kubectl auth reconcile` first, which deletes a binding and creates it anew.
// Sources: pkg/apis/*/validation of kubernetes v1.34; gitops-engine resource_ops.go.
var FrozenRules = map[[2]string][]frozen{
	{"apps", "Deployment"}: {{path: "spec.selector"}},
	{"apps", "ReplicaSet"}: {{path: "spec.selector"}},
	{"apps", "DaemonSet"}:  {{path: "spec.selector"}},
	{"apps", "StatefulSet"}: {{path: "spec", except: []string{
		"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
		"volumeClaimTemplates.*.apiVersion", "volumeClaimTemplates.*.kind", "volumeClaimTemplates.*.status", "volumeClaimTemplates.*.metadata.creationTimestamp",
	}}},
	{"batch", "Job"}: {
		{path: "spec.template"},
		{path: "spec.selector"},
		{path: "spec.completionMode"},
		{path: "spec.podFailurePolicy"},
		{path: "spec.successPolicy"},
		{path: "spec.backoffLimitPerIndex"},
		{path: "spec.managedBy"},
	},
	{"", "Service"}: {{path: "spec.clusterIP"}, {path: "spec.clusterIPs"}},
	{"", "PersistentVolumeClaim"}: {{path: "spec", except: []string{
		"resources.requests.storage", "resources.requests", "volumeAttributesClassName",
	}}},
	{"", "PersistentVolume"}: {{path: "spec", except: []string{
		"capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "mountOptions", "storageClassName", "volumeAttributesClassName",
	}}},
	{"", "Pod"}: {{path: "spec", except: []string{
		"containers.*.image", "initContainers.*.image", "activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates", "nodeSelector",
	}}},
	{"", "Secret"}:                 {{path: "type"}},
	{"apps", "ControllerRevision"}: {{path: "data"}},
	{"storage.k8s.io", "StorageClass"}: {
		{path: "provisioner"}, {path: "parameters"}, {path: "reclaimPolicy"}, {path: "volumeBindingMode"},
	},
	{"storage.k8s.io", "VolumeAttributesClass"}:          {{path: "driverName"}, {path: "parameters"}},
	{"storage.k8s.io", "CSIDriver"}:                      {{path: "spec.attachRequired"}, {path: "spec.volumeLifecycleModes"}},
	{"scheduling.k8s.io", "PriorityClass"}:               {{path: "value"}, {path: "preemptionPolicy"}},
	{"node.k8s.io", "RuntimeClass"}:                      {{path: "handler"}},
	{"networking.k8s.io", "IngressClass"}:                {{path: "spec.controller"}},
	{"resource.k8s.io", "ResourceClaim"}:                 {{path: "spec"}},
	{"resource.k8s.io", "ResourceClaimTemplate"}:         {{path: "spec"}},
	{"discovery.k8s.io", "EndpointSlice"}:                {{path: "addressType"}},
	{"certificates.k8s.io", "CertificateSigningRequest"}: {{path: "spec"}},
	{"apiextensions.k8s.io", "CustomResourceDefinition"}: {{path: "spec.group"}, {path: "spec.scope"}, {path: "spec.names.plural"}, {path: "spec.names.kind"}},
}

// transitionRule finds a rule of the CRD that compares the field, or something
// above or beside it, with its old value.
func transitionRule(r *state.Resource, d *diff.Difference) string {
	root, _ := r.Shape()
	node := root.CRD
	for i := 0; node != nil; i++ {
		if rule := holdsOld(node, d, i); rule != "" {
			return fmt.Sprintf("the CRD demands %q at %s", rule, words.First(string(fieldpath.Of(d.Steps[:i]...)), "its root"))
		}
		if i == len(d.Steps) {
			break
		}
		node = childSchema(node, d.Steps[i])
	}
	return ""
}

// comparesOld finds "self.a.b == oldSelf.a.b", or "self == oldSelf", and which field it is.
var comparesOld = regexp.MustCompile(`(?:^|[^\w.])(?:self((?:\.\w+)*)\s*==\s*oldSelf((?:\.\w+)*)|oldSelf((?:\.\w+)*)\s*==\s*self((?:\.\w+)*))(?:[^\w.(]|$)`)

// holdsOld returns the validation of a schema node, so many steps down the
// pointer, that holds the difference fixed, or "". The API server asks it only
// where the node is there before and after.
func holdsOld(node map[string]any, d *diff.Difference, depth int) string {
	steps := d.Steps[depth:]
	if len(steps) == 0 && (!d.InLive || !d.InTarget) {
		return ""
	}
	for _, validation := range object.List(node, "x-kubernetes-validations") {
		rule := object.Text(validation, "rule")
		if !d.InLive && strings.Contains(rule, "has(oldSelf") {
			continue // what was not there may be added
		}
		for _, match := range comparesOld.FindAllStringSubmatch(rule, 20) {
			field, old := match[1]+match[4], match[2]+match[3]
			if field != old {
				continue
			}
			if field == "" || diff.Within(strings.Split(field[1:], "."), steps) {
				return rule
			}
		}
	}
	return ""
}

// childSchema follows one step of a pointer in a structural schema.
func childSchema(node map[string]any, step string) map[string]any {
	if property := object.Map(node, "properties", step); property != nil {
		return property
	}
	if items := object.Map(node, "items"); items != nil && value.IsIndex(step) {
		return items
	}
	return object.Map(node, "additionalProperties")
}
