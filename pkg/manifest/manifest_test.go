package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/manifest"
)

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"stream":             {reason: "documents keep their order and know their line", text: "kind: A\n---\n# only a comment\n---\n\nkind: B\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 2 (line 4)"}},
		"first marker":       {reason: "a marker before the first document makes none", text: "%YAML 1.2\n---\nkind: A\n", want: []string{"A f.yaml: document 1 (line 2)"}},
		"on the marker line": {reason: "what follows the dashes is not lost", text: "--- {kind: A}\n--- # comment\nkind: B\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 2 (line 2)"}},
		"end marker":         {reason: "what follows ... is not lost", text: "kind: A\n...\nkind: B\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 2 (line 3)"}},
		"dashes in text":     {reason: "---x is no marker", text: "kind: A\nx: |\n  ---\n  y\nz:\n  ---x\n", want: []string{"A f.yaml: document 1 (line 1)"}},
		"list":               {reason: "Lists are expanded, empty ones vanish", text: "kind: List\nitems:\n- kind: A\n- kind: BList\n  items: [{kind: B}]\n---\nkind: List\nitems: null\n---\nkind: CList\nitems: null\nspec: {}\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 1 (line 1)", "CList f.yaml: document 3 (line 9)"}},
		"json":               {reason: "JSON values may follow one another", text: "\n{\"kind\":\"A\"}\n\n{\"kind\":\"B\"}", want: []string{"A f.yaml: document 1 (line 2)", "B f.yaml: document 2 (line 4)"}},
		"json array":         {reason: "an array of objects is a list", text: `[{"kind":"A"},{"kind":"B"}]`, want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 1 (line 1)"}},
		"json then yaml":     {reason: "a YAML stream may begin like JSON", text: "{\"kind\":\"A\"}\n---\nkind: B\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 2 (line 2)"}},
		"tab":                {reason: "a tab after the marker", text: "---\t\nkind: A\n---\tkind: B\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 2 (line 3)"}},
		"crlf and mark":      {reason: "Windows text and a byte order mark", text: "\xef\xbb\xbfkind: A\r\n---\r\nkind: B\r\n", want: []string{"A f.yaml: document 1 (line 1)", "B f.yaml: document 2 (line 2)"}},
		"nothing":            {reason: "comments alone are no object", text: "# nothing\n---\n\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := manifest.Decode("f.yaml", []byte(test.text), manifest.Limits{})
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			var got []string
			for _, object := range objects {
				got = append(got, object.Kind().Kind+" "+object.Origin.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s:\n%s", test.reason, diff)
			}
		})
	}
}

func TestDecodeScalars(t *testing.T) {
	text := "kind: A\nint: 9007199254740993\nfloat: 1.5\noctal: 0644\nyes: yes\nnothing: ~\nquoted: \"1\"\n"
	objects, err := manifest.Decode("f.yaml", []byte(text), manifest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"kind": "A", "int": int64(9007199254740993), "float": 1.5, "octal": int64(420),
		"true": true, "nothing": nil, "quoted": "1",
	}
	if diff := cmp.Diff(want, objects[0].Content); diff != "" {
		t.Errorf("scalars are read as Argo CD reads them:\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	bomb := "kind: A\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	big := "kind: A\nbig: &b " + strings.Repeat("x", 1<<20) + "\nlist: [" + strings.TrimSuffix(strings.Repeat("*b,", 2000), ",") + "]\n"
	tests := map[string]struct {
		reason   string
		text     string
		limits   manifest.Limits
		document int
		line     int
	}{
		"broken":         {reason: "the line is the file's, not the document's", text: "kind: A\n---\nkind: B\nx: [1\ny: 2\n", document: 2, line: 4},
		"scalar":         {reason: "a text is no object", text: "kind: A\n---\njust text\n", document: 2},
		"no kind":        {reason: "an object needs a kind", text: "apiVersion: v1\n", document: 1},
		"kind no string": {reason: "a kind is a string", text: "kind: 1\n", document: 1},
		"bad item":       {reason: "an item of a list needs to be an object", text: "kind: List\nitems: [1]\n", document: 1},
		"item no kind":   {reason: "an item of a list needs a kind", text: "kind: List\nitems: [{}]\n", document: 1},
		"bytes":          {reason: "the text is bounded", text: "kind: AAAAAAAAAA\n", limits: manifest.Limits{Bytes: 8}},
		"documents":      {reason: "the objects are bounded", text: "kind: A\n---\nkind: B\n", limits: manifest.Limits{Documents: 1}, document: 2},
		"depth":          {reason: "the nesting is bounded", text: "kind: A\nx: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "\n", limits: manifest.Limits{Depth: 10}, document: 1},
		"json depth":     {reason: "the nesting of JSON too", text: `{"kind":"A","x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}", document: 1},
		"alias bomb":     {reason: "aliases of aliases are not expanded", text: bomb, document: 1, line: 8},
		"alias of text":  {reason: "a long text repeated is a bomb too", text: big, document: 1, line: 3},
		"alias loop":     {reason: "an anchor must not hold itself", text: "kind: A\nx: &x [*x]\n", document: 1, line: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := manifest.Decode("f.yaml", []byte(test.text), test.limits)
			var fault *manifest.Error
			if !errors.As(err, &fault) {
				t.Fatalf("got %d objects and error %v, want a manifest.Error: %s", len(objects), err, test.reason)
			}
			if objects != nil {
				t.Errorf("got %d objects beside the error", len(objects))
			}
			if fault.Origin.File != "f.yaml" || fault.Origin.Document != test.document || (test.line != 0 && fault.Line != test.line) {
				t.Errorf("%s: want document %d, line %d, got: %v", test.reason, test.document, test.line, err)
			}
		})
	}
}

func TestCheckAliases(t *testing.T) {
	big := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 2000), ",") + "]\n"
	tests := map[string]struct {
		reason string
		text   string
		fails  bool
	}{
		"harmless": {reason: "few aliases are fine", text: "a: &a x\nb: *a\n"},
		"no YAML":  {reason: "what does not parse does not expand", text: "a: &a x\nb: *a\n---\n{{ not yaml & yet * }}: [\n"},
		"bomb":     {reason: "a long text two thousand times", text: big, fails: true},
		// yaml.v3 refuses what follows the brace, the library that decodes does not look at it.
		"one library": {reason: "a document that only the decoding library reads", text: "{" + strings.ReplaceAll(strings.TrimSpace(big), "\n", ", ") + "}:*c\n", fails: true},
		"tab":         {reason: "a tab after the marker is no hiding place", text: "---\t\n" + big, fails: true},
		"late":        {reason: "every document is looked at", text: "a: 1\n---\n" + big, fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := manifest.CheckAliases("f.yaml", []byte(test.text), manifest.Limits{}); (err != nil) != test.fails {
				t.Errorf("%s: %v", test.reason, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"kind: A\n---\nkind: B\n", "kind: List\nitems: [{kind: A}]", `{"kind":"A"}{"kind":"B"}`, "kind: A\nx: &x [*x]\n",
		"kind: A\ny: 1\nn: [yes, no, ~, 0x1f, 1e3, .inf, 2001-01-01, \"\\u2028\"]\n", "--- {kind: A}\n...\n", "kind: \"\\ud800\"\n", "%TAG ! x\n---\nkind: A",
		"\xff\xfek\x00i\x00n\x00d\x00:\x00 \x00A\x00", "kind: A\n<<: {a: 1}\n? [x]\n: 2\n", "kind: A\r---\rkind: B", "kind: A\u0085---\u2028", "{\"kind\":\"\x7f\"}", `{"kind":"K","x":"a\nb\u2028"}{"kind":"K","<<":{"a":"\u0085"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, err := manifest.Decode("f.yaml", text, manifest.Limits{Bytes: 1 << 20, Documents: 100, Depth: 50})
		if err != nil {
			var fault *manifest.Error
			if !errors.As(err, &fault) || objects != nil {
				t.Fatalf("%d objects, error of type %T: %v", len(objects), err, err)
			}
			return
		}
		stream, err := manifest.Encode(objects)
		if err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		again, err := manifest.Decode("f.yaml", stream, manifest.Limits{})
		if err != nil {
			t.Fatalf("decode what was encoded: %v\n%s", err, stream)
		}
		if diff := cmp.Diff(lines(t, objects), lines(t, again)); diff != "" {
			t.Fatalf("round trip:\n%s", diff)
		}
	})
}

// lines returns the objects as JSON, in which 3.0 and 3 are one number.
func lines(t *testing.T, objects []manifest.Object) []string {
	t.Helper()
	all := make([]string, 0, len(objects))
	for _, object := range objects {
		line, err := object.JSON()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	return all
}

func TestTexts(t *testing.T) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"kind":"A","metadata":{"name":"%d"}}`, i)
	}
	objects, err := manifest.DecodeTexts("app", texts)
	if err != nil {
		t.Fatal(err)
	}
	if got := objects[41].Origin.Document; got != 42 {
		t.Errorf("document %d, want 42", got)
	}
	again, err := manifest.EncodeTexts(objects)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(texts, again); diff != "" {
		t.Errorf("round trip:\n%s", diff)
	}
	texts[900], texts[100] = "null", "{"
	var fault *manifest.Error
	if _, err := manifest.DecodeTexts("app", texts); !errors.As(err, &fault) || fault.Origin.Document != 101 {
		t.Errorf("want the first fault, document 101, got %v", err)
	}
	if objects, err := manifest.DecodeTexts("app", nil); err != nil || len(objects) != 0 {
		t.Errorf("nothing: %v, %v", objects, err)
	}
}
