package fleet_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// status is an Application that says no more than its sync status and its ConfigMaps.
func status(name, sync string, resources ...string) object {
	entries := []any{}
	for _, resource := range resources {
		entries = append(entries, object{"kind": "ConfigMap", "version": "v1", "namespace": "web", "name": resource, "status": "OutOfSync"})
	}
	return object{
		"metadata": object{"name": name, "namespace": "argocd"}, "spec": object{"project": "default"},
		"status": object{"sync": object{"status": sync}, "health": object{"status": "Healthy"}, "resources": entries},
	}
}

// TestNobodyVanishes: what Argo CD does not call Synced is told of, whatever is known
// about it, and never as if a sync were known to do nothing.
func TestNobodyVanishes(t *testing.T) {
	apps := []object{status("calm", "Synced"), status("quiet", "OutOfSync"), status("unknown", "Unknown"), status("never", ""), status("half", "OutOfSync", "a", "b", "c")}
	all := func(yield func(object, error) bool) {
		for _, app := range apps {
			if !yield(app, nil) {
				return
			}
		}
	}
	configMap := func(name string) drift.ResourceRef {
		return drift.ResourceRef{Version: "v1", Kind: "ConfigMap", Namespace: "web", Name: name}
	}
	// Of half, a is explained, b was there to read, and c was not.
	fields := func(_ context.Context, ref argocd.Ref) (*fleet.Explained, error) {
		if ref.Name != "half" {
			return &fleet.Explained{Report: &drift.Report{Sync: drift.NothingToDo}}, nil
		}
		return &fleet.Explained{Read: []drift.ResourceRef{configMap("b")}, Report: &drift.Report{
			Sync: drift.Noop, Findings: []drift.Finding{{Resource: configMap("a"), Mechanism: drift.CRDListDefault, Sync: drift.Noop}},
		}}, nil
	}
	tests := map[string]struct {
		options fleet.Options
		// want is name, effect, unread and reason of the text's lines.
		want []string
		csv  []string
	}{
		"status": {
			fleet.Options{},
			[]string{"half ? 3 unread", "never ? 0 unread", "quiet ? 0 unread", "unknown ? 0 unread"},
			[]string{"half,unread,3,?", "never,unread,0,?", "quiet,unread,0,?", "unknown,unread,0,?"},
		},
		"fields": {
			fleet.Options{Fields: fields},
			[]string{"half at least noop 1 crd-list-default 1", "never ? 0 unexplained", "quiet ? 0 unexplained", "unknown ? 0 unexplained"},
			[]string{"half,crd-list-default,1,noop", "half,unread,1,?", "never,unexplained,0,?", "quiet,unexplained,0,?", "unknown,unexplained,0,?"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := summarise(t, all, test.options)
			for _, a := range o.Affected {
				if !a.AtLeast {
					t.Errorf("%s says that a sync does nothing but %s", a.Name, a.Effect)
				}
			}
			var text, table bytes.Buffer
			if err := errorsOf(fleet.Text(&text, o), fleet.CSV(&table, o)); err != nil {
				t.Fatal(err)
			}
			_, rows, _ := strings.Cut(text.String(), "WHY\n")
			var got, cells []string
			for line := range strings.Lines(rows) {
				if words := strings.Fields(line); len(words) > 4 && strings.HasPrefix(words[0], "argocd/") {
					got = append(got, strings.Join(append([]string{words[0][len("argocd/"):]}, words[4:]...), " "))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || o.Drifting != 4 {
				t.Errorf("%d drift, -want +got:\n%s\n%s", o.Drifting, diff, text.String())
			}
			for line := range strings.Lines(table.String()) {
				if c := strings.Split(strings.TrimSpace(line), ","); strings.HasPrefix(c[0], "argocd/") {
					cells = append(cells, strings.Join([]string{c[0][len("argocd/"):], c[5], c[6], c[8]}, ","))
				}
			}
			if diff := cmp.Diff(test.csv, cells); diff != "" {
				t.Errorf("CSV: -want +got:\n%s", diff)
			}
		})
	}
}

// TestUnknownComesHigh: nobody knows that a sync of what was not read is harmless.
func TestUnknownComesHigh(t *testing.T) {
	effects := map[string]drift.Sync{"a-noop": drift.Noop, "b-blocked": drift.Blocked, "c-overwrites": drift.OverwritesLive, "d-unread": "", "e-destructive": drift.Destructive}
	o := summarise(t, func(yield func(object, error) bool) {
		for _, name := range []string{"a-noop", "b-blocked", "c-overwrites", "d-unread", "e-destructive"} {
			if !yield(status(name, "OutOfSync", name), nil) {
				return
			}
		}
	}, fleet.Options{Fields: func(_ context.Context, ref argocd.Ref) (*fleet.Explained, error) {
		if effects[ref.Name] == "" {
			return &fleet.Explained{Report: &drift.Report{Sync: drift.NothingToDo}}, nil
		}
		return &fleet.Explained{Report: &drift.Report{Sync: effects[ref.Name], Findings: []drift.Finding{{
			Resource: drift.ResourceRef{Kind: "ConfigMap", Namespace: "web", Name: ref.Name}, Mechanism: drift.ManualEdit, Sync: effects[ref.Name],
		}}}}, nil
	}})
	var got []string
	for i := range o.Affected {
		got = append(got, o.Affected[i].Name)
	}
	if diff := cmp.Diff([]string{"e-destructive", "c-overwrites", "d-unread", "b-blocked", "a-noop"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
