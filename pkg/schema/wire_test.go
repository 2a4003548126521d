package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/schema"
)

// A definition that travels arrives as it was, also where nodes are shared, and its id
// is that of its text.
func TestEncode(t *testing.T) {
	content := crd(t, "v1", "X", `  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      size: {type: integer, default: 3}, ratio: {type: number, default: 1.5}, flag: {type: boolean, default: false}, none: {type: string, nullable: true, default: x},
      map: {type: object, additionalProperties: {type: object, properties: {a: {type: string, default: b}}}},
      list: {type: array, items: {type: object, properties: {a: {type: string, default: b}}}},
      nested: {type: object, default: {deep: {}}, properties: {deep: {type: object, properties: {x: {type: array, default: [1, two, {three: 3}], items: {x-kubernetes-preserve-unknown-fields: true}}}}}},
      embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`)
	want, err := schema.Parse(t.Context(), content, "crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, id, err := want.Encode()
	if err != nil || len(id) != 32 {
		t.Fatalf("id %q, %v", id, err)
	}
	got, err := schema.DecodeDefinition(text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("want %+v\n%s", want, text)
	}
	if again, same, err := got.Encode(); err != nil || string(again) != string(text) || same != id {
		t.Errorf("encoded again, it is another: %v\n%s\n%s", err, text, again)
	}
	if want.Version("v1").Root == nil || len(want.Version("v1").Root.Fields) == 0 {
		t.Error("the definition has no tree, so that nothing is shown")
	}
}

func TestDecodeDefinitionRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":       "{",
		"node to come":  `{"Nodes":[{"f":[{"k":"a","c":1}]}]}`,
		"negative node": `{"Versions":[{"Name":"v1","Root":-1}]}`,
		"defaulting":    `{"Nodes":[{"d":2}]}`,
	} {
		if definition, err := schema.DecodeDefinition([]byte(text)); err == nil || !strings.Contains(err.Error(), "decode") {
			t.Errorf("%s: %+v, %v", name, definition, err)
		}
	}
}
