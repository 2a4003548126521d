package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/extension/api"
)

// declarations are the document's schemas by name.
type declarations struct {
	t       *testing.T
	schemas object
}

// check checks that the schema knows every key of the value.
func (d declarations) check(schema object, value any, at string) {
	d.t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = d.schemas[ref[strings.LastIndex(ref, "/")+1:]].(object)
	}
	switch value := value.(type) {
	case []any:
		items, _ := schema["items"].(object)
		for _, item := range value {
			d.check(items, item, at+"/*")
		}
	case object:
		properties, _ := schema["properties"].(object)
		more, isMap := schema["additionalProperties"].(object)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			property, ok := properties[name].(object)
			if !ok && isMap {
				property, ok = more, true
			}
			if !ok {
				d.t.Errorf("the document does not declare %s/%s; it has %v", at, name, slices.Sorted(maps.Keys(properties)))
				continue
			}
			d.check(property, value[name], at+"/"+name)
		}
	}
}

func TestDocument(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	var document object
	if err := json.Unmarshal([]byte(b.ask(t, http.MethodGet, "/openapi.json", nil).body), &document); err != nil {
		t.Fatal(err)
	}
	schemas := document["components"].(object)["schemas"].(object)
	paths := document["paths"].(object)
	want := []string{"/api/v1/capabilities", "/api/v1/classify", "/api/v1/fixes/prove", "/api/v1/report", "/api/v1/report/resource", "/api/v1/rollback"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(paths))); diff != "" {
		t.Error(diff)
	}
	for path, row := range map[string]struct {
		method string
		body   any
	}{
		"/api/v1/capabilities":    {"get", nil},
		"/api/v1/classify":        {"post", snapshot()},
		"/api/v1/report":          {"get", nil},
		"/api/v1/report/resource": {"get", nil},
		"/api/v1/fixes/prove":     {"post", object{"rules": []object{{"kind": "ConfigMap"}}}},
	} {
		ask := path
		if strings.HasSuffix(path, "/resource") {
			ask += "?group=apps&kind=Deployment&namespace=web&name=front"
		}
		got := b.ask(t, strings.ToUpper(row.method), ask, row.body)
		var value any
		if err := json.Unmarshal([]byte(got.body), &value); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %d %v", path, got.status, err)
		}
		operation := paths[path].(object)[row.method].(object)
		schema := operation["responses"].(object)["200"].(object)["content"].(object)["application/json"].(object)["schema"].(object)
		declarations{t, schemas}.check(schema, value, path)
	}
}
