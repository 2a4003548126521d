package render

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/util/kustomize"
	"sigs.k8s.io/yaml"
)

// What Kustomize and Helm may reach by a path is looked up here as they would look it up.
// Links in the private copy stay inside it, but a path can begin outside, at a folder of
// /proc that is the private copy of another render.

// inside reports whether what a path leads to, if anything, lies in the private copy.
func (j *job) inside(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true // the tool reports it
	}
	return err == nil && j.below(resolved)
}

// below reports whether a path, by its name alone, is the private copy's or one in it.
func (j *job) below(path string) bool {
	return path == j.root || strings.HasPrefix(path, j.root+"/")
}

// located is where tools find a path that a file of the private copy names, unless its
// name alone leads out. That is not looked up: the answer would tell what exists on this
// machine.
func (j *job) located(file, path string) (located string, inside bool) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil || filepath.IsAbs(path) {
		return "", false
	}
	located = filepath.Join(folder, path)
	return located, j.below(located)
}

// kustomization is what a kustomization says of other files and folders.
type kustomization struct {
	Resources             []string `json:"resources"`
	Bases                 []string `json:"bases"`
	Components            []string `json:"components"`
	CRDs                  []string `json:"crds"`
	Configurations        []string `json:"configurations"`
	Generators            []string `json:"generators"`
	Transformers          []string `json:"transformers"`
	Validators            []string `json:"validators"`
	PatchesStrategicMerge []string `json:"patchesStrategicMerge"`
	HelmGlobals           struct {
		ConfigHome string `json:"configHome"`
	} `json:"helmGlobals"`
}

// guardKustomization looks at the kustomization of a folder and at those below it that
// lie in this repository. Charts in a kustomization need --enable-helm, one of the build
// options that Argo CD does not send to plugins, so that a configHome has no use but to
// have Helm load plugins from the repository (GHSA-fw5c-w8rc-j7fx), should that ever change.
func (j *job) guardKustomization(folder string, seen map[string]bool) error {
	file, err := j.findKustomization(folder)
	if err != nil || file == "" || seen[file] {
		return err
	}
	seen[file] = true
	err = j.checkAliases(file)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", j.relative(file), err)
	}
	var content kustomization
	if yaml.Unmarshal(text, &content) != nil {
		return nil //nolint:nilerr // what does not parse is for kustomize to report
	}
	if content.HelmGlobals.ConfigHome != "" {
		return refuse(j.relative(file), "helmGlobals.configHome is not taken: Helm would load plugins, and run their commands, from a folder of the repository; remove it")
	}
	for _, entry := range content.entries() {
		err := j.guardEntry(file, entry, seen)
		if err != nil {
			return err
		}
	}
	return nil
}

// entries are the files, folders and URLs that a kustomization names.
func (k *kustomization) entries() []string {
	named := slices.Concat(k.Resources, k.Bases, k.Components, k.CRDs, k.Configurations)
	for _, entry := range slices.Concat(k.Generators, k.Transformers, k.Validators, k.PatchesStrategicMerge) {
		if !inline(entry) {
			named = append(named, entry)
		}
	}
	return named
}

// inline reports whether kustomize takes an entry for an object rather than for a path.
func inline(entry string) bool {
	var object struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	return strings.Contains(entry, "\n") && yaml.Unmarshal([]byte(entry), &object) == nil && object.Kind != "" && object.Metadata.Name != ""
}

// guardEntry looks at one file, folder or URL that a kustomization names. What is no path
// here is a URL, or not there; kustomize reports the last.
func (j *job) guardEntry(file, entry string, seen map[string]bool) error {
	path, inside := j.located(file, entry)
	if !inside {
		return refuse(j.relative(file), "%q is no file or folder of this repository", entry)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // see above.
	}
	if !j.inside(path) {
		return refuse(j.relative(file), "%q is no file or folder of this repository", entry)
	}
	if info.IsDir() {
		return j.guardKustomization(path, seen)
	}
	return nil
}

// findKustomization returns the file of a folder that kustomize reads, "" without one.
func (j *job) findKustomization(folder string) (string, error) {
	for _, name := range kustomize.KustomizationNames {
		file := filepath.Join(folder, name)
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", fmt.Errorf("read %s: %w", j.relative(file), err)
		case !j.inside(file):
			return "", refuse(j.relative(file), "is no file of this repository")
		case info.Mode().IsRegular():
			return file, nil
		}
	}
	return "", nil
}

// chartFiles are those in which a chart says of others: Helm builds what a lock names,
// where it has the right digest, whatever stands in the chart beside it.
var chartFiles = []string{"Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"}

// chartFile is what one of them says.
type chartFile struct {
	Dependencies []struct {
		Name       string `json:"name"`
		Repository string `json:"repository"`
	} `json:"dependencies"`
}

// guardChart looks at the charts of other folders that a chart depends on.
func (j *job) guardChart(folder string, seen map[string]bool) error {
	if seen[folder] {
		return nil
	}
	seen[folder] = true
	for _, name := range chartFiles {
		file := filepath.Join(folder, name)
		err := j.checkAliases(file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		var content chartFile
		if err != nil || yaml.Unmarshal(text, &content) != nil {
			continue // for helm to report
		}
		for _, dependency := range content.Dependencies {
			err := j.guardDependency(file, dependency.Repository, seen)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *job) guardDependency(file, repository string, seen map[string]bool) error {
	location, found := strings.CutPrefix(repository, "file://")
	if !found {
		return nil
	}
	// Helm takes what follows as it stands, relative to the chart or absolute.
	for _, named := range []string{location, unescaped(location)} {
		path, inside := j.located(file, named)
		if !inside || !j.inside(path) {
			return refuse(j.relative(file), "the dependency on %q is on no chart of this repository", repository)
		}
		if _, err := os.Stat(path); err == nil {
			err := j.guardChart(path, seen)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func unescaped(location string) string {
	if plain, err := url.PathUnescape(location); err == nil {
		return plain
	}
	return location
}
