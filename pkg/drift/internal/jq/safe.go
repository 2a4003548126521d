package jq

import (
	"context"
	"fmt"
	"regexp"
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

// TryOnce runs a deletion once and says why it must not run again, or "".
func TryOnce(ctx context.Context, code *gojq.Code, document object.Object) string {
	if document == nil {
		return ""
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
)

// The functions that a guarded jq path may call: those that select, look and compare.
// Others can make much out of little faster than a deadline stops them.
var plainFunctions = wordSet(`select map map_values empty not has in contains inside any all isempty
	keys length type first last nth index rindex indices IN to_entries from_entries with_entries
	paths path getpath recurse values nulls strings numbers objects arrays booleans scalars iterables
	startswith endswith ltrimstr rtrimstr ltrim rtrim trim ascii_downcase ascii_upcase tostring tonumber
	split sort sort_by unique unique_by group_by min max min_by max_by reverse floor error
	true false null del`)

// matching functions take a regular expression as their first argument.
var matching = wordSet("test match capture scan")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// Unsafe says why a jq path must not run, or "". One that cannot be parsed is left
// to those who run it.
func Unsafe(path string) string {
	if len(path) > maxJQ {
		return fmt.Sprintf("it has more than %d bytes", maxJQ)
	}
	query, err := parse("del(" + path + ")")
	if err != nil {
		return ""
	}
	c := &check{growth: 1}
	c.query(query)
	return c.why
}

func parse(expression string) (query *gojq.Query, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			query, err = nil, fmt.Errorf("read the jq path: %v", cause)
		}
	}()
	return gojq.Parse(expression) //nolint:wrapcheck // the caller says what it means
}

// check walks an expression.
type check struct {
	// growth is by how much the parts that build values may make one larger.
	growth int
	// commas are those met so far.
	commas int
	why    string
}

// grow notes that a part makes something times as large.
func (c *check) grow(times int) {
	if c.growth *= times; c.growth > maxGrowth {
		c.growth = maxGrowth
		c.refusef("it builds large values: a path only has to select")
	}
}

func (c *check) refusef(format string, args ...any) {
	if c.why == "" {
		c.why = fmt.Sprintf(format, args...)
	}
}

func (c *check) queries(queries ...*gojq.Query) {
	for _, q := range queries {
		c.query(q)
	}
}

func (c *check) query(q *gojq.Query) {
	if q == nil || c.why != "" {
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

func (c *check) term(t *gojq.Term) {
	if t == nil || c.why != "" {
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
	for _, suffix := range t.SuffixList {
		c.index(suffix.Index)
		if suffix.Bind != nil {
			c.query(suffix.Bind.Body)
			if len(suffix.Bind.Patterns) > 1 || suffix.Bind.Patterns[0].Name == "" {
				c.refusef("it takes values apart, which a path needs not")
			}
		}
	}
}

func (c *check) object(o *gojq.Object) {
	for _, pair := range o.KeyVals {
		c.text(pair.KeyString)
		c.queries(pair.KeyQuery, pair.Val)
	}
}

func (c *check) index(i *gojq.Index) {
	if i == nil {
		return
	}
	c.text(i.Str)
	c.queries(i.Start, i.End)
}

// text checks what is put into a text.
func (c *check) text(s *gojq.String) {
	if s == nil {
		return
	}
	if len(s.Queries) > 0 {
		c.grow(len(s.Queries) + 1)
	}
	c.queries(s.Queries...)
}

func (c *check) call(name string, args []*gojq.Query) {
	switch {
	case strings.HasPrefix(name, "$"):
	case matching[name]:
		if len(args) == 0 || !plainPattern(args[0]) {
			c.refusef("%s needs a plain text of at most %d bytes, with small counts", name, maxRegexp)
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
