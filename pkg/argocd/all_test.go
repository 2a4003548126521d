package argocd_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/argocd"
)

func TestAllApplications(t *testing.T) {
	tests := map[string]struct {
		reason, answer string
		names          []string
		fails          bool
	}{
		"usual":         {"an answer as Argo CD writes it", `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, []string{"a", "b"}, false},
		"none":          {"Argo CD writes null for no items", `{"metadata":{},"items":null}`, nil, false},
		"no items":      {"nor is a missing list an error", `{"metadata":{}}`, nil, false},
		"cut":           {"what came is given, and the end is an error", `{"items":[{"metadata":{"name":"a"}},{"metadata":`, []string{"a"}, true},
		"cut in list":   {"half a fleet is not a fleet", `{"items":[{"metadata":{"name":"a"}}`, []string{"a"}, true},
		"cut at end":    {"nor is one without an end", `{"items":[{"metadata":{"name":"a"}}]`, []string{"a"}, true},
		"another shape": {"an item that is no object", `{"items":["a"]}`, nil, true},
		"no list":       {"items that are no list", `{"items":{"a":1}}`, nil, true},
		"no object":     {"an answer that is no object", `[]`, nil, true},
		"empty":         {"no answer at all", ``, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var names []string
			var failed error
			for app, err := range serve(t, answer(200, test.answer)).AllApplications(t.Context(), "") {
				if err != nil {
					failed = err
					continue
				}
				names = append(names, app["metadata"].(map[string]any)["name"].(string))
			}
			if diff := cmp.Diff(test.names, names); diff != "" || (failed != nil) != test.fails {
				t.Errorf("%s: error %v, -want +got:\n%s", test.reason, failed, diff)
			}
		})
	}
}

// TestAllApplicationsStreams holds that an Application is given before the next is
// sent, and that who stops reading ends the call.
func TestAllApplicationsStreams(t *testing.T) {
	seen, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		if got := r.URL.Query().Get("projects"); got != "team" {
			t.Errorf("asked for project %q", got)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"items":[{"metadata":{"name":"first"}},`+strings.Repeat(" ", 8<<10))
		w.(http.Flusher).Flush()
		select {
		case <-seen:
		case <-r.Context().Done():
			t.Error("the caller left before the first Application")
		}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	client, err := argocd.New(argocd.Config{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range client.AllApplications(ctx, "team") {
		if err != nil {
			t.Fatal(err)
		}
		close(seen)
		break
	}
	<-ended
}
