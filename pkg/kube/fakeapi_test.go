package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/moorpin/moorpin/e2e/freeport"
)

// fakeAPI is an API server that knows CRDs only. It can go away and come back
// at the same address.
type fakeAPI struct {
	address string

	mu       sync.Mutex
	server   *httptest.Server
	crds     map[string]map[string]any
	revision int
	watchers map[chan []byte]bool
	history  []event // what a watch that begins later still gets
	largest  int     // the largest page that was asked for
	refuse   int     // the status that everything is refused with, 0 for none
}

type event struct {
	revision int
	text     []byte
}

// newFakeAPI reserves an address; start makes it answer.
func newFakeAPI(t *testing.T, crds ...map[string]any) *fakeAPI {
	t.Helper()
	api := &fakeAPI{address: freeport.Address(t), crds: map[string]map[string]any{}, watchers: map[chan []byte]bool{}}
	for _, crd := range crds {
		api.put("", crd)
	}
	t.Cleanup(api.stop)
	return api
}

func (f *fakeAPI) start(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.server = server
}

func (f *fakeAPI) stop() {
	f.mu.Lock()
	server := f.server
	f.server = nil
	for watcher := range f.watchers {
		close(watcher)
		delete(f.watchers, watcher)
	}
	f.mu.Unlock()
	if server != nil {
		server.CloseClientConnections()
		server.Close()
	}
}

// put sets a CRD, or removes it, and tells the watchers by an event of the
// given type, if there is one.
func (f *fakeAPI) put(change string, crd map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	metadata := crd["metadata"].(map[string]any)
	metadata["resourceVersion"] = strconv.Itoa(f.revision)
	name := metadata["name"].(string)
	f.crds[name] = crd
	if change == "DELETED" {
		delete(f.crds, name)
	}
	if change == "" {
		return
	}
	text := mustJSON(map[string]any{"type": change, "object": crd})
	f.history = append(f.history, event{f.revision, text})
	for watcher := range f.watchers {
		watcher <- text
	}
}

func (f *fakeAPI) refuseWith(status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = status
}

func (f *fakeAPI) largestPage() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.largest
}

func (f *fakeAPI) serve(reply http.ResponseWriter, request *http.Request) {
	f.mu.Lock()
	refuse := f.refuse
	f.mu.Unlock()
	switch {
	case refuse != 0:
		http.Error(reply, "refused", refuse)
	case request.URL.Path != "/apis/apiextensions.k8s.io/v1/customresourcedefinitions":
		http.NotFound(reply, request)
	case request.FormValue("watch") == "true":
		f.watch(reply, request)
	default:
		f.list(reply, request)
	}
}

func (f *fakeAPI) list(reply http.ResponseWriter, request *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	limit, _ := strconv.Atoi(request.FormValue("limit"))
	begin, _ := strconv.Atoi(request.FormValue("continue"))
	names := slices.Sorted(maps.Keys(f.crds))
	if limit == 0 {
		limit = len(names)
	}
	f.largest = max(f.largest, limit)
	end := min(begin+limit, len(names))
	items := []any{}
	for _, name := range names[begin:end] {
		items = append(items, f.crds[name])
	}
	metadata := map[string]any{"resourceVersion": strconv.Itoa(f.revision)}
	if end < len(names) {
		metadata["continue"] = strconv.Itoa(end)
	}
	reply.Header().Set("Content-Type", "application/json")
	_, _ = reply.Write(mustJSON(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList", "metadata": metadata, "items": items,
	}))
}

func (f *fakeAPI) watch(reply http.ResponseWriter, request *http.Request) {
	events := make(chan []byte, 100)
	since, _ := strconv.Atoi(request.FormValue("resourceVersion"))
	f.mu.Lock()
	for _, past := range f.history {
		if past.revision > since {
			events <- past.text
		}
	}
	f.watchers[events] = true
	f.mu.Unlock()
	reply.Header().Set("Content-Type", "application/json")
	reply.WriteHeader(http.StatusOK)
	flusher := reply.(http.Flusher)
	flusher.Flush()
	for {
		select {
		case event, open := <-events:
			if !open {
				return
			}
			_, _ = reply.Write(slices.Concat(event, []byte("\n")))
			flusher.Flush()
		case <-request.Context().Done():
			return
		}
	}
}

func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// crd makes a CRD whose objects have a default colour.
func crd(kind, colour string) map[string]any {
	plural := string(bytes.ToLower([]byte(kind))) + "s"
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".test.moorpin.dev"},
		"spec": map[string]any{
			"group": "test.moorpin.dev", "scope": "Namespaced",
			"names": map[string]any{"kind": kind, "plural": plural},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object",
					"properties": map[string]any{"colour": map[string]any{
						"type": "string", "default": colour, "description": fmt.Sprintf("The colour of a %s.", kind),
					}},
				}},
			}},
		},
	}
}
