package cli_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/pkg/cli"
)

var errPlain = errors.New("plain")

func TestCoded(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		user   bool
		code   int
	}{
		"fine":           {"nothing happened", nil, true, 0},
		"marked mistake": {"the mark counts", cli.Mistake(errPlain), false, 2},
		"found":          {"the mark counts", cli.Found(errPlain), true, 1},
		"marked inside":  {"the mark counts through a wrap", errors.Join(errPlain, cli.Found(errPlain)), true, 1},
		"user's type":    {"the command knows its users' mistakes", errPlain, true, 2},
		"ours":           {"all else is ours", errPlain, false, 3},
		"marked nothing": {"nil stays nil", cli.Mistake(nil), true, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := cli.Coded(func(*cobra.Command, []string) error { return test.err }, func(error) bool { return test.user })
			err, code := run(nil, nil), 0
			var coded interface{ ExitCode() int }
			if errors.As(err, &coded) {
				code = coded.ExitCode()
			}
			if code != test.code || (err == nil) != (code == 0) || err != nil && !errors.Is(err, errPlain) {
				t.Errorf("%s: want %d, have %d: %v", test.reason, test.code, code, err)
			}
		})
	}
}

func TestReadAll(t *testing.T) {
	data, err := cli.ReadAll(t.Context(), strings.NewReader("12345"), 5)
	if err != nil || string(data) != "12345" {
		t.Errorf("within the limit: %q, %v", data, err)
	}
	if _, err = cli.ReadAll(t.Context(), strings.NewReader("123456"), 5); err == nil {
		t.Error("beyond the limit: want an error")
	}
	in, out := io.Pipe()
	defer func() { _ = out.Close() }() // nothing is written
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = cli.ReadAll(ctx, in, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
