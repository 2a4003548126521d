package classify

import (
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Masks as Argo CD writes them: equal values have equal ones.
const (
	maskTarget = "++++++++"
	maskLive   = "+++++++++"
)

// secret reports whether the field's value may be a Secret's.
func (r *resource) secret(pointer fieldpath.Pointer) bool {
	if !r.isSecret() {
		return false
	}
	for _, holder := range []fieldpath.Pointer{"/data", "/stringData", "/metadata/annotations/" + "kubectl.kubernetes.io~1last-applied-configuration"} {
		if holder.Covers(pointer) || pointer.Covers(holder) {
			return true
		}
	}
	return false
}

// masked hides the values of Secrets.
func (r *resource) masked(found []drift.Field) []drift.Field {
	for i := range found {
		f := &found[i]
		if !r.secret(f.Pointer) {
			continue
		}
		same := f.InTarget && f.InLive && value.Equal(f.Target, f.Live)
		if f.InTarget {
			f.Target = maskTarget
		}
		if f.InLive {
			f.Live = maskLive
			if same {
				f.Live = maskTarget
			}
		}
	}
	return found
}

// show spells a value for a sentence: short, and never a Secret's.
func (r *resource) show(pointer fieldpath.Pointer, v any, present bool) string {
	switch {
	case !present:
		return "nothing"
	case r.secret(pointer):
		return "a hidden value"
	}
	spelled := r.situation.hidden().text(value.Canonical(v))
	if len(spelled) > words.MaxShown {
		spelled = strings.ToValidUTF8(spelled[:words.MaxShown], "") + "..."
	}
	return spelled
}
