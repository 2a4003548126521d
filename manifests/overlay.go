// Package manifests builds Moorpin's kustomize components over Argo CD's own manifests, for
// the tests that hold them against the documentation and apply them to a real API server.
//
//	manifests.Overlay{Release: "v2.14", Base: "cluster-install", Namespace: "argocd", Components: []string{"cmp"}}
//
// It refuses what kustomize refuses, and what kustomize warns of. Moorpin itself does not
// need it: people build the components with kustomize or kubectl.
package manifests

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// files are the manifests themselves.
//
//go:embed components overlays
var files embed.FS

// Releases are the versions of Argo CD whose manifests are built over, as Go modules.
func Releases() map[string]string {
	return map[string]string{
		"v2.14": "github.com/argoproj/argo-cd/v2@v2.14.21",
		"v3.1":  "github.com/argoproj/argo-cd/v3@v3.1.16",
	}
}

// Everything is all components that go together.
func Everything() []string {
	return []string{"cmp", "extension", "extension-token", "extension-cluster", "lua", "monitoring"}
}

// Overlay is a kustomization over one of Argo CD's.
type Overlay struct {
	// Release is a key of [Releases], and Base a folder of its manifests, such as
	// "ha/cluster-install".
	Release, Base string
	// Namespace is that of Argo CD.
	Namespace  string
	Components []string
	// More is further lines of the kustomization, and Files are beside it.
	More  string
	Files map[string]string
}

// String names the overlay in tests.
func (o Overlay) String() string {
	return o.Release + " " + o.Base + ": " + strings.Join(o.Components, " ")
}

// Build is what kustomize makes of the overlay. Argo CD's CRDs are not among it: they are
// megabytes that no component touches.
func (o Overlay) Build(ctx context.Context) ([]*unstructured.Unstructured, error) {
	argoCD, err := argoManifests(ctx, o.Release)
	if err != nil {
		return nil, err
	}
	ours, err := read(files)
	if err != nil {
		return nil, err
	}
	disk := filesys.MakeFsInMemory()
	own := map[string][]byte{"kustomization.yaml": []byte(o.kustomization())}
	for name, content := range o.Files {
		own[name] = []byte(content)
	}
	for dir, tree := range map[string]map[string][]byte{"/argocd": argoCD, "/moorpin": ours, "/overlay": own} {
		for name, content := range tree {
			if err := disk.WriteFile(path.Join(dir, name), content); err != nil {
				return nil, fmt.Errorf("prepare %s: %w", name, err)
			}
		}
	}
	return build(disk, "/overlay")
}

func (o Overlay) kustomization() string {
	var text strings.Builder
	fmt.Fprintf(&text, "namespace: %s\nresources:\n- ../argocd/%s\n", o.Namespace, o.Base)
	if len(o.Components) > 0 {
		text.WriteString("components:\n")
	}
	for _, component := range o.Components {
		fmt.Fprintf(&text, "- ../moorpin/components/%s\n", component)
	}
	return text.String() + o.More
}

// argoManifests reads the manifests of a release from its Go module, once.
func argoManifests(ctx context.Context, release string) (map[string][]byte, error) {
	known.Lock()
	defer known.Unlock()
	if tree, found := known.trees[release]; found {
		return tree, nil
	}
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", Releases()[release]) //nolint:gosec // G204: a constant
	command.Dir = os.TempDir()                                                                 // it must not become a requirement of this module
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("fetch Argo CD %s: %w: %s", release, err, output)
	}
	var module struct {
		Dir string `json:"Dir"`
	}
	if err := json.Unmarshal(output, &module); err != nil {
		return nil, fmt.Errorf("fetch Argo CD %s: %w", release, err)
	}
	tree, err := read(os.DirFS(filepath.Join(module.Dir, "manifests")))
	if err != nil {
		return nil, err
	}
	for name, content := range tree {
		if path.Base(name) == "kustomization.yaml" {
			tree[name] = withoutCRDs(content)
		}
	}
	known.trees[release] = tree
	return tree, nil
}

var known = struct {
	sync.Mutex

	trees map[string]map[string][]byte
}{trees: map[string]map[string][]byte{}}

func withoutCRDs(kustomization []byte) []byte {
	var kept strings.Builder
	for line := range strings.Lines(string(kustomization)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "../crds") {
			kept.WriteString(line)
		}
	}
	return []byte(kept.String())
}

// read returns all files below a root.
func read(root fs.FS) (map[string][]byte, error) {
	found := map[string][]byte{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[name], err = fs.ReadFile(root, name)
		return err //nolint:wrapcheck // the walk's error is wrapped below
	})
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	return found, nil
}

// build runs kustomize on a folder. Its warnings go to standard error.
func build(disk filesys.FileSystem, dir string) ([]*unstructured.Unstructured, error) {
	var built []*unstructured.Unstructured
	said, err := captured(func() error {
		found, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, dir)
		if err != nil {
			return fmt.Errorf("build %s: %w", dir, err)
		}
		for _, resource := range found.Resources() {
			content, err := resource.MarshalJSON()
			if err != nil {
				return fmt.Errorf("encode %s: %w", resource.CurId(), err)
			}
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(content); err != nil {
				return fmt.Errorf("decode %s: %w", resource.CurId(), err)
			}
			built = append(built, object)
		}
		return nil
	})
	if err == nil && said != "" {
		err = errors.New("kustomize warns: " + said)
	}
	return built, err
}

// captured returns what a call prints to standard error.
func captured(call func() error) (said string, err error) {
	file, err := os.CreateTemp("", "kustomize-*")
	if err != nil {
		return "", fmt.Errorf("capture warnings: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	before := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = before }()
	if err := call(); err != nil {
		return "", err
	}
	text, err := os.ReadFile(file.Name())
	return string(text), err
}
