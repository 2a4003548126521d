package state

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// encoded is a long text of base64, such as a certificate.
var encoded = regexp.MustCompile(`^"[A-Za-z0-9+/]{64,}={0,2}"$`)

// Masks as Argo CD writes them: equal values have equal ones.
const (
	MaskTarget = "++++++++"
	maskLive   = "+++++++++"
)

// Secret reports whether the field's value may be a Secret's.
func (r *Resource) Secret(pointer fieldpath.Pointer) bool {
	if !r.IsSecret() {
		return false
	}
	for _, holder := range []fieldpath.Pointer{"/data", "/stringData", "/metadata/annotations/" + "kubectl.kubernetes.io~1last-applied-configuration"} {
		if holder.Covers(pointer) || pointer.Covers(holder) {
			return true
		}
	}
	return false
}

// Masked hides the values of Secrets.
func (r *Resource) Masked(found []drift.Field) []drift.Field {
	for i := range found {
		f := &found[i]
		if !r.Secret(f.Pointer) {
			continue
		}
		same := f.InTarget && f.InLive && value.Equal(f.Target, f.Live)
		if f.InTarget {
			f.Target = MaskTarget
		}
		if f.InLive {
			f.Live = maskLive
			if same {
				f.Live = MaskTarget
			}
		}
	}
	return found
}

// Show spells a value for a sentence: short, and never a Secret's.
func (r *Resource) Show(pointer fieldpath.Pointer, v any, present bool) string {
	switch {
	case !present:
		return "nothing"
	case r.Secret(pointer):
		return "a hidden value"
	}
	spelled := r.Application.Hidden().Text(value.Canonical(v))
	if encoded.MatchString(spelled) {
		// Nobody reads it, and it is said in more than one sentence.
		return fmt.Sprintf("%s...\" (%d characters)", spelled[:13], len(spelled)-2)
	}
	if len(spelled) > words.MaxShown {
		spelled = strings.ToValidUTF8(spelled[:words.MaxShown], "") + "..."
	}
	return spelled
}
