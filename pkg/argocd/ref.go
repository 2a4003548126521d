package argocd

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Group and ApplicationKind are those of Argo CD's Applications.
const (
	Group           = "argoproj.io"
	ApplicationKind = "Application"
)

// Ref names an Application. An empty namespace is Argo CD's own.
type Ref struct {
	Namespace, Name string
}

// ParseRef reads "name" or "namespace/name".
func ParseRef(text string) (Ref, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		namespace, name = "", text
	}
	ref := Ref{Namespace: namespace, Name: name}
	if found && namespace == "" {
		return Ref{}, fmt.Errorf("application %q: the namespace before the slash is empty; write name or namespace/name", text)
	}
	return ref, ref.validate()
}

// String is "namespace/name", or the name alone.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// validate refuses what could not be the name of any Application, before it becomes
// part of a URL.
func (r Ref) validate() error {
	for _, name := range []string{r.Name, r.Namespace} {
		if name == "" && r.Name != "" {
			continue
		}
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return fmt.Errorf("application %q: %s", r, problems[0])
		}
	}
	return nil
}
