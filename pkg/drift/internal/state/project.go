package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Globs reports whether one of the patterns fits; no pattern fits everything.
// Patterns are those of argocd-cm: "*" stands for any text.
func Globs(patterns []string, value string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, pattern := range patterns {
		if glob(pattern, value) {
			return true
		}
	}
	return false
}

func glob(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == value
	}
	if !strings.HasPrefix(value, parts[0]) {
		return false
	}
	value = value[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(value, part)
		if i < 0 {
			return false
		}
		value = value[i+len(part):]
	}
	return strings.HasSuffix(value, last)
}

// projectObject is the Application's AppProject as the snapshot holds it.
func (s *Application) projectObject() (object.Object, bool) {
	name := words.First(s.Object.Spec.Project, "default")
	for _, o := range s.Related.Of("argoproj.io", "AppProject") {
		if object.Text(o, "metadata", "name") == name {
			return o, true
		}
	}
	return object.Object{}, false
}

// project is the AppProject in its own type, read once and not to be changed. It goes
// by way of JSON, for the converter cannot set what these types keep private.
func (s *Application) project() (*v1alpha1.AppProject, bool) {
	s.projectOnce.Do(func() {
		s.projectFound = &v1alpha1.AppProject{}
		o, found := s.projectObject()
		if !found {
			return
		}
		data, err := json.Marshal(o)
		s.projectRead = err == nil && json.Unmarshal(data, s.projectFound) == nil
	})
	return s.projectFound, s.projectRead
}

// permitsNamespace reports whether the AppProject lets the Application write to a
// namespace, which is asked once for each: a project may list very many.
func (s *Application) permitsNamespace(project *v1alpha1.AppProject, namespace string) bool {
	if known, found := s.namespaces.Load(namespace); found {
		return known == true
	}
	destination := v1alpha1.ApplicationDestination{Server: s.Object.Spec.Destination.Server, Name: s.Object.Spec.Destination.Name, Namespace: namespace}
	permitted, err := project.IsDestinationPermitted(destination, noClusters)
	permitted = permitted || err != nil
	s.namespaces.Store(namespace, permitted)
	return permitted
}

// Forbidden says why the AppProject does not permit the resource; nothing when it
// does, or when the snapshot lacks the AppProject. Source: v1alpha1,
// IsGroupKindPermitted and IsDestinationPermitted.
func (r *Resource) Forbidden() []string {
	s := r.Application
	project, found := s.projectObject()
	if !found {
		return nil
	}
	spec, name := object.Map(project, "spec"), object.Text(project, "metadata", "name")
	namespace := words.First(r.Ref.Namespace, object.Text(r.Target, "metadata", "namespace"))
	var why []string
	if !permits(spec, r.Ref, namespace != "") {
		why = append(why, fmt.Sprintf("AppProject %s does not permit %s in group %q", name, r.Ref.Kind, r.Ref.Group))
	}
	if namespace == "" || namespace == s.Object.Spec.Destination.Namespace {
		return why // the destination itself was asked about before
	}
	typed, ok := s.project()
	if !ok || typed.Spec.PermitOnlyProjectScopedClusters {
		return why
	}
	if !s.permitsNamespace(typed, namespace) {
		why = append(why, fmt.Sprintf("AppProject %s does not permit namespace %s", name, namespace))
	}
	return why
}

func noClusters(string) ([]*v1alpha1.Cluster, error) { return []*v1alpha1.Cluster{}, nil }

// permits reports whether the lists of an AppProject let the kind through: without
// a list every namespaced kind passes and no cluster-wide one.
func permits(spec map[string]any, ref drift.ResourceRef, namespaced bool) bool {
	scope := "cluster"
	if namespaced {
		scope = "namespace"
	}
	allowed, listed := object.At(spec, scope+"ResourceWhitelist")
	denied, _ := object.At(spec, scope+"ResourceBlacklist")
	passes := listsKind(allowed, ref) || namespaced && (!listed || allowed == nil)
	return passes && !listsKind(denied, ref)
}

func listsKind(entries any, ref drift.ResourceRef) bool {
	items, _ := entries.([]any)
	for _, entry := range items {
		if glob(object.Text(entry, "group"), ref.Group) && glob(object.Text(entry, "kind"), ref.Kind) {
			return true
		}
	}
	return false
}

// Window is one sync window of the AppProject.
type Window struct{ *v1alpha1.SyncWindow }

// Words are the window in a sentence.
func (w Window) Words() string {
	article := "a"
	if w.Kind == "allow" {
		article = "an"
	}
	return fmt.Sprintf("the AppProject has %s %s window, schedule %q for %s%s", article, w.Kind, w.Schedule, w.Duration, zoneWords(w.TimeZone))
}

func zoneWords(zone string) string {
	if zone == "" {
		return ""
	}
	return " in time zone " + zone
}

// Windows are the sync windows that concern the Application.
func (s *Application) Windows() []Window {
	project, found := s.project()
	if !found {
		return nil
	}
	given := slices.DeleteFunc(slices.Clone(project.Spec.SyncWindows), func(w *v1alpha1.SyncWindow) bool { return w == nil })
	concerned := given.Matches(s.Object)
	if concerned == nil {
		return nil
	}
	windows := make([]Window, 0, len(*concerned))
	for _, w := range *concerned {
		windows = append(windows, Window{w})
	}
	return windows
}

// ManualSyncs reports whether there are windows and all let a sync by hand through.
func (s *Application) ManualSyncs() bool {
	windows := s.Windows()
	return len(windows) > 0 && !slices.ContainsFunc(windows, func(w Window) bool { return !w.ManualSync })
}

// ActiveAt reports whether the window is open: whether it began less than its
// duration ago.
func (w Window) ActiveAt(now metav1.Time) (bool, error) {
	parsed, err := w.parsed()
	if err != nil {
		return false, err
	}
	var duration metav1.Duration
	if err := duration.UnmarshalJSON([]byte(`"` + w.Duration + `"`)); err != nil {
		return false, fmt.Errorf("sync window: duration %q: %w", w.Duration, err)
	}
	at := now.UTC()
	return parsed.Next(at.Add(-duration.Duration)).Before(at), nil
}

// parsed is the window's schedule. Given a time zone with nothing behind it, the
// library panics.
func (w Window) parsed() (schedule cron.Schedule, err error) {
	spelled := w.Schedule
	if w.TimeZone != "" && w.TimeZone != "UTC" {
		spelled = "CRON_TZ=" + w.TimeZone + " " + spelled
	}
	defer func() {
		if recover() != nil {
			schedule, err = nil, fmt.Errorf("sync window: schedule %q: it cannot be read", spelled)
		}
	}()
	if schedule, err = cron.ParseStandard(spelled); err != nil {
		return nil, fmt.Errorf("sync window: schedule %q: %w", spelled, err)
	}
	return schedule, nil
}

// Conditions returns the messages of the Application's conditions of a type.
func (s *Application) Conditions(kind v1alpha1.ApplicationConditionType) []string {
	var messages []string
	for _, condition := range s.Object.Status.Conditions {
		if condition.Type == kind {
			messages = append(messages, condition.Message)
		}
	}
	return messages
}

// Automated reports whether the Application syncs by itself, and the policy. The
// policy is read from the document, as newer versions know more of it: "enabled:
// false" turns it off since v3.1.
func (s *Application) Automated() (policy map[string]any, enabled bool) {
	node, found := object.At(s.Snapshot.Application, "spec", "syncPolicy", "automated")
	policy, _ = node.(map[string]any)
	if !found || node == nil || policy["enabled"] == false {
		return policy, false
	}
	return policy, true
}

// Prunes reports whether a sync by the Application's own policy deletes what Git
// no longer renders.
func (s *Application) Prunes() bool {
	policy, enabled := s.Automated()
	return enabled && policy["prune"] == true
}

// PruneEffect is what a sync does to what it would prune, and a sentence about it.
func (s *Application) PruneEffect() (effect drift.Sync, sentence string) {
	if s.Prunes() {
		return drift.Destructive, "the Application prunes automatically, so the next sync deletes it"
	}
	return drift.Noop, "automatic pruning is off: a sync leaves it in place, a sync with --prune deletes it"
}

// Webhooks are the names of the mutating webhooks that are asked for the resource's kind.
func (r *Resource) Webhooks() []string {
	var found []string
	for _, configuration := range r.Application.Related.Of("admissionregistration.k8s.io", "MutatingWebhookConfiguration") {
		for _, webhook := range object.List(configuration, "webhooks") {
			for _, rule := range object.List(webhook, "rules") {
				if matches(object.List(rule, "apiGroups"), r.Ref.Group) && matchesResource(object.List(rule, "resources"), r.Ref.Kind) {
					found = append(found, object.Text(configuration, "metadata", "name")+"/"+object.Text(webhook, "name"))
				}
			}
		}
	}
	return words.Unique(found)
}

func matches(patterns []any, name string) bool {
	return slices.ContainsFunc(patterns, func(p any) bool { return p == "*" || p == name })
}

// matchesResource reports whether a plural resource name may be the kind's.
func matchesResource(patterns []any, kind string) bool {
	lower := strings.ToLower(kind)
	plurals := []string{lower + "s", lower + "es", strings.TrimSuffix(lower, "y") + "ies", lower}
	return slices.ContainsFunc(patterns, func(p any) bool {
		name, _ := p.(string)
		name, _, _ = strings.Cut(name, "/")
		return name == "*" || slices.Contains(plurals, name)
	})
}
