package generate

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// words are strings that mean something to many a field: names, quantities,
// durations, addresses, and what a YAML reader might take for another type.
var words = []string{
	"a", "web", "db-1", "10Gi", "500m", "1h30m0s", "5m", "10s", "true", "null", "y", "1e3", "0644", "https://example.com/path",
	"example.com", "*.example.com", "192.0.2.1", "192.0.2.0/24", "2001:db8::1", "v1", "ConfigMap", "kube-system", "app.kubernetes.io/name",
	"25%", "*/5 * * * *", "0 3 * * 1", "sha256:0123", "registry.example.com/team/app:v1.2.3", "Grüße", "a b", "/data", "{}",
}

// samples holds valid strings of the formats that the API server checks.
var samples = map[string][]string{
	"datetime":     {"2024-05-06T07:08:09Z", "2024-05-06T07:08:09.5+02:00"},
	"date":         {"2024-05-06"},
	"duration":     {"5m", "1h30m", "10s"},
	"byte":         {"aGVsbG8=", "YQ=="},
	"uri":          {"https://example.com/path?x=1", "http://a.example"},
	"email":        {"a@example.com"},
	"hostname":     {"example.com", "a"},
	"ipv4":         {"192.0.2.1"},
	"ipv6":         {"2001:db8::1"},
	"cidr":         {"192.0.2.0/24", "2001:db8::/32"},
	"mac":          {"00:00:5e:00:53:01"},
	"uuid":         {"6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
	"uuid3":        {"6fa459ea-ee8a-3ca4-894e-db77e160355e"},
	"uuid4":        {"16fd2706-8baf-433b-82eb-8c7fada847da"},
	"uuid5":        {"886313e1-3b8a-5372-9b90-0c9aee199e5d"},
	"bsonobjectid": {"507f1f77bcf86cd799439011"},
	"isbn":         {"0321751043"},
	"isbn10":       {"0321751043"},
	"isbn13":       {"9780321751041"},
	"creditcard":   {"4111111111111111"},
	"ssn":          {"111-22-3333"},
	"hexcolor":     {"#ffffff"},
	"rgbcolor":     {"rgb(100,100,100)"},
}

// oneOf picks a value that all enums have, and false where there is no enum.
func (g *generator) oneOf(d *demands) (any, bool) {
	if len(d.enums) == 0 {
		return nil, false
	}
	allowed := slices.DeleteFunc(slices.Clone(d.enums[0]), func(value any) bool {
		for _, enum := range d.enums[1:] {
			if !contains(enum, value) {
				return true
			}
		}
		return contains(d.refused, value)
	})
	if len(allowed) == 0 {
		allowed = d.enums[0]
	}
	return allowed[g.random.IntN(len(allowed))], true
}

func contains(list []any, value any) bool {
	return slices.ContainsFunc(list, func(member any) bool { return reflect.DeepEqual(member, value) })
}

func (g *generator) text(d *demands) string {
	const tries = 40
	text := ""
	for try := range tries {
		text = g.candidate(d, 1+try/4)
		if d.takes(text) {
			return text
		}
	}
	return text
}

// candidate returns a string for the first pattern, or else the first format, or
// else any.
func (g *generator) candidate(d *demands, repeats int) string {
	if len(d.patterns) > 0 {
		chosen, ok := compiled(d.patterns[g.random.IntN(len(d.patterns))])
		if ok && !g.chance(0.1) {
			if d.minLength != nil {
				repeats = max(repeats, int(*d.minLength))
			}
			return g.matching(chosen, repeats)
		}
	}
	if len(d.formats) > 0 {
		if known := samples[strings.ReplaceAll(d.formats[0], "-", "")]; len(known) > 0 {
			return known[g.random.IntN(len(known))]
		}
	}
	switch {
	case len(g.kind.literals) > 0 && g.chance(0.15):
		return g.kind.literals[g.random.IntN(len(g.kind.literals))]
	case g.chance(0.25):
		return words[g.random.IntN(len(words))]
	case (d.minLength == nil || *d.minLength == 0) && g.chance(0.05):
		return ""
	}
	return g.word(d)
}

// word returns lower-case letters and digits, as long as the demands ask.
func (g *generator) word(d *demands) string {
	low, high := 1, 8
	if d.minLength != nil {
		low = int(*d.minLength)
		high = low + 4
	}
	if d.maxLength != nil {
		high = min(high, int(*d.maxLength))
	}
	length := low
	if high > low {
		length += g.random.IntN(high - low + 1)
	}
	word := make([]byte, length)
	for i := range word {
		word[i] = letters[g.random.IntN(len(letters))]
	}
	if length > 0 {
		word[0] = letters[g.random.IntN(26)]
	}
	return string(word)
}

func (d *demands) takes(text string) bool {
	length := int64(utf8.RuneCountInString(text))
	if (d.minLength != nil && length < *d.minLength) || (d.maxLength != nil && length > *d.maxLength) {
		return false
	}
	for _, each := range d.patterns {
		if p, ok := compiled(each); ok && !p.expression.MatchString(text) {
			return false
		}
	}
	return !contains(d.refused, text)
}

func (g *generator) integer(d *demands) int64 {
	low, high := int64(0), int64(100)
	if d.minimum != nil {
		low = int64(math.Ceil(*d.minimum))
		if d.exclusiveMin && float64(low) == *d.minimum {
			low++
		}
		high = max(high, low+100)
	}
	if d.maximum != nil {
		high = int64(math.Floor(*d.maximum))
		if d.exclusiveMax && float64(high) == *d.maximum {
			high--
		}
		low = min(low, high)
	}
	value := low
	switch g.random.IntN(8) {
	case 0:
	case 1:
		value = high
	case 2:
		value = min(high, low+1)
	default:
		value += g.random.Int64N(max(high-low, 0) + 1)
	}
	if d.multipleOf != nil && *d.multipleOf >= 1 {
		value -= value % int64(*d.multipleOf)
	}
	return value
}

// number returns a fraction now and then; whole numbers are int64, as they are
// after a way through JSON.
func (g *generator) number(d *demands) any {
	whole := g.integer(d)
	half := float64(whole) + 0.5
	if g.chance(0.5) && d.multipleOf == nil && (d.maximum == nil || half < *d.maximum) {
		return half
	}
	return whole
}

func (g *generator) intOrString(d *demands) any {
	if len(d.patterns) == 0 || g.chance(0.3) {
		switch g.random.IntN(3) {
		case 0:
			return g.integer(d)
		case 1:
			return fmt.Sprintf("%d%%", g.random.IntN(101))
		}
	}
	return g.text(d)
}
