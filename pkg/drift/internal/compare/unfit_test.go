package compare

import (
	"errors"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

func TestUnfit(t *testing.T) {
	deep := any("x")
	for range 3000 {
		deep = object.Object{"a": deep}
	}
	rows := map[string]struct {
		reason string
		target object.Object
		want   error
	}{
		"plain":     {"nothing is wrong", object.Object{"kind": "Pod", "spec": object.Object{"cpu": "1e3", "name": "1e1000x"}}, nil},
		"deep":      {"a merge reads it anew for each level", object.Object{"kind": "Widget", "spec": deep}, errBurden},
		"large":     {"the API server stores none that large", object.Object{"kind": "Widget", "spec": strings.Repeat("x", MaxBurden)}, errBurden},
		"exponent":  {"it would be written out", object.Object{"kind": "Pod", "spec": object.Object{"limits": object.Object{"cpu": "1e2147483647"}}}, errExponent},
		"negative":  {"so would it behind the point", object.Object{"kind": "Widget", "spec": object.Object{"Resources": []any{"1E-2147483647"}}}, errExponent},
		"long":      {"and with many digits before it", object.Object{"kind": "Pod", "spec": object.Object{"limits": object.Object{"cpu": strings.Repeat("0", 100) + "1e2147483647"}}}, errExponent},
		"small":     {"a thousand digits do no harm", object.Object{"kind": "Pod", "spec": object.Object{"limits": object.Object{"cpu": "1234e567"}}}, nil},
		"zeros":     {"nor do zeros before the exponent", object.Object{"kind": "Pod", "spec": object.Object{"limits": object.Object{"cpu": "1e000003"}}}, nil},
		"elsewhere": {"nobody reads a quantity there", object.Object{"kind": "Pod", "spec": object.Object{"env": []any{object.Object{"name": "GIT_SHA", "value": "1234e5678"}}}}, nil},
		"text":      {"a ConfigMap holds texts alone", object.Object{"kind": "ConfigMap", "data": object.Object{"a": "1e2147483647"}}, nil},
		"metadata":  {"so does metadata", object.Object{"kind": "Pod", "metadata": object.Object{"labels": object.Object{"a": "1e2147483647"}}}, nil},
		"not there": {"there is nothing to compare", nil, nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if err := unfitFor((&state.Resource{Target: row.target})); !errors.Is(err, row.want) {
				t.Errorf("have %v, want %v: %s", err, row.want, row.reason)
			}
		})
	}
}
