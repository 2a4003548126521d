package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/moorpin/moorpin/extension/mcp"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

type object = map[string]any

// fake explains the Application argocd/shop, and notes what it was asked about.
type fake struct {
	// report is the answer; nil stands for a report on the snapshot.
	report *drift.Report
	// another is the Application that is answered about instead of the one asked for.
	another string
	breaks  bool
	asked   []string
	rules   []v1alpha1.ResourceIgnoreDifferences
	preview *drift.Preview
	fleet   []object
}

func (f *fake) Report(ctx context.Context, ref argocd.Ref) (*report.Answer, error) {
	if f.breaks {
		panic("hush: what nobody but the log is told")
	}
	snapshot, err := f.Snapshot(ctx, ref)
	if err != nil {
		return nil, err
	}
	made := f.report
	if made == nil {
		if made, err = classify.Classify(ctx, snapshot, classify.Options{}); err != nil {
			return nil, err
		}
	}
	shown := *made
	shown.Application = ref.String()
	if f.another != "" {
		shown.Application = f.another
	}
	return &report.Answer{Report: &shown, Version: "1"}, nil
}

func (f *fake) Snapshot(_ context.Context, ref argocd.Ref) (*drift.Snapshot, error) {
	f.asked = append(f.asked, ref.String())
	if ref.Name == "gone" {
		return nil, &argocd.Error{Status: 403, Path: "/api/v1/applications/gone", Message: "permission denied\x1b[2J"}
	}
	app := application(ref.Namespace, ref.Name, "OutOfSync")
	if f.another != "" {
		app["metadata"] = object{"name": "other", "namespace": "secret"}
	}
	return &drift.Snapshot{Application: app, Settings: drift.Settings{}, Resources: []drift.Resource{{
		ResourceRef: drift.ResourceRef{Version: "v1", Kind: "ConfigMap", Namespace: "web", Name: "c"},
		Target:      configMap("git"), Live: configMap("live"),
	}}}, nil
}

func (f *fake) Preview(_ context.Context, snapshot *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	f.rules = rules
	if f.preview == nil {
		return nil, &drift.RuleError{Part: "rules[0].jsonPointers[0]", Reason: "it is no pointer"}
	}
	return f.preview, nil
}

func (f *fake) applications(_ context.Context, project string) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		if project == "broken" {
			yield(nil, errors.New("no answer"))
			return
		}
		for _, app := range f.fleet {
			if !yield(app, nil) {
				return
			}
		}
	}
}

func configMap(value string) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "c", "namespace": "web"}, "data": object{"a": value}}
}

func application(namespace, name, sync string) object {
	return object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": object{"name": name, "namespace": namespace},
		"spec": object{"project": "default", "source": object{"repoURL": "https://git.example.com/apps.git", "path": "app"}, "destination": object{"server": "https://kubernetes.default.svc", "namespace": "web"}},
		"status": object{
			"sync": object{"status": sync}, "health": object{"status": "Healthy"},
			"resources": []any{object{"kind": "ConfigMap", "version": "v1", "namespace": "web", "name": "c", "status": sync}},
		},
	}
}

// newServer makes a server on the fake.
func newServer(t *testing.T, f *fake, namespaces ...string) *sdk.Server {
	t.Helper()
	server, err := mcp.New(mcp.Options{Reporter: f, Applications: f.applications, Home: "argocd", Namespaces: namespaces, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// connect drives a server with the SDK's own client, in memory.
func connect(t *testing.T, server *sdk.Server) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	return session(t, here)
}

func session(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	opened, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// call calls a tool: the answer decoded, its text, and whether it is an error.
func call(t *testing.T, with *sdk.ClientSession, tool string, arguments object) (answer object, text string, failed bool) {
	t.Helper()
	result, err := with.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var all strings.Builder
	for _, content := range result.Content {
		all.WriteString(content.(*sdk.TextContent).Text)
	}
	if !result.IsError {
		if err := json.Unmarshal([]byte(all.String()), &answer); err != nil {
			t.Fatalf("%s: %v in %s", tool, err, all.String())
		}
	}
	return answer, all.String(), result.IsError
}
