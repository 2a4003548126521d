package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/kustomize"
	jsonpatch "github.com/evanphx/json-patch"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// detect finds out the type of an app by its files, as Argo CD does. The last file
// in byte order decides: kustomization.yaml comes behind Chart.yaml, but
// my-Chart.yaml behind both. Of a folder that is a link, Argo CD sees no files.
func detect(app string) (v1alpha1.ApplicationSourceType, error) {
	info, err := os.Lstat(app)
	if err != nil {
		return "", err //nolint:wrapcheck // the caller names the step.
	}
	found := v1alpha1.ApplicationSourceTypeDirectory
	if !info.IsDir() {
		return found, nil
	}
	entries, err := os.ReadDir(app)
	if err != nil {
		return "", err //nolint:wrapcheck // the caller names the step.
	}
	for _, entry := range entries {
		switch {
		case entry.IsDir():
		case strings.HasSuffix(entry.Name(), "Chart.yaml"):
			found = v1alpha1.ApplicationSourceTypeHelm
		case kustomize.IsKustomization(entry.Name()):
			found = v1alpha1.ApplicationSourceTypeKustomize
		}
	}
	return found, nil
}

// overrideBytes bounds an override file; what Argo CD's image updater writes has some
// hundred bytes.
const overrideBytes = 1 << 20

// overrideFiles are the files in an app's folder that change its source.
func overrideFiles(app, appName string) []string {
	files := []string{filepath.Join(app, ".argocd-source.yaml")}
	if appName != "" {
		files = append(files, filepath.Join(app, ".argocd-source-"+appName+".yaml"))
	}
	return files
}

// mergeOverrides returns the blocks that Argo CD makes of a source: each file that
// exists is merged into it as a JSON merge patch. Argo CD goes on with the source's
// own path, repository and revision. app is the folder below root.
func mergeOverrides(source v1alpha1.ApplicationSource, root *os.Root, app, appName string) (v1alpha1.ApplicationSource, error) {
	merged := *source.DeepCopy()
	for _, file := range overrideFiles(app, appName) {
		patch, found, err := readOverride(root, file)
		if err != nil {
			return merged, err
		}
		if !found {
			continue
		}
		text, err := json.Marshal(merged)
		if err != nil {
			return merged, fmt.Errorf("merge %s: %w", filepath.Base(file), err)
		}
		text, err = jsonpatch.MergePatch(text, patch)
		if err == nil {
			// Into the old value, as Argo CD does: a null in the file removes nothing.
			err = json.Unmarshal(text, &merged)
		}
		if err != nil {
			return merged, refuse(filepath.Base(file), "cannot be merged into the Application's source: %v", err)
		}
	}
	return merged, nil
}

// readOverride returns a file as JSON, and whether there is one.
func readOverride(root *os.Root, file string) (text []byte, found bool, err error) {
	text, found, err = readRegular(root, file)
	if err != nil || !found {
		return nil, false, err
	}
	err = manifest.CheckAliases(filepath.Base(file), text, manifest.Limits{})
	if err != nil {
		return nil, false, fmt.Errorf("read the overrides of the source: %w", err)
	}
	text, err = yaml.YAMLToJSON(text)
	if err != nil {
		return nil, false, refuse(filepath.Base(file), "is not valid YAML: %v", err)
	}
	return text, true, nil
}

// readRegular reads a file of a repository that nobody has looked at before: it may be a
// link to anywhere, a pipe that nobody writes to, or have no end. A folder is no file.
func readRegular(root *os.Root, file string) (text []byte, found bool, err error) {
	name := filepath.Base(file)
	opened, err := root.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if _, fromKernel := errors.AsType[syscall.Errno](err); err != nil && !fromKernel {
		return nil, false, refuse(name, "is no file of this repository") // os.Root keeps its error for this to itself
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	info, err := opened.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", name, err)
	}
	switch {
	case info.IsDir():
		return nil, false, nil
	case !info.Mode().IsRegular():
		return nil, false, refuse(name, "is no regular file")
	}
	text, err = io.ReadAll(io.LimitReader(opened, overrideBytes+1))
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > overrideBytes {
		return nil, false, refuse(name, "has more than %d bytes, the most that is taken; make it smaller", overrideBytes)
	}
	return text, true, nil
}

// stripOverrides removes the plugin block from the override files of the private
// copy. It is what brought the app here, and repo-server has already merged its
// parameters into what it sent; left in place, it would make Argo CD's renderer
// call this plugin again.
func (j *job) stripOverrides(root *os.Root) error {
	for _, file := range overrideFiles(j.request.Path, j.request.AppName) {
		text, found, err := readOverride(root, file)
		if err != nil {
			return err
		}
		var content map[string]json.RawMessage
		if !found || json.Unmarshal(text, &content) != nil {
			continue
		}
		if _, found := content["plugin"]; !found {
			continue
		}
		delete(content, "plugin")
		text, err = json.Marshal(content)
		if err == nil {
			err = root.Remove(file) // it may be a link to what others read
		}
		if err == nil {
			err = root.WriteFile(file, text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("strip %s of its plugin block: %w", filepath.Base(file), err)
		}
	}
	return nil
}
