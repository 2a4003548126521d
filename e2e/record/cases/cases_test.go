package cases_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
)

func example() cases.Case {
	return cases.Case{
		Name: "manual-edit/scaled", Origin: cases.Written, Cause: "somebody scales it",
		Snapshot: drift.Snapshot{
			Application: map[string]any{"kind": "Application"},
			Resources: []drift.Resource{{
				ResourceRef: drift.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
				Target:      map[string]any{"spec": map[string]any{"replicas": int64(2), "large": int64(9007199254740993), "ratio": 0.5}},
			}},
			Related: []map[string]any{{"$crd": "externalsecrets.external-secrets.io"}},
		},
		Expect: cases.Expect{
			Findings: []cases.Finding{{
				Resource:  drift.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
				Mechanism: drift.ManualEdit, Fields: []string{"/spec/replicas"}, Flagged: true,
				Sync: drift.OverwritesLive, Fix: drift.FixDecideCommitOrSync,
			}},
			Sync: drift.OverwritesLive,
		},
	}
}

func TestWrittenIsLoaded(t *testing.T) {
	dir := t.TempDir()
	written := example()
	if err := cases.Write(dir, written); err != nil {
		t.Fatal(err)
	}
	loaded, err := cases.Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) != 1 {
		t.Fatalf("%d cases are loaded", len(loaded))
	}
	names, _ := loaded[0].Snapshot.Related[0]["spec"].(map[string]any)["names"].(map[string]any)
	if names["kind"] != "ExternalSecret" {
		t.Errorf("the CRD is not in its place: %v", names)
	}
	loaded[0].Snapshot.Related = written.Snapshot.Related
	if difference := cmp.Diff(written, loaded[0]); difference != "" {
		t.Errorf("loaded is not what was written (-written +loaded):\n%s", difference)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want, reason string }{
		"unknown key": {`"cause"`, `"causes"`, "causes", "a misspelt label would be no label"},
		"other place": {`manual-edit/scaled`, `manual-edit/other`, "its place says", "the holdout is chosen by name"},
		"unknown CRD": {`externalsecrets.external-secrets.io`, `things.example.com`, "things.example.com", "a case without its schema is another case"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := cases.Write(dir, example()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "manual-edit", "scaled.json")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), tc.from, tc.to)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := cases.Load(t.Context(), dir); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error is %v", tc.reason, err)
			}
		})
	}
}
