package catalog_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/catalog"
	"github.com/moorpin/moorpin/pkg/schema"
)

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
`

func TestLoad(t *testing.T) {
	folder := t.TempDir()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write([]byte(strings.NewReplacer("Widget", "Gadget", "widgets", "gadgets").Replace(widgets))); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"a.yaml":            "kind: ConfigMap\n---\n" + widgets,
		"b.yml":             strings.Replace(widgets, "Namespaced", "Cluster", 1),
		"deep/er/c.yaml.gz": packed.String(),
		"broken.yaml":       "kind: [\n",
		"loose.json":        strings.NewReplacer("type: object, properties", "properties", "Widget", "Loose").Replace(widgets),
		"notes.txt":         "not read",
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	set, warnings, err := catalog.Load(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, definition := range set.All() {
		kinds = append(kinds, definition.GroupKind.Kind)
		if definition.GroupKind.Kind == "Widget" && !definition.Namespaced {
			t.Error("of two CRDs for one kind the first must stay")
		}
		if loose := definition.Version("v1").Obstacle; (definition.GroupKind.Kind == "Loose") != (loose == schema.NotStructural) {
			t.Errorf("%s: obstacle %q", definition.GroupKind.Kind, loose)
		}
	}
	if got := strings.Join(kinds, " "); got != "Gadget Loose Widget" {
		t.Errorf("kinds %s, want Gadget, Loose and Widget", got)
	}
	if len(warnings) != 2 || !strings.Contains(string(warnings[0]), "broken.yaml") || !strings.Contains(string(warnings[1]), "loose.json") {
		t.Errorf("want one warning for the broken file and one for the schema that is not structural, got %q", warnings)
	}
	if _, warnings, err := catalog.Load(t.Context(), t.TempDir()); err != nil || len(warnings) != 1 {
		t.Errorf("a folder without CRDs must be warned of, got %q, %v", warnings, err)
	}
	if _, _, err := catalog.Load(t.Context(), filepath.Join(folder, "absent")); err == nil {
		t.Error("a path that does not exist must be an error")
	}
}

func TestObjects(t *testing.T) {
	folder := t.TempDir()
	text := "kind: ConfigMap\n---\n" + widgets + "---\n" + widgets
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, warnings, err := catalog.Objects(folder)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("%v, %q", err, warnings)
	}
	if len(objects) != 2 || objects[0].Origin.Document != 2 || objects[1].Kind().Kind != "CustomResourceDefinition" {
		t.Errorf("want both CRDs as they stand, twins too: %v", objects)
	}
	if _, warnings, err = catalog.Objects(t.TempDir()); err != nil || len(warnings) != 1 {
		t.Errorf("a folder without CRDs must be warned of, got %q, %v", warnings, err)
	}
}
