package state

import (
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// TrackingLabel is where Argo CD's instance label stands.
func (r *Resource) TrackingLabel() fieldpath.Pointer {
	return fieldpath.Of("metadata", "labels", r.Application.Settings.InstanceLabel)
}

// Tracked reports whether a form of the object has Argo CD's tracking mark.
func (r *Resource) Tracked(o object.Object) bool {
	if r.Application.Settings.Tracking == TrackLabel {
		return object.Text(o, "metadata", "labels", r.Application.Settings.InstanceLabel) != ""
	}
	return object.Annotation(o, mark.TrackingID) != ""
}

// ByKind returns the Application's own resources of a group and kind.
func (s *Application) ByKind(group, kind string) []*Resource {
	s.kindsOnce.Do(func() {
		s.kinds = map[[2]string][]*Resource{}
		for _, r := range s.Resources {
			of := [2]string{r.Ref.Group, r.Ref.Kind}
			s.kinds[of] = append(s.kinds[of], r)
		}
	})
	return s.kinds[[2]string{group, kind}]
}
