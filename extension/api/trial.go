package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// Limits of the rules of one question.
const (
	maxRules       = 20
	maxRulesBytes  = 256 << 10
	maxExpressions = 50
	maxExpression  = 1 << 10
	maxParameter   = 253
)

// readTrial reads a Trial from a body that is JSON. The snapshot is a part of the body;
// the rules are bounded before anything is made of them.
func readTrial(body []byte) (*Trial, error) {
	parts, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	rules, err := readRules(parts.rules)
	if err != nil {
		return nil, err
	}
	return &Trial{Snapshot: parts.snapshot, Rules: rules}, nil
}

// members are those of a Trial, as they are in the body.
type members struct{ snapshot, rules json.RawMessage }

// membersOf finds the members of a body that is JSON, and copies nothing.
func membersOf(body []byte) (members, error) {
	var found members
	rest := bytes.TrimSpace(body)
	if rest[0] != '{' {
		return found, notTrial("the body is no object")
	}
	for rest = bytes.TrimSpace(rest[1:]); rest[0] == '"'; {
		end := valueEnd(rest)
		name := rest[1 : end-1]
		_, rest, _ = bytes.Cut(rest[end:], []byte(":"))
		rest = bytes.TrimSpace(rest)
		end = valueEnd(rest)
		into := map[string]*json.RawMessage{"snapshot": &found.snapshot, "rules": &found.rules}[string(name)]
		switch {
		case into == nil:
			return found, notTrial(fmt.Sprintf("unknown field %q", name[:min(len(name), maxParameter)]))
		case *into != nil:
			return found, notTrial(fmt.Sprintf("%s is there more than once", name))
		}
		*into = rest[:end:end]
		rest = bytes.TrimLeft(rest[end:], ", \t\r\n")
	}
	return found, nil
}

// valueEnd is where the JSON value ends that a text begins with.
func valueEnd(text []byte) int {
	depth := 0
	inside, escaped := false, false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
			if !inside && depth == 0 {
				return i + 1
			}
		case inside:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i // of what a literal is in
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && strings.IndexByte(", :\t\r\n", c) >= 0:
			return i
		}
	}
	return len(text)
}

// readRules counts the rules before any is decoded: each takes many times its bytes.
func readRules(text []byte) ([]v1alpha1.ResourceIgnoreDifferences, error) {
	if len(text) > maxRulesBytes {
		return nil, tooMany("rules", "bytes of rules", maxRulesBytes)
	}
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if text[0] != '[' {
		return nil, notTrial("rules is no list")
	}
	var rules []v1alpha1.ResourceIgnoreDifferences
	for rest := bytes.TrimSpace(text[1:]); rest[0] != ']'; {
		if len(rules) == maxRules {
			return nil, tooMany("rules", "rules", maxRules)
		}
		end := valueEnd(rest)
		decoder := json.NewDecoder(bytes.NewReader(rest[:end]))
		decoder.DisallowUnknownFields()
		var rule v1alpha1.ResourceIgnoreDifferences
		if err := decoder.Decode(&rule); err != nil {
			return nil, notTrial(fmt.Sprintf("rules[%d]: %v", len(rules), err))
		}
		rules = append(rules, rule)
		rest = bytes.TrimLeft(rest[end:], ", \t\r\n")
	}
	return rules, nil
}

func notTrial(reason string) error {
	return refuse(http.StatusUnprocessableEntity, "rule", printable(reason), `send {"snapshot": {...}, "rules": [{"group", "kind", "name", "namespace", "jsonPointers", "jqPathExpressions", "managedFieldsManagers"}]}`)
}

func tooMany(part, what string, limit int) error {
	r := refuse(http.StatusUnprocessableEntity, "rule", fmt.Sprintf("%s: at most %d %s are tried", part, limit, what), "try fewer at once")
	r.Part = part
	return r
}

func checkRules(rules []v1alpha1.ResourceIgnoreDifferences) error {
	if len(rules) == 0 {
		return refuse(http.StatusUnprocessableEntity, "rule", "there are no rules to try", "send at least one")
	}
	for i, rule := range rules {
		for name, list := range map[string][]string{
			"jsonPointers": rule.JSONPointers, "jqPathExpressions": rule.JQPathExpressions, "managedFieldsManagers": rule.ManagedFieldsManagers,
		} {
			part := fmt.Sprintf("rules[%d].%s", i, name)
			if len(list) > maxExpressions {
				return tooMany(part, "of them", maxExpressions)
			}
			for j, expression := range list {
				if len(expression) > maxExpression {
					return tooMany(fmt.Sprintf("%s[%d]", part, j), "bytes", maxExpression)
				}
			}
		}
	}
	return nil
}
