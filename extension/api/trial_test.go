package api_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/api"
)

// TestAttackRules: rules are bounded before anything is made of them, however short they
// are on the wire.
func TestAttackRules(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	for name, row := range map[string]struct {
		body, says string
	}{
		"a million":         {`{"rules":[{}` + strings.Repeat(",{}", 1_000_000) + `]}`, "at most 262144 bytes of rules"},
		"more than tried":   {`{"rules":[{}` + strings.Repeat(",{}", 20) + `]}`, "at most 20 rules"},
		"of another type":   {`{"rules":{"a":[]}}`, "no list"},
		"no objects":        {`{"rules":[[1]]}`, "rules[0]"},
		"of unknown fields": {`{"rules":[{"kind":"ConfigMap"},{"kinds":"x"}]}`, "rules[1]"},
		"unknown":           {`{"rules":[{}],"more":[{"a":"}"}]}`, "unknown field"},
		"twice":             {`{"rules":[{}], "rules" : [{}]}`, "more than once"},
		"no object":         {`"rules"`, "no object"},
		"none":              {`{"snapshot":null}`, "no rules"},
		"null":              {`{"rules":null}`, "no rules"},
		"empty":             {`{}`, "no rules"},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			got := b.ask(t, http.MethodPost, "/api/v1/fixes/prove", row.body).refused(t, http.StatusUnprocessableEntity)
			if !strings.Contains(got.Error, row.says) {
				t.Errorf("have %q, want %q in it", got.Error, row.says)
			}
			if took := allocated() - before; took > 64<<20 {
				t.Errorf("%d bytes of rules took %d bytes of memory", len(row.body), took)
			}
		})
	}
	for _, body := range []string{
		` { "rules" : [ { "kind" : "a\"]}" } , {"jsonPointers":["/a,"]} ] , "snapshot" : null } `, `{"rules":[null]}`,
		fmt.Sprintf(`{"snapshot":{"application":{"metadata":{"namespace":"argocd","name":"shop"},"spec":{"a":"\\"}}},"rules":[{"name":%q}]}`, "x"),
	} {
		if got := b.ask(t, http.MethodPost, "/api/v1/fixes/prove", body); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

func allocated() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.TotalAlloc
}
