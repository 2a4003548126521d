package state

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/object"
)

// TrackingID is Argo CD's mark of which Application owns an object, and which
// object it was written for: "app:group/Kind:namespace/name".
type TrackingID struct{ App, group, kind, namespace, name string }

// ParseTrackingID reads the mark; what is malformed is none.
func ParseTrackingID(id string) (TrackingID, bool) {
	parts := strings.SplitN(id, ":", 3)
	if len(parts) != 3 {
		return TrackingID{}, false
	}
	group, kind, ok := strings.Cut(parts[1], "/")
	namespace, name, ok2 := strings.Cut(parts[2], "/")
	if !ok || !ok2 || parts[0] == "" {
		return TrackingID{}, false
	}
	return TrackingID{parts[0], group, kind, namespace, name}, true
}

// Ours reports whether a name in a tracking mark means this Application: its own
// name, or namespace_name when it does not live beside Argo CD.
func (s *Application) Ours(app string) bool {
	qualified := s.Object.Namespace + "_" + s.Object.Name
	switch s.Object.Status.ControllerNamespace {
	case "":
		return app == s.Object.Name || app == qualified
	case s.Object.Namespace:
		return app == s.Object.Name
	}
	return app == qualified
}

// ForeignID reports whether the live object carries a tracking id that was
// written for another object. Argo CD neither counts nor prunes such an object.
// Source: controller/state.go, isSelfReferencedObj; #8683.
func ForeignID(r *Resource) bool {
	id, found := ParseTrackingID(object.Annotation(r.Live, mark.TrackingID))
	if !found || r.Application.Settings.Tracking == TrackLabel {
		return false
	}
	ref := drift.RefOf(r.Live)
	return id.group != ref.Group || id.kind != ref.Kind || id.name != ref.Name || ref.Namespace != "" && id.namespace != ref.Namespace
}

// OtherGroup reports whether the mark was written for the same object under another
// API group, as when Git still renders a group that Kubernetes has moved on from. The
// finding about what Git renders says it.
func OtherGroup(r *Resource) bool {
	id, found := ParseTrackingID(object.Annotation(r.Live, mark.TrackingID))
	ref := drift.RefOf(r.Live)
	return found && id.group != ref.Group && id.kind == ref.Kind && id.name == ref.Name && (ref.Namespace == "" || id.namespace == ref.Namespace)
}

// Repeated is Argo CD's warning that Git renders the object more than once.
func (r *Resource) Repeated() []string {
	var said []string
	for _, message := range r.Application.Conditions(v1alpha1.ApplicationConditionRepeatedResourceWarning) {
		named, _, found := strings.Cut(strings.TrimPrefix(message, "Resource "), " appeared ")
		if found && named == strings.Join([]string{r.Ref.Group, r.Ref.Kind, r.Ref.Namespace, r.Ref.Name}, "/") {
			said = append(said, "Argo CD warns: "+r.Application.Quote(message))
		}
	}
	return said
}

// OfHook reports whether the resource is a hook, which Argo CD runs and leaves out
// of the comparison.
func (r *Resource) OfHook() bool {
	return r.Given != nil && r.Given.Hook || r.Status != nil && r.Status.Hook || IsHook(r.Target) || r.Target == nil && IsHook(r.Live)
}

// IsHook reports whether an object is a hook by its annotations. "Skip" alone is
// no hook, but is skipped all the same.
func IsHook(o object.Object) bool {
	if object.Annotation(o, mark.Hook) != "" {
		return true
	}
	for hook := range strings.SplitSeq(object.Annotation(o, mark.HelmHook), ",") {
		if hook = strings.TrimSpace(hook); hook != "" && hook != "crd-install" {
			return true
		}
	}
	return false
}

// HasTTL reports whether an object is deleted some time after it ends. Any kind
// that says so does it by a field of its spec whose name begins with "ttl", or says it in full.
func HasTTL(o object.Object) bool {
	for name, value := range object.Map(o, "spec") {
		if value != nil && (strings.HasPrefix(name, "ttl") || strings.HasPrefix(name, "timeToLive")) {
			return true
		}
	}
	return false
}

// Ended reports whether an object that runs to its end has ended, and how.
func Ended(o object.Object) (how string, done bool) {
	for _, condition := range object.List(o, "status", "conditions") {
		switch kind := object.Text(condition, "type"); kind {
		case "Complete", "Failed", "Succeeded", "SuccessCriteriaMet", "Completed":
			if status := object.Text(condition, "status"); status == "True" || kind == "Succeeded" && status == "False" {
				return kind + "=" + status, true
			}
		}
	}
	switch phase := object.Text(o, "status", "phase"); phase {
	case "Succeeded", "Failed", "Error", "Completed":
		return phase, true
	}
	if object.Text(o, "status", "completionTime") != "" || object.Text(o, "status", "finishedAt") != "" {
		return "completed", true
	}
	return "", false
}

// EndedBadly reports whether an object that runs to its end has failed, and in which words.
func EndedBadly(o object.Object) (how string, failed bool) {
	how, done := Ended(o)
	return how, done && (strings.HasPrefix(how, "Failed") || how == "Error" || how == "Succeeded=False")
}

// AfterResources reports whether a hook runs only when the resources are applied.
func AfterResources(o object.Object) bool {
	phases := object.Annotation(o, mark.Hook) + "," + object.Annotation(o, mark.HelmHook)
	after := false
	for phase := range strings.SplitSeq(phases, ",") {
		switch strings.TrimSpace(phase) {
		case "":
		case "PostSync", "post-install", "post-upgrade":
			after = true
		default:
			return false
		}
	}
	return after
}

// Tracks reports whether a difference is at Argo CD's own mark: the annotation, or
// the label where labels track. A whole map that one side lacks counts when it
// holds the mark.
func (r *Resource) Tracks(d *diff.Difference) bool {
	if len(d.Steps) < 2 || d.Steps[0] != "metadata" {
		return false
	}
	marks := map[string]bool{}
	switch d.Steps[1] {
	case "annotations":
		marks[mark.TrackingID], marks[mark.InstallationID] = true, true
	case "labels":
		marks[r.Application.Settings.InstanceLabel] = r.Application.Settings.Tracking != TrackAnnotation || r.LabelTracked()
	default:
		return false
	}
	if len(d.Steps) == 3 {
		return marks[d.Steps[2]]
	}
	for _, side := range []any{d.Target, d.Live} {
		for name := range object.Map(side) {
			if marks[name] {
				return true
			}
		}
	}
	return false
}

// LabelTracked reports whether the render itself shows that labels track: Git's
// object has the instance label with this Application's name, and no tracking id.
func (r *Resource) LabelTracked() bool {
	return r.Application.Ours(object.Text(r.Target, "metadata", "labels", r.Application.Settings.InstanceLabel)) && object.Annotation(r.Target, mark.TrackingID) == ""
}

// Claimant is the Application that the live object is marked for, when that is
// another than ours.
func (r *Resource) Claimant() (string, bool) {
	if id, found := ParseTrackingID(object.Annotation(r.Live, mark.TrackingID)); found {
		return id.App, !r.Application.Ours(id.App)
	}
	if r.Application.Settings.Tracking == TrackAnnotation && !r.LabelTracked() {
		return "", false
	}
	label := object.Text(r.Live, "metadata", "labels", r.Application.Settings.InstanceLabel)
	return label, label != "" && !r.Application.Ours(label)
}

// KnownApplication reports whether the snapshot itself knows an Application of
// that name, and what it knows it by.
func (s *Application) KnownApplication(name string) (string, bool) {
	for _, o := range s.Related.Of("argoproj.io", "Application") {
		own := object.Text(o, "metadata", "name")
		if own == name || object.Text(o, "metadata", "namespace")+"_"+own == name {
			return fmt.Sprintf("an Application %s exists", name), true
		}
	}
	return "", false
}
