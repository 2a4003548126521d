package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// missingTools are the programs that the example needs and the PATH lacks.
func missingTools() []string {
	var missing []string
	for _, app := range applications {
		if app.tool == "" {
			continue
		}
		_, err := exec.LookPath(app.tool)
		if err != nil {
			missing = append(missing, app.tool)
		}
	}
	return missing
}

// buildTools builds the programs, unless an earlier run did, and returns their folders.
func buildTools(ctx context.Context, names []string) (string, error) {
	var folders []string
	for i, name := range names {
		text := fmt.Sprintf("building %s, which is not on the PATH, from its Go module for the examples that are left (%d of %d)", name, i+1, len(names))
		err := during(text, aboutTool[name], func() error {
			folder, err := controlplane.ToolPath(ctx, io.Discard, name)
			folders = append(folders, folder)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("build %s: %w", name, err)
		}
	}
	return strings.Join(folders, string(os.PathListSeparator)), nil
}

// aboutTool says how long a first build takes.
var aboutTool = map[string]string{
	"helm":      "about 2 minutes on two cores, once",
	"kustomize": "about 30 seconds on two cores, once",
}

// moment is how long something may take without a word.
const moment = 2 * time.Second

// during says what is being done, and since when, while it takes longer than a moment:
// in place on a terminal, and otherwise a line now and then.
func during(what, about string, do func() error) error {
	began, done := time.Now(), make(chan error, 1)
	go func() { done <- do() }()
	pause, begin, end := 15*time.Second, "", "\n"
	if terminal(os.Stderr) {
		pause, begin, end = time.Second, "\r", "\x1b[K"
	}
	for next := moment; ; next = pause {
		select {
		case err := <-done:
			if took := time.Since(began); took > moment {
				fmt.Fprintf(os.Stderr, "%s%s: done in %d s%s\n", begin, what, int(took.Seconds()), strings.TrimSuffix(end, "\n"))
			}
			return err
		case <-time.After(next):
			fmt.Fprintf(os.Stderr, "%s%s: %s, %d s so far%s", begin, what, about, int(time.Since(began).Seconds()), end)
		}
	}
}

func terminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
