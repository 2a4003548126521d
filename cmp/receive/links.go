package receive

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// The limits of following links.
const (
	linkHops  = 255        // in a row: as many as Go follows; Linux follows 40
	linkBytes = 4096       // of a path on the way: no system call takes a longer one
	linkSteps = 10_000_000 // in all: some seconds
	linkLook  = 4096       // steps between two looks at the context
	linkKept  = 64 << 20   // bytes of paths that are remembered
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
	if err == nil {
		err = b.take(name)
	}
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
func checkLinks(ctx context.Context, links map[string]string) error {
	f := &follower{ctx: ctx, links: links, ends: map[string]end{}}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		_, err := f.follow(name, 0)
		if err != nil {
			return err
		}
	}
	return nil
}

// follower follows links as the kernel does, and remembers where they end.
type follower struct {
	ctx   context.Context // of the one call that owns this value
	links map[string]string
	// ends has what is known of a link; the ones that are being followed lead nowhere,
	// as whoever comes to them again goes in a circle.
	ends map[string]end
	// kept adds up the paths in ends.
	kept int
	// steps is what following has cost, and look where the context is looked at next.
	steps, look int
}

// end is where a link leads.
type end struct {
	path string
	// hops counts the links on the way. With more than linkHops it leads nowhere, since
	// whoever follows it gives up, and so it stays inside.
	hops int
}

var nowhere = end{hops: linkHops + 1}

// follow returns the end of a link to which depth others have led.
func (f *follower) follow(name string, depth int) (end, error) {
	if known, found := f.ends[name]; found {
		return known, nil
	}
	if depth > linkHops {
		return nowhere, nil
	}
	f.ends[name] = nowhere
	found, err := f.walk(name, depth)
	switch {
	case err != nil:
		return nowhere, err
	case found.hops <= linkHops && f.kept+len(found.path) <= linkKept:
		f.kept += len(found.path)
		f.ends[name] = found
	case found.hops <= linkHops || depth > 0:
		// There is no more room, or it leads nowhere only after so many others.
		delete(f.ends, name)
	}
	return found, nil
}

// walk goes along the target of a link. The link's own folder is one: nothing is
// written below links.
func (f *follower) walk(name string, depth int) (end, error) {
	at := end{path: parent(name), hops: 1}
	for part := range strings.SplitSeq(f.links[name], "/") {
		err := f.step(name, len(at.path))
		if err != nil {
			return nowhere, err
		}
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at.path == "":
			return nowhere, escapes(name, f.links[name])
		case part == "..":
			at.path = parent(at.path)
			continue
		}
		at.path = strings.TrimPrefix(at.path+"/"+part, "/")
		if len(at.path) > linkBytes {
			return nowhere, &Error{Kind: BadLink, Entry: name, Reason: fmt.Sprintf("this link leads to a path of more than %d bytes, which cannot be opened; make it shorter", linkBytes)}
		}
		if _, isLink := f.links[at.path]; !isLink {
			continue
		}
		next, err := f.follow(at.path, depth+1)
		if err != nil {
			return nowhere, err
		}
		at.path, at.hops = next.path, at.hops+next.hops
		if at.hops > linkHops {
			return nowhere, nil
		}
	}
	return at, nil
}

// step charges for one name behind a path of so many bytes, and looks at the context
// from time to time.
func (f *follower) step(name string, bytes int) error {
	f.steps += 1 + bytes/64
	if f.steps > linkSteps {
		return &Error{Kind: OverLimit, Entry: name, Limit: linkSteps, Reason: fmt.Sprintf("following the links takes more than %d steps; use fewer", linkSteps)}
	}
	if f.steps < f.look {
		return nil
	}
	f.look = f.steps + linkLook
	if f.ctx.Err() != nil {
		return fmt.Errorf("check the links: %w", context.Cause(f.ctx))
	}
	return nil
}

// parent is the folder of a path; that of the root's own entries is "".
func parent(of string) string {
	return of[:max(strings.LastIndexByte(of, '/'), 0)]
}
