package gaps

import (
	_ "embed"
	"path"
	"strings"

	"github.com/argoproj/argo-cd/v2/resource_customizations"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Version is the Argo CD whose own checks Builtin knows.
const Version = "v2.14"

// laterVersion is the Argo CD whose further checks are in later.txt.
const laterVersion = "v3.6"

//go:embed later.txt
var laterText string

// laterKinds are path patterns of "group/Kind".
var laterKinds = lines(laterText)

func lines(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found
}

// Builtin returns what of Argo CD itself checks a kind, "script" or "code", and false
// where nothing does.
func Builtin(kind schema.GroupKind) (string, bool) {
	// A script wins over code, as it does in Argo CD.
	if _, err := resource_customizations.Embedded.ReadFile(path.Join(kind.Group, kind.Kind, "health.lua")); err == nil {
		return "script", true
	}
	if health.GetHealthCheckFunc(kind.WithVersion("")) != nil {
		return "code", true
	}
	return "", false
}

// Later returns the version of an Argo CD that checks by itself a kind that [Version]
// does not, and false where none is known.
func Later(kind schema.GroupKind) (string, bool) {
	if _, already := Builtin(kind); already {
		return "", false
	}
	for _, pattern := range laterKinds {
		if matched, err := path.Match(pattern, kind.Group+"/"+kind.Kind); err == nil && matched {
			return laterVersion, true
		}
	}
	return "", false
}
