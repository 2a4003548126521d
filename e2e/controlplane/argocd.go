package controlplane

import (
	"context"
	"crypto/rand"
	_ "embed" // for the default project
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

//go:embed default-project.yaml
var defaultProject []byte

// download returns the folder of the module's source, fetched when the module
// cache lacks it: the executable alone may come from an older build.
func (s source) download(ctx context.Context) (string, error) {
	folder, err := s.folder(ctx)
	if err != nil {
		return "", err
	}
	if _, err := goCommand(ctx, folder, []string{"mod", "download", s.module}); err != nil {
		return "", fmt.Errorf("fetch source of %s: %w", s.name, err)
	}
	found, err := goCommand(ctx, folder, []string{"list", "-m", "-f", "{{.Dir}}", s.module})
	if err != nil {
		return "", fmt.Errorf("find source of %s: %w", s.name, err)
	}
	return found, nil
}

// installArgoCD applies Argo CD's own manifests: its CRDs and its settings.
func (p *Plane) installArgoCD(ctx context.Context) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(Namespace)
	if err := p.Apply(ctx, "", namespace); err != nil {
		return err
	}
	crds, err := filepath.Glob(filepath.Join(p.argoModule, "manifests", "crds", "*-crd.yaml"))
	if err != nil {
		return fmt.Errorf("list CRDs: %w", err)
	}
	settings, err := filepath.Glob(filepath.Join(p.argoModule, "manifests", "base", "config", "argocd-*.yaml"))
	if err != nil {
		return fmt.Errorf("list settings: %w", err)
	}
	if len(crds) == 0 || len(settings) == 0 {
		return fmt.Errorf("no manifests in %s: %w", p.argoModule, fs.ErrNotExist)
	}
	if err := p.ApplyFiles(ctx, Namespace, append(crds, settings...)...); err != nil {
		return err
	}
	if err := p.ApplyYAML(ctx, Namespace, defaultProject); err != nil {
		return err
	}
	return p.setServerKey(ctx)
}

// setServerKey sets what argocd-server would make when it starts: the
// controller starts at the same time and does not learn its clusters without.
func (p *Plane) setServerKey(ctx context.Context) error {
	key := map[string]any{"stringData": map[string]any{"server.secretkey": rand.Text()}}
	patch, err := json.Marshal(key)
	if err != nil {
		return fmt.Errorf("encode server key: %w", err)
	}
	secrets, err := p.Resource(ctx, secretKind(), Namespace)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: FieldManager}
	if _, err := secrets.Patch(ctx, "argocd-secret", types.MergePatchType, patch, options); err != nil {
		return fmt.Errorf("set server key: %w", err)
	}
	return nil
}

// startArgoCD starts redis and the components of Argo CD.
func (p *Plane) startArgoCD(ctx context.Context) error {
	var taken [6]string
	if err := p.ports.fill(ctx, taken[:]); err != nil {
		return err
	}
	redis := host + ":" + taken[0]
	p.repoServer = host + ":" + taken[1]
	p.server = "http://" + host + ":" + taken[3]
	clients := []string{"--redis", redis, "--repo-server", p.repoServer, "--kubeconfig", p.Kubeconfig()}
	server := append([]string{
		"--port", taken[3], "--address", host, "--metrics-port", taken[4], "--metrics-address", host,
		"--insecure", "--enable-proxy-extension", "--dex-server", "http://" + host + ":5556", // nobody is there
	}, clients...)
	if !p.options.Auth {
		server = append(server, "--disable-auth")
	}
	programs := []program{
		{
			name: "redis", path: p.programs["redis-server"], env: p.environment(),
			args: []string{
				"--port", taken[0], "--bind", host, "--dir", p.path("redis"), "--save", "", "--appendonly", "no",
			},
			ready: listens("tcp", redis),
		},
		p.component("repo-server", healthz(taken[2]+"/healthz?full=true"), []string{
			"--redis", redis,
			"--port", taken[1], "--address", host, "--metrics-port", taken[2], "--metrics-address", host,
			// Without it a commit stays unseen for three minutes unless the Application is refreshed.
			"--revision-cache-expiration", "1s",
		}),
		p.component("server", healthz(taken[3]+"/healthz?full=true"), server),
		p.component("application-controller", healthz(taken[5]+"/healthz"),
			append([]string{"--metrics-port", taken[5]}, clients...)),
	}
	if p.options.StockPlugin != "" {
		plugin, err := p.pluginServer()
		if err != nil {
			return err
		}
		programs = append(programs, plugin)
	}
	return p.run(ctx, programs...)
}

// component is one of the programs inside the one executable of Argo CD.
func (p *Plane) component(short string, ready func(context.Context) error, args []string) program {
	name := "argocd-" + short
	return program{
		name: name, path: p.programs["argocd"], args: args, ready: ready,
		env: p.environment(
			"PATH="+p.toolPath+string(os.PathListSeparator)+os.Getenv("PATH"), // the last PATH counts
			"ARGOCD_BINARY_NAME="+name,
			"KUBECONFIG="+p.Kubeconfig(),
			"ARGOCD_FAKE_IN_CLUSTER=true", // the destination in-cluster is what KUBECONFIG says
			"ARGOCD_TLS_DATA_PATH="+p.path("argocd/tls"),
			"ARGOCD_SSH_DATA_PATH="+p.path("argocd/ssh"),
			"ARGOCD_GPG_ENABLED=false",
			"ARGOCD_PLUGINSOCKFILEPATH="+p.PluginDir(),
			"ARGOCD_CMP_WORKDIR="+p.path("tmp"),
			"ARGOCD_ASK_PASS_SOCK="+p.path("askpass.sock"),
			"ARGOCD_SYNC_WAVE_DELAY=0", // nothing here needs two seconds to settle
			// v3 looks at what changed in a cluster every 100 ms: a refresh would compare what was.
			"ARGOCD_CLUSTER_CACHE_EVENTS_PROCESSING_INTERVAL=5ms",
			"HOSTNAME="+name+"-0", // the controller reads its shard from it
		),
	}
}

// stockPlugin is the configuration of Argo CD's own plugin server.
type stockPlugin struct {
	config []byte
	socket string // its file name
}

// readPlugin reads a plugin.yaml, of which two fields name the socket.
func readPlugin(path string) (stockPlugin, error) {
	config, err := os.ReadFile(path)
	if err != nil {
		return stockPlugin{}, fmt.Errorf("open: %w", err)
	}
	var fields struct {
		Metadata struct{ Name string }
		Spec     struct{ Version string }
	}
	if err := yaml.Unmarshal(config, &fields); err != nil {
		return stockPlugin{}, fmt.Errorf("decode %s: %w", path, err)
	}
	name := fields.Metadata.Name
	if fields.Spec.Version != "" {
		name += "-" + fields.Spec.Version
	}
	return stockPlugin{config: config, socket: name + ".sock"}, nil
}

// pluginServer prepares Argo CD's own plugin server.
func (p *Plane) pluginServer() (program, error) {
	folder := p.path("argocd/plugin")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return program{}, fmt.Errorf("make folder of stock plugin: %w", err)
	}
	// The plugin server insists on this file name.
	if err := os.WriteFile(filepath.Join(folder, "plugin.yaml"), p.plugin.config, 0o600); err != nil {
		return program{}, fmt.Errorf("write stock plugin: %w", err)
	}
	socket := filepath.Join(p.PluginDir(), p.plugin.socket)
	return p.component("cmp-server", listens("unix", socket), []string{"--config-dir-path", folder}), nil
}

func healthz(portAndPath string) func(context.Context) error {
	return func(ctx context.Context) error {
		return answersOK(ctx, http.DefaultClient, "http://"+host+":"+portAndPath)
	}
}

func listens(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		if err := connection.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
		return nil
	}
}

func secretKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
}
