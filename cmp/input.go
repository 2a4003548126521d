package cmp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// manifestSuffixes are the names that count in a folder.
var manifestSuffixes = []string{".yaml", ".yml", ".json"}

// readObjects reads the objects of files, folders (with their sub-folders, by
// name) and "-", the standard input, in the order in which they are given.
func readObjects(ctx context.Context, paths []string, in io.Reader) ([]manifest.Object, error) {
	var objects []manifest.Object
	for _, path := range paths {
		var read []manifest.Object
		var err error
		if path == "-" {
			read, err = readStandardInput(ctx, in)
		} else {
			read, err = readPath(ctx, path)
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, read...)
	}
	return objects, nil
}

func readStandardInput(ctx context.Context, in io.Reader) ([]manifest.Object, error) {
	data, err := readAll(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return decode("standard input", data)
}

func readPath(ctx context.Context, path string) ([]manifest.Object, error) {
	var objects []manifest.Object
	err := filepath.WalkDir(path, func(file string, found fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if found.IsDir() || file != path && !slices.Contains(manifestSuffixes, filepath.Ext(file)) {
			return nil
		}
		data, err := os.ReadFile(file) //nolint:gosec // the user named it
		if err != nil {
			return err //nolint:wrapcheck // the error names the operation and the file
		}
		read, err := decode(file, data)
		objects = append(objects, read...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	return objects, nil
}

func decode(file string, data []byte) ([]manifest.Object, error) {
	objects, err := manifest.Decode(file, data, manifest.Limits{})
	return objects, err //nolint:wrapcheck // the error names the file, the document and the line
}

// readAll reads everything, or stops waiting for it when ctx ends: a read from
// a terminal cannot be interrupted otherwise.
func readAll(ctx context.Context, in io.Reader) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := io.ReadAll(in)
		done <- outcome{data, err}
	}()
	select {
	case read := <-done:
		return read.data, read.err
	case <-ctx.Done():
		return nil, errors.Join(errors.New("interrupted"), ctx.Err())
	}
}
