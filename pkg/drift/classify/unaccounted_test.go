package classify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// large53 are two whole numbers that are one and the same float.
const large53, large53Next = int64(1) << 53, int64(1)<<53 + 1

// TestLargeNumbers holds that whole numbers are compared as such, as the API server
// keeps them, wherever Argo CD does: its own three-way merge knows floats alone.
func TestLargeNumbers(t *testing.T) {
	widget := func(limit int64) map[string]any {
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "x"}, "spec": map[string]any{"limit": limit, "plain": "a"}}
	}
	rows := map[string]struct {
		reason   string
		settings drift.Settings
		given    bool
		wants    int
	}{
		"given":            {"Argo CD's own documents", nil, true, 1},
		"legacy":           {"Argo CD itself and kubectl apply see no difference", nil, false, 0},
		"structured merge": {"compared here, by another way", drift.Settings{drift.SettingStrategy: string(drift.StructuredMerge)}, false, 1},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			r := drift.Resource{
				ResourceRef: drift.ResourceRef{Group: "example.com", Version: "v1", Kind: "Widget", Namespace: "x", Name: "w"},
				Target:      widget(large53Next), Live: widget(large53),
			}
			if row.given {
				r.NormalizedLive, r.PredictedLive = r.Live, r.Target
			}
			snapshot := snapshotOf(r)
			snapshot.Settings = row.settings
			report := classified(t, snapshot)
			if found := pointersOf(report); len(found) != row.wants || row.wants > 0 && found[0] != "/spec/limit" {
				t.Fatalf("%s: flagged: %v, %s", row.reason, found, report.Verdict)
			}
			if row.wants == 0 {
				return
			}
			read := drift.Report{}
			if err := json.Unmarshal(encoded(t, report), &read); err != nil {
				t.Fatal(err)
			}
			if field := read.Findings[0].Fields[0]; field.Live != large53 || field.Target != large53Next {
				t.Errorf("%s: read back: %v and %v", row.reason, field.Live, field.Target)
			}
		})
	}
}

func TestNothingFlaggedIsInSync(t *testing.T) {
	const text = `
application:
  metadata: {name: web, namespace: argocd}
  spec: {project: default}
  status:
    sync: {status: %s, revision: one}
    conditions: [{type: SharedResourceWarning, message: "ConfigMap/other is part of applications argocd/web and b"}]
    resources: [{version: v1, kind: ConfigMap, namespace: x, name: c, status: %s}]
resources:
- kind: ConfigMap
  version: v1
  namespace: x
  name: c
  target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}, data: {a: "1"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}, data: {a: "1"}}
`
	rows := map[string]struct {
		reason      string
		app, status string
		change      func(*drift.Snapshot)
		unexplained bool
	}{
		"synced":     {"nobody flags it", "Synced", "Synced", nil, false},
		"listed":     {"Argo CD flags it, and another finding is about another object", "OutOfSync", "OutOfSync", elsewhere, true},
		"synced app": {"Argo CD flags it, whatever it says of the whole", "Synced", "OutOfSync", nil, true},
		"incomparable": {"what cannot be compared may differ", "Synced", "Synced", func(s *drift.Snapshot) {
			s.Resources[0].NormalizedLive, s.Resources[0].PredictedLive = counted(250_000, "1"), counted(250_000, "2")
		}, true},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			snapshot := parsed(t, fmt.Sprintf(text, row.app, row.status))
			if row.change != nil {
				row.change(snapshot)
			}
			found := false
			for _, f := range classified(t, snapshot).Findings {
				found = found || f.Mechanism == drift.Unexplained && f.Resource.Name == "c"
			}
			if found != row.unexplained {
				t.Errorf("unexplained: %v, want %v: %s", found, row.unexplained, row.reason)
			}
		})
	}
}

// elsewhere adds an object that really differs.
func elsewhere(s *drift.Snapshot) {
	other := s.Resources[0]
	other.Name = "d"
	other.Target = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "d", "namespace": "x"}, "data": map[string]any{"a": "2"}}
	other.Live = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "d", "namespace": "x"}, "data": map[string]any{"a": "1"}}
	s.Resources = append(s.Resources, other)
}

// TestOutOfSyncIsNeverInSync holds that the verdict does not gainsay Argo CD.
func TestOutOfSyncIsNeverInSync(t *testing.T) {
	report := classifyText(t, `
application:
  metadata: {name: web, namespace: argocd}
  spec: {project: default}
  status: {sync: {status: OutOfSync}, resources: [{version: v1, kind: ConfigMap, namespace: x, name: c, status: OutOfSync}]}
`)
	if len(report.Findings) != 1 || report.Findings[0].Mechanism != drift.Unexplained || !strings.Contains(strings.Join(report.Findings[0].Evidence, " "), "x/c") {
		t.Errorf("have %s", encoded(t, report))
	}
}
