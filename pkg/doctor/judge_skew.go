package doctor

import (
	"maps"
	"slices"
	"strings"
)

// parts are those that bear a version.
type parts map[string][]string

// String lists the versions, each with the parts that have it.
func (p parts) String() string {
	var listed []string
	for _, version := range slices.Sorted(maps.Keys(p)) {
		listed = append(listed, version+" ("+strings.Join(slices.Sorted(slices.Values(p[version])), ", ")+")")
	}
	return strings.Join(listed, "; ")
}

func (p parts) note(version, part string) {
	if !slices.Contains(p[version], part) {
		p[version] = append(p[version], part)
	}
}

// judgeSkew compares the images of all parts with one another, and the version that the
// backend tells with that of this command: an image's tag need not be a version.
func judgeSkew(f Facts) finding {
	images, told := parts{}, parts{}
	for _, d := range f.Deployments.Value {
		for part, words := range map[string][]string{"the backend": {"extension", "serve"}, "the pages": {"extension", "bundle"}, "the sidecar": {"install-into"}} {
			for _, p := range programs(d.Spec.Template.Spec, words...) {
				images.note(p.container.Image, part)
			}
		}
	}
	if answer, is := f.told(); is {
		told.note(answer.Version, "the backend")
		told.note(f.Version, "this command")
	}
	switch {
	case len(images)+len(told) == 0:
		return unknown("neither an image of Moorpin nor an answer of the backend is seen" + because(f.Deployments.Obstacle))
	case len(images) > 1:
		return warn("the parts run in several images: "+images.String(), "set one image for all parts, with images: in kustomization.yaml")
	case len(told) > 1:
		return warn("the versions differ: "+told.String(), "set one image for all parts, and look with its moorpin")
	}
	var seen []string
	for _, p := range []parts{images, told} {
		if len(p) > 0 {
			seen = append(seen, p.String())
		}
	}
	return fine("all parts that are seen have one version: " + strings.Join(seen, "; "))
}
