package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/object"
)

// Limits of a page of Applications.
const (
	defaultPage  = 50
	maxPage      = 200
	maxResources = 5
)

const synced = "Synced"

type listIn struct {
	Project   string `json:"project,omitempty" jsonschema:"only those of this AppProject"`
	Namespace string `json:"namespace,omitempty" jsonschema:"only those whose Application object is in this namespace"`
	Limit     int    `json:"limit,omitempty" jsonschema:"how many to list, 50 by default and 200 at most"`
	Offset    int    `json:"offset,omitempty" jsonschema:"leave out so many, to go on after a truncated answer"`
}

type listOut struct {
	Applications []drifting `json:"applications"`
	Drifting     int        `json:"drifting" jsonschema:"how many are not Synced, listed or not"`
	Read         int        `json:"read" jsonschema:"how many Applications there are that this server may answer about"`
	Truncated    string     `json:"truncated,omitempty"`
}

type drifting struct {
	Namespace   string   `json:"namespace"`
	Name        string   `json:"name"`
	Project     string   `json:"project"`
	Sync        string   `json:"sync"`
	Health      string   `json:"health,omitempty"`
	HealthSince string   `json:"healthSince,omitempty"`
	ComparedAt  string   `json:"comparedAt,omitempty"`
	OutOfSync   int      `json:"outOfSync" jsonschema:"how many of its resources are"`
	Resources   []string `json:"resources,omitempty" jsonschema:"the first of them"`
	Mechanisms  []string `json:"mechanisms,omitempty" jsonschema:"what its status alone shows; explain_application knows the fields"`
}

// list reads the fleet once and keeps one page of it.
func (t *tools) list(ctx context.Context, in listIn) (listOut, error) {
	switch {
	case in.Limit < 0 || in.Offset < 0:
		return listOut{}, fmt.Errorf("limit and offset: %d and %d must not be negative", in.Limit, in.Offset)
	case in.Namespace != "" && !t.allowed(in.Namespace):
		return listOut{}, fmt.Errorf("this server does not answer about namespace %s; whoever runs it may add it to --application-namespaces", in.Namespace)
	case in.Limit == 0:
		in.Limit = defaultPage
	}
	in.Limit = min(in.Limit, maxPage)
	out, left := listOut{Applications: []drifting{}}, maxAnswer
	for app, err := range t.options.Applications(ctx, in.Project) {
		if err != nil {
			return listOut{}, err // it names the step
		}
		ref := nameOf(app)
		if !t.allowed(ref.Namespace) || in.Namespace != "" && ref.Namespace != in.Namespace || in.Project != "" && projectOf(app) != in.Project {
			continue
		}
		out.Read++
		if object.Text(app, "status", "sync", "status") == synced {
			continue
		}
		out.Drifting++
		if out.Drifting <= in.Offset || len(out.Applications) == in.Limit || left <= 0 {
			continue
		}
		one := summary(ctx, app)
		left -= sizeOf(one)
		out.Applications = append(out.Applications, one)
	}
	if more := out.Drifting - in.Offset - len(out.Applications); more > 0 {
		out.Truncated = fmt.Sprintf("%d more Applications; ask again with offset %d", more, in.Offset+len(out.Applications))
	}
	return out, nil
}

// summary says of an Application what its status shows.
func summary(ctx context.Context, app map[string]any) drifting {
	ref := nameOf(app)
	short := func(names ...string) string { return plain(object.Text(app, names...), narrow.names) }
	one := drifting{
		Namespace: plain(ref.Namespace, narrow.names), Name: plain(ref.Name, narrow.names), Project: plain(projectOf(app), narrow.names),
		Sync: short("status", "sync", "status"), Health: short("status", "health", "status"),
		HealthSince: short("status", "health", "lastTransitionTime"), ComparedAt: short("status", "reconciledAt"),
	}
	for _, entry := range object.Maps(app, "status", "resources") {
		if object.Text(entry, "status") == synced || object.Text(entry, "status") == "" {
			continue
		}
		one.OutOfSync++
		if len(one.Resources) < maxResources {
			one.Resources = append(one.Resources, plain(fmt.Sprintf("%s %s/%s", object.Text(entry, "kind"), object.Text(entry, "namespace"), object.Text(entry, "name")), narrow.names))
		}
	}
	report, err := classify.Classify(ctx, &drift.Snapshot{Application: app, Settings: drift.Settings{}}, classify.Options{})
	if err != nil {
		return one // the Application is too odd to be explained, and is listed all the same
	}
	for _, f := range report.Findings {
		if id := string(f.Mechanism); f.Mechanism != drift.None && f.Mechanism != drift.Unexplained && !slices.Contains(one.Mechanisms, id) {
			one.Mechanisms = append(one.Mechanisms, id)
		}
	}
	return one
}

// nameOf is which Application the object is.
func nameOf(app map[string]any) argocd.Ref {
	return argocd.Ref{Namespace: object.Text(app, "metadata", "namespace"), Name: object.Text(app, "metadata", "name")}
}

// projectOf is the AppProject; Argo CD takes none for the default one.
func projectOf(app map[string]any) string {
	if project := object.Text(app, "spec", "project"); project != "" {
		return project
	}
	return "default"
}
