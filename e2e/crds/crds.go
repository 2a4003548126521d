// Package crds finds real CustomResourceDefinitions for the end-to-end tests: the
// files that well-known projects ship inside their Go modules, fetched through the
// Go module proxy and never copied into this repository.
//
// Every module is named with its version and the checksum of its content, so the
// CRDs are the same on every machine and for ever. [All] downloads what the module
// cache lacks (about 140 MB at first) and returns every CRD of [Modules].
//
// It refuses a module whose content has another checksum than the table says, a
// pattern of the table that matches no file, and a file that does not parse, Helm
// templates aside: those are left out, for they are no CRDs yet.
package crds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// CRD is one CustomResourceDefinition as its project ships it.
type CRD struct {
	// Module is "path@version" of the Go module that holds the file.
	Module string
	// File is the slash-separated path inside the module.
	File string
	// Content is the whole object as JSON values.
	Content map[string]any
}

// Name returns metadata.name: the plural and the group, "issuers.cert-manager.io".
func (c CRD) Name() string { return manifest.Object{Content: c.Content}.Name() }

// Group returns spec.group.
func (c CRD) Group() string { return c.text("group") }

// Kind returns spec.names.kind.
func (c CRD) Kind() string {
	spec, _ := c.Content["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	return kind
}

func (c CRD) text(field string) string {
	spec, _ := c.Content["spec"].(map[string]any)
	value, _ := spec[field].(string)
	return value
}

// Dir returns the folder of the module's content in the module cache, which the go
// command fills where needed. It refuses content whose checksum is not module.Sum.
func Dir(ctx context.Context, module Module) (string, error) {
	dirs, err := dirs(ctx, []Module{module})
	if err != nil {
		return "", err
	}
	return dirs[0], nil
}

// All returns the CRDs of all [Modules], in the order of the table, the files of a
// pattern by name and the documents of a file as they stand. Of several CRDs with
// the same group and kind the first one counts.
func All(ctx context.Context) ([]CRD, error) {
	dirs, err := dirs(ctx, modules)
	if err != nil {
		return nil, err
	}
	var files []file
	for i, module := range modules {
		found, err := module.files(dirs[i])
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	read := make([][]CRD, len(files))
	var group errgroup.Group
	for i, file := range files {
		group.Go(func() error {
			var err error
			read[i], err = file.crds()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read CRDs: %w", err)
	}
	return firstOfEachKind(slices.Concat(read...)), nil
}

func firstOfEachKind(all []CRD) []CRD {
	type kind struct{ group, kind string }
	seen := map[kind]bool{}
	return slices.DeleteFunc(all, func(crd CRD) bool {
		key := kind{crd.Group(), crd.Kind()}
		duplicate := seen[key]
		seen[key] = true
		return duplicate
	})
}

// dirs returns the folders of the modules' contents, in the modules' order.
func dirs(ctx context.Context, wanted []Module) ([]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, module := range wanted {
		args = append(args, module.String())
	}
	// A module of its own keeps the download out of this repository's go.sum.
	home, err := os.MkdirTemp("", "moorpin-crds-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the download: %w", err)
	}
	defer os.RemoveAll(home)
	if err := os.WriteFile(filepath.Join(home, "go.mod"), []byte("module download\n"), 0o600); err != nil {
		return nil, fmt.Errorf("make a module for the download: %w", err)
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = home
	command.Env = append(os.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	// The command fails when one module does; its output says which, and why.
	reports, parseErr := parseReports(output)
	if parseErr != nil || len(reports) == 0 && err != nil {
		return nil, fmt.Errorf("download modules: %w: %s", errors.Join(err, parseErr), strings.TrimSpace(complaints.String()))
	}
	folders := make([]string, 0, len(wanted))
	for _, module := range wanted {
		dir, err := reports[module.String()].dir(module)
		if err != nil {
			return nil, err
		}
		folders = append(folders, dir)
	}
	return folders, nil
}

// report is what `go mod download -json` writes for a module.
type report struct {
	Path    string `json:"Path"`
	Version string `json:"Version"`
	Sum     string `json:"Sum"`
	Dir     string `json:"Dir"`
	Error   string `json:"Error"`
}

func parseReports(output []byte) (map[string]report, error) {
	reports := map[string]report{}
	for stream := json.NewDecoder(bytes.NewReader(output)); ; {
		var next report
		switch err := stream.Decode(&next); {
		case errors.Is(err, io.EOF):
			return reports, nil
		case err != nil:
			return nil, fmt.Errorf("read the answer of go mod download: %w", err)
		}
		reports[next.Path+"@"+next.Version] = next
	}
}

func (r report) dir(module Module) (string, error) {
	switch {
	case r.Error != "":
		return "", fmt.Errorf("download %s: %s", module, r.Error)
	case r.Dir == "":
		return "", fmt.Errorf("download %s: the go command reported no folder", module)
	case r.Sum != module.Sum:
		return "", fmt.Errorf("download %s: its checksum is %s, not %s as in the table of e2e/crds; do not use it before you know why",
			module, r.Sum, module.Sum)
	}
	return r.Dir, nil
}
