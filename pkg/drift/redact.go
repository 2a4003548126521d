package drift

import (
	"encoding/base64"
	"slices"
	"strings"
)

// shortest is the length in bytes below which a Secret's value is no secret: a text
// that has it would lose words.
const shortest = 6

// hiddenText stands for a Secret's value in a sentence.
const hiddenText = "(hidden)"

// redact takes the values of the snapshot's Secrets out of the evidence, wherever a
// message, an event or an error of somebody else has quoted one. Of snippets only comments quote anybody.
func (s *situation) redact(report *Report) {
	hide := s.secretValues()
	if len(hide) == 0 {
		return
	}
	// Of two values that begin alike the longer one counts.
	slices.SortFunc(hide, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(hide))
	for _, value := range slices.Compact(hide) {
		pairs = append(pairs, value, hiddenText)
	}
	replacer := strings.NewReplacer(pairs...)
	clean := func(texts []string) []string {
		cleaned := slices.Clone(texts)
		for i := range cleaned {
			cleaned[i] = replacer.Replace(cleaned[i])
		}
		return cleaned
	}
	report.Verdict = replacer.Replace(report.Verdict)
	for i := range report.Findings {
		f := &report.Findings[i]
		f.Summary, f.Evidence, f.Loss = replacer.Replace(f.Summary), clean(f.Evidence), clean(f.Loss)
		for j := range f.Fixes {
			fix := &f.Fixes[j]
			fix.Why = replacer.Replace(fix.Why)
			lines := strings.SplitAfter(fix.Snippet, "\n")
			for k, line := range lines {
				if strings.HasPrefix(strings.TrimSpace(line), "#") {
					lines[k] = replacer.Replace(line)
				}
			}
			fix.Snippet = strings.Join(lines, "")
		}
	}
}

// secretValues are the values of all Secrets that the snapshot holds, as they stand
// there and decoded, masks apart.
func (s *situation) secretValues() []string {
	var values []string
	for _, r := range s.resources {
		for _, side := range []object{r.given.Target, r.given.Live, r.given.NormalizedLive, r.given.PredictedLive} {
			values = gatherSecrets(values, side, r.isSecret())
		}
	}
	for _, related := range s.snapshot.Related {
		values = gatherSecrets(values, related, false)
	}
	return slices.DeleteFunc(values, func(value string) bool {
		return slices.ContainsFunc(s.resources, func(r *resource) bool { return value == r.ref.Name || value == r.ref.Namespace })
	})
}

func gatherSecrets(values []string, o object, secret bool) []string {
	if secret || isSecretObject(o) {
		for _, holder := range []string{"data", "stringData"} {
			for _, value := range fields(o, holder) {
				values = addSecret(values, value)
			}
		}
		return values
	}
	for _, item := range list(o, "items") {
		if held, ok := item.(map[string]any); ok {
			values = gatherSecrets(values, held, false)
		}
	}
	return values
}

func addSecret(values []string, value any) []string {
	text := plain(value)
	if strings.Trim(text, "+") == "" || len(text) < shortest {
		return values
	}
	values = append(values, text)
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && len(decoded) >= shortest {
		values = append(values, string(decoded))
	}
	return values
}

func isSecretObject(o object) bool {
	return text(o, "kind") == "Secret" && text(o, "apiVersion") == "v1"
}

// isSecret reports whether the resource is a Secret, by its reference or by its objects.
func (r *resource) isSecret() bool {
	return r.ref.Group == "" && r.ref.Kind == "Secret" || isSecretObject(r.live) || isSecretObject(r.target)
}
