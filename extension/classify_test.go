package extension

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/drift"
)

func TestBlamed(t *testing.T) {
	rows := map[string]struct {
		reason  string
		err     error
		mistake bool
		says    string
	}{
		"snapshot": {"what cannot be read is its author's mistake", errors.New("snapshot: settings"), true, "settings"},
		"panic":    {"no snapshot is to blame for one, and its place is told", fmt.Errorf("x: %w", &drift.PanicError{Thrown: "string", Stack: []byte("there")}), false, "there"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			var coded interface{ ExitCode() int }
			err := blamed(row.err)
			mistake := errors.As(err, &coded) && coded.ExitCode() == cli.MistakeCode
			if mistake != row.mistake || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, a mistake of the user: %v: %s", err, mistake, row.reason)
			}
		})
	}
}
