package fix

import (
	"regexp"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

var (
	deniedResource    = regexp.MustCompile(`resource ([^\s:]*):(\S+) is not permitted in project`)
	deniedNamespace   = regexp.MustCompile(`namespace (\S+) is not permitted in project`)
	deniedRepository  = regexp.MustCompile(`application repo (\S+) is not permitted in project`)
	deniedDestination = regexp.MustCompile(`(?:destination|server)[^']*'([^']*)'.{0,40}namespace '([^']*)'`)
)

// project adds to the AppProject what the message says that it lacks.
func (f *Builder) project() []drift.Fix {
	name := words.First(f.Object.Spec.Project, "default")
	said := strings.Join(f.Answer.Evidence, "\n")
	spec := map[string]any{}
	switch {
	case deniedResource.MatchString(said):
		match := deniedResource.FindStringSubmatch(said)
		spec[f.whitelist(match[1], match[2])] = []any{map[string]any{"group": match[1], "kind": match[2]}}
	case deniedRepository.MatchString(said):
		spec["sourceRepos"] = []any{deniedRepository.FindStringSubmatch(said)[1]}
	case deniedNamespace.MatchString(said):
		destination := f.Object.Spec.Destination
		spec["destinations"] = []any{cluster(destination.Server, destination.Name, deniedNamespace.FindStringSubmatch(said)[1])}
	case deniedDestination.MatchString(said) || strings.Contains(said, "destination"):
		destination := f.Object.Spec.Destination
		spec["destinations"] = []any{cluster(destination.Server, destination.Name, destination.Namespace)}
	default:
		ref := f.about()
		spec[f.whitelist(ref.Group, ref.Kind)] = []any{map[string]any{"group": ref.Group, "kind": ref.Kind}}
	}
	return []drift.Fix{{
		Kind: drift.FixAllowKindInProject, Where: drift.InProject, Snippet: snippet.Note("AppProject "+name+", beside the entries that are there") + "\n" + snippet.Block(map[string]any{"spec": spec}),
		Why: "Permits just what the sync was refused. It is for every Application of the project: let its owner decide, and look whether a blacklist forbids it too.",
	}}
}

// cluster is an entry of an AppProject's destinations.
func cluster(server, name, namespace string) map[string]any {
	entry := map[string]any{"namespace": namespace}
	if server != "" {
		entry["server"] = server
	}
	if name != "" {
		entry["name"] = name
	}
	return entry
}

// whitelist is the list for a kind: the one for kinds with a namespace or without.
func (f *Builder) whitelist(group, kind string) string {
	for _, r := range f.Resources {
		if r.Ref.Group == group && r.Ref.Kind == kind && r.Ref.Namespace != "" {
			return "namespaceResourceWhitelist"
		}
	}
	if crd, found := f.Crd(group, kind); found && object.Text(crd, "spec", "scope") == "Namespaced" {
		return "namespaceResourceWhitelist"
	}
	return "clusterResourceWhitelist"
}

func (f *Builder) syncWindow() []drift.Fix {
	name := words.First(f.Object.Spec.Project, "default")
	words := []string{snippet.Command(append([]string{"argocd", "proj", "windows", "list"}, snippet.Operand(name)...)...)}
	manual := f.ManualSyncs()
	why := "Wait until the window lets the sync through; the list shows when."
	if manual {
		words = append(words, Argocd(f.Application, "sync"))
		why = "The windows hold back automated syncs alone: one by hand goes through."
	}
	fixes := []drift.Fix{f.operation(drift.FixWaitOrManualSync, snippet.Lines(words...), why)}
	if manual {
		return fixes
	}
	var windows []any
	for _, w := range f.Windows() {
		entry := map[string]any{"kind": w.Kind, "schedule": w.Schedule, "duration": w.Duration, "manualSync": true}
		for field, values := range map[string][]string{"applications": w.Applications, "namespaces": w.Namespaces, "clusters": w.Clusters} {
			if len(values) > 0 {
				entry[field] = anyList(values)
			}
		}
		windows = append(windows, entry)
	}
	if len(windows) == 0 {
		return fixes
	}
	return append(fixes, drift.Fix{
		Kind: drift.FixWaitOrManualSync, Where: drift.InProject, Snippet: snippet.Note("AppProject "+name) + "\n" + snippet.Block(map[string]any{"spec": map[string]any{"syncWindows": windows}}),
		Why: "Lets syncs by hand through for all Applications of the window; automated ones still wait.",
	})
}
