package pin

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

//go:generate go run ./droptable

// Drop is one row of the dropping table: a value that is removed because what
// writes the object back removes it too.
type Drop struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	// Pointers name the fields; a step "*" stands for any list item or map value.
	Pointers []string `json:"pointers"`
	// Value is the value that is dropped, compared as JSON.
	Value any `json:"value"`
	// By says what drops it, for people; Source where that can be read.
	By     string `json:"by"`
	Source string `json:"source,omitempty"`
}

// Skip excludes fields of a kind from every change.
type Skip struct {
	Group    string   `json:"group"`
	Kind     string   `json:"kind"`
	Pointers []string `json:"pointers"`
}

// RuleFile is the form of a rule file, YAML or JSON.
type RuleFile struct {
	Drop []Drop `json:"drop,omitempty"`
	Skip []Skip `json:"skip,omitempty"`
}

// Rules is a dropping table and a list of exclusions, ready for use. It does not change.
type Rules struct {
	drops map[schema.GroupKind]*dropNode
	skips map[schema.GroupKind][]pattern
}

// builtInDrops holds what Argo CD's typed client removes from its own kinds.
//
//go:embed drops.yaml
var builtInDrops []byte

// DefaultRules returns the built-in dropping table: what Argo CD's typed client
// removes from Application, ApplicationSet and AppProject.
var DefaultRules = sync.OnceValue(func() *Rules {
	rules, err := ParseRules("drops.yaml", builtInDrops)
	if err != nil {
		// The table is generated and tested; without it nothing is dropped.
		return &Rules{}
	}
	return rules
})

// ParseRules reads a rule file. file only names the input in errors, which name the
// row and the field. Unknown fields are refused.
func ParseRules(file string, data []byte) (*Rules, error) {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("%s: is not valid YAML: %w", file, err)
	}
	if documents(data) > 1 {
		return nil, fmt.Errorf("%s: holds several documents; put all rules into one", file)
	}
	var parsed RuleFile
	faults, err := kjson.UnmarshalStrict(text, &parsed)
	if err == nil && len(faults) > 0 {
		err = faults[0]
	}
	if err != nil {
		return nil, fmt.Errorf("%s: is no rule file (fields: drop, skip): %w", file, err)
	}
	if len(parsed.Drop)+len(parsed.Skip) == 0 {
		return nil, fmt.Errorf("%s: holds no rule; a rule file has the lists drop and skip", file)
	}
	if err := valuesGiven(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rules := &Rules{drops: map[schema.GroupKind]*dropNode{}, skips: map[schema.GroupKind][]pattern{}}
	for i, row := range parsed.Drop {
		if err := rules.addDrop(row); err != nil {
			return nil, fmt.Errorf("%s: drop[%d]: %w", file, i, err)
		}
	}
	for _, node := range rules.drops {
		node.spread()
	}
	for i, row := range parsed.Skip {
		if err := rules.addSkip(row); err != nil {
			return nil, fmt.Errorf("%s: skip[%d]: %w", file, i, err)
		}
	}
	return rules, nil
}

// documents counts the YAML documents of a file that hold something.
func documents(data []byte) int {
	reader, count := kubeyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))), 0
	for {
		text, err := reader.Read()
		if err != nil {
			return count
		}
		var content any
		if yaml.Unmarshal(text, &content) != nil || content != nil {
			count++
		}
	}
}

// valuesGiven checks that every row of the dropping table says which value it drops:
// one that is left out would read as null.
func valuesGiven(text []byte) error {
	var file struct {
		Drop []map[string]any `json:"drop"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &file); err != nil {
		return fmt.Errorf("is no rule file: %w", err)
	}
	for i, row := range file.Drop {
		if _, given := row["value"]; !given {
			return fmt.Errorf("drop[%d]: value is missing; write the value that is dropped, null included", i)
		}
	}
	return nil
}

// checkGroup refuses an apiVersion in the place of a group.
func checkGroup(group string) error {
	if strings.Contains(group, "/") {
		return fmt.Errorf("group %q holds a version; rules are for all versions of a group", group)
	}
	return nil
}

// With returns the rules with those of other added.
func (r *Rules) With(other *Rules) *Rules {
	sum := &Rules{drops: map[schema.GroupKind]*dropNode{}, skips: map[schema.GroupKind][]pattern{}}
	for _, rules := range []*Rules{r, other} {
		for kind, node := range rules.drops {
			sum.drops[kind] = merge(sum.drops[kind], node)
			sum.drops[kind].spread()
		}
		for kind, patterns := range rules.skips {
			sum.skips[kind] = slices.Concat(sum.skips[kind], patterns)
		}
	}
	return sum
}

func merge(a, b *dropNode) *dropNode {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	sum := &dropNode{fields: map[string]*dropNode{}, any: merge(a.any, b.any), rows: slices.Concat(a.rows, b.rows)}
	for _, node := range []*dropNode{a, b} {
		for name, child := range node.fields {
			sum.fields[name] = merge(sum.fields[name], child)
		}
	}
	return sum
}

func (r *Rules) addDrop(row Drop) error {
	if row.Kind == "" || row.By == "" || len(row.Pointers) == 0 {
		return errors.New("kind, pointers and by (what drops the value) must not be empty")
	}
	if err := checkGroup(row.Group); err != nil {
		return err
	}
	kind := schema.GroupKind{Group: row.Group, Kind: row.Kind}
	if r.drops[kind] == nil {
		r.drops[kind] = &dropNode{}
	}
	for _, pointer := range row.Pointers {
		path, err := parsePattern(pointer)
		if err != nil {
			return fmt.Errorf("pointers: %w", err)
		}
		if len(path) == 1 || path[0] == anyStep || (path[0] == "metadata" && len(path) == 2) {
			return fmt.Errorf("pointer %s: what makes up an object or names it is never dropped", pointer)
		}
		r.drops[kind].add(path, row)
	}
	return nil
}

func (r *Rules) addSkip(row Skip) error {
	if row.Kind == "" || len(row.Pointers) == 0 {
		return errors.New("kind and pointers must not be empty")
	}
	if err := checkGroup(row.Group); err != nil {
		return err
	}
	kind := schema.GroupKind{Group: row.Group, Kind: row.Kind}
	for _, pointer := range row.Pointers {
		path, err := parsePattern(pointer)
		if err != nil {
			return fmt.Errorf("pointers: %w", err)
		}
		r.skips[kind] = append(r.skips[kind], path)
	}
	return nil
}
