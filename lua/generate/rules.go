package generate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/health"
)

// rule writes one look at the object.
func (w *writer) rule(rule health.Rule) error {
	if len(rule.Path) == 0 {
		return errors.New("a rule has no path")
	}
	name := quote(rule.Path[len(rule.Path)-1])
	if slices.Contains(rule.Path, health.EveryItem) {
		return w.everyItem(rule)
	}
	held := got(rule.Path)
	switch rule.Signal {
	case health.Switch:
		w.linef(`if %s == true then return {status = "Suspended", message = "the object says " .. %s .. ": true"} end`, held, name)
	case health.Absent:
		w.linef(`if %[1]s == nil or type(%[1]s) == "table" and next(%[1]s) == nil then return {status = "Progressing", message = "waiting for the controller to report"} end`, held)
	case health.Generation:
		w.linef(`if stale(%s) then return {status = "Progressing", message = "waiting for the controller to observe the latest change"} end`, held)
	case health.Conditions:
		w.linef("conditions(%s, %s, %s)", held, lead(rule), types(rule))
	case health.Word:
		w.linef("phase(%s, %s, %t, %t)", held, got(rule.Path[:len(rule.Path)-1]), rule.Finite, rule.Detail)
		if rule.Numbered {
			w.linef("if not text(%[1]s) then numbered(number(%[1]s)) end", held)
		}
	case health.Flag, health.Fault:
		w.linef("%s(%s, %s, %t)", rule.Signal, held, name, rule.Detail)
	case health.Replicas:
		w.linef("replicas(%s, %s, %s)", held, got(rule.Against), name)
	default:
		return fmt.Errorf("the signal %q is not known", rule.Signal)
	}
	return nil
}

// everyItem writes one look at the items of lists and maps.
func (w *writer) everyItem(rule health.Rule) error {
	look := ""
	switch name := quote(rule.Path[len(rule.Path)-1]); rule.Signal {
	case health.Conditions:
		look = fmt.Sprintf("conditions(value, %s, %s)", lead(rule), types(rule))
	case health.Word:
		look = fmt.Sprintf("phase(value, holder, %t, %t)", rule.Finite, rule.Detail)
		if rule.Numbered {
			look += " if not text(value) then numbered(number(value)) end"
		}
	case health.Flag, health.Fault:
		look = fmt.Sprintf("%s(value, %s, %t)", rule.Signal, name, rule.Detail)
	case health.Generation, health.Switch, health.Absent, health.Replicas:
		fallthrough
	default:
		return fmt.Errorf("the signal %q does not look at every item", rule.Signal)
	}
	w.linef("each(%s, function(value, holder) %s end, obj, 1)", list(rule.Path), look)
	return nil
}

// lead writes the condition that is waited for.
func lead(rule health.Rule) string {
	if len(rule.Needed) == 0 {
		return "nil"
	}
	return quote(rule.Needed[0])
}

// types writes the conditions that must be True, or, without a lead, the first of them.
func types(rule health.Rule) string {
	switch {
	case len(rule.Needed) == 0:
		return list(health.Leads())
	case slices.Contains(rule.Needed, "Ready"):
		return list(rule.Needed)
	}
	return list(append([]string{"Ready"}, rule.Needed...))
}

// got writes what stands at a path.
func got(path []string) string {
	result := "obj"
	for at, step := range path {
		switch {
		case at == 0 && step == "status":
			result = "status"
		case at == 0:
			result = "obj[" + quote(step) + "]"
		default:
			result = "get(" + result + ", " + quote(step) + ")"
		}
	}
	return result
}

// list writes strings as a Lua table.
func list(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, quote(text))
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

// quote writes a text as a Lua string.
func quote(text string) string {
	var result strings.Builder
	result.WriteByte('"')
	for at := range len(text) {
		switch letter := text[at]; {
		case letter == '"' || letter == '\\':
			result.WriteByte('\\')
			result.WriteByte(letter)
		case letter < ' ' || letter > '~' || letter == ']':
			fmt.Fprintf(&result, "\\%03d", letter)
		default:
			result.WriteByte(letter)
		}
	}
	result.WriteByte('"')
	return result.String()
}
