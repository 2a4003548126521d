// Package catalog reads CustomResourceDefinitions from files and folders into a
// schema set. It is the only package under pkg that touches the disk.
//
// A folder is read with all it holds, in the order of the names: files that end in
// .yaml, .yml or .json, also behind .gz. Documents that are no CRD are passed over.
// A file that does not parse, or a CRD that does not decode, is a [Warning], so
// that one broken file does not take the schemas of all others away; a path that
// does not exist is an error.
package catalog

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/schema"
)

// Warning says, in a sentence that names the file, why something was passed over.
type Warning string

// fileLimit bounds one file, unpacked. The largest CRDs in use hold 2 MiB.
const fileLimit = 64 << 20

// Load reads the CRDs below the given files and folders. Of two CRDs for one group
// and kind the first in the order of the paths stays. The warnings tell what was
// passed over; the error that a path cannot be read at all.
func Load(ctx context.Context, paths ...string) (*schema.Set, []Warning, error) {
	var definitions []*schema.Definition
	reader := reader{}
	reader.take = func(object manifest.Object) bool {
		definition, usable := reader.parse(ctx, object)
		if usable {
			definitions = append(definitions, definition)
		}
		return usable
	}
	err := reader.walk(paths)
	if ctx.Err() != nil {
		err = fmt.Errorf("compile CRDs: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, nil, err
	}
	return schema.NewSet(definitions...), reader.warnings, nil
}

// Objects reads the CRDs as they are written, every one of them, in the order of the
// paths and the names. The warnings and the error are those of Load.
func Objects(paths ...string) ([]manifest.Object, []Warning, error) {
	var objects []manifest.Object
	reader := reader{take: func(object manifest.Object) bool {
		objects = append(objects, object)
		return true
	}}
	if err := reader.walk(paths); err != nil {
		return nil, nil, err
	}
	return objects, reader.warnings, nil
}

// reader gathers what a walk finds.
type reader struct {
	// take is given every CRD, and says whether it is of use.
	take     func(manifest.Object) bool
	taken    int
	warnings []Warning
}

func (r *reader) walk(paths []string) error {
	for _, path := range paths {
		before := r.taken
		// The walk itself does not follow a link, not even at its root.
		root, err := filepath.EvalSymlinks(path)
		if err == nil {
			err = filepath.WalkDir(root, r.visit)
		}
		if err != nil {
			return fmt.Errorf("read CRDs: %w", err)
		}
		if r.taken == before {
			r.warnf("%s: holds no CRD that can be used; \"kubectl get crds -o yaml\" writes those of a cluster", path)
		}
	}
	return nil
}

func (r *reader) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() || !holdsManifests(path) {
		return nil
	}
	data, err := readFile(path)
	if err != nil {
		return err
	}
	objects, err := manifest.Decode(path, data, manifest.Limits{Bytes: fileLimit})
	if err != nil {
		r.warnf("%v; its CRDs are not used", err)
		return nil
	}
	for _, object := range objects {
		if schema.IsCRD(object.Content) && r.take(object) {
			r.taken++
		}
	}
	return nil
}

// parse compiles a CRD, and returns false where that cannot be done.
func (r *reader) parse(ctx context.Context, object manifest.Object) (*schema.Definition, bool) {
	definition, err := schema.Parse(ctx, object.Content, object.Origin.File)
	if err != nil {
		r.warnf("%s: %v; it is not used", object.Origin, err)
		return nil, false
	}
	for _, name := range definition.VersionNames() {
		if version := definition.Version(name); version.Obstacle == schema.NotStructural || version.Obstacle == schema.TooLarge {
			r.warnf("%s: %s, version %s: %s (%s); its objects are not pinned", object.Origin, definition.Name, name, version.Obstacle, version.Detail)
		}
	}
	return definition, true
}

func (r *reader) warnf(format string, args ...any) {
	r.warnings = append(r.warnings, Warning(fmt.Sprintf(format, args...)))
}

func holdsManifests(path string) bool {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz"))) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func readFile(path string) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var source io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("%s: is no gzip file: %w", path, err)
		}
		source = unpacked
	}
	data, err = io.ReadAll(io.LimitReader(source, fileLimit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
