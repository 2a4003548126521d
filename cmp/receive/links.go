package receive

import (
	"fmt"
	"path"
	"strings"
)

// The limits of following links: as many in a row as Go follows (Linux follows 40),
// and as many steps in all as take less than a second.
const (
	linkHops  = 255
	linkSteps = 10_000_000
)

func (b *builder) addLink(name, target string) error {
	if len(target) > b.limits.PathBytes {
		return overLimit(name, FlagPathBytes, int64(b.limits.PathBytes), "this link's target has more bytes")
	}
	if target == "" || strings.ContainsRune(target, 0) {
		return &Error{Kind: BadLink, Entry: name, Reason: "a link's target may be neither empty nor hold a NUL"}
	}
	if path.IsAbs(target) || leaves(path.Dir(name), target) {
		return escapes(name, target)
	}
	folder, err := b.openFolder(name)
	if err != nil {
		return err
	}
	err = folder.Symlink(target, path.Base(name))
	if err != nil {
		return explain(name, err)
	}
	b.files++
	b.links[name] = target
	return nil
}

func escapes(name, target string) *Error {
	return &Error{Kind: BadLink, Entry: name, Reason: fmt.Sprintf("this link leads out of the repository, to %q; make it relative and keep it inside", target)}
}

// leaves reports whether target, read without looking at other links, passes
// through a path outside the tree on its way. It is the check that Argo CD makes
// of a checkout.
func leaves(folder, target string) bool {
	at := folder
	for part := range strings.SplitSeq(target, "/") {
		at = path.Join(at, part)
		if at == ".." || strings.HasPrefix(at, "../") {
			return true
		}
	}
	return false
}

// checkLinks follows every link through the others. Links that each look harmless
// can lead out together: with up -> ../.. in a folder of depth two, up/../x is
// inside for who only reads it, and outside for who follows it.
func checkLinks(links map[string]string) error {
	steps := 0
	for name := range links {
		inside, cost := staysInside(links, name)
		if !inside {
			return escapes(name, links[name])
		}
		if steps += cost; steps > linkSteps {
			return &Error{Kind: OverLimit, Entry: name, Limit: linkSteps, Reason: fmt.Sprintf("the links lead through more than %d others; use fewer", linkSteps)}
		}
	}
	return nil
}

// staysInside follows one link as the kernel does. A chain that never ends leads
// nowhere, so it stays inside.
func staysInside(links map[string]string, name string) (inside bool, steps int) {
	at, rest := "", name
	hops := 0
	for rest != "" {
		steps++
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return false, steps
			}
			at = strings.TrimPrefix(path.Dir("/"+at), "/")
			continue
		}
		next := path.Join(at, part)
		target, isLink := links[next]
		if !isLink {
			at = next
			continue
		}
		if hops++; hops > linkHops {
			return true, steps
		}
		rest = target + "/" + rest
		if steps += len(rest) / 64; len(rest) > 1<<16 {
			return false, steps // nobody means this, and following it takes too long
		}
	}
	return true, steps
}
