package ui_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/extension/ui"
	"github.com/moorpin/moorpin/pkg/drift"
)

var update = flag.Bool("update", false, "write test/fixtures anew")

// fixtures are the cases of the classifier's corpus whose answers the page is tested
// with, by the name of the fixture.
var fixtures = map[string]struct{ of, reason string }{
	"several":    {"multiple/autoscaler-person-and-addition", "three mechanisms on one resource, one hidden from Argo CD"},
	"edited":     {"manual-edit/certificate-duration", "a sync takes a person's change away"},
	"autoscaler": {"hpa-replicas/a-person-scaled-and-the-hpa-after-that", "a controller writes its value again"},
	"defaults":   {"crd-list-default/http-route", "noise: a sync changes nothing"},
	"random":     {"random-render/password-of-a-secret", "a sync destroys data, and the values are masked"},
	"prune":      {"pending-prune/configmap-still-mounted", "only one side is there, so there are no fields"},
	"shared":     {"shared-resource/same-configmap-twice", "another Application claims the object"},
	"blocked":    {"comparison-error-schema/port-twice", "Argo CD cannot compare, the finding is about the Application"},
	"synced":     {"none/allocated-addresses", "there is nothing to say"},
	"unhealthy":  {"unhealthy-not-drift/crash-loop-for-weeks", "nothing drifts, and yet somebody is needed"},
}

// TestFixtures holds what the page is tested with against what the backend answers.
func TestFixtures(t *testing.T) {
	service := report.NewService(report.ServiceOptions{Workers: 2})
	for name, row := range fixtures {
		t.Run(name, func(t *testing.T) {
			snapshot := snapshotOf(t, row.of)
			answer, err := service.Classify(t.Context(), report.Posted{Document: snapshot})
			if err != nil {
				t.Fatalf("%s: %v", row.reason, err)
			}
			compare(t, name, answer)
		})
	}
	t.Run("vocabulary", func(t *testing.T) {
		compare(t, "vocabulary", map[string]any{
			"mechanisms": append([]drift.Mechanism{drift.None, drift.Unexplained}, drift.Mechanisms...), "effects": drift.Effects,
		})
	})
}

func snapshotOf(t *testing.T, name string) []byte {
	t.Helper()
	found, err := cases.Read(t.Context(), filepath.Join("..", "..", "pkg", "drift", "testdata", "cases", filepath.FromSlash(name)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(&found.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// compare compares a value with the fixture's file, or writes that.
func compare(t *testing.T, name string, value any) {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	path := filepath.Join("test", "fixtures", name+".json")
	if *update {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write it with `go test ./extension/ui -update`", err)
	}
	if diff := cmp.Diff(string(want), string(data)); diff != "" {
		t.Errorf("the page is tested with what the backend does not answer; `go test ./extension/ui -update` writes it anew (-file +answer)\n%s", diff)
	}
}

// TestHelp holds the lines that the page tells people to add against what is installed.
func TestHelp(t *testing.T) {
	bundle := strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(string(ui.Bundle()))
	for _, name := range []string{"argocd-cm", "argocd-cmd-params-cm", "argocd-rbac-cm"} {
		manifest, err := os.ReadFile(filepath.Join("..", "..", "manifests", "components", "extension", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		_, data, found := strings.Cut(string(manifest), "\ndata:\n")
		if !found {
			t.Fatalf("%s.yaml has no data", name)
		}
		var lines []string
		for line := range strings.Lines(data) {
			if text := strings.TrimPrefix(line, "  "); !strings.HasPrefix(text, "#") {
				lines = append(lines, text)
			}
		}
		if want := strings.TrimSpace(strings.Join(lines, "")); !strings.Contains(bundle, want) {
			t.Errorf("the page does not tell to add to %s what is installed:\n%s", name, want)
		}
	}
}

// TestBundle holds what Argo CD's API server and page ask of an extension's file.
func TestBundle(t *testing.T) {
	bundle := ui.Bundle()
	if !regexp.MustCompile(`^extension(.*)\.js$`).MatchString(ui.BundleName) {
		t.Errorf("Argo CD does not load a file named %s", ui.BundleName)
	}
	if size := len(bundle); size > 100<<10 {
		t.Errorf("%d bytes: every page of Argo CD loads it, so it must stay below 100 KiB", size)
	}
	if !bytes.HasSuffix(bundle, []byte("\n")) {
		t.Error("it does not end a line, and Argo CD appends the next extension's file")
	}
	for text, reason := range map[string]string{
		"react.element":    "a React of its own, up to version 18",
		"react.trans":      "a React of its own, from version 19 on",
		"innerHTML":        "text of a cluster could become markup",
		"sourceMappingURL": "a second file that Argo CD does not serve",
		"eval(":            "a policy for scripts may forbid it",
	} {
		if bytes.Contains(bundle, []byte(text)) {
			t.Errorf("it holds %q: %s", text, reason)
		}
	}
	bundle[0] = 'x'
	if ui.Bundle()[0] == 'x' {
		t.Error("a caller can change the bundle of all others")
	}
}
