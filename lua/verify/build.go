package verify

import (
	"maps"
	"slices"

	"github.com/moorpin/moorpin/pkg/health"
)

// generation is the one that objects have; stale is one that they had before.
const (
	generation = int64(2)
	stale      = int64(1)
)

// base is an object of the check's kind that nothing is known of yet.
func base(check health.Check) map[string]any {
	metadata := map[string]any{"name": "example", "generation": generation}
	if check.Scope != "Cluster" {
		metadata["namespace"] = "example"
	}
	apiVersion := check.Version
	if check.Group != "" {
		apiVersion = check.Group + "/" + check.Version
	}
	return map[string]any{"apiVersion": apiVersion, "kind": check.Kind, "metadata": metadata, "spec": map[string]any{}}
}

// with returns a copy of an object with a value at a path. The step for every item
// makes a map with one entry where asMap is true, else a list of one. A nil value
// removes what is there.
func with(object map[string]any, path []string, value any, asMap bool) map[string]any {
	changed, _ := put(object, path, value, asMap).(map[string]any)
	if changed == nil {
		return map[string]any{}
	}
	return changed
}

func put(node any, path []string, value any, asMap bool) any {
	if len(path) == 0 {
		return clone(value)
	}
	step, rest := path[0], path[1:]
	if step == health.EveryItem {
		return putItems(node, rest, value, asMap)
	}
	fields, _ := node.(map[string]any)
	changed := maps.Clone(fields)
	if changed == nil {
		changed = map[string]any{}
	}
	if len(rest) == 0 && value == nil {
		delete(changed, step)
		return changed
	}
	changed[step] = put(changed[step], rest, value, asMap)
	return changed
}

// putItems sets the value in every item that is there, and makes one where none is.
func putItems(node any, rest []string, value any, asMap bool) any {
	switch items := node.(type) {
	case []any:
		if len(items) > 0 {
			changed := make([]any, len(items))
			for i, item := range items {
				changed[i] = put(item, rest, value, asMap)
			}
			return changed
		}
	case map[string]any:
		if len(items) > 0 {
			changed := map[string]any{}
			for name, item := range items {
				changed[name] = put(item, rest, value, asMap)
			}
			return changed
		}
	}
	item := put(nil, rest, value, asMap)
	if asMap {
		return map[string]any{"item": item}
	}
	return []any{item}
}

// clone copies JSON values deeply.
func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, item := range value {
			copied[name] = clone(item)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, item := range value {
			copied[i] = clone(item)
		}
		return copied
	}
	return value
}

// condition is one of a list of conditions.
func condition(kind, status, reason string) map[string]any {
	made := map[string]any{"type": kind, "status": status}
	if reason != "" {
		made["reason"], made["message"] = reason, "because of "+reason
	}
	return made
}

// allTrue makes conditions of several types that are all True.
func allTrue(types []string) []any {
	made := make([]any, 0, len(types))
	for _, kind := range types {
		made = append(made, condition(kind, "True", ""))
	}
	return made
}

// positive is a type that says that all is well, for rules that need none by name.
const positive = "Ready"

// types are the condition types of a rule that all should be True.
func types(rule health.Rule) []string {
	if len(rule.Needed) == 0 {
		return []string{positive}
	}
	return slices.Clone(rule.Needed)
}

// well returns the value that makes a rule content, and false where it is content with
// nothing at all.
func well(rule health.Rule) (any, bool) {
	switch rule.Signal {
	case health.Generation:
		return generation, true
	case health.Conditions:
		return allTrue(types(rule)), true
	case health.Word:
		if rule.Finite {
			return "Succeeded", true
		}
		return "Ready", true
	case health.Flag:
		return true, true
	case health.Replicas:
		return int64(3), true
	case health.Switch, health.Fault, health.Absent:
	}
	return nil, false
}

// content is an object that makes every rule content.
func content(check health.Check, asMap bool) map[string]any {
	object := base(check)
	for _, rule := range check.Rules {
		value, some := well(rule)
		if !some {
			continue
		}
		object = with(object, rule.Path, value, asMap)
		if rule.Signal == health.Replicas {
			object = with(object, rule.Against, value, asMap)
		}
	}
	for _, rule := range check.Rules {
		if rule.Signal == health.Absent && !reaches(object, rule.Path) {
			object = with(object, rule.Path, map[string]any{"known": "yes"}, asMap)
		}
	}
	return object
}

// reaches reports whether there is anything at a path.
func reaches(node any, path []string) bool {
	for _, step := range path {
		fields, is := node.(map[string]any)
		if !is {
			return false
		}
		if node, is = fields[step]; !is {
			return false
		}
	}
	return node != nil
}
