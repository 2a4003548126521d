// Package overrides reads the health checks of an argocd-cm as Argo CD reads them.
//
// A check stands in the one key resource.customizations, a YAML map of "group/Kind" or
// wildcards to checks, or in split keys of its own:
//
//	resource.customizations.health.cert-manager.io_Certificate: |
//	  return {status = "Healthy", message = ""}
//
// A split key wins over the same kind in resource.customizations; both win over a
// wildcard. [Parse] refuses, with a [*KeyError], every ConfigMap that Argo CD would not
// load: a type that it does not know, a "group_Kind" with two underscores
// ("resource.customizations.health.a_b_C"), and values that do not parse. One such key
// takes all settings away, so nothing is read past it.
package overrides

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	argolua "github.com/argoproj/argo-cd/v2/util/lua"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const (
	// MergedKey holds the customizations of many kinds in one YAML text.
	MergedKey = "resource.customizations"

	healthPrefix   = MergedKey + ".health."
	openLibsPrefix = MergedKey + ".useOpenLibs."
	all            = "*/*"
)

// Check is a health check of an argocd-cm.
type Check struct {
	// Key is the ConfigMap's key that holds it.
	Key string
	// Entry names the entry inside that key, "group/Kind" or a wildcard; empty for a
	// split key.
	Entry string
	// Script is the Lua text, and OpenLibs whether it runs with Lua's libraries open.
	Script   string
	OpenLibs bool
	// Wildcard is true where the check stands for more kinds than one.
	Wildcard bool
}

// Where names the check for people.
func (c Check) Where() string {
	if c.Entry == "" {
		return c.Key
	}
	return c.Key + ", entry " + c.Entry
}

// Set holds the checks of one argocd-cm. The zero Set holds none.
type Set struct {
	checks map[string]Check // by "group/Kind" or wildcard
}

// KeyError says why Argo CD cannot load a ConfigMap.
type KeyError struct {
	Key    string
	Reason error
}

// Error names the key and what is wrong with it.
func (e *KeyError) Error() string {
	return fmt.Sprintf("argocd-cm, key %s: %v; Argo CD loads no setting at all until it is mended", e.Key, e.Reason)
}

// Unwrap gives what is wrong with the key.
func (e *KeyError) Unwrap() error { return e.Reason }

// HealthKey is the split key of a kind's check.
func HealthKey(kind schema.GroupKind) string { return healthPrefix + Name(kind) }

// OpenLibsKey is the split key that opens Lua's libraries for a kind's check.
func OpenLibsKey(kind schema.GroupKind) string { return openLibsPrefix + Name(kind) }

// Name spells a kind as split keys do: "group_Kind", or "Kind" in the core group.
func Name(kind schema.GroupKind) string {
	if kind.Group == "" {
		return kind.Kind
	}
	return kind.Group + "_" + kind.Kind
}

// ParseName is the reverse of Name; false for what is no such name.
func ParseName(name string) (schema.GroupKind, bool) {
	parts := strings.Split(name, "_")
	switch {
	case len(parts) == 1 && name != "":
		return schema.GroupKind{Kind: name}, true
	case len(parts) == 2 && parts[1] != "":
		return schema.GroupKind{Group: parts[0], Kind: parts[1]}, true
	}
	return schema.GroupKind{}, false
}

// HealthKind returns the kind whose check a split key holds; false for other keys.
func HealthKind(key string) (schema.GroupKind, bool) {
	name, found := strings.CutPrefix(key, healthPrefix)
	if !found {
		return schema.GroupKind{}, false
	}
	return ParseName(name)
}

// Parse reads the data of an argocd-cm.
func Parse(data map[string]string) (Set, error) {
	set := Set{checks: map[string]Check{}}
	merged := map[string]v1alpha1.ResourceOverride{}
	if err := yaml.Unmarshal([]byte(data[MergedKey]), &merged); err != nil {
		return Set{}, &KeyError{MergedKey, err}
	}
	for entry, override := range merged {
		set.checks[entry] = Check{Key: MergedKey, Entry: entry, Script: override.HealthLua, OpenLibs: override.UseOpenLibs, Wildcard: wild(entry)}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if err := set.add(key, data[key]); err != nil {
			return Set{}, &KeyError{key, err}
		}
	}
	return set, nil
}

// Find returns the check that Argo CD uses for a kind, and false where argocd-cm has
// none. Of several wildcards that match, Argo CD takes any; Find takes the first by
// name.
func (s Set) Find(kind schema.GroupKind) (Check, bool) {
	key := argolua.GetConfigMapKey(kind.WithVersion(""))
	if check, found := s.checks[key]; found && check.Script != "" {
		return check, true
	}
	for _, entry := range slices.Sorted(maps.Keys(s.checks)) {
		if check := s.checks[entry]; check.Wildcard && check.Script != "" && glob.Match(entry, key) {
			return check, true
		}
	}
	return Check{}, false
}

// Kinds returns the kinds that have a check of their own, sorted; wildcards name none.
func (s Set) Kinds() []schema.GroupKind {
	kinds := []schema.GroupKind{}
	for _, entry := range slices.Sorted(maps.Keys(s.checks)) {
		if check := s.checks[entry]; check.Script == "" || check.Wildcard {
			continue
		}
		group, kind, grouped := strings.Cut(entry, "/")
		if !grouped {
			group, kind = "", entry
		}
		kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
	}
	return kinds
}

// add reads one split key; others are passed over.
func (s Set) add(key, value string) error {
	parts := strings.SplitN(key, ".", 4)
	if !strings.HasPrefix(key, MergedKey) || len(parts) < 4 {
		return nil
	}
	what, name := parts[2], parts[3]
	entry, err := entryOf(name)
	if err != nil {
		return err
	}
	check := s.checks[entry]
	switch what {
	case "health":
		check.Script, check.Key, check.Entry, check.Wildcard = value, key, "", wild(entry)
	case "useOpenLibs":
		if check.OpenLibs, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	default:
		return parses(what, value)
	}
	s.checks[entry] = check
	return nil
}

// parses says what Argo CD would say about a split key that holds no health check.
func parses(what, value string) error {
	var into any
	switch what {
	case "actions":
		return nil
	case "ignoreDifferences", "ignoreResourceUpdates":
		into = &v1alpha1.OverrideIgnoreDiff{}
	case "knownTypeFields":
		into = &[]v1alpha1.KnownTypeField{}
	default:
		return fmt.Errorf("type %q is no customization of Argo CD, which knows health, useOpenLibs, actions, ignoreDifferences, ignoreResourceUpdates and knownTypeFields", what)
	}
	return yaml.Unmarshal([]byte(value), into) //nolint:wrapcheck // Parse names the key
}

// entryOf turns the "group_Kind" of a split key into "group/Kind".
func entryOf(name string) (string, error) {
	parts := strings.Split(name, "_")
	switch {
	case name == "all":
		return all, nil
	case len(parts) == 2:
		return parts[0] + "/" + parts[1], nil
	case len(parts) == 1 && name != "":
		return name, nil
	}
	return "", fmt.Errorf("%q is neither group_Kind nor Kind", name)
}

// wild tells the patterns from the names of single kinds.
func wild(entry string) bool { return strings.ContainsAny(entry, "*?[{!\\") }
