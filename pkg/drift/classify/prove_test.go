package classify

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/trial"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// provenOf tries the fixes of a mechanism for some of the flagged fields.
func provenOf(t *testing.T, r *state.Resource, mechanism drift.Mechanism, pointers ...fieldpath.Pointer) map[string]bool {
	t.Helper()
	var chosen []drift.Field
	for _, field := range flagged(r) {
		for _, pointer := range pointers {
			if field.Pointer == pointer {
				chosen = append(chosen, field)
			}
		}
	}
	if len(chosen) != len(pointers) {
		t.Fatalf("flagged are %v", flagged(r))
	}
	report := &drift.Report{Findings: []drift.Finding{{Fixes: fix.For(r.Application, r, &rule.Answer{Mechanism: mechanism}, chosen)}}}
	trial.Prove(r.Application, report)
	proven := map[string]bool{}
	for _, fix := range report.Findings[0].Fixes {
		proven[string(fix.Kind)+" "+string(fix.Where)] = fix.Proven
	}
	return proven
}

func TestProve(t *testing.T) {
	const replicas, image = fieldpath.Pointer("/spec/replicas"), fieldpath.Pointer("/spec/template/spec/containers/2/image")
	rows := map[string]struct {
		reason    string
		change    func(*drift.Snapshot)
		mechanism drift.Mechanism
		pointers  []fieldpath.Pointer
		want      map[string]bool
	}{
		"replicas leave Git": {
			"one of two differences goes, the other stays", nil, drift.HPAReplicas,
			[]fieldpath.Pointer{replicas},
			map[string]bool{"remove-replicas-from-git git": true, "ignore-differences-and-respect application": true, "ignore-differences-and-respect git": true},
		},
		"an item by its name": {
			"live has an item before those of Git", nil, drift.ManualEdit,
			[]fieldpath.Pointer{image},
			map[string]bool{"decide-commit-or-sync git": true, "decide-commit-or-sync operation": false},
		},
		"a webhook's value": {
			"the dry run cannot be had", nil, drift.WebhookOverwrite,
			[]fieldpath.Pointer{image},
			map[string]bool{"enable-server-side-diff application": false, "canonicalise-value-in-git git": true},
		},
		"one side alone": {
			"nothing is compared", func(s *drift.Snapshot) { s.Resources[0].Live = nil }, drift.ResourceMissing, nil,
			map[string]bool{"sync-or-remove-from-git operation": false, "sync-or-remove-from-git git": false},
		},
		"server-side diff": {
			"the merge of another manifest is known", func(s *drift.Snapshot) {
				s.Settings[drift.SettingStrategy] = string(drift.ServerSide)
				predicted := maps.Clone(s.Resources[0].Live)
				predicted["spec"] = s.Resources[0].Target["spec"]
				s.Resources[0].PredictedLive = predicted
			}, drift.HPAReplicas,
			[]fieldpath.Pointer{replicas},
			map[string]bool{"remove-replicas-from-git git": true, "ignore-differences-and-respect application": true, "ignore-differences-and-respect git": true},
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			snapshot := parseYAML(t, workload)
			if row.change != nil {
				row.change(snapshot)
			}
			_, r := arrange(t, snapshot)
			got := provenOf(t, r, row.mechanism, row.pointers...)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", row.reason, diff)
			}
		})
	}
}

// TestWhatDoesNotHelpIsNotProven tries fixes that are wrong.
func TestWhatDoesNotHelpIsNotProven(t *testing.T) {
	field := drift.Field{Pointer: "/spec/replicas", Target: int64(2), Live: int64(5), InTarget: true, InLive: true}
	path := []snippet.Step{{Field: "spec"}, {Field: "replicas"}}
	other := []snippet.Step{{Field: "spec"}, {Field: "paused"}}
	rows := map[string]struct {
		reason string
		edit   fix.Edit
		want   bool
	}{
		"right value":     {"Git says what live says", fix.Edit{Changes: []snippet.Change{{Path: path, Value: int64(5)}}}, true},
		"another value":   {"it still differs, and a sync would fight", fix.Edit{Changes: []snippet.Change{{Path: path, Value: int64(3)}}}, true},
		"something else":  {"the field still differs", fix.Edit{Changes: []snippet.Change{{Path: other, Value: true}}}, false},
		"too much":        {"another field begins to differ", fix.Edit{Changes: []snippet.Change{{Path: path, Value: int64(5)}, {Path: other, Value: true}}}, false},
		"no rule":         {"nothing is ignored", fix.Edit{}, false},
		"nowhere to edit": {"the path leads through a text", fix.Edit{Changes: []snippet.Change{{Path: []snippet.Step{{Field: "kind"}, {Field: "x"}}, Value: 1}}}, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			_, r := arrange(t, parseYAML(t, workload))
			row.edit.Resource, row.edit.Fields = r, []drift.Field{field}
			if name == "another value" {
				// Of a value that live does not have only the sync after it is modelled.
				row.reason = "the sync writes it"
			}
			if got := trial.Holds(&row.edit); got != row.want {
				t.Errorf("proven: %v, want %v: %s", got, row.want, row.reason)
			}
		})
	}
}

func TestSecretsAreNotTried(t *testing.T) {
	snapshot := parseYAML(t, workload)
	for _, side := range []object.Object{snapshot.Resources[0].Target, snapshot.Resources[0].Live} {
		side["apiVersion"], side["kind"] = "v1", "Secret"
	}
	_, r := arrange(t, snapshot)
	e := &fix.Edit{Resource: r, Fields: flagged(r), Ignores: nil, Changes: []snippet.Change{{Path: []snippet.Step{{Field: "spec"}}, Remove: true}}}
	if trial.Holds(e) {
		t.Error("a Secret was tried")
	}
}

func TestTrialsAreBounded(t *testing.T) {
	_, r := arrange(t, parseYAML(t, workload))
	report := &drift.Report{}
	for range trial.MaxTrials + 1 {
		report.Findings = append(report.Findings, drift.Finding{Fixes: []drift.Fix{{Edit: &fix.Edit{Resource: &state.Resource{}}}}})
	}
	trial.Prove(r.Application, report)
	if last := report.Findings[trial.MaxTrials].Fixes[0]; !strings.Contains(last.Why, trial.NotTried) || last.Proven {
		t.Errorf("the last one says %q", last.Why)
	}
	if first := report.Findings[0].Fixes[0]; strings.Contains(first.Why, trial.NotTried) {
		t.Errorf("the first one says %q", first.Why)
	}
}

func TestEditedLeavesTheManifest(t *testing.T) {
	snapshot := parseYAML(t, workload)
	before := value.Canonical(snapshot.Resources[0].Target)
	_, r := arrange(t, snapshot)
	fixes := fix.For(r.Application, r, &rule.Answer{Mechanism: drift.ManualEdit}, flagged(r))
	made, ok := fixes[0].Edited(snapshot.Resources[0].Target)
	if !ok {
		t.Fatal("the fix is an edit")
	}
	if value.Canonical(snapshot.Resources[0].Target) != before {
		t.Error("the manifest was changed")
	}
	if value, _ := fieldpath.Pointer("/spec/template/spec/containers/1/image").Value(made); value != "side:2" {
		t.Errorf("Git's second container has image %v, want the live one of the same name", value)
	}
	if _, ok := fixes[1].Edited(snapshot.Resources[0].Target); ok {
		t.Error("a sync is no edit")
	}
}
