package value

import "strings"

// ListKeys are the fields that tell the items of a list apart, as far as Kubernetes' own
// lists and most custom ones go, the best known first.
var ListKeys = [][]string{
	{"name"},
	{"key"},
	{"secretKey"},
	{"containerPort", "protocol"},
	{"port", "protocol"},
	{"mountPath"},
	{"devicePath"},
	{"topologyKey", "whenUnsatisfiable"},
	{"ip"},
	{"uid"},
	{"id"},
	{"type"},
	{"host"},
	{"path"},
}

// Key spells what an item of a list is told apart by, and whether it has the first of the
// fields; a port without a protocol is one of TCP.
func Key(item any, names []string) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok || len(names) == 0 {
		return "", false
	}
	if _, found := m[names[0]]; !found {
		return "", false
	}
	var spelled strings.Builder
	for i, name := range names {
		v, found := m[name]
		if !found && name == "protocol" {
			v = "TCP"
		}
		if i > 0 {
			spelled.WriteByte(',')
		}
		spelled.WriteString(name + "=" + Canonical(v))
	}
	return spelled.String(), true
}
