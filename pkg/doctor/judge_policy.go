package doctor

import (
	"encoding/csv"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// policyLines are what belongs into argocd-rbac-cm.
var policyLines = []string{
	"in argocd-rbac-cm:",
	"data:",
	"  policy.moorpin.csv: |",
	"    p, role:readonly, extensions, invoke, moorpin, allow",
}

// policy is what argocd-rbac-cm says about the extension.
type policy struct {
	allowed, denied []string
	// given are the roles that somebody has.
	given map[string]bool
}

func judgePolicy(f Facts) finding {
	switch {
	case f.Policy.Obstacle != "":
		return unread("argocd-rbac-cm", f.Policy.Obstacle)
	case !f.Policy.Found:
		return bad("there is no argocd-rbac-cm, so nobody may ask the backend, not even the admin", policyLines...)
	}
	found, err := readPolicy(f.Policy.Value.Data)
	if err != nil {
		return bad("argocd-rbac-cm cannot be loaded, so Argo CD goes on with the policy that it had: "+err.Error(), "mend that line")
	}
	if len(found.allowed) == 0 {
		return bad("no line of argocd-rbac-cm lets anybody ask the backend, not even the admin", policyLines...)
	}
	says := "may ask the backend: " + strings.Join(found.allowed, ", ")
	if len(found.denied) > 0 {
		return warn(fmt.Sprintf("%s; but a line denies it to %s, which weighs more", says, strings.Join(found.denied, ", ")), "take away the line that ends with deny, if it is not meant")
	}
	var idle []string
	for _, subject := range found.allowed {
		if strings.HasPrefix(subject, "role:") && !found.given[subject] {
			idle = append(idle, subject)
		}
	}
	if len(idle) == len(found.allowed) {
		return warn(fmt.Sprintf("%s; no group and no user of argocd-rbac-cm has that role", says),
			"in argocd-rbac-cm:", "data:", "  policy.moorpin.csv: |", "    g, GROUP, "+idle[0])
	}
	return fine(says)
}

// readPolicy reads all lines of the keys that Argo CD merges.
func readPolicy(data map[string]string) (policy, error) {
	// The two roles that Argo CD brings along are had by the admin.
	found := policy{given: map[string]bool{"role:admin": true, "role:readonly": true}}
	if role := data["policy.default"]; role != "" {
		found.given[role] = true
	}
	matches := glob
	if data["policy.matchMode"] == "regex" {
		matches = regex
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if !strings.HasPrefix(key, "policy.") || !strings.HasSuffix(key, ".csv") {
			continue
		}
		for i, line := range strings.Split(data[key], "\n") {
			if err := found.add(strings.TrimSpace(line), matches); err != nil {
				return policy{}, fmt.Errorf("line %d of %s %w", i+1, key, err)
			}
		}
	}
	slices.Sort(found.allowed)
	slices.Sort(found.denied)
	found.allowed, found.denied = slices.Compact(found.allowed), slices.Compact(found.denied)
	return found, nil
}

// lineError is what is wrong with a line of a policy.
type lineError string

func (e lineError) Error() string { return string(e) }

// add reads one line.
func (p *policy) add(line string, matches func(pattern, value string) bool) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	reader := csv.NewReader(strings.NewReader(line))
	reader.TrimLeadingSpace = true
	words, err := reader.Read()
	if err != nil {
		return lineError("is no CSV")
	}
	switch {
	case words[0] == "g" && len(words) == 3:
		p.given[words[2]] = true
	case words[0] == "p" && len(words) == 6:
		if !matches(words[2], "extensions") || !matches(words[3], "invoke") || !matches(words[4], extensionName) {
			return nil
		}
		if words[5] == "deny" {
			p.denied = append(p.denied, words[1])
			return nil
		}
		p.allowed = append(p.allowed, words[1])
	default:
		return lineError("is neither a p with five words nor a g with two")
	}
	return nil
}

func glob(pattern, value string) bool {
	is, err := path.Match(pattern, value)
	return err == nil && is
}

func regex(pattern, value string) bool {
	is, err := regexp.MatchString(pattern, value)
	return err == nil && is
}
