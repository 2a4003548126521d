package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/moorpin/moorpin/"

// layoutRule says what the direct imports of some packages may not contain.
type layoutRule struct {
	reason string
	// in names the packages the rule is for, except those that it does not bind.
	in, except []string
	forbidden  []string
}

// layoutRules are the only place of the import rules, but for those about tests, which
// depguard holds.
var layoutRules = []layoutRule{
	{reason: "the engines import no part", in: []string{"pkg/"}, forbidden: []string{module + "cmp", module + "extension", module + "lua", module + "e2e"}},
	{reason: "the parts do not import one another", in: []string{"cmp"}, forbidden: []string{module + "extension", module + "lua"}},
	{reason: "the parts do not import one another", in: []string{"extension"}, forbidden: []string{module + "cmp", module + "lua"}},
	{reason: "the parts do not import one another", in: []string{"lua"}, forbidden: []string{module + "cmp", module + "extension"}},
	{reason: "fieldpath is the lowest layer", in: []string{"pkg/fieldpath"}, forbidden: []string{module}},
	{reason: "object reads what it is given", in: []string{"pkg/object"}, forbidden: []string{module}},
	{reason: "manifest stands on fieldpath", in: []string{"pkg/manifest"}, forbidden: []string{module + "pkg/schema", module + "pkg/pin", module + "pkg/catalog", module + "pkg/kube"}},
	{reason: "schema stands on fieldpath", in: []string{"pkg/schema"}, forbidden: []string{module + "pkg/manifest", module + "pkg/pin", module + "pkg/catalog", module + "pkg/kube"}},
	{reason: "pin stands on manifest and schema", in: []string{"pkg/pin"}, except: []string{"pkg/pin/droptable"}, forbidden: []string{module + "pkg/catalog", module + "pkg/kube"}},
	{
		reason: "of the engines only drift and health know Argo CD's code", in: []string{"pkg/fieldpath", "pkg/object", "pkg/manifest", "pkg/schema", "pkg/pin"},
		except: []string{"pkg/pin/droptable"}, forbidden: []string{"github.com/argoproj/"},
	},
	{
		reason: "the engines touch no network, disk, clock or log", in: []string{"pkg/fieldpath", "pkg/manifest", "pkg/schema", "pkg/pin", "pkg/drift", "pkg/health", "pkg/object"},
		except: []string{"pkg/pin/droptable"}, forbidden: []string{"os", "net", "time", "log", "github.com/sirupsen/logrus"},
	},
	{reason: "client-go only in pkg/kube", in: []string{""}, except: []string{"pkg/kube", "e2e"}, forbidden: []string{"k8s.io/client-go"}},
	{reason: "gRPC only in cmp", in: []string{""}, except: []string{"cmp", "e2e"}, forbidden: []string{"google.golang.org/grpc"}},
	{reason: "mux only in extension/api", in: []string{""}, except: []string{"extension/api"}, forbidden: []string{"github.com/gorilla/mux"}},
	{reason: "gopher-lua only in lua/verify", in: []string{""}, except: []string{"lua/verify"}, forbidden: []string{"github.com/yuin/gopher-lua"}},
}

// driftRooms are the rooms of the drift classifier, the lowest first. A room imports only
// rooms of the lines above its own; those of one line know nothing of one another.
var driftRooms = [][]string{
	{""},
	{"/internal/mark", "/internal/value"},
	{"/internal/words"},
	{"/internal/jq", "/internal/owners"},
	{"/internal/diff", "/internal/kind"},
	{"/internal/snippet"},
	{"/internal/state"},
	{"/internal/compare"},
	{"/internal/rule"},
	{"/internal/outcome"},
	{"/internal/fix"},
	{
		"/internal/rules/application", "/internal/rules/ignore", "/internal/rules/operation", "/internal/rules/refusal",
		"/internal/rules/source", "/internal/rules/tracking", "/internal/rules/values", "/internal/rules/writers",
	},
	{"/internal/trial", "/plan"},
	{"/classify"},
}

// checkRooms holds a room of drift to those below it.
func checkRooms(t *testing.T, name string, imports []string) {
	t.Helper()
	line := func(path string) int {
		return slices.IndexFunc(driftRooms, func(rooms []string) bool {
			room, found := strings.CutPrefix(path, "pkg/drift")
			return found && slices.Contains(rooms, room)
		})
	}
	own := line(name)
	if own < 0 {
		t.Errorf("%s has no place in driftRooms", name)
	}
	for _, path := range imports {
		if path = strings.TrimPrefix(path, module); within(path, []string{"pkg/drift"}) && line(path) >= own {
			t.Errorf("%s imports %s, which is not below it", name, path)
		}
	}
}

// TestLayout holds the direct imports of every package against the rules.
func TestLayout(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	seen := 0
	for {
		var listed struct {
			ImportPath string   `json:"ImportPath"`
			Imports    []string `json:"Imports"`
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(listed.ImportPath, module)
		if within(name, []string{"pkg/drift"}) {
			checkRooms(t, name, listed.Imports)
		}
		for _, rule := range layoutRules {
			if within(name, rule.in) && !within(name, rule.except) {
				checkImports(t, name, listed.Imports, rule)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages seen", seen)
	}
}

func checkImports(t *testing.T, name string, imports []string, rule layoutRule) {
	t.Helper()
	for _, path := range imports {
		if within(path, rule.forbidden) {
			t.Errorf("%s imports %s: %s", name, path, rule.reason)
		}
	}
}

// within reports whether a path is one of the roots or below one.
func within(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return root == "" || path == strings.TrimSuffix(root, "/") || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
	})
}
