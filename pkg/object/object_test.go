package object_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/object"
)

func TestReadersTakeAnyShape(t *testing.T) {
	pod := object.Object{
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{"note": "kept"}, "labels": []any{"a list"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "app"}, "a text"}},
	}
	for name, c := range map[string]struct {
		reason    string
		got, want any
	}{
		"text":         {"the names lead to it", object.Text(pod, "metadata", "name"), "web"},
		"wrong holder": {"a list has no fields", object.Text(pod, "metadata", "labels", "app"), ""},
		"wrong type":   {"a map is no text", object.Text(pod, "metadata"), ""},
		"no document":  {"nothing is there", object.Text(nil, "metadata"), ""},
		"list":         {"items of any type", len(object.List(pod, "spec", "containers")), 2},
		"maps":         {"items that are maps", object.Maps(pod, "spec", "containers"), []map[string]any{{"name": "app"}}},
		"no maps":      {"a map is no list", object.Maps(pod, "spec"), []map[string]any{}},
		"map":          {"the names lead to it", len(object.Map(pod, "spec")), 1},
		"no map":       {"a list is no map", len(object.Map(pod, "metadata", "labels")), 0},
		"annotation":   {"by its whole name", object.Annotation(pod, "note"), "kept"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s: -want +got\n%s", name, c.reason, diff)
		}
	}
}
