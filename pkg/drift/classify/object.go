package classify

import (
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// relations are the related objects by group and kind.
type relations struct {
	byKind map[[2]string][]object.Object
}

func relate(objects []map[string]any) *relations {
	related := &relations{byKind: map[[2]string][]object.Object{}}
	for _, o := range objects {
		ref := drift.RefOf(o)
		of := [2]string{ref.Group, ref.Kind}
		related.byKind[of] = append(related.byKind[of], o)
	}
	return related
}

// of returns the related objects of a group and kind.
func (r *relations) of(group, kind string) []object.Object { return r.byKind[[2]string{group, kind}] }

// event is a Kubernetes Event.
type event struct {
	reason, message, time string
	involved              drift.ResourceRef
}

func parseEvents(events []map[string]any) []event {
	parsed := make([]event, 0, len(events))
	for _, e := range events {
		involved := object.Map(e, "involvedObject")
		group, _, found := strings.Cut(object.Text(involved, "apiVersion"), "/")
		if !found {
			group = ""
		}
		time := object.Text(e, "lastTimestamp")
		if time == "" {
			time = object.Text(e, "eventTime")
		}
		parsed = append(parsed, event{
			reason: object.Text(e, "reason"), message: object.Text(e, "message"), time: time,
			involved: drift.ResourceRef{Group: group, Kind: object.Text(involved, "kind"), Namespace: object.Text(involved, "namespace"), Name: object.Text(involved, "name")},
		})
	}
	return parsed
}
