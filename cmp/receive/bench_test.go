package receive_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/util/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moorpin/moorpin/cmp/receive"
)

const externalSecret = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: secret-%[1]d
  namespace: team-%[1]d
spec:
  refreshInterval: 1h
  secretStoreRef: {kind: ClusterSecretStore, name: vault}
  target: {name: secret-%[1]d}
  data:
  - secretKey: password
    remoteRef: {key: team/%[1]d, property: password}
`

// checkouts are what Argo CD users have: one app's folder, and a monorepo with history.
func checkouts(b *testing.B) map[string]string {
	b.Helper()
	app, monorepo := b.TempDir(), b.TempDir()
	for i := range 1000 {
		write(b, app, map[string]string{fmt.Sprintf("app/%d.yaml", i): fmt.Sprintf(externalSecret, i)})
	}
	history := make([]byte, 32<<20)
	for i := range history {
		history[i] = byte(rand.IntN(256))
	}
	write(b, monorepo, map[string]string{".git/objects/pack/pack-1.pack": string(history)})
	for i := range 5000 {
		name := fmt.Sprintf("teams/%d/apps/%d/overlays/prod/%d.yaml", i%20, i%400, i)
		write(b, monorepo, map[string]string{name: fmt.Sprintf(externalSecret, i)})
	}
	return map[string]string{"1000files": app, "5000files+git": monorepo}
}

// BenchmarkUnpack measures receiving from memory: what this package costs by itself,
// next to Argo CD's own receiver, which writes the archive to disk first and then
// everything in it, .git too. Set TMPDIR to a folder in memory to leave out the disk.
func BenchmarkUnpack(b *testing.B) {
	for name, root := range checkouts(b) {
		sent := send(b, root, ".")
		b.Run(name, func(b *testing.B) {
			work := b.TempDir()
			b.ReportAllocs()
			b.SetBytes(sent.messages[0].GetMetadata().GetSize_())
			for b.Loop() {
				tree, err := receive.Unpack(b.Context(), &stream{messages: sent.messages}, work, receive.Limits{})
				check(b, err)
				b.StopTimer()
				check(b, tree.Remove())
				b.StartTimer()
			}
		})
		b.Run(name+"/argocd", func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				_, err := cmp.ReceiveRepoStream(b.Context(), &stream{messages: sent.messages}, dir, false)
				check(b, err)
				b.StopTimer()
				check(b, os.RemoveAll(dir))
				b.StartTimer()
			}
		})
		b.Run(name+"/drain", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := receive.Drain(b.Context(), &stream{messages: sent.messages}, receive.Limits{})
				check(b, err)
			}
		})
	}
}

// service answers GenerateManifest with nothing, once it has received the tree.
type service struct {
	apiclient.ConfigManagementPluginServiceServer

	work string
}

func (s *service) GenerateManifest(stream apiclient.ConfigManagementPluginService_GenerateManifestServer) error {
	tree, err := receive.Unpack(stream.Context(), stream, s.work, receive.Limits{})
	if err != nil {
		return err
	}
	if err := tree.Remove(); err != nil {
		return err
	}
	return stream.SendAndClose(&apiclient.ManifestResponse{})
}

// BenchmarkSocket measures the same over gRPC and a unix socket, with the messages
// of Argo CD's sender (a KiB each) already packed.
func BenchmarkSocket(b *testing.B) {
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "unix", filepath.Join(b.TempDir(), "s"))
	check(b, err)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(100 << 20))
	apiclient.RegisterConfigManagementPluginServiceServer(server, &service{work: b.TempDir()})
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	connection, err := grpc.NewClient("unix:"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(b, err)
	client := apiclient.NewConfigManagementPluginServiceClient(connection)
	for name, root := range checkouts(b) {
		sent := send(b, root, ".")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call, err := client.GenerateManifest(b.Context())
				check(b, err)
				for _, message := range sent.messages {
					check(b, call.Send(message))
				}
				_, err = call.CloseAndRecv()
				check(b, err)
			}
		})
	}
}
