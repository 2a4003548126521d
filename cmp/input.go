package cmp

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// manifestSuffixes are the names that count in a folder.
var manifestSuffixes = []string{".yaml", ".yml", ".json"}

// standardInputBytes bounds what is read before the decoder's own limits count.
const standardInputBytes = 1 << 30

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
	data, err := cli.ReadAll(ctx, in, standardInputBytes)
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
