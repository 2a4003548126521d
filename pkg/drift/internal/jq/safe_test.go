package jq

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/object"
)

func TestSearchesAreBounded(t *testing.T) {
	rows := map[string]struct {
		path string
		runs bool
	}{
		"contains itself":      {`select(.spec.a | contains(.))`, false},
		"contains a text":      {`select(.metadata.name | contains("web"))`, true},
		"contains a list":      {`select(.metadata.finalizers | contains(["a"]))`, true},
		"contains an object":   {`select(.metadata.labels | contains({a: "b", "c": -1}))`, true},
		"contains a variable":  {`. as $o | select(.spec.a | contains($o.spec.b))`, false},
		"contains much":        {`select(.spec | contains("` + strings.Repeat("x", 100) + `"))`, false},
		"inside":               {`select(.spec.a | inside(.))`, false},
		"indices":              {`select(.spec.a | indices(.spec.b))`, false},
		"index":                {`select(.spec.a | index(.))`, false},
		"rindex of a text":     {`select(.spec.a | rindex("x"))`, true},
		"a computed object":    {`select(.spec.a | contains({a: .b}))`, false},
		"a variable's object":  {`.a as $a | select(.spec.a | contains({$a}))`, false},
		"a text of parts":      {`select(.spec.a | contains("\(.b)"))`, false},
		"difference of lists":  {`select((.spec.a - .spec.b) | length > 0)`, false},
		"difference, one":      {`select(.spec.replicas - 1 > 0)`, true},
		"indexed by a list":    {`select(.spec.a[.spec.b] | length > 0)`, false},
		"indexed by a name":    {`.spec["a", "b"][0][-1:]`, true},
		"path to a list":       {`select(getpath([.spec.a, .spec.b]) | length > 0)`, false},
		"path to a name":       {`getpath(["spec", "a"])`, true},
		"paths":                {`paths(type == "number") as $p | getpath($p)`, true},
		"paths, then others":   {`paths as $p | [[.a]] as $p | getpath($p)`, false},
		"others, within paths": {`[[.a]] as $p | (paths as $p | 1), getpath($p)`, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if _, err := Compile("del(" + row.path + ")"); err != nil {
				t.Fatal(err)
			}
			if why := Unsafe(row.path); (why == "") != row.runs {
				t.Errorf("%s: %q", row.path, why)
			}
		})
	}
}

// TestLongTextsAreNotMatched holds that regular expressions see texts of bounded length.
func TestLongTextsAreNotMatched(t *testing.T) {
	rows := map[string]struct {
		path string
		size int
		runs bool
	}{
		"short":          {`select(.a | test("x"))`, 1000, true},
		"an annotation":  {`select(.a | test("x"))`, 256 << 10, true},
		"long":           {`select(.a | test("x"))`, maxMatched + 1, false},
		"all matches":    {`select([.a | scan("x")] | length > 0)`, maxScanned + 1, false},
		"with flags":     {`select([.a | match("x"; "g")] | length > 0)`, maxScanned + 1, false},
		"made long":      {`select([tostring | scan("x")] | length > 0)`, maxScanned - 10, false},
		"nothing to see": {`select(.a == "x")`, maxMatched + 1, true},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			code, err := Compile("del(" + row.path + ")")
			if err != nil {
				t.Fatal(err)
			}
			if why := Check(row.path).TryOnce(t.Context(), code, object.Object{"a": strings.Repeat("x", row.size)}); (why == "") != row.runs {
				t.Errorf("%q", why)
			}
		})
	}
}
