package lua

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/catalog"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/kube"
	"github.com/moorpin/moorpin/pkg/manifest"
)

const (
	crdsHelp       = "`PATH` of a file, or of a folder with its sub-folders, that holds CRDs (YAML or JSON, may be gzipped); repeatable"
	kubeconfigHelp = "`FILE` that says how to reach the cluster (default the pod's service account)"
	definitions    = "CustomResourceDefinition"
)

// settings holds the flags that say where argocd-cm is.
type settings struct {
	kubeconfig, namespace, name string
}

func (s *settings) flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", kubeconfigHelp)
	flags.StringVarP(&s.namespace, "namespace", "n", "argocd", "`NAMESPACE` of Argo CD")
	flags.StringVar(&s.name, "configmap", "argocd-cm", "`NAME` of Argo CD's ConfigMap")
}

// cluster is what the commands ask of a cluster; the zero cluster is none.
type cluster struct {
	*kube.Objects

	maps *kube.ConfigMaps
}

// there reports whether there is a cluster to ask.
func (c cluster) there() bool { return c.Objects != nil }

func connect(kubeconfig string) (cluster, error) {
	config, err := kube.Config(kubeconfig)
	if err != nil {
		return cluster{}, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
	}
	objects, err := kube.NewObjects(config)
	if err != nil {
		return cluster{}, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
	}
	maps, err := kube.NewConfigMaps(config)
	if err != nil {
		return cluster{}, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
	}
	return cluster{objects, maps}, nil
}

// settingsMap reads argocd-cm.
func (s *settings) settingsMap(ctx context.Context, from cluster) (map[string]any, error) {
	found, there, err := from.maps.Get(ctx, s.namespace, s.name)
	if err != nil {
		return nil, fmt.Errorf("read %s/%s: %w", s.namespace, s.name, err)
	}
	if !there {
		return nil, cli.Mistake(fmt.Errorf("read %s/%s: there is no such ConfigMap; is this the cluster and the namespace of Argo CD? See --kubeconfig, --namespace and --configmap", s.namespace, s.name))
	}
	return found, nil
}

// readSettings reads a ConfigMap from a file, or from standard input.
func readSettings(ctx context.Context, path string, in io.Reader) (map[string]any, error) {
	const most = 16 << 20
	var data []byte
	var err error
	if path == "-" {
		data, err = cli.ReadAll(ctx, in, most)
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("--argocd-cm: %w", err)
	}
	objects, err := manifest.Decode(path, data, manifest.Limits{Bytes: most})
	if err != nil {
		return nil, fmt.Errorf("--argocd-cm: %w", err)
	}
	var found map[string]any
	for _, object := range objects {
		if object.Kind().Kind != "ConfigMap" {
			continue
		}
		if found != nil {
			return nil, cli.Mistake(fmt.Errorf("--argocd-cm: %s holds several ConfigMaps; give argocd-cm alone", path))
		}
		found = object.Content
	}
	if found == nil {
		return nil, cli.Mistake(fmt.Errorf("--argocd-cm: %s holds no ConfigMap", path))
	}
	return found, nil
}

// dataOf returns a ConfigMap's data.
func dataOf(settings map[string]any) (map[string]string, error) {
	data, _, err := unstructured.NestedStringMap(settings, "data")
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("argocd-cm: %w; put the value in quotes", err))
	}
	return data, nil
}

// readCRDs reads the CRDs of files and folders, or of a cluster where none are named,
// and says what was passed over.
func readCRDs(ctx context.Context, paths []string, from cluster) ([]manifest.Object, []string, error) {
	if len(paths) == 0 {
		objects, err := liveCRDs(ctx, from)
		return objects, nil, err
	}
	objects, warnings, err := catalog.Objects(paths...)
	if err != nil {
		return nil, nil, cli.Mistake(fmt.Errorf("--crds: %w", err))
	}
	said := make([]string, 0, len(warnings))
	for _, warning := range warnings {
		said = append(said, string(warning))
	}
	return objects, said, nil
}

func liveCRDs(ctx context.Context, from cluster) ([]manifest.Object, error) {
	if !from.there() {
		return nil, cli.Mistake(errors.New("name CRDs with --crds, or a cluster with --kubeconfig"))
	}
	var objects []manifest.Object
	for content, err := range from.All(ctx, "apiextensions.k8s.io", definitions, "") {
		if err != nil {
			return nil, fmt.Errorf("read the cluster's CRDs: %w", err)
		}
		objects = append(objects, manifest.Object{Content: content, Origin: manifest.Origin{File: "cluster"}})
	}
	return objects, nil
}

// warn writes sentences that are not the command's answer.
func warn(to io.Writer, sentences ...string) {
	for _, sentence := range sentences {
		_, _ = fmt.Fprintln(to, "warning:", inert(sentence)) // the answer counts, not the talk about it
	}
}
