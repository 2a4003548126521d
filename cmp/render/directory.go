package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"

	"github.com/moorpin/moorpin/pkg/manifest"
)

var manifestName = regexp.MustCompile(`\.(yaml|yml|json|jsonnet)$`)

// directoryFiles lists the files that Argo CD reads for a directory source: those
// that it checks, not more, so that a file elsewhere in the folder cannot break a
// render. What it cannot list is left to Argo CD to report.
func (j *job) directoryFiles(options *v1alpha1.ApplicationSourceDirectory) ([]string, error) {
	var files []string
	err := filepath.WalkDir(j.app, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if file != j.app && !options.Recurse {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(j.app, file)
		if err != nil {
			return err //nolint:wrapcheck // the walk is wrapped as a whole.
		}
		excluded := options.Exclude != "" && glob.Match(options.Exclude, name)
		included := options.Include == "" || glob.Match(options.Include, name)
		if !manifestName.MatchString(entry.Name()) || excluded || !included {
			return nil
		}
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of the app: %w", err)
	}
	return files, nil
}

// guardDirectory checks the files before Argo CD's libraries read them.
func (j *job) guardDirectory(options *v1alpha1.ApplicationSourceDirectory) error {
	files, err := j.directoryFiles(options)
	if err != nil {
		return err
	}
	for _, file := range files {
		skipped, err := j.skip(file)
		if err != nil {
			return err
		}
		if skipped {
			continue
		}
		switch filepath.Ext(file) {
		case ".jsonnet":
			j.programs = append(j.programs, file)
		case ".json":
		default:
			err := j.checkAliases(file)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// findYAMLFault looks for the line that Argo CD's message leaves out. It finds none
// when the message is about something else.
func (j *job) findYAMLFault(message string) (*manifest.Error, bool) {
	if j.kind != v1alpha1.ApplicationSourceTypeDirectory || !strings.Contains(message, "Failed to unmarshal") {
		return nil, false
	}
	// What cannot be read again leaves us with the message that we have.
	files, _ := j.directoryFiles(j.merged.Directory)
	for _, file := range files {
		if filepath.Ext(file) == ".jsonnet" || !strings.Contains(message, fmt.Sprintf("%q", filepath.Base(file))) {
			continue
		}
		text, err := os.ReadFile(file)
		if err == nil {
			_, err = manifest.Decode(j.relative(file), text, j.renderer.config.Documents)
		}
		if fault, found := errors.AsType[*manifest.Error](err); found {
			return fault, true
		}
	}
	return nil, false
}
