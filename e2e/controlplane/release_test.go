package controlplane

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindRelease(t *testing.T) {
	cases := map[string]struct {
		reason, name, want string
		err                error
	}{
		"none":    {reason: "nobody chose, so it is what Moorpin links", name: "", want: "v2.14"},
		"named":   {reason: "chosen by name", name: "v3.1", want: "v3.1"},
		"unknown": {reason: "a wrong name must not run the default unseen", name: "3.1", err: errUnknownRelease},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FindRelease(tc.name)
			if got.Name != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%s: have %q and error %v", tc.reason, got.Name, err)
			}
		})
	}
}

// TestToolsOfRelease: the tools are those that the image of each Argo CD carries.
func TestToolsOfRelease(t *testing.T) {
	for _, release := range Releases() {
		t.Run(release.Name, func(t *testing.T) {
			source, err := release.argoCD().download(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pinned, err := os.ReadFile(filepath.Join(source, "hack", "tool-versions.sh"))
			if err != nil {
				t.Fatal(err)
			}
			for tool, version := range map[string]string{"helm3_version": release.helm, "kustomize5_version": release.kustomize} {
				if line := tool + "=" + strings.TrimPrefix(version, "v") + "\n"; !strings.Contains(string(pinned), line) {
					t.Errorf("%s is not what this Argo CD pins:\n%s", strings.TrimSpace(line), pinned)
				}
			}
		})
	}
}
