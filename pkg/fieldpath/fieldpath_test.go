package fieldpath_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		reason string
		text   string
		steps  []string
		fails  bool
	}{
		"root":        {reason: "the empty pointer names the document", text: ""},
		"plain":       {reason: "steps are split at slashes", text: "/spec/data/0", steps: []string{"spec", "data", "0"}},
		"empty step":  {reason: "an empty field name is a name", text: "/", steps: []string{""}},
		"escapes":     {reason: "~1 is / and ~0 is ~", text: "/a~1b/c~0d", steps: []string{"a/b", "c~d"}},
		"escape twin": {reason: "~01 is ~1, not /", text: "/~01", steps: []string{"~1"}},
		"no slash":    {reason: "a pointer begins with /", text: "spec", fails: true},
		"bare tilde":  {reason: "a tilde needs 0 or 1", text: "/a~b", fails: true},
		"last tilde":  {reason: "a tilde at the end needs 0 or 1", text: "/a~0b~", fails: true},
		"late tilde":  {reason: "every tilde is looked at", text: "/a~0~2", fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pointer, err := fieldpath.Parse(test.text)
			if (err != nil) != test.fails {
				t.Fatalf("Parse(%q): error %v, want failure %v: %s", test.text, err, test.fails, test.reason)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.steps, pointer.Steps()); diff != "" {
				t.Errorf("Steps of %q: %s\n%s", test.text, test.reason, diff)
			}
			if again := fieldpath.Of(pointer.Steps()...); again != pointer {
				t.Errorf("Of(Steps()) = %q, want %q", again, pointer)
			}
		})
	}
}

func TestValue(t *testing.T) {
	document := map[string]any{"spec": map[string]any{"data": []any{map[string]any{"a/b": nil}, "x"}}}
	tests := map[string]struct {
		reason  string
		pointer fieldpath.Pointer
		want    any
		found   bool
	}{
		"root":         {reason: "the root is the document", pointer: "", want: document, found: true},
		"item":         {reason: "items go by index", pointer: "/spec/data/1", want: "x", found: true},
		"null":         {reason: "a null is there", pointer: "/spec/data/0/a~1b", want: nil, found: true},
		"absent":       {reason: "no such field", pointer: "/spec/other"},
		"past the end": {reason: "no such item", pointer: "/spec/data/2"},
		"leading zero": {reason: "01 is no index", pointer: "/spec/data/01"},
		"in a scalar":  {reason: "a scalar holds nothing", pointer: "/spec/data/1/x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := test.pointer.Value(document)
			if found != test.found || !cmp.Equal(got, test.want) {
				t.Errorf("Value(%q) = %v, %v, want %v, %v: %s", test.pointer, got, found, test.want, test.found, test.reason)
			}
		})
	}
}

func TestSet(t *testing.T) {
	set := fieldpath.NewSet("/spec/data/10", "/spec/data/2", "/spec", "/a~1b")
	want := []fieldpath.Pointer{"/a~1b", "/spec", "/spec/data/2", "/spec/data/10"}
	if diff := cmp.Diff(want, set.Sorted()); diff != "" {
		t.Errorf("indices are ordered by number, holders first:\n%s", diff)
	}
	covered := map[fieldpath.Pointer]bool{"/spec": true, "/spec/x": true, "/special": false, "/a~1b/c": true, "": false}
	for pointer, want := range covered {
		if got := set.Covers(pointer); got != want {
			t.Errorf("Covers(%q) = %v, want %v", pointer, got, want)
		}
	}
	if fieldpath.Pointer("/a").Covers("/ab") || !fieldpath.Pointer("").Covers("/ab") {
		t.Error("Pointer.Covers goes by whole steps, and the root covers all")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "/", "/spec/data/0", "/a~1b/c~0d", "~", "/~2", "/0/00/-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pointer, err := fieldpath.Parse(text)
		if err != nil {
			return
		}
		if again := fieldpath.Of(pointer.Steps()...); again != pointer {
			t.Errorf("Of(Parse(%q).Steps()) = %q", text, again)
		}
		if fieldpath.Compare(pointer, pointer) != 0 || !pointer.Covers(pointer) {
			t.Errorf("%q is not equal to itself", pointer)
		}
	})
}
