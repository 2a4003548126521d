package schema_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/schema"
)

// fields writes n properties that are all alike.
func fields(n int, property string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "f%d: %s, ", i, property)
	}
	return text.String()
}

// nest puts a schema below properties of objects, around which is put at each level.
func nest(levels int, around, inner string) string {
	for range levels {
		inner = "{type: object, " + around + "properties: {a: " + inner + "}}"
	}
	return inner
}

// TestParseBounds: a CRD that asks for more than any in use becomes an obstacle, soon
// and within bounded memory, whatever it is that it asks for.
func TestParseBounds(t *testing.T) {
	const one, text = "{type: string, default: xxxxxxxxxx}", "{type: string}"
	tests := map[string]struct {
		reason, spec string
		versions     int
		want         schema.Obstacle
	}{
		"wide":            {reason: "20 000 defaults are much, and linear", spec: "{type: object, default: {}, properties: {" + fields(20_000, one) + "}}"},
		"deep":            {reason: "220 schemas, one in the other", spec: nest(220, "", text), want: schema.TooLarge},
		"nested defaults": {reason: "each level brings all below it along", spec: nest(100, "default: {}, ", "{type: object, default: {}, properties: {"+fields(6000, one)+"}}"), want: schema.TooLarge},
		"deep defaults":   {reason: "the library walks from the root for each default", spec: nest(180, "", "{type: object, properties: {"+fields(30_000, one)+"}}"), want: schema.TooLarge},
		"lists":           {reason: "300 items by 300 items by ten defaults, from 2 KB", spec: nestLists(2, 300), want: schema.TooLarge},
		"large default":   {reason: "one default of half a million objects", spec: "{type: object, default: {a: [" + strings.Repeat("{},", 500_000) + "]}, properties: {a: {type: array, items: {type: object}}}}", want: schema.TooLarge},
		"patterns":        {reason: "regular expressions of a few bytes that compile to thousands", spec: "{type: object, properties: {" + fields(20_000, `{type: string, pattern: "^(a{1,900}){1,1}$"}`) + "}}", want: schema.TooLarge},
		"versions":        {reason: "one schema for all versions is compiled for each", spec: "{type: object, properties: {" + fields(2000, text) + "}}", versions: 500, want: schema.TooLarge},
		"not structural":  {reason: "as many faults as fields", spec: "{type: object, properties: {" + fields(20_000, "{}") + "}}", want: schema.NotStructural},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := "  preserveUnknownFields: false\n  validation: {openAPIV3Schema: {type: object, properties: {spec: " + test.spec + "}}}\n  versions:\n  - {name: v0, served: true, storage: true}\n"
			for i := range test.versions {
				spec += fmt.Sprintf("  - {name: v%d, served: true, storage: false}\n", i+1)
			}
			content := crd(t, "v1beta1", "X", spec)
			before := allocated()
			definition, err := schema.Parse(t.Context(), content, "crd.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if grown := allocated() - before; grown > 1<<30 {
				t.Errorf("%s: took %d MiB", test.reason, grown>>20)
			}
			version := definition.Version(fmt.Sprintf("v%d", test.versions))
			if version.Obstacle != test.want || (test.want != "") != (version.Detail != "") || len(version.Detail) > 5000 {
				t.Errorf("%s: obstacle %q (%d bytes: %.200s), want %q", test.reason, version.Obstacle, len(version.Detail), version.Detail, test.want)
			}
			if test.want != "" && version.Root != nil {
				t.Errorf("%s: half a tree is left", test.reason)
			}
		})
	}
}

func nestLists(levels, items int) string {
	inner := "{type: object, properties: {" + fields(10, "{type: string, default: x}") + "}}"
	for range levels {
		inner = "{type: object, properties: {l: {type: array, default: [" + strings.Repeat("{},", items) + "], items: " + inner + "}}}"
	}
	return inner
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func TestParseRefusesText(t *testing.T) {
	content := crd(t, "v1", "X", "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n")
	content["spec"].(map[string]any)["names"].(map[string]any)["plural"] = strings.Repeat("x", 5<<20)
	if _, err := schema.Parse(t.Context(), content, "crd.yaml"); err == nil {
		t.Error("a CRD that no API server takes must be refused")
	}
}

// TestParseHeedsContext: its end stops the work, and its cause is the error.
func TestParseHeedsContext(t *testing.T) {
	cause := errors.New("the caller has gone")
	content := crd(t, "v1", "X", "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {"+fields(1000, "{type: string}")+"}}}}}}]\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, ctx := range map[string]context.Context{
		"ended":      ctx,
		"ends later": &lateContext{Context: ctx},
	} {
		if _, err := schema.Parse(ctx, content, "crd.yaml"); !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// lateContext has ended, and denies that when it is first asked.
type lateContext struct {
	context.Context

	asked bool
}

func (c *lateContext) Err() error {
	if !c.asked {
		c.asked = true
		return nil
	}
	return c.Context.Err()
}
