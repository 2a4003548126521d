package generate

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// patterns holds what was compiled before: the same few patterns come again in
// every object of a kind.
var patterns sync.Map // string -> *pattern

type pattern struct {
	expression *regexp.Regexp
	tree       *syntax.Regexp
}

// compiled returns the pattern, and false where it is no Go regular expression;
// the API server refuses CRDs with such a pattern.
func compiled(text string) (*pattern, bool) {
	if known, found := patterns.Load(text); found {
		p, ok := known.(*pattern)
		return p, ok && p != nil
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		patterns.Store(text, (*pattern)(nil))
		return nil, false
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		patterns.Store(text, (*pattern)(nil))
		return nil, false
	}
	p := &pattern{expression, tree.Simplify()}
	patterns.Store(text, p)
	return p, true
}

// matching returns a string that the pattern most likely matches; anchors and
// word boundaries are taken for granted, so the caller has to check.
func (g *generator) matching(p *pattern, repeats int) string {
	var text strings.Builder
	g.match(&text, p.tree, repeats)
	return text.String()
}

// match writes a string for the expression. repeats bounds how often a part with
// an open end is repeated beyond what it needs.
func (g *generator) match(text *strings.Builder, tree *syntax.Regexp, repeats int) {
	switch tree.Op {
	case syntax.OpLiteral:
		for _, char := range tree.Rune {
			text.WriteRune(char)
		}
	case syntax.OpCharClass:
		text.WriteRune(g.member(tree.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		text.WriteByte(letters[g.random.IntN(len(letters))])
	case syntax.OpCapture, syntax.OpConcat:
		for _, part := range tree.Sub {
			g.match(text, part, repeats)
		}
	case syntax.OpAlternate:
		g.match(text, tree.Sub[g.random.IntN(len(tree.Sub))], repeats)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		for range g.times(tree, repeats) {
			g.match(text, tree.Sub[0], repeats)
		}
	default:
		// What is left matches the empty string, or nothing at all.
	}
}

func (g *generator) times(tree *syntax.Regexp, repeats int) int {
	low, high := tree.Min, tree.Max
	switch tree.Op {
	case syntax.OpStar:
		low, high = 0, -1
	case syntax.OpPlus:
		low, high = 1, -1
	case syntax.OpQuest:
		low, high = 0, 1
	default:
	}
	if high < 0 || high > low+repeats {
		high = low + repeats
	}
	return low + g.random.IntN(high-low+1)
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// member picks a rune of the class, given as pairs of first and last, and prefers
// those that people can read.
func (g *generator) member(class []rune) rune {
	var plain []rune
	for _, char := range letters {
		if inClass(char, class) {
			plain = append(plain, char)
		}
	}
	if len(plain) > 0 && g.chance(0.9) {
		return plain[g.random.IntN(len(plain))]
	}
	if len(class) < 2 {
		return utf8.RuneError
	}
	pair := g.random.IntN(len(class)/2) * 2
	first, last := class[pair], class[pair+1]
	return first + g.random.Int32N(min(last-first, '~')+1)
}

func inClass(char rune, class []rune) bool {
	for i := 0; i+1 < len(class); i += 2 {
		if class[i] <= char && char <= class[i+1] {
			return true
		}
	}
	return false
}
