package state

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Autoscaler returns the related or own object of the kind that targets the resource.
func (r *Resource) Autoscaler(group, kind string) (object.Object, bool) {
	for _, found := range r.Application.scalersOf(r.Ref) {
		if ref := drift.RefOf(found); ref.Group == group && ref.Kind == kind {
			return found, true
		}
	}
	return nil, false
}

// scalersOf are the autoscalers that target an object, by an index made once.
func (s *Application) scalersOf(ref drift.ResourceRef) []object.Object {
	s.scalersOnce.Do(func() {
		s.scalers = map[drift.Key][]object.Object{}
		for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
			found := slices.Clone(s.Related.Of(kind[0], kind[1]))
			for _, other := range s.ByKind(kind[0], kind[1]) {
				found = append(found, other.Live)
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
