package receive

import (
	"archive/tar"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// copyDir adds what is below dir as if it came from an archive.
func copyDir(ctx context.Context, dir string, into *builder) error {
	source, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the checkout: %w", err)
	}
	defer func() { _ = source.Close() }() // it was only read
	err = fs.WalkDir(source.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err //nolint:wrapcheck // the walk is wrapped as a whole.
		}
		if path.Base(name) == ".git" && entry.IsDir() {
			return fs.SkipDir
		}
		return copyEntry(source, name, entry, into)
	})
	if err != nil {
		return fmt.Errorf("copy the checkout %s: %w", filepath.Clean(dir), err)
	}
	return nil
}

func copyEntry(source *os.Root, name string, entry fs.DirEntry, into *builder) error {
	switch entry.Type() { //nolint:exhaustive // the others are left out.
	case fs.ModeDir:
		return into.add(&tar.Header{Typeflag: tar.TypeDir, Name: name}, nil)
	case fs.ModeSymlink:
		target, err := source.Readlink(name)
		if err != nil {
			return fmt.Errorf("read a link: %w", err)
		}
		return into.add(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target}, nil)
	case 0:
		return copyFile(source, name, into)
	default:
		return nil
	}
}

func copyFile(source *os.Root, name string, into *builder) error {
	content, err := source.Open(name)
	if err != nil {
		return fmt.Errorf("read a file: %w", err)
	}
	err = into.add(&tar.Header{Typeflag: tar.TypeReg, Name: name}, content)
	if into.bytes > into.limits.TreeBytes {
		err = overLimit(name, FlagTreeBytes, into.limits.TreeBytes, "the checkout has more bytes")
	}
	_ = content.Close() // it was only read
	return err
}
