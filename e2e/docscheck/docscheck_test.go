package docscheck_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/e2e/docscheck"
)

// files are a small project.
var files = map[string]string{
	"Makefile":                     ".PHONY: help\nhelp: ## Help\nVALUE := x\ntest: help\n",
	"README.md":                    "# A project\n",
	"docs/page.md":                 "# A page\n\n## What it's for\n",
	"cmp/main.go":                  "package cmp\n\nconst prefix = \"moorpin\"\n\nvar a = prometheus.GaugeOpts{Namespace: prefix, Subsystem: \"cmp\", Name: \"seen_total\"}\nvar b = prometheus.NewDesc(\"moorpin_direct\", \"\", nil, nil)\nvar c = m.Gauge(\"asked\", \"\")\n",
	"pkg/a_test.go":                "package a\n\nfunc TestIt(t *testing.T) {}\n",
	"docs/runbooks/MoorpinDown.md": "# MoorpinDown\n\n## What it means\n\n## Confirm\n\n## Fix\n\n## When not to\n",
	"manifests/components/monitoring/rules.yaml": "kind: PrometheusRule\nspec:\n  groups:\n  - rules:\n    - alert: MoorpinDown\n      expr: moorpin_direct == 0\n      annotations: {runbook_url: https://x/docs/runbooks/MoorpinDown.md}\n",
	"extension/x.go": "package extension\n",
}

// write writes the project, with changes, and returns its root.
func write(t *testing.T, change map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, set := range []map[string]string{files, change} {
		for name, text := range set {
			path := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func open(t *testing.T, change map[string]string) *docscheck.Project {
	t.Helper()
	project, err := docscheck.Open(write(t, change), commandLine())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// commandLine is `moorpin part serve [--address A] [-v]` and `moorpin part show FILE`.
func commandLine() *cobra.Command {
	root, part := &cobra.Command{Use: "moorpin"}, &cobra.Command{Use: "part"}
	run := func(*cobra.Command, []string) {}
	serve, show := &cobra.Command{Use: "serve", Run: run}, &cobra.Command{Use: "show FILE", Run: run}
	serve.Flags().String("address", "", "")
	serve.Flags().BoolP("verbose", "v", false, "")
	part.AddCommand(serve, show)
	root.AddCommand(part)
	return root
}

// TestDocument: what is there passes, and each thing that is not is named.
func TestDocument(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		// wants are parts of the problems, in order.
		wants []string
	}{
		"command":             {"all of it is there", "`moorpin part serve --address :80 -v`", nil},
		"help":                {"every command has it", "`moorpin part serve --help`", nil},
		"wrong flag":          {"a typo", "`moorpin part serve --adr :80`", []string{"`moorpin part serve` has no flag --adr"}},
		"flag of another":     {"show does not serve", "`moorpin part show --address x`", []string{"`moorpin part show` has no flag --address"}},
		"wrong short flag":    {"a typo", "`moorpin part serve -x`", []string{"no flag -x"}},
		"wrong command":       {"a typo", "`moorpin part sreve`", []string{"`moorpin part` has no command sreve"}},
		"placeholder":         {"a word for any command", "`moorpin part COMMAND --help`", nil},
		"argument":            {"what a flag takes is no command", "`moorpin part show x y --help`", nil},
		"fenced":              {"blocks count", "text\n\n```sh\nA=b bin/moorpin part serve --nope\n```\n", []string{"--nope"}},
		"indented":            {"blocks count", "text\n\n    bin/moorpin part \\\n      serve --nope\n", []string{"--nope"}},
		"piped":               {"every command of a line", "`echo | moorpin part serve --nope && moorpin part none`", []string{"--nope", "none"}},
		"exec":                {"the command in the container", "`kubectl exec x -c moorpin -- /moorpin/moorpin part serve --nope`", []string{"--nope"}},
		"comment":             {"is none", "`moorpin part serve # --nope`", nil},
		"name":                {"a plugin's name is no command", "`name: moorpin`, `moorpin`", nil},
		"lone flag":           {"some command has to have it", "`--address`, `--nope=1`", []string{"--nope"}},
		"flag in prose":       {"some command has to have it", "with --address or --nope", []string{"--nope"}},
		"target":              {"of the Makefile", "`make test` and `make tset X=1`", []string{"no target tset"}},
		"test":                {"of a package", "`go test ./pkg -run TestIt` and `go test ./pkg -run TestThat`", []string{"no test that matches TestThat"}},
		"package":             {"its folder", "`go test ./pkg/none`", []string{"there is no pkg/none"}},
		"path":                {"of the project", "`docs/page.md`, `docs/none.md`, `docs/*.md`, `apps/v1`", []string{"there is no docs/none.md"}},
		"link":                {"leads somewhere", "[a](page.md) [b](none.md) ![c](none.png)", []string{"none.md", "none.png"}},
		"anchor":              {"a heading", "[a](page.md#what-its-for) [b](page.md#none)", []string{"no heading #none"}},
		"source":              {"of a picture", `<img src="none.png">`, []string{"none.png"}},
		"elsewhere":           {"is not asked", "[a](https://example.com/none.md)", nil},
		"metrics":             {"of each way to make one", "`moorpin_cmp_seen_total`, `moorpin_direct{a}`, moorpin_asked", nil},
		"wrong metric":        {"a typo", "`moorpin_cmp_sen_total`", []string{"moorpin_cmp_sen_total"}},
		"suffix":              {"of a histogram", "`moorpin_direct_bucket`", nil},
		"family":              {"stands for all", "`moorpin_cmp_*` `moorpin_none_*`", []string{"moorpin_none_"}},
		"code over two lines": {"one command", "text `moorpin part\nserve --nope` text", []string{"--nope"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			project := open(t, nil)
			have := project.Document("docs/new.md", test.text)
			if len(have) != len(test.wants) {
				t.Fatalf("%s: want %d problems: %v", test.reason, len(test.wants), have)
			}
			for i, want := range test.wants {
				if !strings.Contains(have[i].Says, want) {
					t.Errorf("%s: want %q: %v", test.reason, want, have[i])
				}
			}
		})
	}
}

// TestCheck walks the whole project.
func TestCheck(t *testing.T) {
	rules := files["manifests/components/monitoring/rules.yaml"]
	tests := map[string]struct {
		reason string
		change map[string]string
		wants  []string
	}{
		"as it is":       {"nothing is amiss", nil, []string{}},
		"a document":     {"is found below docs", map[string]string{"docs/deep/new.md": "text\n`make none`\n"}, []string{"docs/deep/new.md:2: the Makefile has no target none"}},
		"no runbook":     {"an alert needs one", map[string]string{"manifests/components/monitoring/rules.yaml": strings.ReplaceAll(rules, "MoorpinDown", "MoorpinUp")}, []string{"docs/runbooks/MoorpinDown.md:1: no alert has this runbook; there are MoorpinUp", "manifests/components/monitoring/rules.yaml:1: MoorpinUp: there is no runbook docs/runbooks/MoorpinUp.md"}},
		"another URL":    {"it leads to the runbook", map[string]string{"manifests/components/monitoring/rules.yaml": strings.ReplaceAll(rules, "runbooks/MoorpinDown", "MoorpinDown")}, []string{`manifests/components/monitoring/rules.yaml:1: MoorpinDown: runbook_url is "https://x/docs/MoorpinDown.md" and ends with no docs/runbooks/MoorpinDown.md`}},
		"half a runbook": {"it says what not to do", map[string]string{"docs/runbooks/MoorpinDown.md": "# a\n\n## What it means\n\n## Confirm\n\n## Fix\n"}, []string{`manifests/components/monitoring/rules.yaml:1: MoorpinDown: its runbook lacks "## When not to"`}},
		"alert's metric": {"it exists", map[string]string{"manifests/components/monitoring/rules.yaml": strings.ReplaceAll(rules, "moorpin_direct", "moorpin_gone")}, []string{"manifests/components/monitoring/rules.yaml:6: there is no metric moorpin_gone"}},
		"dashboard":      {"its metrics exist", map[string]string{"manifests/components/monitoring/board.json": `{"expr": "moorpin_gone"}`}, []string{"manifests/components/monitoring/board.json:1: there is no metric moorpin_gone"}},
		"stray runbook":  {"it is about an alert", map[string]string{"docs/runbooks/Old.md": "# Old\n"}, []string{"docs/runbooks/Old.md:1: no alert has this runbook; there are MoorpinDown"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			project := open(t, test.change)
			problems, err := project.Check()
			if err != nil {
				t.Fatal(err)
			}
			have := []string{}
			for _, problem := range problems {
				have = append(have, problem.String())
			}
			if diff := cmp.Diff(test.wants, have); diff != "" {
				t.Errorf("%s: -want +have:\n%s", test.reason, diff)
			}
		})
	}
}

// TestMetrics: the sources are read in full, for what a live registry exports is known.
func TestMetrics(t *testing.T) {
	names, err := docscheck.Metrics("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"moorpin_cmp_requests_total", "moorpin_cmp_phase_seconds", "moorpin_cmp_working", "moorpin_live_crds_synced",
		"moorpin_extension_refused_total", "moorpin_extension_step_seconds", "moorpin_drift_fields", "moorpin_scan_success_timestamp_seconds",
	} {
		if !names[name] {
			t.Errorf("%s is not found in the sources", name)
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d metrics are found", len(names))
	}
}

// TestHelp: the help of the commands counts, too.
func TestHelp(t *testing.T) {
	for name, change := range map[string]func(serve *cobra.Command){
		"example": func(serve *cobra.Command) { serve.Example = "  # all\n  moorpin part serve --nope" },
		"text":    func(serve *cobra.Command) { serve.Long = "With --nope, nothing is served." },
		"metric":  func(serve *cobra.Command) { serve.Long = "See moorpin_nope." },
	} {
		t.Run(name, func(t *testing.T) {
			root := commandLine()
			serve, _, err := root.Find([]string{"part", "serve"})
			if err != nil {
				t.Fatal(err)
			}
			change(serve)
			project, err := docscheck.Open(write(t, nil), root)
			if err != nil {
				t.Fatal(err)
			}
			problems, err := project.Check()
			if err != nil || len(problems) != 1 || problems[0].File != "help of moorpin part serve" || !strings.Contains(problems[0].Says, "nope") {
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
}
