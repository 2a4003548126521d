package mcp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/moorpin/moorpin/extension/mcp"
)

const right = "0123456789abcdef0123456789abcdef"

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// web serves the tools over HTTP with a token that can change.
func web(t *testing.T) (address string, token *atomic.Value) {
	t.Helper()
	token = new(atomic.Value)
	token.Store(right)
	handler := mcp.Handler(newServer(t, &fake{}), mcp.HTTPOptions{Hosts: []string{"moorpin.example.com"}, Token: func() ([]byte, error) {
		if token.Load() == "" {
			return nil, errors.New("the file is gone")
		}
		return []byte(token.Load().(string)), nil
	}})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL, token
}

// TestHTTP drives the server with the SDK's own client over streamable HTTP.
func TestHTTP(t *testing.T) {
	address, token := web(t)
	with := session(t, &sdk.StreamableClientTransport{Endpoint: address + mcp.Path, HTTPClient: &http.Client{Transport: bearer(right)}})
	if answer, text, failed := call(t, with, "explain_application", object{"name": "shop"}); failed || answer["application"] != "argocd/shop" {
		t.Errorf("over HTTP: %s", text)
	}
	if _, text, failed := call(t, with, "explain_application", object{"name": "shop", "namespace": "secret"}); !failed {
		t.Errorf("another namespace: %s", text)
	}
	token.Store("another-token-of-enough-length")
	if _, err := with.CallTool(t.Context(), &sdk.CallToolParams{Name: "explain_mechanism", Arguments: object{"id": "hpa-replicas"}}); err == nil {
		t.Error("the old token is still good")
	}
	other := &sdk.StreamableClientTransport{Endpoint: address + mcp.Path, HTTPClient: &http.Client{Transport: bearer("wrong")}}
	if _, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), other, nil); err == nil {
		t.Error("a wrong token gets a session")
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// TestWhoMayCall holds that whoever lacks the token, or does not ask this server, never
// reaches the tools.
func TestWhoMayCall(t *testing.T) {
	address, token := web(t)
	local := strings.TrimPrefix(address, "http://")
	port := local[strings.LastIndex(local, ":"):]
	tests := map[string]struct {
		reason string
		edit   func(*http.Request)
		status int
	}{
		"right":               {"the token is all it takes", func(*http.Request) {}, http.StatusOK},
		"scheme in lower":     {"schemes have no case", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+right) }, http.StatusOK},
		"no token":            {"nobody is trusted", func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"wrong token":         {"one letter is another token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+right[1:]+"x") }, http.StatusUnauthorized},
		"beginning":           {"a part is no token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+right[:31]) }, http.StatusUnauthorized},
		"empty token":         {"nothing is no token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, http.StatusUnauthorized},
		"basic":               {"another scheme", func(r *http.Request) { r.SetBasicAuth("Bearer", right) }, http.StatusUnauthorized},
		"two tokens":          {"which one would count", func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+right) }, http.StatusUnauthorized},
		"in the query":        {"addresses are logged", func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "access_token=" + right }, http.StatusUnauthorized},
		"rebound host":        {"DNS rebinding keeps the page's name", func(r *http.Request) { r.Host = "evil.example.com" + port }, http.StatusForbidden},
		"local suffix":        {"a name that looks local", func(r *http.Request) { r.Host = "localhost.evil.example.com" + port }, http.StatusForbidden},
		"address as name":     {"a name that looks like an address", func(r *http.Request) { r.Host = "127.0.0.1.example.com" + port }, http.StatusForbidden},
		"another address":     {"an address that is not ours", func(r *http.Request) { r.Host = "10.1.2.3" + port }, http.StatusForbidden},
		"rebound no token":    {"the host is looked at first", func(r *http.Request) { r.Host = "evil.example.com"; r.Header.Del("Authorization") }, http.StatusForbidden},
		"localhost":           {"this machine", func(r *http.Request) { r.Host = "LOCALHOST" + port }, http.StatusOK},
		"IPv6 loopback":       {"this machine", func(r *http.Request) { r.Host = "[::1]" + port }, http.StatusOK},
		"named host":          {"the operator allows it", func(r *http.Request) { r.Host = "Moorpin.example.com" }, http.StatusOK},
		"foreign origin":      {"a page of elsewhere", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example.com") }, http.StatusForbidden},
		"other local page":    {"a page on this machine is another origin", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"null origin":         {"a sandboxed page", func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"empty origin":        {"an origin of nowhere", func(r *http.Request) { r.Header["Origin"] = []string{""} }, http.StatusForbidden},
		"two origins":         {"which one would count", func(r *http.Request) { r.Header["Origin"] = []string{address, "https://evil.example.com"} }, http.StatusForbidden},
		"rebound origin":      {"the page of a rebound name is of one origin with it", func(r *http.Request) { r.Host = "evil.example.com"; r.Header.Set("Origin", "http://evil.example.com") }, http.StatusForbidden},
		"own origin":          {"a page of this server", func(r *http.Request) { r.Header.Set("Origin", address) }, http.StatusOK},
		"another path":        {"there is one path", func(r *http.Request) { r.URL.Path = "/sse" }, http.StatusNotFound},
		"another path, alone": {"paths are not told to strangers", func(r *http.Request) { r.URL.Path = "/sse"; r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"GET":                 {"there are no sessions to listen to", func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0 }, http.StatusMethodNotAllowed},
		"a form":              {"browsers send forms without asking", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		"a huge body": {"calls are short", func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(initialize+strings.Repeat(" ", 2<<20))), -1
		}, http.StatusRequestEntityTooLarge},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if status, body := post(t, address, test.edit); status != test.status {
				t.Errorf("%s: want %d, have %d: %s", test.reason, test.status, status, body)
			} else if strings.Contains(body, right) {
				t.Errorf("the token is in the reply: %s", body)
			}
		})
	}
	token.Store("")
	for _, value := range []string{"Bearer " + right, "Bearer ", "Bearer"} {
		if status, _ := post(t, address, func(r *http.Request) { r.Header.Set("Authorization", value) }); status != http.StatusUnauthorized {
			t.Errorf("without a token in force, %q gets %d", value, status)
		}
	}
}

// post sends a request, changed so.
func post(t *testing.T, address string, edit func(*http.Request)) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+mcp.Path, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+right)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	edit(request)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}
