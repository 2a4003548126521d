package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const helloProgram = `package main

var word = "unset"

func main() { println(word) }
`

// hello is a module that is quick to build.
func hello(t *testing.T, program string) (source, string) {
	t.Helper()
	t.Setenv(CacheEnv, t.TempDir())
	folder := t.TempDir()
	write(t, filepath.Join(folder, "go.mod"), "module example.com/hello\n\ngo 1.24\n")
	write(t, filepath.Join(folder, "go.sum"), "")
	write(t, filepath.Join(folder, "main.go"), program)
	const module = "example.com/hello"
	return source{name: "hello", nested: folder, module: module, main: module, variables: []string{"main.word=set"}}, folder
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBuildOnce(t *testing.T) {
	program, folder := hello(t, helloProgram)
	var logs [4]bytes.Buffer
	var paths [len(logs)]string
	var group sync.WaitGroup
	for i := range logs {
		group.Go(func() {
			path, err := program.buildIn(t.Context(), folder, &logs[i])
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	group.Wait()
	builds := 0
	for i := range logs {
		builds += strings.Count(logs[i].String(), "built hello")
		if paths[i] != paths[0] {
			t.Errorf("paths differ: %s and %s", paths[0], paths[i])
		}
	}
	if builds != 1 {
		t.Errorf("built %d times side by side, want once", builds)
	}
	output, err := exec.CommandContext(t.Context(), paths[0]).CombinedOutput()
	if err != nil || string(output) != "set\n" {
		t.Errorf("the program says %q (error %v), want the linker's variable", output, err)
	}

	write(t, filepath.Join(folder, "go.sum"), "example.com/other v1.0.0 h1:"+strings.Repeat("A", 43)+"=\n")
	log := &bytes.Buffer{}
	path, err := program.buildIn(t.Context(), folder, log)
	if err != nil {
		t.Fatal(err)
	}
	if path == paths[0] || !strings.Contains(log.String(), "built hello") {
		t.Errorf("changed sums gave the old program %s", path)
	}
}

func TestBuildThatBreaksLeavesNothing(t *testing.T) {
	program, folder := hello(t, "package main\n\nfunc main() { undefined() }\n")
	_, err := program.buildIn(t.Context(), folder, nil)
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Fatalf("error is %v, want the compiler's message", err)
	}
	write(t, filepath.Join(folder, "main.go"), helloProgram)
	path, err := program.buildIn(t.Context(), folder, nil)
	if err != nil {
		t.Fatalf("a build after one that broke: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
