package classify

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/object"
)

// trackingID is Argo CD's mark of which Application owns an object, and which
// object it was written for: "app:group/Kind:namespace/name".
type trackingID struct{ app, group, kind, namespace, name string }

// parseTrackingID reads the mark; what is malformed is none.
func parseTrackingID(id string) (trackingID, bool) {
	parts := strings.SplitN(id, ":", 3)
	if len(parts) != 3 {
		return trackingID{}, false
	}
	group, kind, ok := strings.Cut(parts[1], "/")
	namespace, name, ok2 := strings.Cut(parts[2], "/")
	if !ok || !ok2 || parts[0] == "" {
		return trackingID{}, false
	}
	return trackingID{parts[0], group, kind, namespace, name}, true
}

// ours reports whether a name in a tracking mark means this Application: its own
// name, or namespace_name when it does not live beside Argo CD.
func (s *situation) ours(app string) bool {
	qualified := s.app.Namespace + "_" + s.app.Name
	switch s.app.Status.ControllerNamespace {
	case "":
		return app == s.app.Name || app == qualified
	case s.app.Namespace:
		return app == s.app.Name
	}
	return app == qualified
}

// foreignID reports whether the live object carries a tracking id that was
// written for another object. Argo CD neither counts nor prunes such an object.
// Source: controller/state.go, isSelfReferencedObj; #8683.
func foreignID(r *resource) bool {
	id, found := parseTrackingID(object.Annotation(r.live, mark.TrackingID))
	if !found || r.situation.settings.tracking == trackLabel {
		return false
	}
	ref := drift.RefOf(r.live)
	return id.group != ref.Group || id.kind != ref.Kind || id.name != ref.Name || ref.Namespace != "" && id.namespace != ref.Namespace
}

// otherGroup reports whether the mark was written for the same object under another
// API group, as when Git still renders a group that Kubernetes has moved on from. The
// finding about what Git renders says it.
func otherGroup(r *resource) bool {
	id, found := parseTrackingID(object.Annotation(r.live, mark.TrackingID))
	ref := drift.RefOf(r.live)
	return found && id.group != ref.Group && id.kind == ref.Kind && id.name == ref.Name && (ref.Namespace == "" || id.namespace == ref.Namespace)
}

// ofHook reports whether the resource is a hook, which Argo CD runs and leaves out
// of the comparison.
func (r *resource) ofHook() bool {
	return r.given != nil && r.given.Hook || r.status != nil && r.status.Hook || isHook(r.target) || r.target == nil && isHook(r.live)
}

// isHook reports whether an object is a hook by its annotations. "Skip" alone is
// no hook, but is skipped all the same.
func isHook(o object.Object) bool {
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

// hasTTL reports whether an object is deleted some time after it ends. Any kind
// that says so does it by a field of its spec whose name begins with "ttl", or says it in full.
func hasTTL(o object.Object) bool {
	for name, value := range object.Map(o, "spec") {
		if value != nil && (strings.HasPrefix(name, "ttl") || strings.HasPrefix(name, "timeToLive")) {
			return true
		}
	}
	return false
}

// ended reports whether an object that runs to its end has ended, and how.
func ended(o object.Object) (how string, done bool) {
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

// tracks reports whether a difference is at Argo CD's own mark: the annotation, or
// the label where labels track. A whole map that one side lacks counts when it
// holds the mark.
func (r *resource) tracks(d *diff.Difference) bool {
	if len(d.Steps) < 2 || d.Steps[0] != "metadata" {
		return false
	}
	marks := map[string]bool{}
	switch d.Steps[1] {
	case "annotations":
		marks[mark.TrackingID], marks[mark.InstallationID] = true, true
	case "labels":
		marks[r.situation.settings.instanceLabel] = r.situation.settings.tracking != trackAnnotation || r.labelTracked()
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

// labelTracked reports whether the render itself shows that labels track: Git's
// object has the instance label with this Application's name, and no tracking id.
func (r *resource) labelTracked() bool {
	return r.situation.ours(object.Text(r.target, "metadata", "labels", r.situation.settings.instanceLabel)) && object.Annotation(r.target, mark.TrackingID) == ""
}

// claimant is the Application that the live object is marked for, when that is
// another than ours.
func (r *resource) claimant() (string, bool) {
	if id, found := parseTrackingID(object.Annotation(r.live, mark.TrackingID)); found {
		return id.app, !r.situation.ours(id.app)
	}
	if r.situation.settings.tracking == trackAnnotation && !r.labelTracked() {
		return "", false
	}
	label := object.Text(r.live, "metadata", "labels", r.situation.settings.instanceLabel)
	return label, label != "" && !r.situation.ours(label)
}

// knownApplication reports whether the snapshot itself knows an Application of
// that name, and what it knows it by.
func (s *situation) knownApplication(name string) (string, bool) {
	for _, o := range s.related.of("argoproj.io", "Application") {
		own := object.Text(o, "metadata", "name")
		if own == name || object.Text(o, "metadata", "namespace")+"_"+own == name {
			return fmt.Sprintf("an Application %s exists", name), true
		}
	}
	return "", false
}
