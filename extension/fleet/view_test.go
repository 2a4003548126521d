package fleet_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

var update = flag.Bool("update", false, "write the golden files anew")

func writers() map[string]func(io.Writer, *fleet.Overview) error {
	return map[string]func(io.Writer, *fleet.Overview) error{"txt": fleet.Text, "md": fleet.Markdown, "csv": fleet.CSV}
}

// usual is an overview with a bit of everything.
func usual() *fleet.Overview {
	seven := 7
	return &fleet.Overview{
		Applications: 12, Resources: 340, Drifting: 3, Unread: 2,
		States: []fleet.State{{Sync: "OutOfSync", Health: "Degraded", Applications: 1}, {Sync: "Synced", Health: "Healthy", Applications: 11}},
		Mechanisms: []fleet.Mechanism{
			{Mechanism: drift.CRDListDefault, Class: "A", Applications: 2, Findings: 3, Fields: 9, Sync: drift.Noop, Example: "argocd/shop"},
			{Mechanism: drift.Unexplained, Applications: 1, Findings: 1, Fields: 1, Sync: drift.OverwritesLive, Example: "argocd/pay"},
		},
		Kinds:       []fleet.Kind{{Group: "apps", Kind: "Deployment", Resources: 4, Applications: 2, Fields: 9}, {Kind: "Service", Resources: 1, Applications: 1}},
		Unexplained: []fleet.Unexplained{{Application: "argocd/pay", Resource: drift.ResourceRef{Kind: "ConfigMap", Namespace: "pay", Name: "c"}, Fields: 1, Pointers: []fieldpath.Pointer{"/data/a"}}},
		Behind: []fleet.Behind{
			{Application: "argocd/shop", Sync: "OutOfSync", Health: "Degraded", Since: "2026-05-04T02:00:00Z", Restarts: &seven, More: 2, Resources: []fleet.Ill{{Resource: drift.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "front"}, Health: "Degraded", Message: "exceeded its progress deadline"}}},
			{Application: "argocd/pay", Sync: "Unknown", Health: "Progressing"},
		},
		Affected: []fleet.Application{
			{Namespace: "argocd", Name: "shop", Project: "web", Sync: "OutOfSync", Health: "Degraded", Since: "2026-05-04T02:00:00Z", Effect: drift.Noop, FieldsRead: true, Counts: []fleet.Count{{Mechanism: drift.CRDListDefault, Findings: 2, Fields: 6, Sync: drift.Noop}, {Mechanism: drift.PendingPrune, Findings: 1, Sync: drift.Noop}}},
			{Namespace: "argocd", Name: "late", Project: "default", Sync: "OutOfSync", Health: "Healthy", Unread: 2, Effect: drift.NothingToDo},
		},
		Problems: []fleet.Problem{{Application: "argocd/late", Error: "read fields: the token lacks a right"}},
		Fields:   &fleet.Reading{Applications: 3, Seconds: 1.5, PerSecond: 2},
	}
}

func TestGolden(t *testing.T) {
	for suffix, write := range writers() {
		t.Run(suffix, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out, usual()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "usual."+suffix)
			if *update {
				if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("-want +got (-update writes it):\n%s", diff)
			}
		})
	}
}

// everywhere is an overview in which every text is the given one.
func everywhere(text string) *fleet.Overview {
	ref := drift.ResourceRef{Group: text, Version: text, Kind: text, Namespace: text, Name: text}
	m := drift.Mechanism(text)
	return &fleet.Overview{
		States:      []fleet.State{{Sync: text, Health: text}},
		Mechanisms:  []fleet.Mechanism{{Mechanism: m, Class: text, Sync: drift.Sync(text), Example: text}},
		Kinds:       []fleet.Kind{{Group: text, Kind: text}},
		Unexplained: []fleet.Unexplained{{Application: text, Resource: ref, Pointers: []fieldpath.Pointer{fieldpath.Pointer(text)}, Evidence: text}},
		Behind:      []fleet.Behind{{Application: text, Sync: text, Health: text, Since: text, Resources: []fleet.Ill{{Resource: ref, Health: text, Message: text}}}},
		Affected:    []fleet.Application{{Namespace: text, Name: text, Project: text, Sync: text, Health: text, Since: text, Effect: drift.Sync(text), Unread: 1, Counts: []fleet.Count{{Mechanism: m, Sync: drift.Sync(text)}}}},
		Problems:    []fleet.Problem{{Application: text, Error: text}},
	}
}

var hostileTexts = map[string]string{
	"terminal": "a\x1b[2J\x1b]0;owned\x07b\x9b31m",
	"lines":    "a\nb\u2028c\u0085d\v\f\r",
	"tabs":     "a\tb",
	"bidi":     "abc\u202e\u2066dcba\u200b\ufeff",
	"no UTF-8": "a\xff\xfe\x80b",
	"html":     "<script>alert(1)</script><img src=x onerror=y>",
	"link":     "[click](https://evil.crowd.com) ![i](http://evil.crowd.com/i)",
	"table":    "a | b | c |\n|---|---|",
	"code":     "`a` ```b",
	"formula":  "=HYPERLINK(\"http://evil.crowd.com\",\"x\")",
	"quotes":   "a\",\"b",
}

// TestInert holds that whatever an Application says, a terminal obeys nothing, a line
// stays a line, a table keeps its columns, and a spreadsheet computes nothing.
func TestInert(t *testing.T) {
	for name, text := range hostileTexts {
		for suffix, write := range writers() {
			var plain, out bytes.Buffer
			if err := errorsOf(write(&plain, everywhere("plain")), write(&out, everywhere(text))); err != nil {
				t.Fatal(err)
			}
			for _, r := range out.String() {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%s as %s: character %U", name, suffix, r)
				}
			}
			if got, want := strings.Count(out.String(), "\n"), strings.Count(plain.String(), "\n"); got != want {
				t.Errorf("%s as %s: %d lines, want %d:\n%s", name, suffix, got, want, out.String())
			}
		}
		var markdown, table bytes.Buffer
		if err := errorsOf(fleet.Markdown(&markdown, everywhere(text)), fleet.CSV(&table, everywhere(text))); err != nil {
			t.Fatal(err)
		}
		bare := strings.NewReplacer(`\<`, "", `\|`, "", "\\`", "", `\[`, "").Replace(markdown.String())
		for _, mark := range []string{"<", "`", "["} {
			if strings.Contains(bare, mark) {
				t.Errorf("%s: %q is markup:\n%s", name, mark, markdown.String())
			}
		}
		for i, line := range strings.Split(bare, "\n") {
			if columns := strings.Count(line, "|"); columns == 1 {
				t.Errorf("%s: line %d is half a table: %s", name, i, line)
			}
		}
		rows, err := csv.NewReader(&table).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") {
					t.Errorf("%s: a formula: %s", name, cell)
				}
			}
		}
	}
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestLongIsCut: people get the top of a long table, with a word about the rest;
// spreadsheets get everything.
func TestLongIsCut(t *testing.T) {
	o := summarise(t, made(2000, 2), fleet.Options{})
	for suffix, write := range writers() {
		var out bytes.Buffer
		if err := write(&out, o); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(out.String(), "\n")
		switch {
		case suffix == "csv" && lines != 1+len(o.Affected):
			t.Errorf("csv: %d lines for %d Applications", lines, len(o.Affected))
		case suffix != "csv" && (lines > 120 || !strings.Contains(out.String(), "more Applications")):
			t.Errorf("%s: %d lines, or no word about what is cut", suffix, lines)
		}
	}
}
