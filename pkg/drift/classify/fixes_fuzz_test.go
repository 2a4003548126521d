package classify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/trial"
	"github.com/moorpin/moorpin/pkg/drift/plan"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// FuzzFixes offers and tries the fixes of every mechanism for whatever two objects,
// and plans for the live one: nothing breaks, and what is YAML by its place parses.
func FuzzFixes(f *testing.F) {
	f.Add(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b"},"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"x","image":"1"}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b","annotations":{"k":"v"}},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"y"},{"name":"x","image":"2"}]}}}}`, "/spec/template/spec/containers/1/image")
	f.Add(`{"kind":"Secret","metadata":[],"spec":{"a":[[1],[{"name":null}]],"selector":"x"}}`, `{"kind":"Secret","metadata":{"managedFields":[1,{}],"ownerReferences":{},"finalizers":[{}]},"spec":{"a":[[2],{"name":[]}],"volumeClaimTemplates":1}}`, "/spec/a/1/0")
	f.Add(`{}`, `{"":{"":[]}}`, "")
	f.Fuzz(func(t *testing.T, target, live, pointer string) {
		var git, cluster map[string]any
		if json.Unmarshal([]byte(target), &git) != nil || json.Unmarshal([]byte(live), &cluster) != nil {
			return
		}
		at, err := fieldpath.Parse(pointer)
		if err != nil {
			at = ""
		}
		snapshot := &drift.Snapshot{
			Application: map[string]any{"kind": "Application", "metadata": map[string]any{"name": "app", "namespace": "argocd"}},
			Resources:   []drift.Resource{{Target: git, Live: cluster}}, Related: []map[string]any{cluster, git},
			Settings: drift.Settings{drift.SettingVersion: "v3.6.0"},
		}
		s, err := state.New(t.Context(), snapshot)
		if err != nil {
			return
		}
		compare.All(s)
		r := s.Resources[0]
		r.Prepare()
		value, found := at.Value(cluster)
		fields := append(flagged(r), drift.Field{Pointer: at, Live: value, InLive: found, Target: value, InTarget: true})
		report := &drift.Report{}
		for _, mechanism := range append(slices.Clone(drift.Mechanisms), drift.None, drift.Unexplained) {
			fixes := fix.For(s, r, &rule.Answer{Mechanism: mechanism, Sync: drift.FightsController}, slices.Clone(fields))
			for _, fix := range fixes {
				var parsed map[string]any
				if fix.Where == drift.InCluster || fix.Where == drift.InOperation {
					if strings.Contains(fix.Snippet, "\r") {
						t.Errorf("%s: a line break that is none: %q", mechanism, fix.Snippet)
					}
				} else if err := yaml.Unmarshal([]byte(fix.Snippet), &parsed); err != nil {
					t.Errorf("%s: %v:\n%s", mechanism, err, fix.Snippet)
				}
			}
			report.Findings = append(report.Findings, drift.Finding{Mechanism: mechanism, Resource: r.Ref, Fixes: fixes})
		}
		trial.Prove(s, report)
		plan := plan.For(snapshot, report)
		_, _ = plan.Markdown(), plan.Script()
	})
}
