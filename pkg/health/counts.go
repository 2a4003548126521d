package health

import (
	"maps"
	"slices"
	"strings"
)

// counted are numbers of the status, and the numbers of the status that they should
// reach.
var counted = []struct{ have, want string }{
	{"updatedNumberScheduled", "desiredNumberScheduled"},
	{"numberReady", "desiredNumberScheduled"},
	{"numberAvailable", "desiredNumberScheduled"},
	{"currentHealthy", "desiredHealthy"},
	{"succeeded", "desired"},
}

// counts adds the numbers that should reach others: replicas, the parts of what runs on
// every node, instances that are ready, runs that succeeded.
func (d *derivation) counts() {
	d.replicas()
	for _, pair := range counted {
		if isNumber(d.crd.status, pair.have) && isNumber(d.crd.status, pair.want) {
			d.count(pair.have, []string{"status", pair.want})
		}
	}
	if isNumber(d.crd.status, "succeeded") && isNumber(d.crd.spec, "completions") {
		d.count("succeeded", []string{"spec", "completions"})
	}
	// readyInstances counts against instances.
	for _, name := range slices.Sorted(maps.Keys(properties(d.crd.status))) {
		rest, ok := strings.CutPrefix(name, "ready")
		if !ok || rest == "" || !isNumber(d.crd.status, name) {
			continue
		}
		wanted := strings.ToLower(rest[:1]) + rest[1:]
		switch {
		case isNumber(d.crd.spec, wanted):
			d.count(name, []string{"spec", wanted})
		case isNumber(d.crd.status, "desired"+rest):
			d.count(name, []string{"status", "desired" + rest})
		}
	}
}

// replicas adds the numbers of replicas.
func (d *derivation) replicas() {
	wanted := d.crd.replicas
	if wanted == nil && isNumber(d.crd.spec, "replicas") {
		wanted = []string{"spec", "replicas"}
	}
	if wanted == nil {
		return
	}
	for _, name := range []string{"updatedReplicas", "readyReplicas", "availableReplicas"} {
		if isNumber(d.crd.status, name) {
			d.count(name, wanted)
		}
	}
}

// count adds a number of the status that should reach another one.
func (d *derivation) count(name string, wanted []string) {
	d.found(Rule{Signal: Replicas, Path: []string{"status", name}, Against: wanted}, Convention, "status."+name+" counts against "+strings.Join(wanted, "."))
}

// isNumber reports whether a schema has a field that is an integer.
func isNumber(schema any, name string) bool {
	found, ok := property(schema, name)
	return ok && textAt(found, "type") == "integer"
}
