package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// The versions of Argo CD that Moorpin is made for.
var (
	oldest = version.MustParseGeneric("2.13.0")
	newest = version.MustParseGeneric("3.6.0") // its patches, too
)

// measured are the minor versions that all end-to-end tests run on.
var measured = []string{"2.14", "3.1"}

// How much of a ConfigMap the API server takes, and where to begin to worry.
const (
	mapLimit = 1 << 20
	mapWarns = mapLimit * 3 / 4
	mapFails = mapLimit * 19 / 20
)

func judgeCluster(f Facts) finding {
	switch {
	case f.Settings.Obstacle == noCluster:
		return unknown(noCluster)
	case strings.HasPrefix(f.Settings.Obstacle, noRight):
		return unknown("argocd-cm "+f.Settings.Obstacle, "look with a kubeconfig that may read the ConfigMaps, Deployments, Pods and Services in the namespace "+f.Namespace)
	case f.Settings.Obstacle != "":
		return bad("argocd-cm "+f.Settings.Obstacle, "check --kubeconfig and its current context")
	case !f.Settings.Found:
		return bad(fmt.Sprintf("there is no argocd-cm in the namespace %s: it is not Argo CD's", f.Namespace), "name Argo CD's namespace with --namespace")
	}
	for _, m := range []Fact[corev1.ConfigMap]{f.Settings, f.Parameters, f.Policy} {
		if name := m.Value.Name; m.Found && m.Value.Labels[partOfLabel] != partOf {
			return bad(fmt.Sprintf("%s lacks the label %s: %s, without which Argo CD does not read it", name, partOfLabel, partOf),
				fmt.Sprintf("kubectl -n %s label configmap %s %s=%s", f.Namespace, name, partOfLabel, partOf))
		}
	}
	return fine(fmt.Sprintf("Argo CD's settings are in the namespace %s", f.Namespace))
}

// argoVersion is Argo CD's version as its API server says, else as its image does; ""
// where nobody says.
func (f Facts) argoVersion() string {
	if f.ServerVersion.Found {
		return f.ServerVersion.Value
	}
	d, there := f.component(apiServer)
	if !there {
		return ""
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		if tag := tagOf(c.Image); c.Name == apiServer || c.Name == "server" {
			if _, err := version.ParseGeneric(tag); err == nil {
				return tag
			}
		}
	}
	return ""
}

// tagOf is the tag of an image, or "".
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	at := strings.LastIndex(image, ":")
	if at < 0 || strings.Contains(image[at:], "/") {
		return ""
	}
	return image[at+1:]
}

func judgeVersion(f Facts) finding {
	found := f.argoVersion()
	if found == "" {
		return unknown("neither argocd-server nor the tag of its image says it: " + cmp.Or(f.Deployments.Obstacle, f.ServerVersion.Obstacle, "the image has no version for a tag"))
	}
	parsed, err := version.ParseGeneric(found)
	switch {
	case err != nil:
		return unknown(fmt.Sprintf("%q is no version", oneLine(found)))
	case parsed.LessThan(oldest):
		return bad(fmt.Sprintf("Argo CD %s is older than v%d.%d, the oldest that Moorpin is made for", found, oldest.Major(), oldest.Minor()), "upgrade Argo CD")
	case parsed.Major() > newest.Major() || parsed.Major() == newest.Major() && parsed.Minor() > newest.Minor():
		return warn(fmt.Sprintf("Argo CD %s is newer than v%d.%d, the newest that Moorpin was made for", found, newest.Major(), newest.Minor()),
			"look for a newer Moorpin, and for this version in docs/compatibility.md")
	}
	if !slices.Contains(measured, fmt.Sprintf("%d.%d", parsed.Major(), parsed.Minor())) {
		return fine(fmt.Sprintf("Argo CD %s is in the range that Moorpin is made for; it was run with v%s only, and docs/compatibility.md says what is known of the others", found, strings.Join(measured, " and v")))
	}
	return fine(fmt.Sprintf("Argo CD %s is of a minor version that Moorpin is tested with", found))
}

func judgeSize(f Facts) finding {
	if f.Settings.Obstacle != "" {
		return unread("argocd-cm", f.Settings.Obstacle)
	}
	if !f.Settings.Found {
		return unknown("there is no argocd-cm")
	}
	size, most, largest := 0, 0, ""
	data := f.Settings.Value.Data
	for _, key := range slices.Sorted(maps.Keys(data)) {
		size += len(key) + len(data[key])
		if len(data[key]) > most {
			most, largest = len(data[key]), key
		}
	}
	for key, value := range f.Settings.Value.BinaryData {
		size += len(key) + len(value)
	}
	says := fmt.Sprintf("argocd-cm holds %d KiB of the 1024 KiB that the API server takes", (size+1023)>>10)
	more := fmt.Sprintf("; the largest key is %s with %d KiB", largest, (most+1023)>>10)
	remedy := "take out what Argo CD checks by itself (`moorpin lua gaps --help`), or install fewer health checks with `moorpin lua install`"
	switch {
	case size >= mapFails:
		return bad(says+more+", and the next change may be refused", remedy)
	case size >= mapWarns:
		return warn(says+more, remedy)
	}
	return fine(says)
}
