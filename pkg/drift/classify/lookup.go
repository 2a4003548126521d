package classify

import (
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// trackingLabel is where Argo CD's instance label stands.
func (r *resource) trackingLabel() fieldpath.Pointer {
	return fieldpath.Of("metadata", "labels", r.situation.settings.instanceLabel)
}

// tracked reports whether a form of the object has Argo CD's tracking mark.
func (r *resource) tracked(o object.Object) bool {
	if r.situation.settings.tracking == trackLabel {
		return object.Text(o, "metadata", "labels", r.situation.settings.instanceLabel) != ""
	}
	return object.Annotation(o, mark.TrackingID) != ""
}

// byKind returns the Application's own resources of a group and kind.
func (s *situation) byKind(group, kind string) []*resource {
	s.kindsOnce.Do(func() {
		s.kinds = map[[2]string][]*resource{}
		for _, r := range s.resources {
			of := [2]string{r.ref.Group, r.ref.Kind}
			s.kinds[of] = append(s.kinds[of], r)
		}
	})
	return s.kinds[[2]string{group, kind}]
}
