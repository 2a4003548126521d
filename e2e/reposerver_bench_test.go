package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cmpclient "github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/reposerver/apiclient"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// The size of the benchmark.
const (
	benchSecrets = 1000
	benchRounds  = 10
)

// BenchmarkRepoServer asks the real repo-server for the manifests of 1000
// ExternalSecrets, past its cache: natively, through Moorpin, through Moorpin told to
// pin nothing, through Argo CD's own plugin server running cat, and through a plugin
// that has Moorpin's answer ready, the least that a plugin which pins can take. They
// take turns, and the medians of ten rounds are reported, with Moorpin's as a multiple
// of the others.
func BenchmarkRepoServer(b *testing.B) {
	installCRDs(b, "external-secrets.io")
	startSidecar(b)
	files := map[string]string{}
	for i := range benchSecrets / 50 {
		var stream strings.Builder
		for n := range 50 {
			secret, _, _ := strings.Cut(secretsApp, "---\n")
			stream.WriteString("---\n" + strings.Replace(secret, "name: database\nspec", fmt.Sprintf("name: secret-%d-%d\nspec", i, n), 1))
		}
		files[fmt.Sprintf("app/secrets-%d.yaml", i)] = stream.String()
	}
	repository := newRepository(b, files)
	closer, client, err := apiclient.NewRepoServerClientset(plane.RepoServerAddress(), 60, apiclient.TLSConfiguration{}).NewRepoServerClient()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = closer.Close() })

	answer, err := client.GenerateManifest(b.Context(), manifestRequest(repository.URL(), way{plugin: "moorpin"}))
	if err != nil {
		b.Fatal(err)
	}
	startReadyPlugin(b, answer.Manifests)

	ways := []way{{"native", "", ""}, {"moorpin", "moorpin", ""}, {"moorpin-none", "moorpin", "none"}, {"exec-cat", "cat-v1", ""}, {"ready", "ready", ""}}
	times := map[string][]time.Duration{}
	for b.Loop() {
		for round := range benchRounds + 1 {
			for _, way := range ways {
				took := askManifests(b, client, manifestRequest(repository.URL(), way))
				if round > 0 { // the first round warms Git's and the page cache
					times[way.name] = append(times[way.name], took)
				}
			}
		}
	}
	medians := map[string]float64{}
	for _, way := range ways {
		slices.Sort(times[way.name])
		medians[way.name] = float64(times[way.name][len(times[way.name])/2].Milliseconds())
		b.ReportMetric(medians[way.name], way.name+"-ms")
	}
	b.ReportMetric(medians["moorpin"]/medians["native"], "moorpin/native")
	b.ReportMetric(medians["moorpin"]/medians["exec-cat"], "moorpin/exec-cat")
	b.ReportMetric(medians["moorpin-none"]/medians["exec-cat"], "moorpin-none/exec-cat")
	b.ReportMetric(medians["ready"]/medians["native"], "ready/native")
	b.ReportMetric(0, "ns/op")
}

// way is one way to have the manifests generated: a plugin's name, empty for none, and
// its parameter pin.
type way struct{ name, plugin, pin string }

func manifestRequest(repoURL string, way way) *apiclient.ManifestRequest {
	source := v1alpha1.ApplicationSource{RepoURL: repoURL, Path: "app", TargetRevision: "main"}
	if way.plugin != "" {
		source.Plugin = &v1alpha1.ApplicationSourcePlugin{Name: way.plugin}
		if way.pin != "" {
			source.Plugin.Parameters = v1alpha1.ApplicationSourcePluginParameters{{Name: "pin", String_: &way.pin}}
		}
	} else {
		source.Directory = &v1alpha1.ApplicationSourceDirectory{Recurse: true}
	}
	return &apiclient.ManifestRequest{
		Repo: &v1alpha1.Repository{Repo: repoURL}, Revision: "main", NoCache: true, AppName: "bench", Namespace: "bench",
		ApplicationSource: &source, KubeVersion: "1.34", ApiVersions: []string{"v1", "external-secrets.io/v1", "external-secrets.io/v1/ExternalSecret"},
	}
}

// askManifests asks once and returns how long the answer took.
func askManifests(b *testing.B, client apiclient.RepoServerServiceClient, request *apiclient.ManifestRequest) time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	response, err := client.GenerateManifest(ctx, request)
	took := time.Since(start)
	if err != nil {
		b.Fatal(err)
	}
	if len(response.Manifests) != benchSecrets {
		b.Fatalf("%d manifests, want %d", len(response.Manifests), benchSecrets)
	}
	pinned := strings.Contains(response.Manifests[0], "conversionStrategy")
	plugin := request.ApplicationSource.Plugin
	if want := plugin != nil && plugin.Name != "cat-v1" && len(plugin.Parameters) == 0; pinned != want {
		b.Fatalf("pinned is %v for %v", pinned, request.ApplicationSource)
	}
	return took
}

// readyPlugin drains what repo-server sends and answers at once.
type readyPlugin struct {
	cmpclient.ConfigManagementPluginServiceServer

	manifests []string
}

func (p readyPlugin) CheckPluginConfiguration(context.Context, *emptypb.Empty) (*cmpclient.CheckPluginConfigurationResponse, error) {
	return &cmpclient.CheckPluginConfigurationResponse{}, nil
}

func (p readyPlugin) GenerateManifest(stream cmpclient.ConfigManagementPluginService_GenerateManifestServer) error {
	for {
		_, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&cmpclient.ManifestResponse{Manifests: p.manifests})
		}
		if err != nil {
			return err
		}
	}
}

// startReadyPlugin serves a readyPlugin beside the other plugins until the benchmark ends.
func startReadyPlugin(b *testing.B, manifests []string) {
	b.Helper()
	listener, err := net.Listen("unix", filepath.Join(plane.PluginDir(), "ready.sock"))
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(100<<20), grpc.MaxSendMsgSize(100<<20))
	cmpclient.RegisterConfigManagementPluginServiceServer(server, readyPlugin{manifests: manifests})
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(server.Stop)
}
