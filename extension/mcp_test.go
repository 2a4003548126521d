package extension_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const mcpToken = "0123456789abcdef0123456789abcdef"

func TestMCPRefuses(t *testing.T) {
	folder := home(t)
	good, short := write(t, filepath.Join(folder, "good"), mcpToken), write(t, filepath.Join(folder, "short"), "abc")
	tests := map[string]struct {
		reason string
		args   []string
		says   string
	}{
		"HTTP without a token":             {"loopback is shared by all users of a machine", []string{"--http", "0"}, "--token-file"},
		"other addresses without a token":  {"the network is no friend", []string{"--http", "0.0.0.0:0"}, "--token-file"},
		"no such file":                     {"nothing is no token", []string{"--http", "0", "--token-file", filepath.Join(folder, "none")}, "none"},
		"a short token":                    {"it can be guessed", []string{"--http", "0", "--token-file", short}, "guessed"},
		"a token over standard input":      {"it would be thought to guard something", []string{"--token-file", good}, "--http"},
		"no Argo CD":                       {"there is nobody to ask", nil, "no Argo CD"},
		"an address that cannot listen":    {"it is a mistake of the user's", []string{"--http", "nowhere.invalid:1", "--token-file", good, "--server", "127.0.0.1:1"}, "--http"},
		"an argument":                      {"all are flags", []string{"shop"}, "shop"},
		"a format of the log that is none": {"it is a mistake of the user's", []string{"--log-format", "xml"}, "--log-format"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, errs := execute(t.Context(), "", append([]string{"mcp"}, test.args...)...)
			if code != 2 || !strings.Contains(errs, test.says) {
				t.Errorf("%s: want 2 and %q, have %d: %s", test.reason, test.says, code, errs)
			}
		})
	}
}

// TestMCPCommand drives the built program with the SDK's own client, as an assistant
// starts it and over HTTP.
func TestMCPCommand(t *testing.T) {
	folder := home(t)
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	address := argoCD(t, "right")
	argoToken := write(t, filepath.Join(folder, "argo"), "right")
	args := []string{"extension", "mcp", "--server", "http://" + address, "--auth-token-file", argoToken}

	t.Run("standard input", func(t *testing.T) {
		command := exec.CommandContext(t.Context(), program, args...)
		ask(t, &sdk.CommandTransport{Command: command})
		if state := command.ProcessState; state == nil || !state.Success() {
			t.Errorf("after the client closed: %v", state)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		file := write(t, filepath.Join(folder, "token"), mcpToken+"\n")
		command := exec.CommandContext(t.Context(), program, append(args, "--http", "0", "--token-file", file)...)
		url := start(t, command)
		ask(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: authorized(mcpToken)}})
		write(t, file, "fedcba9876543210fedcba9876543210")
		for token, works := range map[string]bool{mcpToken: false, "fedcba9876543210fedcba9876543210": true} {
			err := open(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: authorized(token)}})
			if (err == nil) != works {
				t.Errorf("after the file changed, token %s: %v", token, err)
			}
		}
		if err := errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait()); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	})
	t.Run("SIGTERM while a client listens", func(t *testing.T) {
		command := exec.CommandContext(t.Context(), program, args...)
		in, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // until it reads
		ended := make(chan error, 1)
		go func() { ended <- errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait()) }()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("after SIGTERM: %v", err)
			}
		case <-time.After(15 * time.Second):
			t.Error("SIGTERM does not end it")
		}
	})
}

// built is the program, built once, in a folder that [TestMain] removes.
var built = sync.OnceValues(func() (string, error) {
	program := filepath.Join(buildFolder, "moorpin")
	build := exec.Command("go", "build", "-o", program, "github.com/moorpin/moorpin")
	build.Env = append(os.Environ(), "HOME="+userHome)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, output)
	}
	return program, nil
})

// userHome is where the go command keeps its caches, before a test hides it.
var userHome, _ = os.UserHomeDir()

// ask lists the tools and explains an Application.
func ask(t *testing.T, transport sdk.Transport) {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("tools: %v, %v", tools, err)
	}
	for name, wanted := range map[string]bool{"argocd": true, "secret": false} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "explain_application", Arguments: map[string]any{"name": "shop", "namespace": name}})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(result.Content[0].(*sdk.TextContent).Text)
		if result.IsError == wanted || strings.Contains(text, "/data/a") != wanted {
			t.Errorf("namespace %s: %s", name, text)
		}
	}
}

func open(ctx context.Context, transport sdk.Transport) error {
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	return session.Close()
}

// start starts a server, and returns the URL that its log names.
func start(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	errs, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		if url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`).FindString(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, errs) }()
			return url
		}
	}
	t.Fatal("the server does not say where it serves")
	return ""
}

// authorized sends a token with every request.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}
