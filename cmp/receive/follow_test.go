package receive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Following links ends with the request, long before it has cost all that it may.
func TestFollowingLinksEndsWithTheContext(t *testing.T) {
	links := map[string]string{}
	for i := range 200 {
		links[fmt.Sprint("l", i)] = strings.Repeat("a/", 500)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if err := checkLinks(ctx, links); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := checkLinks(t.Context(), links); err != nil {
		t.Errorf("with time left: %v", err)
	}
}

// What is not remembered, for want of room, is followed again with the same result.
func TestFollowingLinksWithoutRoom(t *testing.T) {
	cases := map[string]struct {
		reason string
		links  map[string]string
		kind   Kind
	}{
		"inside":  {"both ends are in the tree", map[string]string{"x/a": "y/z", "x/b": "a/../z"}, ""},
		"outside": {"a leads to the root, which nobody may leave", map[string]string{"x/a": "../y/..", "x/b": "a/../z"}, BadLink},
		"circle":  {"it leads nowhere", map[string]string{"x/a": "b/../../c", "x/b": "a"}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			f := &follower{ctx: t.Context(), links: test.links, ends: map[string]end{}, kept: linkKept}
			kind := Kind("")
			for _, link := range []string{"a", "b", "a", "b"} {
				_, err := f.follow("x/"+link, 0)
				if refusal, ok := errors.AsType[*Error](err); ok {
					kind = refusal.Kind
					break
				}
			}
			if kind != test.kind {
				t.Errorf("%s: got %q, want %q", test.reason, kind, test.kind)
			}
		})
	}
}
