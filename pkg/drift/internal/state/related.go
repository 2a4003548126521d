package state

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

// Of returns the related objects of a group and kind.
func (r *relations) Of(group, kind string) []object.Object { return r.byKind[[2]string{group, kind}] }

// Event is a Kubernetes Event.
type Event struct {
	Reason, Message, Time string
	// First is when it was seen first; "" when that is not known.
	First    string
	Involved drift.ResourceRef
}

func parseEvents(events []map[string]any) []Event {
	parsed := make([]Event, 0, len(events))
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
		parsed = append(parsed, Event{
			Reason: object.Text(e, "reason"), Message: object.Text(e, "message"), Time: time, First: object.Text(e, "firstTimestamp"),
			Involved: drift.ResourceRef{Group: group, Kind: object.Text(involved, "kind"), Namespace: object.Text(involved, "namespace"), Name: object.Text(involved, "name")},
		})
	}
	return parsed
}
