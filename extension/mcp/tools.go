package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Limits of the rules that are tried.
const (
	maxRules   = 20
	maxEntries = 50
	maxEntry   = 2000
	// maxPlaces is how many fields of a preview are listed, of each sort.
	maxPlaces = 40
)

// application names an Application.
type application struct {
	Name      string `json:"name" jsonschema:"name of the Application"`
	Namespace string `json:"namespace,omitempty" jsonschema:"namespace of the Application object, not of what it deploys; default that of Argo CD"`
}

type applicationIn struct {
	application

	Offset int `json:"offset,omitempty" jsonschema:"leave out so many findings, to go on after a truncated answer"`
}

type resourceIn struct {
	application

	Kind              string `json:"kind" jsonschema:"kind of the resource, such as Deployment"`
	Group             string `json:"group,omitempty" jsonschema:"API group, such as apps; default any"`
	ResourceName      string `json:"resourceName" jsonschema:"name of the resource"`
	ResourceNamespace string `json:"resourceNamespace,omitempty" jsonschema:"namespace of the resource; default any"`
	Offset            int    `json:"offset,omitempty" jsonschema:"leave out so many findings, to go on after a truncated answer"`
}

type mechanismIn struct {
	ID string `json:"id" jsonschema:"such as hpa-replicas"`
}

type mechanismOut struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
	Class   string `json:"class,omitempty" jsonschema:"letter of the well-known kinds of drift"`
}

type previewIn struct {
	application

	Rules []rule `json:"rules" jsonschema:"entries for spec.ignoreDifferences of the Application"`
}

// rule is an entry of ignoreDifferences.
type rule struct {
	Group                 string   `json:"group,omitempty" jsonschema:"API group; empty for the core group; * for all"`
	Kind                  string   `json:"kind"`
	Name                  string   `json:"name,omitempty"`
	Namespace             string   `json:"namespace,omitempty"`
	JSONPointers          []string `json:"jsonPointers,omitempty" jsonschema:"RFC 6901, such as /spec/replicas"`
	JQPathExpressions     []string `json:"jqPathExpressions,omitempty"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers,omitempty"`
}

type previewOut struct {
	Hides       []place `json:"hides" jsonschema:"drifting fields that would not show any more"`
	Remaining   int     `json:"remaining" jsonschema:"fields that would still drift"`
	Synced      bool    `json:"synced" jsonschema:"whether Argo CD would call the Application Synced"`
	Covers      []place `json:"covers" jsonschema:"fields taken out of the comparison, differing now or not"`
	CoversTotal int     `json:"coversTotal"`
	Reveals     []place `json:"reveals,omitempty" jsonschema:"fields that would show and do not now"`
	Truncated   string  `json:"truncated,omitempty"`
}

type place struct {
	Resource  resource `json:"resource"`
	Pointer   string   `json:"pointer"`
	Mechanism string   `json:"mechanism,omitempty"`
	Sync      string   `json:"sync,omitempty"`
}

func (t *tools) application(ctx context.Context, in applicationIn) (explanation, error) {
	if in.Offset < 0 {
		return explanation{}, errors.New("offset: it must not be negative")
	}
	answer, err := t.report(ctx, in.application)
	if err != nil {
		return explanation{}, err
	}
	return explain(answer, urgent(answer.Report.Findings), in.Offset, wide), nil
}

func (t *tools) resource(ctx context.Context, in resourceIn) (explanation, error) {
	if in.Offset < 0 {
		return explanation{}, errors.New("offset: it must not be negative")
	}
	answer, err := t.report(ctx, in.application)
	if err != nil {
		return explanation{}, err
	}
	var found []drift.Finding
	for _, f := range urgent(answer.Report.Findings) {
		if f.Resource.Kind == in.Kind && f.Resource.Name == in.ResourceName &&
			(in.Group == "" || f.Resource.Group == in.Group) && (in.ResourceNamespace == "" || f.Resource.Namespace == in.ResourceNamespace) {
			found = append(found, f)
		}
	}
	out := explain(answer, found, in.Offset, single)
	if len(found) == 0 {
		out.Truncated = fmt.Sprintf("nothing drifts in a %s %s of this Application, or it has none; explain_application lists its %d findings", plain(in.Kind, narrow.names), plain(in.ResourceName, narrow.names), len(answer.Report.Findings))
	}
	return out, nil
}

// report is the answer about an Application that may be asked about.
func (t *tools) report(ctx context.Context, in application) (*report.Answer, error) {
	ref, err := t.ref(in)
	if err != nil {
		return nil, err
	}
	answer, err := t.options.Reporter.Report(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("explain application %s: %w", ref, err)
	}
	return answer, same(ref, answer.Report.Application)
}

// same refuses an answer about another Application.
func same(ref argocd.Ref, answered string) error {
	if answered != ref.String() {
		return fmt.Errorf("application %s: Argo CD answered about %s; nothing of it is shown", ref, answered)
	}
	return nil
}

func (t *tools) mechanism(_ context.Context, in mechanismIn) (mechanismOut, error) {
	m := drift.Mechanism(in.ID)
	if m != drift.None && m != drift.Unexplained && !slices.Contains(drift.Mechanisms, m) {
		known := make([]string, len(drift.Mechanisms))
		for i, one := range drift.Mechanisms {
			known[i] = string(one)
		}
		return mechanismOut{}, fmt.Errorf("%q is no mechanism; use one of %s", plain(in.ID, narrow.value), strings.Join(known, ", "))
	}
	return mechanismOut{ID: in.ID, Summary: m.Summary(), Class: m.Class()}, nil
}

func (t *tools) preview(ctx context.Context, in previewIn) (previewOut, error) {
	rules, err := ignoring(in.Rules)
	if err != nil {
		return previewOut{}, err
	}
	ref, err := t.ref(in.application)
	if err != nil {
		return previewOut{}, err
	}
	snapshot, err := t.options.Reporter.Snapshot(ctx, ref)
	if err != nil {
		return previewOut{}, fmt.Errorf("application %s: %w", ref, err)
	}
	if err := same(ref, nameOf(snapshot.Application).String()); err != nil {
		return previewOut{}, err
	}
	preview, err := t.options.Reporter.Preview(ctx, snapshot, rules)
	if err != nil {
		return previewOut{}, fmt.Errorf("try the rules on %s: %w", ref, err)
	}
	out := previewOut{
		Hides: places(preview.Hides), Remaining: preview.Remaining, Synced: preview.Synced,
		Covers: []place{}, CoversTotal: preview.CoversTotal, Reveals: places(preview.Reveals),
	}
	for _, p := range preview.Covers[:min(len(preview.Covers), maxPlaces)] {
		out.Covers = append(out.Covers, place{Resource: resourceOf(p.Resource, narrow), Pointer: plain(string(p.Pointer), narrow.names)})
	}
	if hides, covers, reveals := len(preview.Hides)-len(out.Hides), preview.CoversTotal-len(out.Covers), len(preview.Reveals)-len(out.Reveals); hides > 0 || covers > 0 || reveals > 0 {
		out.Truncated = fmt.Sprintf("left out: %d more of hides, %d of covers, %d of reveals", hides, covers, reveals)
	}
	return out, nil
}

func places(fields []drift.PreviewField) []place {
	out := []place{}
	for _, p := range fields[:min(len(fields), maxPlaces)] {
		out = append(out, place{Resource: resourceOf(p.Resource, narrow), Pointer: plain(string(p.Pointer), narrow.names), Mechanism: string(p.Mechanism), Sync: string(p.Sync)})
	}
	return out
}

// ignoring are the rules as Argo CD writes them, when they are within the limits.
func ignoring(rules []rule) ([]v1alpha1.ResourceIgnoreDifferences, error) {
	if len(rules) == 0 || len(rules) > maxRules {
		return nil, fmt.Errorf("rules: give 1 to %d of them", maxRules)
	}
	out := make([]v1alpha1.ResourceIgnoreDifferences, len(rules))
	for i, r := range rules {
		entries := slices.Concat(r.JSONPointers, r.JQPathExpressions, r.ManagedFieldsManagers)
		if len(entries) == 0 || len(entries) > maxEntries {
			return nil, fmt.Errorf("rules[%d]: give 1 to %d pointers, jq expressions or managers", i, maxEntries)
		}
		if slices.ContainsFunc(append(entries, r.Group, r.Kind, r.Name, r.Namespace), func(e string) bool { return len(e) > maxEntry }) {
			return nil, fmt.Errorf("rules[%d]: an entry is longer than %d bytes", i, maxEntry)
		}
		out[i] = v1alpha1.ResourceIgnoreDifferences{
			Group: r.Group, Kind: r.Kind, Name: r.Name, Namespace: r.Namespace,
			JSONPointers: r.JSONPointers, JQPathExpressions: r.JQPathExpressions, ManagedFieldsManagers: r.ManagedFieldsManagers,
		}
	}
	return out, nil
}
