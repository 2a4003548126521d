package render_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v2/reposerver/repository"
	"github.com/argoproj/argo-cd/v2/util/git"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/pkg/manifest"
)

var renderer *render.Renderer

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the tests of package render:", err)
		code = 1
	}
	os.Exit(code)
}

// run gives this process the environment that a child has: the checks are tried here
// without anything that confines them.
func run(m *testing.M) (code int, err error) {
	err = keepCache()
	if err != nil {
		return 0, err
	}
	path, err := controlplane.ToolPath(context.Background(), os.Stderr)
	if err != nil {
		return 0, err
	}
	err = os.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "moorpin-render-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	tools, err := render.PrepareTools(filepath.Join(work, "bin"))
	if err != nil {
		return 0, err
	}
	home, temporary := filepath.Join(work, "home"), filepath.Join(work, "tmp")
	for _, variable := range tools.Environment(home, temporary) {
		name, value, _ := strings.Cut(variable, "=")
		err = errors.Join(err, os.Setenv(name, value))
	}
	err = errors.Join(err, os.Mkdir(home, 0o700), os.Mkdir(temporary, 0o700))
	if err != nil {
		return 0, err
	}
	renderer = render.New(render.Config{Guards: tools.Guards, Temporary: temporary})
	return m.Run(), nil
}

// keepCache names the cache of the tools, as processes that fuzzing starts from this
// one have another home.
func keepCache() error {
	if os.Getenv(controlplane.CacheEnv) != "" {
		return nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	return os.Setenv(controlplane.CacheEnv, filepath.Join(cache, "moorpin"))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture makes a private copy of the part of testdata/repository that the app in
// path needs, with more files on top.
func fixture(t testing.TB, path string, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	top, _, _ := strings.Cut(path, "/")
	for _, name := range []string{top, "library", "values-root.yaml"} {
		from := filepath.Join("testdata/repository", name)
		info, err := os.Stat(from)
		switch {
		case errors.Is(err, fs.ErrNotExist) || name == ".":
			check(t, os.MkdirAll(filepath.Join(root, name), 0o700)) // Git keeps no empty folders
		case err == nil && info.IsDir():
			check(t, os.CopyFS(filepath.Join(root, name), os.DirFS(from)))
		default:
			text, err := os.ReadFile(from)
			check(t, err)
			write(t, root, map[string]string{name: string(text)})
		}
	}
	write(t, root, files)
	return root
}

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte(content), 0o600))
	}
}

// native renders as repo-server does without a plugin.
func native(t testing.TB, request render.Request) ([]any, error) {
	t.Helper()
	source := request.Source.DeepCopy()
	query := &apiclient.ManifestRequest{
		Repo: &v1alpha1.Repository{Repo: source.RepoURL}, AppName: request.AppName, Namespace: request.Namespace,
		ApplicationSource: source, KubeVersion: request.KubeVersion, ApiVersions: request.APIVersions,
		HelmOptions: &v1alpha1.HelmOptions{ValuesFileSchemes: []string{"https", "http"}},
	}
	response, err := repository.GenerateManifests(t.Context(), filepath.Join(request.Root, request.Path), request.Root,
		request.Revision, query, false, git.NoopCredsStore{}, resource.MustParse("10M"), nil)
	if err != nil {
		return nil, err
	}
	var objects []any
	for _, text := range response.Manifests {
		var object any
		check(t, json.Unmarshal([]byte(text), &object))
		objects = append(objects, object)
	}
	return objects, nil
}

// contents makes objects comparable with what native returns.
func contents(t testing.TB, objects []manifest.Object) []any {
	t.Helper()
	var found []any
	for _, object := range objects {
		text, err := object.JSON()
		check(t, err)
		var content any
		check(t, json.Unmarshal(text, &content))
		found = append(found, content)
	}
	return found
}

// names lists kinds and names of objects, for cases that look at nothing else.
func names(objects []manifest.Object) []string {
	var found []string
	for _, object := range objects {
		found = append(found, object.Kind().Kind+"/"+object.Name())
	}
	return found
}
