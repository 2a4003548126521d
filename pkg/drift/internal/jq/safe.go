package jq

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"github.com/itchyny/gojq"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Limits of what a guarded classification runs of somebody else's ignore rules.
const (
	// guardedTime is how long one jq path may take on one object; Argo CD allows ten
	// times as much.
	guardedTime = normalizers.DefaultJQExecutionTimeout / 10
	// GuardedTotal is how long trying all jq paths may take.
	GuardedTotal = 2 * normalizers.DefaultJQExecutionTimeout
	// GuardedRules is how many pointers and paths all rules together may have.
	GuardedRules = 1000
	// guardedPattern bounds the group and kind of a rule, which may be a pattern.
	guardedPattern, guardedWildcards = 128, 4
	// GuardedObject is from which size on, in bytes, no jq path runs on an object. The
	// API server stores none that large.
	GuardedObject = 3 << 20
)

// TryOnce runs the path's deletion once, unless it is known beforehand that it must not,
// and says why it must not run again, or "".
func (c *Checked) TryOnce(ctx context.Context, code *gojq.Code, document object.Object) string {
	if document == nil {
		return ""
	}
	if why := c.textWorry(document); why != "" {
		return why
	}
	if value.SizeLeft(document, GuardedObject) < 0 {
		return "it does not run on objects of more than 3 MiB, tried"
	}
	if ctx.Err() != nil {
		return "the jq paths take too long in all, tried"
	}
	once, cancel := context.WithTimeout(ctx, guardedTime)
	defer cancel()
	if _, _ = code.RunWithContext(once, Numbers(document)).Next(); once.Err() != nil {
		return fmt.Sprintf("it takes longer than %v", guardedTime)
	}
	return ""
}

// UnsafePattern says why a pattern of a group and kind must not be matched, or "".
func UnsafePattern(patterns ...string) string {
	for _, pattern := range patterns {
		wildcards := 0
		for _, r := range pattern {
			if strings.ContainsRune("*?[{", r) {
				wildcards++
			}
		}
		if len(pattern) > guardedPattern || wildcards > guardedWildcards {
			return fmt.Sprintf("a pattern may have %d bytes and %d wildcards", guardedPattern, guardedWildcards)
		}
	}
	return ""
}

const (
	// maxJQ is how long a guarded jq path may be, in bytes.
	maxJQ = 4096
	// maxGrowth is how many times as large as its input it may make something in one step.
	maxGrowth = 16
	// maxRegexp bounds a regular expression in it: matching takes its length times the
	// text's, and cannot be interrupted.
	maxRegexp = 64
	// maxMatched bounds the texts that are matched, and maxScanned those in which all
	// matches are looked for, which takes their length times itself.
	maxMatched, maxScanned = 512 << 10, 16 << 10
)

// The functions that a guarded jq path may call: those that select, look and compare.
// Others can make much out of little faster than a deadline stops them.
var plainFunctions = words.Set(`select map map_values empty not has in contains inside any all isempty
	keys length type first last nth index rindex indices IN to_entries from_entries with_entries
	paths path getpath recurse values nulls strings numbers objects arrays booleans scalars iterables
	startswith endswith ltrimstr rtrimstr ltrim rtrim trim ascii_downcase ascii_upcase tostring tonumber
	split sort sort_by unique unique_by group_by min max min_by max_by reverse floor error
	true false null del`)

// matching functions take a regular expression as their first argument.
var matching = words.Set("test match capture scan")

// searching functions hold each item, or byte, of what they are given against all of
// their argument.
var searching = words.Set("contains inside index rindex indices")

// Unsafe says why a jq path must not run, or "". One that cannot be parsed is left
// to those who run it.
func Unsafe(path string) string { return Check(path).Why }

// Check walks a jq path.
func Check(path string) *Checked {
	c := &Checked{growth: 1, walked: map[string]bool{}}
	if len(path) > maxJQ {
		c.refusef("it has more than %d bytes", maxJQ)
		return c
	}
	if query, err := parse("del(" + path + ")"); err == nil {
		c.query(query)
	}
	return c
}

// textWorry says why the path must not run on a document for its texts, or "".
func (c *Checked) textWorry(document object.Object) string {
	if c.matched == 0 || document == nil {
		return ""
	}
	if longest := longestText(document); longest > c.matched || c.growth > 1 && value.SizeLeft(document, c.matched/c.growth) < 0 {
		return fmt.Sprintf("it matches texts that may have more than %d bytes", c.matched)
	}
	return ""
}

// longestText is the length of the longest text of a document, names included.
func longestText(node any) int {
	longest := 0
	switch node := node.(type) {
	case string:
		return len(node)
	case map[string]any:
		for name, child := range node {
			longest = max(longest, len(name), longestText(child))
		}
	case []any:
		for _, child := range node {
			longest = max(longest, longestText(child))
		}
	}
	return longest
}

func parse(expression string) (query *gojq.Query, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			query, err = nil, fmt.Errorf("read the jq path: %v", cause)
		}
	}()
	return gojq.Parse(expression) //nolint:wrapcheck // the caller says what it means
}

// Checked is what is known of a jq path without running it.
type Checked struct {
	// growth is by how much the parts that build values may make one larger.
	growth int
	// commas are those met so far.
	commas int
	// matched is the longest text that its regular expressions may see; 0 without any.
	matched int
	// walked are the variables, and whether each holds paths of the document alone.
	walked map[string]bool
	// Why says why the path must not run, or "".
	Why string
}

// grow notes that a part makes something times as large.
func (c *Checked) grow(times int) {
	if c.growth *= times; c.growth > maxGrowth {
		c.growth = maxGrowth
		c.refusef("it builds large values: a path only has to select")
	}
}

func (c *Checked) refusef(format string, args ...any) {
	if c.Why == "" {
		c.Why = fmt.Sprintf(format, args...)
	}
}

func (c *Checked) queries(queries ...*gojq.Query) {
	for _, q := range queries {
		c.query(q)
	}
}

func (c *Checked) query(q *gojq.Query) {
	if q == nil || c.Why != "" {
		return
	}
	if len(q.FuncDefs) > 0 || len(q.Imports) > 0 || q.Meta != nil {
		c.refusef("it defines functions, which a path needs not")
		return
	}
	switch q.Op { //nolint:exhaustive // the others make nothing larger
	case gojq.OpMul, gojq.OpUpdateMul:
		c.refusef("it multiplies, which makes texts of any length")
	case gojq.OpAdd, gojq.OpUpdateAdd:
		c.grow(2)
	case gojq.OpSub:
		if !smallLiteral(q.Left) && !smallLiteral(q.Right) {
			c.refusef("it subtracts what may be two long lists")
		}
	case gojq.OpComma:
		c.commas++
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateSub, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		c.refusef("it assigns, which a path needs not")
	}
	if q.Func != "" {
		c.call(q.Func, nil)
	}
	c.term(q.Term)
	c.queries(q.Left, q.Right)
}

func (c *Checked) term(t *gojq.Term) {
	if t == nil || c.Why != "" {
		return
	}
	switch {
	case t.Reduce != nil || t.Foreach != nil || t.Label != nil:
		c.refusef("it loops, which a path needs not")
		return
	case t.Format != "":
		c.refusef("it formats texts, which a path needs not")
		return
	case t.Func != nil:
		c.call(t.Func.Name, t.Func.Args)
	case t.If != nil:
		c.queries(t.If.Cond, t.If.Then, t.If.Else)
		for _, elif := range t.If.Elif {
			c.queries(elif.Cond, elif.Then)
		}
	case t.Try != nil:
		c.queries(t.Try.Body, t.Try.Catch)
	case t.Unary != nil:
		c.term(t.Unary.Term)
	case t.Array != nil:
		before := c.commas
		c.query(t.Array.Query)
		c.grow(c.commas - before + 1)
	case t.Object != nil:
		before := c.commas
		c.object(t.Object)
		c.grow(c.commas - before + len(t.Object.KeyVals) + 1)
	}
	c.query(t.Query)
	c.text(t.Str)
	c.index(t.Index)
	for i, suffix := range t.SuffixList {
		c.index(suffix.Index)
		if suffix.Bind != nil {
			name := suffix.Bind.Patterns[0].Name
			_, again := c.walked[name]
			c.walked[name] = i == 0 && t.Func != nil && t.Func.Name == "paths" && !again
			c.query(suffix.Bind.Body)
			if len(suffix.Bind.Patterns) > 1 || suffix.Bind.Patterns[0].Name == "" {
				c.refusef("it takes values apart, which a path needs not")
			}
		}
	}
}

func (c *Checked) object(o *gojq.Object) {
	for _, pair := range o.KeyVals {
		c.text(pair.KeyString)
		c.queries(pair.KeyQuery, pair.Val)
	}
}

func (c *Checked) index(i *gojq.Index) {
	if i == nil {
		return
	}
	c.text(i.Str)
	c.queries(i.Start, i.End)
	if i.Start != nil && !i.IsSlice && !smallLiteral(i.Start) {
		c.refusef("it looks up what it computes, which may be a list to be searched for")
	}
}

// text checks what is put into a text.
func (c *Checked) text(s *gojq.String) {
	if s == nil {
		return
	}
	if len(s.Queries) > 0 {
		c.grow(len(s.Queries) + 1)
	}
	c.queries(s.Queries...)
}

func (c *Checked) call(name string, args []*gojq.Query) {
	switch {
	case strings.HasPrefix(name, "$"):
	case matching[name]:
		if len(args) == 0 || !plainPattern(args[0]) {
			c.refusef("%s needs a plain text of at most %d bytes, with small counts", name, maxRegexp)
		}
		limit := maxMatched
		if name == "scan" || len(args) > 1 {
			limit = maxScanned
		}
		if c.matched == 0 || limit < c.matched {
			c.matched = limit
		}
	case searching[name]:
		if len(args) != 1 || !smallLiteral(args[0]) {
			c.refusef("%s needs a literal of at most %d bytes", name, maxRegexp)
		}
	case name == "getpath":
		if len(args) != 1 || !smallLiteral(args[0]) && !c.walked[args[0].String()] {
			c.refusef("it looks up what it computes, which may be a list to be searched for")
		}
	case !plainFunctions[name]:
		c.refusef("it calls %s, which a path needs not", name)
	case name == "tostring":
		c.grow(2) // it writes a backslash before each quote
	case name == "recurse" && len(args) > 0:
		c.refusef("it loops, which a path needs not")
	case name == "split" && len(args) > 1:
		c.refusef("it splits by a regular expression, which a path needs not")
	}
	c.queries(args...)
}

// smallLiteral reports whether the query is a short value that is spelled out.
func smallLiteral(q *gojq.Query) bool { return literal(q) && len(q.String()) <= maxRegexp }

func literal(q *gojq.Query) bool {
	switch {
	case q == nil || len(q.FuncDefs) > 0 || q.Func != "":
		return false
	case q.Op == gojq.OpComma:
		return literal(q.Left) && literal(q.Right)
	}
	return q.Op == 0 && literalTerm(q.Term)
}

func literalTerm(t *gojq.Term) bool {
	if t == nil || len(t.SuffixList) > 0 {
		return false
	}
	switch t.Type { //nolint:exhaustive // the others compute
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return true
	case gojq.TermTypeString:
		return len(t.Str.Queries) == 0
	case gojq.TermTypeUnary:
		return literalTerm(t.Unary.Term)
	case gojq.TermTypeQuery:
		return literal(t.Query)
	case gojq.TermTypeArray:
		return t.Array.Query == nil || literal(t.Array.Query)
	case gojq.TermTypeObject:
		return !slices.ContainsFunc(t.Object.KeyVals, func(pair *gojq.ObjectKeyVal) bool {
			return pair.KeyQuery != nil || strings.HasPrefix(pair.Key, "$") || pair.KeyString != nil && len(pair.KeyString.Queries) > 0 || !literal(pair.Val)
		})
	}
	return false
}

// counted is a repetition with a count, which multiplies what is matched.
var counted = regexp.MustCompile(`\{(\d+)(?:,(\d*))?\}`)

// plainPattern reports whether the query is a short text.
func plainPattern(q *gojq.Query) bool {
	if q.Term == nil || q.Term.Str == nil || len(q.Term.Str.Queries) > 0 || len(q.Term.SuffixList) > 0 || len(q.Term.Str.Str) > maxRegexp {
		return false
	}
	times := 1
	for _, count := range counted.FindAllStringSubmatch(q.Term.Str.Str, -1) {
		for _, spelled := range count[1:] {
			n, err := strconv.Atoi(words.First(spelled, "1"))
			if times *= max(1, n); err != nil || times > maxRegexp {
				return false
			}
		}
	}
	return true
}
