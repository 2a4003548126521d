package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// runtimePopulated: a controller fills a value of a ConfigMap or Secret that Git pins
// empty or at its start value. A sync blanks it.
func runtimePopulated(r *resource, d *diff.Difference) (claim, bool) {
	if r.ref.Group != "" || r.ref.Kind != "Secret" && r.ref.Kind != "ConfigMap" {
		return claim{}, false
	}
	if d.Steps[0] != "data" && d.Steps[0] != "binaryData" && d.Steps[0] != "stringData" {
		return claim{}, false
	}
	w := r.writersOf(d)
	if w.role != owners.Controller || w.argo {
		return claim{}, false
	}
	sync := drift.OverwritesLive
	if r.ref.Kind == "Secret" || value.IsEmpty(d.Target) || !d.InTarget {
		sync = drift.Destructive
	}
	return r.claimOf(d, drift.Certain, sync, r.written(d, w), "a sync puts Git's value back over what was filled in at run time"), true
}

// operatorWriteback: a controller rewrote a declared field with another meaning.
// Evidence: the newest owner of the live value is neither Argo CD, nor a tool of
// people, nor something that applies manifests.
func operatorWriteback(r *resource, d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	if w.role != owners.Controller || w.argo && value.Equal(d.Applied, d.Live) {
		return claim{}, false
	}
	confidence := drift.Certain
	if w.argo {
		confidence = drift.Likely
	}
	return r.claimOf(d, confidence, drift.FightsController, r.written(d, w)), true
}

// caBundle: the certificate authority of a webhook, CRD conversion or APIService is
// injected by a controller. Evidence: the field is called caBundle, live holds one,
// and no person wrote it.
func caBundle(r *resource, d *diff.Difference) (claim, bool) {
	if d.Steps[len(d.Steps)-1] != "caBundle" || !d.InLive || value.IsEmpty(d.Live) {
		return claim{}, false
	}
	w := r.writersOf(d)
	if w.role == owners.Person || w.role == owners.Applier || w.argo && value.Equal(d.Applied, d.Live) && d.InApplied {
		return claim{}, false
	}
	c := r.claimOf(d, drift.Likely, drift.FightsController, fmt.Sprintf("%s holds a certificate authority live, and %s in Git", d.Pointer, placeholder(d)))
	if w.role == owners.Controller {
		c.confidence = drift.Certain
		c.evidence = append(c.evidence, "it was written by "+owners.By(w.last))
	}
	for name := range object.Map(r.live, "metadata", "annotations") {
		if strings.Contains(name, "inject-ca-from") || strings.Contains(name, "inject-cabundle") || strings.Contains(name, "inject-apiserver-ca") {
			c.confidence = drift.Certain
			c.evidence = append(c.evidence, "the annotation "+name+" asks for the injection")
		}
	}
	if r.ref.Kind == "CustomResourceDefinition" && d.InGit && !value.IsEmpty(d.Git) && !value.Bundle(d.Git) {
		c.sync = drift.WillFail
		c.evidence = append(c.evidence, "Git's placeholder is no certificate; the API server refuses it from Kubernetes 1.31 on")
	}
	return c, true
}

func placeholder(d *diff.Difference) string {
	if !d.InTarget || value.IsEmpty(d.Target) {
		return "nothing"
	}
	return "a placeholder"
}

// replicas: an autoscaler sets the replicas. Evidence: an HPA or a ScaledObject that
// targets the object, or a writer through the scale subresource that is no person.
func replicas(r *resource, open []*diff.Difference) []claim {
	for _, d := range open {
		if string(d.Pointer) != r.replicasPointer() || !d.InLive {
			continue
		}
		if c, ok := r.scaled(d); ok {
			c.differences = []*diff.Difference{d}
			return []claim{c}
		}
	}
	return nil
}

// replicasPointer is where the scale subresource keeps the wanted replicas.
func (r *resource) replicasPointer() string {
	if crd, found := r.situation.crd(r.ref.Group, r.ref.Kind); found {
		for _, version := range object.List(crd, "spec", "versions") {
			if path := object.Text(version, "subresources", "scale", "specReplicasPath"); path != "" {
				return strings.ReplaceAll(path, ".", "/")
			}
		}
	}
	return "/spec/replicas"
}

func (r *resource) scaled(d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	hpa, byHPA := r.autoscaler("autoscaling", "HorizontalPodAutoscaler")
	keda, byKeda := r.autoscaler("keda.sh", "ScaledObject")
	if byHPA && !byKeda {
		for _, owner := range object.List(hpa, "metadata", "ownerReferences") {
			byKeda = byKeda || object.Text(owner, "kind") == "ScaledObject"
		}
		byKeda = byKeda || strings.HasPrefix(object.Text(hpa, "metadata", "name"), "keda-hpa-")
	}
	byKeda = byKeda || w.role == owners.Controller && strings.HasPrefix(w.last.Manager, "keda")
	through := w.role == owners.Controller && w.last.Subresource == "scale"
	if !byHPA && !byKeda && (!through || w.last.Manager != "kube-controller-manager") {
		return claim{}, false
	}
	if w.argo && !through && value.Equal(d.Applied, d.Live) {
		return claim{}, false
	}
	c := r.claimOf(d, drift.Likely, drift.FightsController)
	c.mechanism = drift.HPAReplicas
	if byKeda {
		c.mechanism = drift.KedaReplicas
	}
	for _, scaler := range []object.Object{keda, hpa} {
		if scaler != nil {
			ref := drift.RefOf(scaler)
			c.evidence = append(c.evidence, fmt.Sprintf("%s %s scales the object", ref.Kind, ref.Name))
		}
	}
	if w.role != owners.Nobody {
		c.evidence = append(c.evidence, r.written(d, w))
	}
	if through && (byHPA || byKeda) {
		c.confidence = drift.Certain
	}
	return c, true
}

// autoscaler returns the related or own object of the kind that targets the resource.
func (r *resource) autoscaler(group, kind string) (object.Object, bool) {
	for _, found := range r.situation.scalersOf(r.ref) {
		if ref := drift.RefOf(found); ref.Group == group && ref.Kind == kind {
			return found, true
		}
	}
	return nil, false
}

// scalersOf are the autoscalers that target an object, by an index made once.
func (s *situation) scalersOf(ref drift.ResourceRef) []object.Object {
	s.scalersOnce.Do(func() {
		s.scalers = map[drift.Key][]object.Object{}
		for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
			found := slices.Clone(s.related.of(kind[0], kind[1]))
			for _, other := range s.byKind(kind[0], kind[1]) {
				found = append(found, other.live)
			}
			for _, scaler := range found {
				aim := object.Map(scaler, "spec", "scaleTargetRef")
				aimed := drift.Key{Kind: words.First(object.Text(aim, "kind"), "Deployment"), Namespace: object.Text(scaler, "metadata", "namespace"), Name: object.Text(aim, "name")}
				s.scalers[aimed] = append(s.scalers[aimed], scaler)
			}
		}
	})
	var mine []object.Object
	for _, scaler := range s.scalers[drift.Key{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}] {
		group, _, grouped := strings.Cut(object.Text(scaler, "spec", "scaleTargetRef", "apiVersion"), "/")
		if !grouped || group == ref.Group {
			mine = append(mine, scaler)
		}
	}
	return mine
}

// progressiveDelivery: a controller that shifts traffic writes weights, selectors
// and the like. Evidence: its manager is the newest owner, or a Rollout or Canary
// refers to the object and the field is one that such controllers write.
func progressiveDelivery(r *resource, d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	manager := strings.HasPrefix(w.last.Manager, "rollouts-controller") || strings.HasPrefix(w.last.Manager, "argo-rollouts") || strings.HasPrefix(w.last.Manager, "flagger")
	referrer, referred := r.referredBy()
	if w.role == owners.Person || w.role == owners.Applier || w.argo && value.Equal(d.Applied, d.Live) && d.InApplied {
		return claim{}, false
	}
	if !manager && (!referred || !shifts(d.Steps)) {
		return claim{}, false
	}
	c := r.claimOf(d, drift.Likely, drift.OverwritesLive)
	if d.InLive && !d.InTarget && !d.InApplied && r.lastApplied != nil && r.builtIn() && !r.syncsServerSide() {
		c.sync, c.loss = drift.Noop, nil
		c.evidence = append(c.evidence, "a client-side apply leaves what only live has")
	}
	if w.role != owners.Nobody {
		c.evidence = append(c.evidence, r.written(d, w))
	}
	if referred {
		ref := drift.RefOf(referrer)
		c.evidence = append(c.evidence, fmt.Sprintf("%s %s refers to the object", ref.Kind, ref.Name))
	}
	if manager {
		c.confidence = drift.Certain
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
func (r *resource) referredBy() (object.Object, bool) {
	var candidates []object.Object
	for _, kind := range [][2]string{{"argoproj.io", "Rollout"}, {"flagger.app", "Canary"}} {
		candidates = append(candidates, r.situation.related.of(kind[0], kind[1])...)
		for _, other := range r.situation.byKind(kind[0], kind[1]) {
			if other.live != nil && other != r {
				candidates = append(candidates, other.live)
			}
		}
	}
	for _, candidate := range candidates {
		if object.Text(candidate, "metadata", "namespace") == r.ref.Namespace && names(object.Map(candidate, "spec"), r.ref.Name) {
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
