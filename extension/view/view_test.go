package view_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/extension/view"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

var update = flag.Bool("update", false, "write the golden files anew")

func writers() map[string]func(io.Writer, *drift.Report) error {
	return map[string]func(io.Writer, *drift.Report) error{"txt": view.Text, "md": view.Markdown}
}

func deployment() drift.ResourceRef {
	return drift.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "web", Name: "front"}
}

// usual is a report as the classifier makes it.
func usual() *drift.Report {
	return &drift.Report{
		Application: "argocd/shop", Verdict: "OutOfSync because somebody scaled Deployment front by hand.", Sync: drift.OverwritesLive,
		Findings: []drift.Finding{
			{
				Resource: drift.ResourceRef{Kind: "ConfigMap", Namespace: "web", Name: "extra"}, Mechanism: drift.HiddenLiveAddition, Confidence: drift.Likely,
				Summary: "A key was added by hand; Argo CD does not see it.", Sync: drift.Noop,
				Fields: []drift.Field{{Pointer: "/data/debug", Live: "true", InLive: true}},
			},
			{
				Resource: deployment(), Mechanism: drift.ManualEdit, Flagged: true, Confidence: drift.Certain, Sync: drift.OverwritesLive,
				Summary: "A person changed a field that Git sets.",
				Fields: []drift.Field{
					{Pointer: "/spec/replicas", Target: int64(2), Live: int64(5), InTarget: true, InLive: true, Owner: &drift.Owner{Manager: "kubectl", Operation: "Update", Subresource: "scale", Time: "2026-05-04T03:02:01Z"}},
					{Pointer: "/spec/template/spec/containers/0/image", Target: nil, Live: "nginx:<1>", InTarget: true, InLive: true},
				},
				Evidence: []string{"kubectl wrote /spec/replicas after Argo CD's last sync", "no autoscaler targets it"},
				Loss:     []string{"/spec/replicas: 5, written by kubectl at 2026-05-04T03:02:01Z"},
				Fixes: []drift.Fix{
					{Kind: drift.FixDecideCommitOrSync, Where: drift.InGit, Snippet: "spec:\n\treplicas: 5\n", Proven: true, Why: "Commit the value, or sync to take it back."},
					{Kind: drift.FixSync, Where: drift.InOperation, Snippet: "argocd app sync argocd/shop"},
				},
			},
		},
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

// everywhere is a report in which every text is the given one.
func everywhere(text string) *drift.Report {
	ref := drift.ResourceRef{Group: text, Version: text, Kind: text, Namespace: text, Name: text}
	return &drift.Report{
		Application: text, Verdict: text, Sync: drift.Sync(text),
		Findings: []drift.Finding{{
			Resource: ref, Mechanism: drift.Mechanism(text), Confidence: drift.Confidence(text), Summary: text, Sync: drift.Sync(text),
			Fields:   []drift.Field{{Pointer: fieldpath.Pointer(text), Target: text, Live: map[string]any{text: text}, InTarget: true, InLive: true, Owner: &drift.Owner{Manager: text, Operation: text, Subresource: text, Time: text}}},
			Evidence: []string{text}, Loss: []string{text},
			Fixes: []drift.Fix{{Kind: drift.FixKind(text), Where: drift.Where(text), Snippet: text + "\n" + text, Why: text}},
		}},
	}
}

var hostileTexts = map[string]string{
	"terminal":   "a\x1b[2J\x1b]0;owned\x07b\x9b31m",
	"carriage":   "good\r\x08\x7fevil",
	"bidi":       "abc\u202e\u2066dcba\u200b\ufeff",
	"no UTF-8":   "a\xff\xfe\x80b",
	"lines":      "a\nb\u2028c\u0085d\v\f",
	"html":       "<script>alert(1)</script><img src=x onerror=y>&lt;",
	"link":       "[click](https://evil.example.com) ![i](http://evil.example.com/i) www.evil.example.com <https://evil.example.com> https://evil.example.com mailto:a@evil.example.com",
	"code":       "`a` ``b`` ```c``` `",
	"fence":      "```\n~~~\n````\n# out\n",
	"heading":    "# a\n## b\n---\n===\n> q\n- l\n1. n\n| a | b |\n|---|---|",
	"dash":       "- a",
	"plus":       "+ a",
	"setext":     "===",
	"ordered":    "12. a",
	"bracketed":  "1) a",
	"emphasis":   "**a** __b__ ~~c~~ *d* $x$ \\",
	"references": "&amp; &#60;b&#62; \\<b>",
}

// TestTextObeysNothing holds that a terminal gets nothing to obey, whatever a report
// quotes, and that no quoted text begins a line of its own.
func TestTextObeysNothing(t *testing.T) {
	for name, text := range hostileTexts {
		for suffix, write := range writers() {
			var out bytes.Buffer
			if err := write(&out, everywhere(text)); err != nil {
				t.Fatal(err)
			}
			for i, r := range out.String() {
				if r != '\n' && r != ' ' && !unicode.IsPrint(r) || r == unicode.ReplacementChar {
					t.Errorf("%s as %s: character %U at %d", name, suffix, r, i)
					break
				}
			}
		}
	}
}

// TestMarkdownIsInert reads the Markdown as a renderer does, roughly: outside of code,
// no markup but our own is left.
func TestMarkdownIsInert(t *testing.T) {
	var plain bytes.Buffer
	if err := view.Markdown(&plain, everywhere("plain")); err != nil {
		t.Fatal(err)
	}
	want := skeleton(plain.String())
	for name, text := range hostileTexts {
		var out bytes.Buffer
		if err := view.Markdown(&out, everywhere(text)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, skeleton(out.String())); diff != "" {
			t.Errorf("%s: markup other than that of a plain report: -want +got:\n%s\n%s", name, diff, out.String())
		}
	}
}

// skeleton is the markup of a document: its blocks' first characters, and in lines
// the characters that mean something and are not escaped; code is one word.
func skeleton(document string) []string {
	var kept []string
	fence := ""
	for line := range strings.SplitSeq(document, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "" && line == fence:
			fence = ""
		case fence != "":
		case len(ticks) >= 3 && ticks == line:
			fence = line
			kept = append(kept, "CODE")
		default:
			kept = append(kept, inline(line))
		}
	}
	return kept
}

// opening is what means something where a line begins.
var opening = regexp.MustCompile(`^([-+=]|[0-9]+[.)])`)

// inline is the markup in one line.
func inline(line string) string {
	var marks strings.Builder
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1 && strings.ContainsRune("\\`*_[]<>#|~&!$-+=.:)", rune(rest[1])):
			i += 2
		case rest[0] == '`':
			ticks := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
			end := closing(rest[len(ticks):], ticks)
			if end < 0 {
				return marks.String() + " unclosed code"
			}
			marks.WriteString("C")
			i += len(ticks) + end + len(ticks)
		default:
			if strings.ContainsRune("*_[]<>#|~&!$\\", rune(rest[0])) || i == 0 && opening.MatchString(rest) ||
				strings.HasPrefix(rest, "http:") || strings.HasPrefix(rest, "https:") || strings.HasPrefix(rest, "www.") || strings.HasPrefix(rest, "mailto:") {
				marks.WriteByte(rest[0])
			}
			i++
		}
	}
	return marks.String()
}

// closing is where a run of exactly these backticks begins, or -1.
func closing(text, ticks string) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == len(ticks) {
			return i
		}
		i += run
	}
	return -1
}

func TestLongIsCut(t *testing.T) {
	report := usual()
	fields := make([]drift.Field, 5000)
	for i := range fields {
		fields[i] = drift.Field{Pointer: "/data/x", Live: strings.Repeat("ä", 100_000), InLive: true}
	}
	report.Findings[0].Fields = fields
	for suffix, write := range writers() {
		var out bytes.Buffer
		if err := write(&out, report); err != nil {
			t.Fatal(err)
		}
		if out.Len() > 50_000 || !strings.Contains(out.String(), "4980 more fields") || !strings.Contains(out.String(), "(100002 characters)") {
			t.Errorf("%s: %d bytes, or no word about what is cut", suffix, out.Len())
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var plain, out bytes.Buffer
		if err := view.Markdown(&out, everywhere(text)); err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(text) == "" {
			return // an empty text is written as a word, which has no code
		}
		_ = view.Markdown(&plain, everywhere("plain"))
		if diff := cmp.Diff(skeleton(plain.String()), skeleton(out.String())); diff != "" {
			t.Errorf("-plain +this:\n%s\n%s", diff, out.String())
		}
	})
}
