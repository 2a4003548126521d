package report

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// belongings tell what has to do with the Application from what only lives beside it.
// Whoever writes an Application chooses its namespace, and may not see what is there:
// what counts is what Argo CD found to be the Application's.
type belongings struct {
	// uids are those of live objects, named the objects that may also be gone.
	uids  map[string]bool
	named map[place]bool
	// names are those of the named ones, whatever their kind, by namespace.
	names map[[2]string]bool
}

// place is where an object is. Groups are left out, because references may.
type place struct{ kind, namespace, name string }

// belongings are the Application's own objects, and what Argo CD's tree has below them.
// What has no live object counts where the Application is sure to be at home: Git, and
// a status that somebody wrote, can name anything.
func (c *collector) belongings() *belongings {
	b := &belongings{uids: map[string]bool{}, named: map[place]bool{}, names: map[[2]string]bool{}}
	homes := map[string]bool{c.destined(): true}
	for _, n := range c.tree {
		homes[n.Namespace] = true
		b.add(place{n.Kind, n.Namespace, n.Name}, n.UID)
	}
	for _, r := range c.snapshot.Resources {
		if r.Live != nil {
			homes[r.Namespace] = true
			b.add(place{r.Kind, r.Namespace, r.Name}, uidOf(r.Live))
		}
	}
	delete(homes, "")
	for _, r := range c.snapshot.Resources {
		if homes[r.Namespace] {
			b.add(place{r.Kind, r.Namespace, r.Name}, "")
		}
	}
	return b
}

// destined is the destination's namespace, if it is the one that Argo CD compared with
// and found nothing wrong with.
func (c *collector) destined() string {
	namespace := c.text("spec", "destination", "namespace")
	if namespace != c.text("status", "sync", "comparedTo", "destination", "namespace") {
		return ""
	}
	return namespace
}

func (b *belongings) add(at place, uid string) {
	b.named[at] = true
	b.names[[2]string{at.namespace, at.name}] = true
	if uid != "" {
		b.uids[uid] = true
	}
}

// own returns the objects that belong to the Application, are owned by what does, scale
// it, or shift its traffic. What it returns has to do with the Application from then on.
func (b *belongings) own(objects []map[string]any) []map[string]any {
	var kept []map[string]any
	for _, o := range objects {
		if b.has(o) || b.scaledBy(o) || b.shiftedBy(o) {
			ref := refOf(o)
			b.add(place{ref.Kind, ref.Namespace, ref.Name}, uidOf(o))
			kept = append(kept, o)
		}
	}
	return kept
}

func (b *belongings) has(o map[string]any) bool {
	ref := refOf(o)
	if b.uids[uidOf(o)] || b.named[place{ref.Kind, ref.Namespace, ref.Name}] {
		return true
	}
	owners := (&unstructured.Unstructured{Object: o}).GetOwnerReferences()
	for _, owner := range owners {
		if b.uids[string(owner.UID)] {
			return true
		}
	}
	return false
}

// scaledBy reports whether an autoscaler, or a Rollout in place of a Deployment, is for
// one of the objects.
func (b *belongings) scaledBy(o map[string]any) bool {
	for _, field := range []string{"scaleTargetRef", "targetRef", "workloadRef"} {
		aim, ok := nested(o, "spec", field).(map[string]any)
		if !ok {
			continue
		}
		kind := str(aim, "kind")
		if kind == "" {
			kind = "Deployment" // as KEDA takes it
		}
		if b.named[place{kind, refOf(o).Namespace, str(aim, "name")}] {
			return true
		}
	}
	return false
}

// shiftedBy reports whether a Rollout or a Canary names one of the objects, such as the
// Service whose selector it sets.
func (b *belongings) shiftedBy(o map[string]any) bool {
	ref := refOf(o)
	shifts := ref.Group == argocd.Group && ref.Kind == "Rollout" || ref.Group == "flagger.app" && ref.Kind == "Canary"
	return shifts && b.namedIn(o["spec"], ref.Namespace)
}

// namedIn looks for a name in the texts below a value; Pod templates name other things.
func (b *belongings) namedIn(value any, namespace string) bool {
	switch value := value.(type) {
	case string:
		return b.names[[2]string{namespace, value}]
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return b.namedIn(item, namespace) })
	case map[string]any:
		for field, child := range value {
			if field != "template" && b.namedIn(child, namespace) {
				return true
			}
		}
	}
	return false
}

// said reports whether an event is about one of the objects. One that is gone has the
// place, and no uid any more.
func (b *belongings) said(event map[string]any) bool {
	about, _ := event["involvedObject"].(map[string]any)
	return b.uids[str(about, "uid")] || b.named[place{str(about, "kind"), str(about, "namespace"), str(about, "name")}]
}

func uidOf(o map[string]any) string { return string((&unstructured.Unstructured{Object: o}).GetUID()) }
