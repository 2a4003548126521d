package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

const (
	// mostPointers and mostIll bound what is kept of a finding, and of an Application.
	mostPointers, mostIll = 5, 3
	// mostUnexplained bounds what is kept of one Application.
	mostUnexplained = 20
	// mostText is how much of somebody else's sentence is kept.
	mostText = 300
)

// Words of Argo CD.
const (
	synced, outOfSync     = "Synced", "OutOfSync"
	progressing, degraded = "Progressing", "Degraded"
	unknown               = "Unknown"
	defaultProject        = "default"
	podKind               = "Pod"
)

// kindOf is a kind without its version.
type kindOf struct{ group, kind string }

// notes are what an Application adds to the Overview beside its own entry.
type notes struct {
	resources int
	flagged   map[kindOf]int
	// differing are the resources that Argo CD flags.
	differing   []drift.ResourceRef
	fields      map[kindOf]int
	unexplained []Unexplained
	ill         []Ill
	moreIll     int
	// workloads are what Pods may belong to; kept of the ill alone.
	workloads []drift.ResourceRef
	// destination is the cluster's address or name.
	destination string
}

// read makes an entry of an Application, from what its own status says.
func read(ctx context.Context, app map[string]any, options *Options) (*Application, error) {
	a := &Application{
		Namespace: object.Text(app, "metadata", "namespace"), Name: object.Text(app, "metadata", "name"),
		Project: cmp.Or(object.Text(app, "spec", "project"), defaultProject),
		Sync:    cmp.Or(object.Text(app, "status", "sync", "status"), unknown), Health: cmp.Or(object.Text(app, "status", "health", "status"), unknown),
		Since: object.Text(app, "status", "health", "lastTransitionTime"), Effect: drift.NothingToDo, Counts: []Count{},
		notes: notes{flagged: map[kindOf]int{}, fields: map[kindOf]int{}, destination: cmp.Or(object.Text(app, "spec", "destination", "server"), object.Text(app, "spec", "destination", "name"))},
	}
	// One odd Application must not end the view of all, nor the process.
	_, err := fault.Contained(func() (bool, error) { return true, a.explain(ctx, app, options) })
	return a, err
}

// explain notes what the Application's own status says.
func (a *Application) explain(ctx context.Context, app map[string]any, options *Options) error {
	report, err := options.Classify(ctx, &drift.Snapshot{Application: app, Settings: options.Settings})
	if err != nil {
		return err
	}
	for _, entry := range object.Maps(app, "status", "resources") {
		a.resource(entry)
	}
	if unread(report) {
		report.Findings, report.Sync = nil, drift.NothingToDo
	}
	a.take(&Explained{Report: report})
	return nil
}

// unread reports whether the report says no more than that the Application is OutOfSync:
// why shows when its resources are read, and until then they count as unread.
func unread(report *drift.Report) bool {
	return len(report.Findings) == 1 && report.Findings[0].Mechanism == drift.Unexplained && report.Findings[0].Sync == drift.OverwritesLive
}

// resource notes an entry of status.resources.
func (a *Application) resource(entry map[string]any) {
	ref := drift.ResourceRef{Group: object.Text(entry, "group"), Kind: object.Text(entry, "kind"), Namespace: object.Text(entry, "namespace"), Name: object.Text(entry, "name")}
	a.notes.resources++
	if object.Text(entry, "status") == outOfSync {
		a.notes.flagged[kindOf{ref.Group, ref.Kind}]++
		a.notes.differing = append(a.notes.differing, ref)
	}
	if !a.behind() {
		return
	}
	if runs(ref) {
		a.notes.workloads = append(a.notes.workloads, ref)
	}
	health := object.Text(entry, "health", "status")
	switch {
	case !ill(health):
	case len(a.notes.ill) < mostIll:
		a.notes.ill = append(a.notes.ill, Ill{Resource: ref, Health: health, Message: shorten(object.Text(entry, "health", "message"))})
	default:
		a.notes.moreIll++
	}
}

// take replaces the findings by those of a report. What Argo CD flags stays unread where
// neither a finding is about it, nor its fields were there to read.
func (a *Application) take(explained *Explained) {
	report := explained.Report
	a.count(report)
	read := map[drift.ResourceRef]bool{}
	for _, ref := range explained.Read {
		read[unversioned(ref)] = true
	}
	for i := range report.Findings {
		read[unversioned(report.Findings[i].Resource)] = true
	}
	a.Unread = 0
	for _, ref := range a.notes.differing {
		if !read[ref] {
			a.Unread++
		}
	}
}

// count replaces the counts by those of a report's findings.
func (a *Application) count(report *drift.Report) {
	a.Effect, a.notes.unexplained = report.Sync, nil
	clear(a.notes.fields)
	counts := map[drift.Mechanism]*Count{}
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Mechanism == drift.None {
			continue
		}
		c := counts[f.Mechanism]
		if c == nil {
			c = &Count{Mechanism: f.Mechanism, Sync: f.Sync}
			counts[f.Mechanism] = c
		}
		c.Findings++
		c.Fields += len(f.Fields)
		if f.Sync.Severity() > c.Sync.Severity() {
			c.Sync = f.Sync
		}
		if len(f.Fields) > 0 {
			a.notes.fields[kindOf{f.Resource.Group, f.Resource.Kind}] += len(f.Fields)
		} else {
			c.bare++
		}
		if f.Mechanism == drift.Unexplained && len(a.notes.unexplained) < mostUnexplained {
			a.notes.unexplained = append(a.notes.unexplained, a.unexplained(f))
		}
	}
	a.Counts = make([]Count, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		a.Counts = append(a.Counts, *counts[name])
	}
	slices.SortStableFunc(a.Counts, func(x, y Count) int {
		return cmp.Or(y.Findings-x.Findings, y.Fields-x.Fields)
	})
}

// unexplained is what is told of a finding that no rule explains.
func (a *Application) unexplained(f *drift.Finding) Unexplained {
	u := Unexplained{Application: a.Ref().String(), Resource: f.Resource, Fields: len(f.Fields)}
	for _, field := range f.Fields[:min(len(f.Fields), mostPointers)] {
		u.Pointers = append(u.Pointers, field.Pointer)
	}
	if len(f.Fields) == 0 && len(f.Evidence) > 0 {
		u.Evidence = shorten(f.Evidence[0])
	}
	return u
}

// Ref names the Application.
func (a *Application) Ref() argocd.Ref { return argocd.Ref{Namespace: a.Namespace, Name: a.Name} }

// affected reports whether there is something to say.
func (a *Application) affected() bool { return len(a.Counts) > 0 || a.Unread > 0 || a.silent() }

// silent reports whether Argo CD does not call the Application Synced, and nothing that
// was read says why.
func (a *Application) silent() bool { return a.Sync != synced && len(a.Counts) == 0 }

// partial reports whether a sync may do more than what was read tells.
func (a *Application) partial() bool { return a.Unread > 0 || a.silent() }

// behind reports whether the Application is ill, and not for lack of drift.
func (a *Application) behind() bool { return a.Sync != synced && ill(a.Health) }

func ill(health string) bool { return health == progressing || health == degraded }

// runs reports whether Pods may belong to a resource.
func runs(ref drift.ResourceRef) bool {
	switch ref.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		return ref.Group == "apps"
	case "Job", "CronJob":
		return ref.Group == "batch"
	case "Rollout":
		return ref.Group == argocd.Group
	case podKind:
		return ref.Group == ""
	}
	return false
}

func unversioned(ref drift.ResourceRef) drift.ResourceRef {
	ref.Version = ""
	return ref
}

// shorten cuts a sentence of somebody else.
func shorten(sentence string) string {
	runes := []rune(sentence)
	if len(runes) <= mostText {
		return sentence
	}
	return string(runes[:mostText]) + "..."
}
