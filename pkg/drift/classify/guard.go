package classify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"github.com/itchyny/gojq"

	"github.com/moorpin/moorpin/pkg/object"
)

// Limits of what a guarded classification runs of somebody else's ignore rules.
const (
	// guardedTime is how long one jq path may take on one object; Argo CD allows ten
	// times as much.
	guardedTime = normalizers.DefaultJQExecutionTimeout / 10
	// guardedTotal is how long trying all jq paths may take.
	guardedTotal = 2 * normalizers.DefaultJQExecutionTimeout
	// guardedRules is how many pointers and paths all rules together may have.
	guardedRules = 1000
	// guardedPattern bounds the group and kind of a rule, which may be a pattern.
	guardedPattern, guardedWildcards = 128, 4
	// guardedObject is from which size on, in bytes, no jq path runs on an object. The
	// API server stores none that large.
	guardedObject = 3 << 20
)

// jqUse is one jq path of the rules and who it is for.
type jqUse struct {
	path string
	rule v1alpha1.ResourceIgnoreDifferences
}

// guard takes out of the rules what could take the process's time or memory. What it
// took out is in unheeded.
func (s *situation) guard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, guardedTotal)
	defer cancel()
	left := guardedRules
	for i := range s.app.Spec.IgnoreDifferences {
		rule := &s.app.Spec.IgnoreDifferences[i]
		if why := patternWorry(rule.Group, rule.Kind); why != "" {
			s.unheed("the ignoreDifferences rule for "+s.shortened(rule.Kind), why)
			*rule = v1alpha1.ResourceIgnoreDifferences{}
			continue
		}
		rule.JSONPointers = s.atMost(rule.JSONPointers, &left)
		rule.JQPathExpressions = s.guarded(ctx, s.atMost(rule.JQPathExpressions, &left), *rule)
	}
	left = guardedRules // an Application's rules leave argocd-cm's their place
	for _, name := range slices.Sorted(maps.Keys(s.overrides)) {
		override := s.overrides[name]
		group, kind, found := strings.Cut(name, "/")
		if !found {
			group, kind = "", name
		}
		if why := patternWorry(group, kind); why != "" {
			s.unheed("the customization of "+s.shortened(name), why)
			delete(s.overrides, name)
			continue
		}
		ignored := &override.IgnoreDifferences
		ignored.JSONPointers = s.atMost(ignored.JSONPointers, &left)
		ignored.JQPathExpressions = s.guarded(ctx, s.atMost(ignored.JQPathExpressions, &left), v1alpha1.ResourceIgnoreDifferences{Group: group, Kind: kind})
		s.overrides[name] = override
	}
}

// atMost keeps as many as are left.
func (s *situation) atMost(entries []string, left *int) []string {
	if len(entries) > *left {
		s.unheed("the rest of ignoreDifferences, from entry "+strconv.Itoa(*left+1)+" on,", fmt.Sprintf("there are more than %d", guardedRules))
		entries = entries[:*left]
	}
	*left -= len(entries)
	return entries
}

func (s *situation) unheed(what, why string) {
	s.unheeded = append(s.unheeded, what+" was not heeded: "+why)
}

// guarded are the jq paths of a rule that may run on every resource that it is for.
func (s *situation) guarded(ctx context.Context, paths []string, rule v1alpha1.ResourceIgnoreDifferences) []string {
	var kept []string
	for _, path := range paths {
		if why := s.worry(ctx, jqUse{path, rule}); why != "" {
			s.unheed("the jq path "+s.shortened(path), why)
			continue
		}
		kept = append(kept, path)
	}
	return kept
}

// worry says why a jq path must not run, or "". A path that cannot be compiled runs
// nowhere, and the rules about ignored fields say so.
func (s *situation) worry(ctx context.Context, use jqUse) string {
	if why := jqWorry(use.path); why != "" {
		return why
	}
	code, err := compileJQ("del(" + use.path + ")")
	if err != nil {
		return ""
	}
	for _, r := range s.resources {
		if !r.meets(use.rule) {
			continue
		}
		for _, side := range []object.Object{r.target, r.live, r.given.NormalizedLive, r.given.PredictedLive} {
			if why := tryJQ(ctx, code, side); why != "" {
				return why + " on " + shortened(r.ref.Kind+" "+r.ref.Name)
			}
		}
	}
	return ""
}

// tryJQ runs a deletion once and says why it must not run again, or "".
func tryJQ(ctx context.Context, code *gojq.Code, document object.Object) string {
	if document == nil {
		return ""
	}
	if sizeOf(document, guardedObject) < 0 {
		return "it does not run on objects of more than 3 MiB, tried"
	}
	if ctx.Err() != nil {
		return "the jq paths take too long in all, tried"
	}
	once, cancel := context.WithTimeout(ctx, guardedTime)
	defer cancel()
	if _, _ = code.RunWithContext(once, plainNumbers(document)).Next(); once.Err() != nil {
		return fmt.Sprintf("it takes longer than %v", guardedTime)
	}
	return ""
}

// compileJQ parses and compiles an expression. The parser of a hostile one may panic.
func compileJQ(expression string) (code *gojq.Code, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			code, err = nil, fmt.Errorf("read the jq path: %v", cause)
		}
	}()
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("read the jq path: %w", err)
	}
	code, err = gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("compile the jq path: %w", err)
	}
	return code, nil
}

// patternWorry says why a pattern of a group and kind must not be matched, or "".
func patternWorry(patterns ...string) string {
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

// sizeOf estimates the bytes of a document in JSON, and is what is left of the limit:
// negative where the document is larger.
func sizeOf(value any, left int) int {
	left -= 8
	switch value := value.(type) {
	case string:
		return left - len(value)
	case map[string]any:
		for name, child := range value {
			if left = sizeOf(child, left-len(name)); left < 0 {
				return left
			}
		}
	case []any:
		for _, child := range value {
			if left = sizeOf(child, left); left < 0 {
				return left
			}
		}
	}
	return left
}

// shortened is a text for a sentence, without values of Secrets.
func (s *situation) shortened(said string) string { return shortened(s.hidden().quoted(said)) }

// shortened is a text for a sentence.
func shortened(said string) string {
	if len(said) > maxShown {
		said = strings.ToValidUTF8(said[:maxShown], "") + "..."
	}
	return fmt.Sprintf("%q", said)
}
