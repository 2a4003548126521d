package snippet

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
)

// Change is one edit of a manifest: a value set at the path, or what is there removed.
type Change struct {
	Path   []Step
	Value  any
	Remove bool
	// Hide keeps the value out of what people read.
	Hide bool
}

// branch is a node of the part of a manifest that an edit is about.
type branch struct {
	fields map[string]*branch
	order  []string
	items  []*branchItem
	// leaf tells that the node has the value, or loses it.
	leaf, remove, hide bool
	value              any
}

// branchItem is a list item with the fields that identify it.
type branchItem struct {
	step Step
	node *branch
}

// Fragment spells the edit as the part of the manifest that it is about: the
// object's name, then every path with what is set there. What is to be removed
// stands as a comment, so that the text stays YAML that says nothing wrong.
func Fragment(ref drift.ResourceRef, apiVersion string, changes []Change) string {
	root := &branch{}
	root.set([]Step{{Field: "apiVersion"}}, Change{Value: apiVersion})
	root.set([]Step{{Field: "kind"}}, Change{Value: ref.Kind})
	root.set([]Step{{Field: "metadata"}, {Field: "name"}}, Change{Value: ref.Name})
	if ref.Namespace != "" {
		root.set([]Step{{Field: "metadata"}, {Field: "namespace"}}, Change{Value: ref.Namespace})
	}
	for _, c := range changes {
		root.set(c.Path, c)
	}
	var out strings.Builder
	root.write(&out, "")
	return out.String()
}

// set puts a change into the tree.
func (b *branch) set(path []Step, c Change) {
	if len(path) == 0 {
		b.leaf, b.remove, b.hide, b.value = true, c.Remove, c.Hide, c.Value
		return
	}
	step := path[0]
	if step.Item {
		b.item(step).set(path[1:], c)
		return
	}
	next, found := b.fields[step.Field]
	if !found {
		next = &branch{}
		if b.fields == nil {
			b.fields = map[string]*branch{}
		}
		b.fields[step.Field] = next
		b.order = append(b.order, step.Field)
	}
	next.set(path[1:], c)
}

// item returns the node of a list item. Changes come in the order of their paths,
// so that an item that was there before is the last one.
func (b *branch) item(step Step) *branch {
	if n := len(b.items); n > 0 && b.items[n-1].step.Index == step.Index && b.items[n-1].step.InGit == step.InGit {
		return b.items[n-1].node
	}
	added := &branchItem{step: step, node: &branch{}}
	b.items = append(b.items, added)
	return added.node
}

// write spells the node below a key, which ends with a line break.
func (b *branch) write(out *strings.Builder, indent string) {
	for _, name := range b.order {
		node := b.fields[name]
		key := indent + yamlKey(name)
		switch {
		case node.leaf && node.remove:
			out.WriteString(indent + "# remove:\n" + Commented(indent, Keyed(yamlKey(name), node.shown(), "")))
		case node.leaf && node.hide:
			out.WriteString(Commented(indent, yamlKey(name)+" the value, which is not shown here"))
		case node.leaf:
			out.WriteString(Keyed(key, node.value, indent))
		default:
			out.WriteString(key + "\n")
			node.write(out, indent+"  ")
		}
	}
	for _, item := range b.items {
		item.write(out, indent)
	}
}

// shown is the value of a leaf that may be seen.
func (b *branch) shown() any {
	if b.hide {
		return "..."
	}
	return b.value
}

// write spells a list item: what identifies it, then what changes.
func (i *branchItem) write(out *strings.Builder, indent string) {
	switch {
	case i.node.leaf && i.node.remove:
		out.WriteString(indent + "# remove:\n" + Commented(indent, listed(i.node.shown())))
		return
	case i.node.leaf:
		out.WriteString(indented(listed(i.node.value), indent))
		return
	}
	var body strings.Builder
	for _, key := range i.step.Identity {
		if _, changed := i.node.fields[key.Name]; !changed {
			body.WriteString(Keyed(yamlKey(key.Name), key.Value, ""))
		}
	}
	i.node.write(&body, "")
	lead := ""
	if i.step.Identity == nil {
		lead = indent + "# item " + strconv.Itoa(i.step.Index) + " of the list, counted from 0:\n"
	}
	out.WriteString(lead + Dashed(body.String(), indent))
}

// Dashed makes the lines a list item. A leading comment keeps its place.
func Dashed(body, indent string) string {
	if strings.HasPrefix(body, "#") || body == "" {
		return indent + "-\n" + indented(body, indent+"  ")
	}
	return indent + "- " + strings.TrimPrefix(indented(body, indent+"  "), indent+"  ")
}

// listed is a value as the item of a list.
func listed(value any) string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) > 0 {
			return Dashed(Block(value), "")
		}
	case []any:
		if len(value) > 0 {
			return Dashed(Block(value), "")
		}
	}
	return "- " + strings.TrimPrefix(Keyed("", value, ""), " ")
}

// Keyed is a key, which ends with a colon, and its value.
func Keyed(key string, value any, indent string) string {
	switch typed := value.(type) {
	case map[string]any:
		if len(typed) > 0 {
			return key + "\n" + indented(Block(value), indent+"  ")
		}
	case []any:
		if len(typed) > 0 {
			return key + "\n" + indented(Block(value), indent+"  ")
		}
	}
	scalar := YamlScalar(value)
	head, rest, several := strings.Cut(scalar, "\n")
	if !several {
		return key + " " + head + "\n"
	}
	return key + " " + head + "\n" + indented(rest+"\n", indent)
}

// Block is a map or a list with its keys sorted, at no indentation.
func Block(value any) string {
	var out strings.Builder
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			out.WriteString(Keyed(yamlKey(name), value[name], ""))
		}
	case []any:
		for _, item := range value {
			out.WriteString(listed(item))
		}
	}
	return out.String()
}

// plainText can stand in YAML without quotes, whatever reads it, unless it is one of
// the yamlWords.
var plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9._/~=-]*$`)

// yamlWords mean something else than text to some readers of YAML.
var yamlWords = map[string]bool{
	"y": true, "yes": true, "on": true, "true": true, "t": true,
	"n": true, "no": true, "off": true, "false": true, "f": true, "null": true, "nan": true, "inf": true,
}

// YamlScalar spells text, a number, a boolean, null or something empty. A text of
// several lines keeps them, indented by two.
func YamlScalar(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case map[string]any:
		return "{}"
	case []any:
		return "[]"
	case string:
		if plainText.MatchString(value) && !yamlWords[strings.ToLower(value)] {
			return value
		}
		return quotedText(value)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "null"
	}
	return string(data)
}

// yamlKey spells the key of a map with its colon, always in one line.
func yamlKey(name string) string {
	if plainText.MatchString(name) && !yamlWords[strings.ToLower(name)] {
		return name + ":"
	}
	return strconv.QuoteToASCII(name) + ":"
}

// quotedText leaves the quoting of a text to the YAML library.
func quotedText(value string) string {
	data, err := yaml.Marshal(map[string]string{"k": value})
	if err != nil {
		return strconv.QuoteToASCII(value)
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(string(data), "k:"), " "), "\n")
}

// indented indents every line that holds something.
func indented(lines, indent string) string {
	if indent == "" {
		return lines
	}
	var out strings.Builder
	for line := range strings.Lines(lines) {
		if strings.TrimRight(line, "\r\n") != "" {
			out.WriteString(indent)
		}
		out.WriteString(line)
	}
	return out.String()
}

// Commented makes the lines comments. Whatever some reader takes for the end of a
// line ends the line, so that nothing of the text escapes the comment.
func Commented(indent, lines string) string {
	var out strings.Builder
	for line := range strings.FieldsFuncSeq(lines, IsLineEnd) {
		out.WriteString(indent + "# " + strings.Map(Printable, line) + "\n")
	}
	return out.String()
}

// IsLineEnd reports whether a character ends a line for one of the readers of YAML.
func IsLineEnd(r rune) bool {
	return slices.Contains([]rune{'\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'}, r)
}

// Printable leaves out what neither YAML nor a terminal takes well.
func Printable(r rune) rune {
	if r == '\t' {
		return ' '
	}
	if !strconv.IsPrint(r) {
		return -1
	}
	return r
}

// SortChanges orders changes by their paths.
func SortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return slices.CompareFunc(a.Path, b.Path, func(x, y Step) int {
			return cmp.Or(cmp.Compare(x.Field, y.Field), cmp.Compare(x.Index, y.Index), cmp.Compare(x.InGit, y.InGit))
		})
	})
}
