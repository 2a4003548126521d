package child_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/render"
)

// Who used up the processor's time is told so as a user, and as code.
func TestTookTooLong(t *testing.T) {
	cases := map[string]struct {
		reason, program string
		long            bool
	}{
		"endless": {"it works until the bound ends it", "std.length([1 for a in std.range(1, 3000) for b in std.range(1, 3000) for c in std.range(1, 3000) if a * b * c < 0])", true},
		"broken":  {"it fails by itself", "error 'x'", false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			pool := newPool(t, func(o *child.Options) { o.Limits.CPU = time.Second })
			_, err := app{files: map[string]string{"app/a.jsonnet": test.program}}.do(t.Context(), t, pool, nil)
			var refusal *render.Refusal
			if !errors.As(err, &refusal) || strings.Contains(err.Error(), child.FlagCPU) != test.long {
				t.Errorf("got %v: %s", err, test.reason)
			}
			if child.TookTooLong(err) != test.long {
				t.Errorf("got %v, want %v: %s", child.TookTooLong(err), test.long, test.reason)
			}
		})
	}
}
