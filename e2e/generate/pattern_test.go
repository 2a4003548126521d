package generate

import (
	"math/rand/v2"
	"testing"
)

func TestMatching(t *testing.T) {
	cases := map[string]string{
		"a name of DNS":       `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
		"alternatives":        `^(Always|Never|\d+%)$`,
		"counted":             `^[0-9a-f]{8}-[0-9a-f]{4}$`,
		"a duration":          `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`,
		"a quantity":          `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`,
		"a negated class":     `^[^/]+$`,
		"without anchors":     `x+`,
		"a class from Perl":   `^\w+\s\S\W$`,
		"any character":       `^.{3}$`,
		"ignoring case":       `^(?i)https?://`,
		"a text that has all": `^$|^/[-_.~a-zA-Z0-9/]*$`,
	}
	g := &generator{kind: &Kind{}, random: rand.New(rand.NewPCG(1, 2))}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			p, ok := compiled(text)
			if !ok {
				t.Fatalf("%s does not compile", text)
			}
			for repeats := range 20 {
				if made := g.matching(p, repeats); !p.expression.MatchString(made) {
					t.Errorf("%q does not match %s", made, text)
				}
			}
		})
	}
	if _, ok := compiled(`(?=a)`); ok {
		t.Error("an expression that Go does not know compiled")
	}
}
