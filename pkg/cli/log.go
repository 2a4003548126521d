package cli

import (
	"fmt"
	"io"
	"log/slog"
)

// Logger makes the log of a command that serves, as its flags --log-format and
// --log-level say. No value in it is longer than a KiB, a stack 16: names, paths and
// errors may hold whatever a repository does.
func Logger(out io.Writer, format, level string) (*slog.Logger, error) {
	var least slog.Level
	err := least.UnmarshalText([]byte(level))
	if err != nil {
		return nil, Mistake(fmt.Errorf("--log-level: %q is not known; use debug, info, warn or error", level))
	}
	options := &slog.HandlerOptions{Level: least, ReplaceAttr: bounded}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(out, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return nil, Mistake(fmt.Errorf("--log-format: %q is not known; use text or json", format))
}
