package state

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// shortest is the length in bytes from which on a Secret's value is hidden wherever it
// stands. A shorter one is a part of many words: it is hidden where it stands as a
// value, behind its own name or alone between quotes.
const shortest = 6

// hiddenText stands for a Secret's value in a sentence.
const hiddenText = "(hidden)"

// Secrets are the values of the snapshot's Secrets, as they stand there and decoded.
type Secrets struct {
	// long are replaced wherever they stand.
	long *strings.Replacer
	// short are the others, by the name that they have; named are the names of
	// resources, which are no secrets.
	short, named map[string]bool
	// keyed are the short values with their names.
	keyed map[keyedValue]bool
}

type keyedValue struct{ key, value string }

// Hidden are the values that nobody may see.
func (s *Application) Hidden() *Secrets {
	s.secretsOnce.Do(func() {
		gathered := &gathering{found: map[keyedValue]bool{}}
		for _, r := range s.Resources {
			for _, side := range []object.Object{r.Given.Target, r.Given.Live, r.Given.NormalizedLive, r.Given.PredictedLive} {
				gathered.object(side, r.IsSecret())
			}
			if r.Given.DryRun != nil {
				gathered.object(r.Given.DryRun.Result, r.IsSecret())
			}
		}
		for _, related := range s.Snapshot.Related {
			gathered.object(related, false)
		}
		for _, masked := range s.Masked {
			gathered.value(masked.Key, masked.Value)
		}
		named := map[string]bool{}
		for _, r := range s.Resources {
			named[r.Ref.Name], named[r.Ref.Namespace] = true, true
		}
		s.secretsFound = gathered.secrets(named)
	})
	return s.secretsFound
}

// Text hides what is long enough.
func (h *Secrets) Text(said string) string { return h.long.Replace(said) }

// keyValue is a short value behind its name, in the spelling of YAML, JSON, Go or a shell.
var keyValue = regexp.MustCompile("([-._A-Za-z0-9]+)([\"'`\\\\]*\\s*[:=]\\s*[\"'`\\\\]*)([^\\s\"'`\\\\,;)}\\]]+)")

// between is a short text between quotes.
var between = regexp.MustCompile("\"[^\"]{1,8}\"|'[^']{1,8}'|`[^`]{1,8}`")

// quoted hides the values in somebody else's words.
func (h *Secrets) quoted(said string) string {
	said = h.Text(said)
	if len(h.short) == 0 {
		return said
	}
	said = keyValue.ReplaceAllStringFunc(said, func(pair string) string {
		part := keyValue.FindStringSubmatch(pair)
		if h.keyed[keyedValue{part[1], part[3]}] {
			return part[1] + part[2] + hiddenText
		}
		return pair
	})
	return between.ReplaceAllStringFunc(said, func(text string) string {
		inner := strings.TrimSuffix(text[1:len(text)-1], `\`)
		if h.short[inner] && !h.named[inner] {
			return text[:1] + hiddenText + text[len(text)-1:]
		}
		return text
	})
}

// gathering collects the values of Secrets.
type gathering struct{ found map[keyedValue]bool }

// object adds the values of a Secret, and of those in a list.
func (g *gathering) object(o object.Object, secret bool) {
	if secret || isSecretObject(o) {
		for _, holder := range []string{"data", "stringData"} {
			for key, value := range object.Map(o, holder) {
				g.value(key, value)
			}
		}
		if applied := LastAppliedOf(o); applied != nil {
			g.object(applied, true)
		}
		return
	}
	ofList := object.Text(o, "kind") == "SecretList" && object.Text(o, "apiVersion") == "v1"
	for _, item := range object.List(o, "items") {
		if held, ok := item.(map[string]any); ok {
			g.object(held, ofList)
		}
	}
}

// value adds a value, and those in it where it is none that the API server takes.
func (g *gathering) value(key string, node any) {
	switch v := node.(type) {
	case map[string]any:
		for name, child := range v {
			g.value(name, child)
		}
		return
	case []any:
		for _, child := range v {
			g.value(key, child)
		}
		return
	case bool:
		g.add(key, value.Canonical(v))
	}
	spelled := value.Text(node)
	if strings.Trim(spelled, "+") == "" {
		return // a mask
	}
	g.add(key, spelled)
	if decoded, err := base64.StdEncoding.DecodeString(spelled); err == nil {
		g.add(key, string(decoded))
	}
}

// add notes a value in each spelling that a message may give it.
func (g *gathering) add(key, value string) {
	escaped := snippet.JSON(value)
	goQuoted := strconv.Quote(value)
	for _, spelling := range []string{value, strings.TrimSpace(value), escaped[1 : len(escaped)-1], goQuoted[1 : len(goQuoted)-1], strings.Join(strings.Fields(value), " ")} {
		if spelling != "" {
			g.found[keyedValue{key, spelling}] = true
		}
	}
}

// secrets sorts what was collected by its length. A name of a resource is hidden as a
// value alone.
func (g *gathering) secrets(named map[string]bool) *Secrets {
	h := &Secrets{short: map[string]bool{}, named: named, keyed: map[keyedValue]bool{}}
	var long []string
	for of := range g.found {
		if len(of.value) >= shortest && !named[of.value] {
			long = append(long, of.value)
			continue
		}
		h.short[of.value], h.keyed[of] = true, true
	}
	// Of two values that begin alike the longer one counts.
	slices.SortFunc(long, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(long))
	for _, value := range slices.Compact(long) {
		pairs = append(pairs, value, hiddenText)
	}
	h.long = strings.NewReplacer(pairs...)
	return h
}

func isSecretObject(o object.Object) bool {
	return object.Text(o, "kind") == "Secret" && object.Text(o, "apiVersion") == "v1"
}

// IsSecret reports whether the resource is a Secret, by its reference or by its objects.
func (r *Resource) IsSecret() bool {
	return r.Ref.Group == "" && r.Ref.Kind == "Secret" || isSecretObject(r.Live) || isSecretObject(r.Target)
}

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

// Shortened is a text for a sentence, without values of Secrets.
func (s *Application) Shortened(said string) string { return words.Shortened(s.Hidden().quoted(said)) }

// MaxQuote bounds what is quoted of a message.
const MaxQuote = 320

// Quote shortens a message for evidence. Messages of kubectl and of the API server
// may repeat the manifest that they refused, Secrets among them: what follows the
// start of such a copy is left out. Values of Secrets go before the message is cut, as
// half of one is a secret still.
func (s *Application) Quote(message string) string {
	message = strings.TrimSpace(s.Hidden().quoted(message))
	for _, start := range []string{"Object: &", "map[string]", `{"apiVersion"`, "data:{", "stringData", `"data":`, "last-applied-configuration\":", "object=&"} {
		if i := strings.Index(message, start); i > 0 {
			message = strings.TrimRight(message[:i], " \t\n") + " ..."
		}
	}
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > MaxQuote {
		message = strings.ToValidUTF8(message[:MaxQuote], "") + "..."
	}
	return message
}

// Quote quotes a message about the resource; one about a Secret may hold its values.
func (r *Resource) Quote(message string) string {
	if r.IsSecret() {
		head, _, _ := strings.Cut(message, "\n")
		return secretValues.ReplaceAllString(r.Application.Quote(head), "(hidden)")
	}
	return r.Application.Quote(message)
}

// secretValues are the parts of a message that may be values.
var secretValues = regexp.MustCompile("\"[^\"]{0,400}\"?|`[^`]*`|'[^']*'|\\{.*")
