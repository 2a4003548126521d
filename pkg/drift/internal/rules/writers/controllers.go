package writers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// RuntimePopulated answers: a controller fills a value of a ConfigMap or Secret that Git pins
// empty or at its start value. A sync blanks it.
func RuntimePopulated(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if r.Ref.Group != "" || r.Ref.Kind != "Secret" && r.Ref.Kind != "ConfigMap" {
		return rule.Answer{}, false
	}
	if d.Steps[0] != "data" && d.Steps[0] != "binaryData" && d.Steps[0] != "stringData" {
		return rule.Answer{}, false
	}
	w := r.WritersOf(d)
	if w.Role != owners.Controller || w.Argo {
		return rule.Answer{}, false
	}
	sync := drift.OverwritesLive
	if r.Ref.Kind == "Secret" || value.IsEmpty(d.Target) || !d.InTarget {
		sync = drift.Destructive
	}
	return rule.AnswerFor(r, d, drift.Certain, sync, written(r, d, w), "a sync puts Git's value back over what was filled in at run time"), true
}

// OperatorWriteback answers: a controller rewrote a declared field with another meaning.
// Evidence: the newest owner of the live value is neither Argo CD, nor a tool of
// people, nor something that applies manifests.
func OperatorWriteback(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	if w.Role != owners.Controller || w.Argo && value.Equal(d.Applied, d.Live) {
		return rule.Answer{}, false
	}
	confidence := drift.Certain
	if w.Argo {
		confidence = drift.Likely
	}
	return rule.AnswerFor(r, d, confidence, drift.FightsController, written(r, d, w)), true
}

// CABundle answers: the certificate authority of a webhook, CRD conversion or APIService is
// injected by a controller. Evidence: the field is called caBundle, live holds one,
// and no person wrote it.
func CABundle(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if d.Steps[len(d.Steps)-1] != "caBundle" || !d.InLive || value.IsEmpty(d.Live) {
		return rule.Answer{}, false
	}
	w := r.WritersOf(d)
	if w.Role == owners.Person || w.Role == owners.Applier || w.Argo && value.Equal(d.Applied, d.Live) && d.InApplied {
		return rule.Answer{}, false
	}
	c := rule.AnswerFor(r, d, drift.Likely, drift.FightsController, fmt.Sprintf("%s holds a certificate authority live, and %s in Git", d.Pointer, placeholder(d)))
	if w.Role == owners.Controller {
		c.Confidence = drift.Certain
		c.Evidence = append(c.Evidence, "it was written by "+owners.By(w.Last))
	}
	for name := range object.Map(r.Live, "metadata", "annotations") {
		if strings.Contains(name, "inject-ca-from") || strings.Contains(name, "inject-cabundle") || strings.Contains(name, "inject-apiserver-ca") {
			c.Confidence = drift.Certain
			c.Evidence = append(c.Evidence, "the annotation "+name+" asks for the injection")
		}
	}
	if r.Ref.Kind == "CustomResourceDefinition" && d.InGit && !value.IsEmpty(d.Git) && !value.Bundle(d.Git) {
		c.Sync = drift.WillFail
		c.Evidence = append(c.Evidence, "Git's placeholder is no certificate; the API server refuses it from Kubernetes 1.31 on")
	}
	return c, true
}

func placeholder(d *diff.Difference) string {
	if !d.InTarget || value.IsEmpty(d.Target) {
		return "nothing"
	}
	return "a placeholder"
}

// Replicas answers: an autoscaler sets the replicas. Evidence: an HPA or a ScaledObject that
// targets the object, or a writer through the scale subresource that is no person.
func Replicas(r *state.Resource, open []*diff.Difference) []rule.Answer {
	for _, d := range open {
		if string(d.Pointer) != replicasPointer(r) || !d.InLive {
			continue
		}
		if c, ok := scaled(r, d); ok {
			c.Differences = []*diff.Difference{d}
			return []rule.Answer{c}
		}
	}
	return nil
}

// replicasPointer is where the scale subresource keeps the wanted replicas.
func replicasPointer(r *state.Resource) string {
	if crd, found := r.Application.Crd(r.Ref.Group, r.Ref.Kind); found {
		for _, version := range object.List(crd, "spec", "versions") {
			if path := object.Text(version, "subresources", "scale", "specReplicasPath"); path != "" {
				return strings.ReplaceAll(path, ".", "/")
			}
		}
	}
	return "/spec/replicas"
}

func scaled(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	hpa, byHPA := r.Autoscaler("autoscaling", "HorizontalPodAutoscaler")
	keda, byKeda := r.Autoscaler("keda.sh", "ScaledObject")
	if byHPA && !byKeda {
		for _, owner := range object.List(hpa, "metadata", "ownerReferences") {
			byKeda = byKeda || object.Text(owner, "kind") == "ScaledObject"
		}
		byKeda = byKeda || strings.HasPrefix(object.Text(hpa, "metadata", "name"), "keda-hpa-")
	}
	byKeda = byKeda || w.Role == owners.Controller && strings.HasPrefix(w.Last.Manager, "keda")
	through := w.Role == owners.Controller && w.Last.Subresource == "scale"
	if !byHPA && !byKeda && (!through || w.Last.Manager != "kube-controller-manager") {
		return rule.Answer{}, false
	}
	if w.Argo && !through && value.Equal(d.Applied, d.Live) {
		return rule.Answer{}, false
	}
	c := rule.AnswerFor(r, d, drift.Likely, drift.FightsController)
	c.Mechanism = drift.HPAReplicas
	if byKeda {
		c.Mechanism = drift.KedaReplicas
	}
	for _, scaler := range []object.Object{keda, hpa} {
		if scaler != nil {
			ref := drift.RefOf(scaler)
			c.Evidence = append(c.Evidence, fmt.Sprintf("%s %s scales the object", ref.Kind, ref.Name))
		}
	}
	if w.Role != owners.Nobody {
		c.Evidence = append(c.Evidence, written(r, d, w))
	}
	if through && (byHPA || byKeda) {
		c.Confidence = drift.Certain
	}
	return c, true
}

// ProgressiveDelivery answers: a controller that shifts traffic writes weights, selectors
// and the like. Evidence: its manager is the newest owner, or a Rollout or Canary
// refers to the object and the field is one that such controllers write.
func ProgressiveDelivery(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	manager := strings.HasPrefix(w.Last.Manager, "rollouts-controller") || strings.HasPrefix(w.Last.Manager, "argo-rollouts") || strings.HasPrefix(w.Last.Manager, "flagger")
	referrer, referred := referredBy(r)
	if w.Role == owners.Person || w.Role == owners.Applier || w.Argo && value.Equal(d.Applied, d.Live) && d.InApplied {
		return rule.Answer{}, false
	}
	if !manager && (!referred || !shifts(d.Steps)) {
		return rule.Answer{}, false
	}
	c := rule.AnswerFor(r, d, drift.Likely, drift.OverwritesLive)
	if d.InLive && !d.InTarget && !d.InApplied && r.LastApplied != nil && r.BuiltIn() && !r.SyncsServerSide() {
		c.Sync, c.Loss = drift.Noop, nil
		c.Evidence = append(c.Evidence, "a client-side apply leaves what only live has")
	}
	if w.Role != owners.Nobody {
		c.Evidence = append(c.Evidence, written(r, d, w))
	}
	if referred {
		ref := drift.RefOf(referrer)
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s %s refers to the object", ref.Kind, ref.Name))
	}
	if manager {
		c.Confidence = drift.Certain
	}
	return c, true
}

// shifts reports whether a field is one with which traffic is shifted.
func shifts(steps []string) bool {
	return slices.ContainsFunc(steps, func(step string) bool {
		return step == "weight" || step == "selector" || step == "rollouts-pod-template-hash" || strings.Contains(step, "canary")
	})
}

// referredBy returns a Rollout or Canary that names the object.
func referredBy(r *state.Resource) (object.Object, bool) {
	var candidates []object.Object
	for _, kind := range [][2]string{{"argoproj.io", "Rollout"}, {"flagger.app", "Canary"}} {
		candidates = append(candidates, r.Application.Related.Of(kind[0], kind[1])...)
		for _, other := range r.Application.ByKind(kind[0], kind[1]) {
			if other.Live != nil && other != r {
				candidates = append(candidates, other.Live)
			}
		}
	}
	for _, candidate := range candidates {
		if object.Text(candidate, "metadata", "namespace") == r.Ref.Namespace && names(object.Map(candidate, "spec"), r.Ref.Name) {
			return candidate, true
		}
	}
	return nil, false
}

// names reports whether a text below the value is the name; Pod templates do not count.
func names(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return value == name
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return names(item, name) })
	case map[string]any:
		for field, child := range value {
			if field != "template" && names(child, name) {
				return true
			}
		}
	}
	return false
}
