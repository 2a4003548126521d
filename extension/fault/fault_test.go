package fault_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/fault"
)

func TestContained(t *testing.T) {
	plain := errors.New("plain")
	none := map[string]func() int{}
	for name, row := range map[string]struct {
		reason string
		run    func() (int, error)
		kind   string
		err    error
	}{
		"a value":  {"nothing is wrong", func() (int, error) { return 7, nil }, "", nil},
		"an error": {"it stays what it is", func() (int, error) { return 7, plain }, "", plain},
		"a panic":  {"its words may be a secret", func() (int, error) { panic("hunter2") }, "string", nil},
		"a fault":  {"the runtime's own", func() (int, error) { return none["a"](), nil }, "runtime.errorString", nil},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := fault.Contained(row.run)
			panicked, ok := errors.AsType[*fault.PanicError](err)
			switch {
			case row.kind == "" && (value != 7 || !errors.Is(err, row.err)):
				t.Errorf("%s: %d, %v", row.reason, value, err)
			case row.kind != "" && !ok:
				t.Errorf("%s: %v", row.reason, err)
			case row.kind != "" && (!strings.Contains(panicked.Stack, "fault_test.go") || strings.Contains(panicked.Error()+panicked.Stack, "hunter2")):
				t.Errorf("%s: %v\n%s", row.reason, panicked, panicked.Stack)
			}
		})
	}
}
