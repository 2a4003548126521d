package crds

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// Module is a Go module that carries CRDs.
type Module struct {
	// Path and Version name the module as the go command does.
	Path, Version string
	// Sum is the checksum of the content ("h1:..."), as in a go.sum file.
	Sum string
	// Globs are patterns (see [path.Match]) of the files with CRDs inside the module.
	Globs []string
}

// String returns "path@version".
func (m Module) String() string { return m.Path + "@" + m.Version }

// modules is the table of the CRDs' sources. The order decides between sources of the
// same kind. To move a module to another version, run `go mod download -json
// path@version` and take over the Sum that it reports.
var modules = []Module{
	{
		Path: "github.com/argoproj/argo-cd/v2", Version: "v2.14.21",
		Sum:   "h1:Ux50vfMUITW+Y+6GAYgQlZbr6WHE5ogiLg9OxxvP9EA=",
		Globs: []string{"manifests/crds/*.yaml"},
	},
	{
		Path: "github.com/external-secrets/external-secrets", Version: "v1.3.2",
		Sum:   "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
		Globs: []string{"config/crds/bases/*.yaml"},
	},
	{
		Path: "github.com/cert-manager/cert-manager", Version: "v1.21.2",
		Sum:   "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
		Globs: []string{"deploy/crds/*.yaml"},
	},
	{
		Path: "github.com/argoproj/argo-rollouts", Version: "v1.9.0",
		Sum:   "h1:bXgBpwCByXyAUcgBnyP0fxkSW2CEot78InTFjFlag5g=",
		Globs: []string{"manifests/crds/*.yaml"},
	},
	{
		Path: "github.com/kedacore/keda/v2", Version: "v2.21.0",
		Sum:   "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
		Globs: []string{"config/crd/bases/*.yaml"},
	},
	{
		Path: "sigs.k8s.io/gateway-api", Version: "v1.4.1",
		Sum: "h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=",
		// The experimental channel has every kind and field of the standard one.
		Globs: []string{"config/crd/experimental/*.yaml"},
	},
	{
		Path: "github.com/prometheus-operator/prometheus-operator", Version: "v0.85.0",
		Sum:   "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
		Globs: []string{"example/prometheus-operator-crd/*.yaml"},
	},
	{
		Path: "knative.dev/serving", Version: "v0.51.0",
		Sum:   "h1:yN2Q7eYqJgoPfZkATjoBZyGbZ2P1Qhns9HIMU4mF+to=",
		Globs: []string{"config/core/300-resources/*.yaml"},
	},
	{
		Path: "sigs.k8s.io/cluster-api", Version: "v1.14.2",
		Sum: "h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA=",
		Globs: []string{
			"core/config/crd/bases/*.yaml",
			"bootstrap/kubeadm/config/crd/bases/*.yaml",
			"controlplane/kubeadm/config/crd/bases/*.yaml",
			"cmd/clusterctl/config/crd/bases/*.yaml",
		},
	},
	{
		Path: "github.com/kyverno/kyverno", Version: "v1.18.2",
		Sum:   "h1:w/p1ysSEzOuMO4DaYmpiJ5YioL4OCkgmFFC5cJqiJ68=",
		Globs: []string{"config/crds/*/*.yaml"},
	},
	{
		Path: "sigs.k8s.io/karpenter", Version: "v1.9.0",
		Sum:   "h1:95p6+9AaZ/eYD3hLPyvBDBquC3v8m09T2u/pB/3Qrqs=",
		Globs: []string{"pkg/apis/crds/*.yaml", "kwok/apis/crds/*.yaml"},
	},
	{
		Path: "github.com/fluxcd/source-controller", Version: "v1.8.5",
		Sum:   "h1:3zKSTGc2FPoZcQ5BjnyOrwdHDWeYqst3uAoZ+c0DG3c=",
		Globs: []string{"config/crd/bases/*.yaml"},
	},
	{
		Path: "github.com/fluxcd/kustomize-controller", Version: "v1.7.3",
		Sum:   "h1:SzNnGn/4ObAPEHHleM5U7y/AKxKXph3Vj6ZhteeXw8M=",
		Globs: []string{"config/crd/bases/*.yaml"},
	},
	{
		Path: "istio.io/api", Version: "v1.31.1",
		Sum:   "h1:5Yb5ihcz4YQsCkciusK7DnFpBMwRB6EFWeUKH1Atuyk=",
		Globs: []string{"kubernetes/customresourcedefinitions.gen.yaml"},
	},
	{
		Path: "github.com/projectcontour/contour", Version: "v1.33.8",
		Sum:   "h1:QoOfwqWws+CVRFpsRC2+f1DmB5IdurtyUtepIsiWfE0=",
		Globs: []string{"examples/contour/01-crds.yaml"},
	},
	{
		Path: "github.com/envoyproxy/gateway", Version: "v1.7.0",
		Sum:   "h1:noVz4fADhljSKpQFaspb25+C3kC8bBBisQZle9W0ei4=",
		Globs: []string{"charts/gateway-helm/crds/generated/*.yaml"},
	},
	{
		Path: "github.com/kubernetes-csi/external-snapshotter/client/v8", Version: "v8.7.0",
		Sum:   "h1:HVaSUeRRHPu49aSiL8eXOjS9Re9G6pM0NzdTGI7mM14=",
		Globs: []string{"config/crd/*.yaml"},
	},
	{
		Path: "k8s.io/autoscaler/vertical-pod-autoscaler", Version: "v1.8.1",
		Sum:   "h1:Pe8bV1wozN4gOKO1rleiIY5alIyAXN+DnXDbXQcL4fI=",
		Globs: []string{"deploy/vpa-v1-crd-gen.yaml"},
	},
}

// Modules returns the table of the CRDs' sources; the caller may change the copy.
func Modules() []Module {
	copied := slices.Clone(modules)
	for i := range copied {
		copied[i].Globs = slices.Clone(copied[i].Globs)
	}
	return copied
}

// file is one file of a module that may hold CRDs.
type file struct {
	module Module
	// dir is the module's folder, name the slash-separated path inside it.
	dir, name string
}

// files returns the files that the module's patterns match, sorted within a pattern.
func (m Module) files(dir string) ([]file, error) {
	var files []file
	for _, glob := range m.Globs {
		names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(glob)))
		if err != nil {
			return nil, fmt.Errorf("%s: pattern %q: %w", m, glob, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no file matches %q; the table of e2e/crds does not fit this version", m, glob)
		}
		for _, name := range names {
			inside, err := filepath.Rel(dir, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m, err)
			}
			files = append(files, file{m, dir, filepath.ToSlash(inside)})
		}
	}
	return files, nil
}

// crds reads the CRDs of the file. Other objects, and Helm templates that are no YAML
// before they are rendered, hold none.
func (f file) crds() ([]CRD, error) {
	data, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(f.name)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.module, err)
	}
	// Folders of CRDs hold kustomizations and documentation too, some of it no object.
	if !bytes.Contains(data, []byte("kind: CustomResourceDefinition")) {
		return []CRD{}, nil
	}
	objects, err := manifest.Decode(f.name, data, manifest.Limits{})
	if err != nil {
		if bytes.Contains(data, []byte("{{")) {
			return []CRD{}, nil
		}
		return nil, fmt.Errorf("%s: %w", f.module, err)
	}
	found := []CRD{}
	for _, object := range objects {
		if kind := object.Kind(); kind.Group != "apiextensions.k8s.io" || kind.Kind != "CustomResourceDefinition" {
			continue
		}
		found = append(found, CRD{Module: f.module.String(), File: f.name, Content: object.Content})
	}
	return found, nil
}
