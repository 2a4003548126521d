package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/util/cmp"
	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

func TestGenerateManifest(t *testing.T) {
	pinned := `{"apiVersion":"test.moorpin.dev/v1","kind":"Widget","metadata":{"name":"small"},"spec":{"parts":[{"colour":"grey","name":"a"}],"size":"medium"}}`
	atomic := `{"apiVersion":"test.moorpin.dev/v1","kind":"Widget","metadata":{"name":"small"},"spec":{"parts":[{"colour":"grey","name":"a"}]}}`
	plain := `{"apiVersion":"test.moorpin.dev/v1","kind":"Widget","metadata":{"name":"small"},"spec":{"parts":[{"name":"a"}]}}`
	tests := map[string]struct {
		reason string
		change func(*Options)
		env    []string
		want   string
	}{
		"as started": {
			reason: "every default is pinned unless somebody says otherwise",
			want:   pinned,
		},
		"parameter": {
			reason: "an Application may ask for less than the sidecar does by itself",
			env:    []string{`ARGOCD_APP_PARAMETERS=[{"name":"pin","string":"atomic"}]`},
			want:   atomic,
		},
		"mode of the server": {
			reason: "without a parameter the sidecar's own mode counts",
			change: func(o *Options) { o.Mode = pin.ModeNone },
			want:   plain,
		},
		"parameter over mode": {
			reason: "the parameter wins over the sidecar's own mode",
			change: func(o *Options) { o.Mode = pin.ModeNone },
			env:    []string{`ARGOCD_APP_PARAMETERS=[{"name":"pin","string":"all"}]`},
			want:   pinned,
		},
		"version not served": {
			reason: "what the destination does not list is left alone",
			env:    []string{"KUBE_API_VERSIONS=v1,apps/v1"},
			want:   plain,
		},
		"no schema": {
			reason: "an object without a schema passes unchanged",
			change: func(o *Options) { o.Schemas = func() schema.Lookup { return schema.NewSet() } },
			want:   plain,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, rendererFunc(readFiles), test.change)
			root := checkout(t, map[string]string{"apps/web/widget.yaml": smallWidget, "other/x.yaml": "kind: Other"})
			got, err := s.client(t).generate(t.Context(), root, "apps/web", append(test.env, "ARGOCD_APP_NAME=web")...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff([]string{test.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestRequestGivesTheRendererItsApplication(t *testing.T) {
	var got render.Request
	s := startSidecar(t, rendererFunc(func(_ context.Context, request render.Request) ([]manifest.Object, error) {
		got = request
		return []manifest.Object{}, nil
	}), nil)
	root := checkout(t, map[string]string{"apps/web/widget.yaml": smallWidget})
	_, err := s.client(t).generate(t.Context(), root, "apps/web",
		"ARGOCD_APP_NAME=web", "ARGOCD_APP_NAMESPACE=shop", "ARGOCD_APP_REVISION=abc", "KUBE_VERSION=1.34", "KUBE_API_VERSIONS=v1,apps/v1")
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"web", "shop", "abc", "1.34", "apps/web", []string{"v1", "apps/v1"}}
	have := []any{got.AppName, got.Namespace, got.Revision, got.KubeVersion, got.Path, got.APIVersions}
	if diff := gocmp.Diff(want, have); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRequestLeavesNothingBehind(t *testing.T) {
	s := startSidecar(t, rendererFunc(readFiles), nil)
	root := checkout(t, map[string]string{"web/widget.yaml": smallWidget, "bad/bad.yaml": "a: b: c"})
	plugin := s.client(t)
	for _, app := range []string{"web", "bad"} {
		_, err := plugin.generate(t.Context(), root, app)
		if (err != nil) != (app == "bad") {
			t.Fatalf("%s: %v", app, err)
		}
	}
	left, err := os.ReadDir(s.trees)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("%d private copies are left", len(left))
	}
}

func TestLogNamesTheRequestAndHoldsNoValue(t *testing.T) {
	s := startSidecar(t, rendererFunc(readFiles), nil)
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget, "web/s.yaml": "{apiVersion: unknown.dev/v1, kind: Box, metadata: {name: b}, data: {p: hidden-1}}"})
	_, err := s.client(t).generate(t.Context(), root, "web", "ARGOCD_APP_NAME=web", "ARGOCD_APP_REVISION=abc", "ARGOCD_ENV_TOKEN=hidden-2",
		`ARGOCD_APP_PARAMETERS=[{"name":"directory","string":"{\"jsonnet\":{\"extVars\":[{\"name\":\"x\",\"value\":\"hidden-3\"}]}}"}]`)
	if err != nil {
		t.Fatal(err)
	}
	line := s.lastLog(t, "answered")
	want := map[string]any{
		"rpc": "GenerateManifest", "application": "web", "revision": "abc", "path": "web",
		"counts": map[string]any{"objects": 2.0, "pinned": 2.0, "dropped": 0.0, "nulls": 0.0, "warned": 1.0},
	}
	for key, value := range want {
		if diff := gocmp.Diff(value, line[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	for _, phase := range []string{"waitMs", "receiveMs", "renderMs", "pinMs"} {
		if _, ok := line["phases"].(map[string]any)[phase]; !ok {
			t.Errorf("the line has no %s: %v", phase, line["phases"])
		}
	}
	if strings.Contains(string(s.log.Bytes()), "hidden") {
		t.Errorf("the log holds a value:\n%s", s.log.Bytes())
	}
}

func TestDiscovery(t *testing.T) {
	tests := map[string]struct {
		reason string
		on     bool
	}{
		"off": {reason: "repo-server does not send a tarball to ask", on: false},
		"on":  {reason: "whatever Argo CD renders natively is rendered", on: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, rendererFunc(readFiles), func(o *Options) { o.Discovery = test.on })
			plugin := s.client(t)
			configuration, err := plugin.CheckPluginConfiguration(t.Context(), &emptypb.Empty{})
			if err != nil {
				t.Fatal(err)
			}
			root := checkout(t, map[string]string{"web/w.yaml": smallWidget, "big": randomText()})
			stream, err := plugin.MatchRepository(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = cmp.SendRepoStream(t.Context(), filepath.Join(root, "web"), root, stream, nil, nil)
			if err != nil {
				t.Fatalf("the stream was not read to its end: %v", err)
			}
			match, err := stream.CloseAndRecv()
			if err != nil {
				t.Fatal(err)
			}
			got := []bool{configuration.GetIsDiscoveryConfigured(), match.GetIsSupported(), match.GetIsDiscoveryEnabled()}
			if diff := gocmp.Diff([]bool{test.on, test.on, test.on}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if configuration.GetProvideGitCreds() {
				t.Error("Git credentials are asked for, which nothing needs")
			}
		})
	}
}

func TestGetParametersAnnouncement(t *testing.T) {
	s := startSidecar(t, rendererFunc(readFiles), nil)
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget})
	stream, err := s.client(t).GetParametersAnnouncement(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = cmp.SendRepoStream(t.Context(), filepath.Join(root, "web"), root, stream, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := stream.CloseAndRecv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, announced := range reply.GetParameterAnnouncements() {
		names = append(names, announced.GetName())
		if announced.GetTooltip() == "" || announced.GetCollectionType() != "string" || announced.GetRequired() {
			t.Errorf("%s: want an optional string with a tooltip, have %v", announced.GetName(), announced)
		}
	}
	if diff := gocmp.Diff([]string{"helm", "kustomize", "directory", "pin"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTwoAtOnce(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	s := startSidecar(t, rendererFunc(func(ctx context.Context, request render.Request) ([]manifest.Object, error) {
		both.Done()
		both.Wait() // neither ends before the other has begun
		return readFiles(ctx, request)
	}), nil)
	plugin := s.client(t)
	outcomes := make(chan error, 2)
	for i := range 2 {
		name := fmt.Sprintf("w%d", i)
		root := checkout(t, map[string]string{"web/w.yaml": strings.ReplaceAll(smallWidget, "small", name)})
		go func() {
			got, err := plugin.generate(t.Context(), root, "web")
			if err == nil && (len(got) != 1 || !strings.Contains(got[0], name)) {
				err = fmt.Errorf("%s got %v", name, got)
			}
			outcomes <- err
		}()
	}
	for range 2 {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
}

func TestTwoOverTheLimit(t *testing.T) {
	release := make(chan struct{})
	s := startSidecar(t, rendererFunc(func(ctx context.Context, request render.Request) ([]manifest.Object, error) {
		<-release
		return readFiles(ctx, request)
	}), func(o *Options) { o.Parallelism, o.Queue = 1, 1 })
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget, "big": randomText()})
	plugin := s.client(t)
	outcome := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := plugin.generate(ctx, root, "web")
			done <- err
		}()
		return done
	}
	working := outcome(t.Context())
	eventually(t, "one works", func() bool { return gauge(t, s.metrics, "moorpin_cmp_working") == 1 })
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	waiting := outcome(short)
	eventually(t, "one waits", func() bool { return gauge(t, s.metrics, "moorpin_cmp_waiting") == 1 })
	refused := outcome(t.Context())
	for name, done := range map[string]chan error{"queue full": refused, "no turn in time": waiting} {
		err := <-done
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "--parallelism") {
			t.Errorf("%s: want ResourceExhausted with advice, have %v", name, err)
		}
		t.Log(err)
	}
	close(release)
	if err := <-working; err != nil {
		t.Errorf("the first one: %v", err)
	}
	if _, err := plugin.generate(t.Context(), root, "web"); err != nil {
		t.Errorf("after the crowd: %v", err)
	}
}

func TestDeadline(t *testing.T) {
	s := startSidecar(t, rendererFunc(untilTheEnd), func(o *Options) { o.Parallelism, o.Queue = 1, 0 })
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := s.client(t).generate(ctx, root, "web")
	if ctx.Err() != nil {
		t.Error("the answer came after the caller's deadline")
	}
	if status.Code(err) != codes.DeadlineExceeded {
		t.Fatalf("want DeadlineExceeded, have %v", err)
	}
	for _, phase := range []string{"wait ", "receive ", "render "} {
		if !strings.Contains(err.Error(), phase) {
			t.Errorf("the error does not say how long %q took: %v", phase, err)
		}
	}
	t.Log(err)
	eventually(t, "the turn is free", func() bool { return gauge(t, s.metrics, "moorpin_cmp_working") == 0 })
}

func untilTheEnd(ctx context.Context, _ render.Request) ([]manifest.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestPanicIsAnError(t *testing.T) {
	s := startSidecar(t, rendererFunc(func(context.Context, render.Request) ([]manifest.Object, error) {
		panic("out of rope")
	}), nil)
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget})
	plugin := s.client(t)
	for range 3 { // more often than there are turns
		_, err := plugin.generate(t.Context(), root, "web")
		if status.Code(err) != codes.Internal {
			t.Fatalf("want Internal, have %v", err)
		}
	}
	if place, _ := s.lastLog(t, "a request panicked")["stack"].(string); !strings.Contains(place, "service_test.go") {
		t.Errorf("the log does not say where: %s", place)
	}
}

func TestErrorsSayWhoseMistakeItIs(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		code   codes.Code
	}{
		"refusal":  {"the Application is wrong", &render.Refusal{Where: "app", Reason: "no"}, codes.InvalidArgument},
		"manifest": {"the repository is wrong", &manifest.Error{Reason: "no"}, codes.InvalidArgument},
		"other":    {"Moorpin or its machine is wrong", errors.New("disk full"), codes.Internal},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, rendererFunc(func(context.Context, render.Request) ([]manifest.Object, error) {
				return nil, fmt.Errorf("a step: %w", test.err)
			}), nil)
			_, err := s.client(t).generate(t.Context(), checkout(t, map[string]string{"web/w.yaml": smallWidget}), "web")
			if status.Code(err) != test.code {
				t.Errorf("%s: want %s, have %v", test.reason, test.code, err)
			}
		})
	}
}

// randomText is a MiB that does not compress: more than the transport buffers.
func randomText() string {
	text := make([]byte, 1<<20)
	state := uint64(1)
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = byte(state >> 56)
	}
	return string(text)
}
