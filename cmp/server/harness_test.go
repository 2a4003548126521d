package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/util/cmp"
	grpc_retry "github.com/grpc-ecosystem/go-grpc-middleware/retry"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// rendererFunc stands for a confined child: it renders in this process.
type rendererFunc func(ctx context.Context, request render.Request) ([]manifest.Object, error)

func (f rendererFunc) Run(ctx context.Context, request render.Request) ([]manifest.Object, error) {
	return f(ctx, request)
}

// slot pins in this process what a renderer renders, and ends with the context, as a
// child that is killed does.
type slot struct {
	folder   string
	renderer child.Runner
}

func (s *slot) Folder() string { return s.folder }

func (s *slot) Do(ctx context.Context, task child.Task, schemas schema.Lookup) (*child.Outcome, error) {
	return child.Perform(ctx, task, s.renderer, pin.Options{Schemas: schemas})
}

func (s *slot) Release() <-chan struct{} {
	if err := os.RemoveAll(s.folder); err != nil {
		panic(err)
	}
	return nothing
}

// readFiles renders by reading the files of the app's folder.
func readFiles(_ context.Context, request render.Request) ([]manifest.Object, error) {
	files, err := filepath.Glob(filepath.Join(request.Root, request.Path, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var objects []manifest.Object
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		read, err := manifest.Decode(filepath.Base(file), data, manifest.Limits{})
		if err != nil {
			return nil, err
		}
		objects = append(objects, read...)
	}
	return objects, nil
}

// sidecar is a running server, and what there is to see of it.
type sidecar struct {
	socket  *Socket
	trees   string
	log     *lockedBuffer
	metrics *Metrics
	stop    context.CancelFunc
	stopped chan error
}

// startSidecar runs a server on a socket of its own until the test ends.
// change adapts the options.
func startSidecar(t *testing.T, renderer child.Runner, change func(*Options)) *sidecar {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir()) // Argo CD's sender leaves a folder behind for each tarball
	s := &sidecar{trees: t.TempDir(), log: &lockedBuffer{}, metrics: NewMetrics(), stopped: make(chan error, 1)}
	log, err := cli.Logger(s.log, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Take: func(context.Context) (Slot, error) {
			folder, err := os.MkdirTemp(s.trees, "slot-") //nolint:usetesting // the slot removes it.
			return &slot{folder: folder, renderer: renderer}, err
		},
		Schemas:     func() schema.Lookup { return schema.NewSet(widget(t)) },
		Parallelism: 2, Queue: 2, Log: log, Metrics: s.metrics,
	}
	if change != nil {
		change(&options)
	}
	s.socket, err = Listen(t.Context(), filepath.Join(t.TempDir(), "moorpin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.stopped <- New(options).Serve(ctx, s.socket, 2*time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-s.stopped; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

// wait waits for the server's end and leaves its result for the cleanup.
func (s *sidecar) wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-s.stopped:
		s.stopped <- err
	case <-time.After(10 * time.Second):
		t.Fatal("the server has not stopped")
	}
}

// lastLog is the last line of the log that has the given message.
func (s *sidecar) lastLog(t *testing.T, message string) map[string]any {
	t.Helper()
	var last map[string]any
	for line := range bytes.Lines(s.log.Bytes()) {
		var fields map[string]any
		err := json.Unmarshal(line, &fields)
		if err != nil {
			t.Fatalf("log line %s: %v", line, err)
		}
		if fields["msg"] == message {
			last = fields
		}
	}
	if last == nil {
		t.Fatalf("no log line %q in:\n%s", message, s.log.Bytes())
	}
	return last
}

// caller is Argo CD's own client, connected.
type caller struct {
	apiclient.ConfigManagementPluginServiceClient
}

func (s *sidecar) client(t *testing.T) caller {
	t.Helper()
	connection, plugin, err := apiclient.NewConfigManagementPluginClientSet(s.socket.path).NewConfigManagementPluginClient()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return caller{plugin}
}

// generate sends the app in a folder of a repository as repo-server does.
func (c caller) generate(ctx context.Context, repository, app string, env ...string) ([]string, error) {
	stream, err := c.GenerateManifest(ctx, grpc_retry.Disable())
	if err != nil {
		return nil, err
	}
	err = cmp.SendRepoStream(ctx, filepath.Join(repository, app), repository, stream, env, nil)
	if err != nil {
		return nil, err
	}
	reply, err := stream.CloseAndRecv()
	if err != nil {
		return nil, err
	}
	return reply.GetManifests(), nil
}

// checkout is a folder with the given files.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// widget is a kind with defaults, in a map and inside an atomic list.
func widget(t *testing.T) *schema.Definition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "widget-crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Decode("widget-crd.yaml", text, manifest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	definition, err := schema.Parse(t.Context(), objects[0].Content, "test")
	if err != nil {
		t.Fatal(err)
	}
	return definition
}

const smallWidget = `apiVersion: test.moorpin.dev/v1
kind: Widget
metadata: {name: small}
spec: {parts: [{name: a}]}
`

// lockedBuffer is a buffer that a server writes to while a test reads it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(text)
}

func (b *lockedBuffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buffer.Bytes())
}

var _ io.Writer = (*lockedBuffer)(nil)

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("waited 10 s in vain until %s", what)
}
