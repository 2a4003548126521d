package attack

import (
	"fmt"
	"maps"
	"path"
	"strings"
)

type made struct {
	reason string
	make   func() object
}

// snapshots are large, or expensive to explain, in one way each.
func snapshots() map[string]made {
	return map[string]made{
		"many fields":      {"3.4 MB of differing fields of a custom object", func() object { return widget(counted(90_000, "1"), counted(90_000, "2")) }},
		"many differences": {"as many differences as are named one by one", func() object { return configMaps(1, counted(50_000, "1"), counted(50_000, "2")) }},
		"most differences": {"four times as many", func() object { return configMaps(4, counted(50_000, "1"), counted(50_000, "2")) }},
		"many resources":   {"thousands of objects that differ", func() object { return configMaps(4000, object{"a": "1"}, object{"a": "2"}) }},
		"many items":       {"long lists without keys", func() object { return widget(items(40_000, "a"), items(40_001, "b")) }},
		"many named items": {"long lists with keys", func() object { return widget(containers(8_000, "1"), containers(8_000, "2")) }},
		"levels":           {"as deep as may be, many times", func() object { return widget(levels(300, 150, "1"), levels(300, 150, "2")) }},
		"long keys":        {"a key of a megabyte over many fields", func() object { return longKey(20_000, "2") }},
		"large answer": {"texts, all of which the answer repeats", func() object {
			return configMaps(40, counted(10, strings.Repeat("x", 20_000)), counted(10, strings.Repeat("y", 20_000)))
		}},
		"long texts": {"texts that differ in every letter", func() object {
			return widget(counted(40, strings.Repeat("x", 300_000)), counted(40, strings.Repeat("y", 300_000)))
		}},
		"large CRD":         {"a CRD of 3 MB", func() object { return customized(24_000, containers(10, "1"), containers(10, "2")) }},
		"many defaults":     {"a thousand defaults for each of twenty thousand items", func() object { return customized(1000, emptied(20_000), emptied(20_000)) }},
		"many custom":       {"a CRD for each of many objects", func() object { return repeated(customized(300, containers(3, "1"), containers(3, "2")), 1500) }},
		"managers":          {"managed fields of many managers", managers},
		"last-applied":      {"a large annotation", lastApplied},
		"nested annotation": {"an annotation nested a million times", func() object { return annotated(strings.Repeat("[", 1_000_000)) }},
		"related":           {"very many webhooks, Pods and Applications", related},
		"events":            {"very many Events", events},
		"Secrets":           {"very many values to be masked in long texts", secrets},
		"messages":          {"very long messages of an operation", messages},
		"jq and keys": {"fifty jq paths over a thousand keys", func() object {
			return ignoring(configMaps(1, counted(1000, "1"), counted(1000, "2")), jqs(50, ".data.k%d"))
		}},
		"jq that walks": {"jq paths that walk everything", func() object {
			return ignoring(configMaps(200, counted(300, "1"), counted(300, "2")), jqs(50, `.. | select(type == "string" and test("^(a|%d)*$"))`))
		}},
		"jq that explodes": {"jq paths that make much of little", func() object {
			return ignoring(configMaps(1, counted(1000, "1"), counted(1000, "2")), jqs(50, ".data[([range(1000000000)] | length) + %d | tostring]"))
		}},
		"jq that pairs": {"jq paths that hold all against all", func() object {
			return ignoring(configMaps(4, counted(2000, "1"), counted(2000, "2")), jqs(20, ".data | .[keys[] as $a | keys[] as $b | select($a + $b == \"%d\") | $a]"))
		}},
		"pointers":          {"pointers that lead nowhere, for all kinds", func() object { return ignoring(configMaps(2000, object{"a": "1"}, object{"a": "2"}), pointers(900)) }},
		"patterns":          {"patterns of kinds that match in many ways", func() object { return patterned(configMaps(500, object{"a": "1"}, object{"a": "2"})) }},
		"YAML in a setting": {"aliases of aliases in argocd-cm", laughing},
		"YAML in a text":    {"large YAML in argocd-cm", func() object { return customizing("a: [" + strings.Repeat("[],", 2_000_000) + "]") }},
		"sync windows":      {"schedules that cannot be read, and very many", windows},
		"huge quantities":   {"quantities beyond any machine's", quantities},
		"random manifests":  {"texts that nearly agree", func() object { return widget(counted(300, nearly("a", 3000)), counted(300, nearly("b", 3000))) }},
	}
}

func counted(n int, value string) object {
	fields := make(object, n)
	for i := range n {
		fields[fmt.Sprintf("k%d", i)] = value
	}
	return fields
}

func items(n int, prefix string) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprint(prefix, i)
	}
	return list
}

func emptied(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = object{}
	}
	return list
}

func containers(n int, value string) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = object{"name": fmt.Sprint("i", i), "image": value, "env": []any{object{"name": "A", "value": value}}}
	}
	return list
}

func levels(n, depth int, value string) object {
	fields := object{}
	for i := range n {
		inner := any(value)
		for range depth {
			inner = object{"a": inner}
		}
		fields[fmt.Sprint("k", i)] = inner
	}
	return fields
}

// nearly is a text that differs from others in a letter of each line.
func nearly(letter string, lines int) string { return strings.Repeat("a line "+letter+"\n", lines) }

// resource is one that differs. Its kind is group/version/Kind.
func resource(kind, name string, live, target object) object {
	apiVersion, kind := path.Split(kind)
	apiVersion = strings.TrimSuffix(apiVersion, "/")
	complete := func(held object) object {
		all := object{"apiVersion": apiVersion, "kind": kind, "metadata": object{"name": name, "namespace": "web"}}
		maps.Copy(all, held)
		return all
	}
	group, version := path.Split(apiVersion)
	return object{
		"group": strings.TrimSuffix(group, "/"), "version": version, "kind": kind, "namespace": "web", "name": name,
		"live": complete(live), "target": complete(target),
	}
}

func configMap(name string, live, target object) object {
	return resource("v1/ConfigMap", name, live, target)
}

func configMaps(n int, live, target object) object {
	all := make([]any, n)
	for i := range all {
		all[i] = configMap(fmt.Sprint("c", i), object{"data": live}, object{"data": target})
	}
	return object{"resources": all}
}

// widget is a custom object without a CRD.
func widget(live, target any) object {
	return object{"resources": []any{resource("example.com/v1/Widget", "w", object{"spec": object{"held": live}}, object{"spec": object{"held": target}})}}
}

// longKey has so many fields below a key of a megabyte.
func longKey(fields int, value string) object {
	long := strings.Repeat("k", 1<<20)
	return widget(object{long: counted(fields, "1")}, object{long: counted(fields, value)})
}

// customized is a custom object whose CRD has so many fields with a default.
func customized(fields int, live, target any) object {
	properties := object{"name": object{"type": "string"}, "image": object{"type": "string"}}
	for i := range fields {
		properties[fmt.Sprint("p", i)] = object{"type": "string", "default": "d", "description": strings.Repeat("w", 60)}
	}
	snapshot := widget(live, target)
	snapshot["settings"] = object{"diffStrategy": "structured-merge"}
	snapshot["related"] = []any{object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "widgets.example.com"},
		"spec": object{
			"group": "example.com", "scope": "Namespaced", "names": object{"kind": "Widget", "plural": "widgets", "listKind": "WidgetList", "singular": "widget"},
			"versions": []any{object{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{
				"type": "object", "properties": object{"spec": object{"type": "object", "properties": object{
					"held": object{"type": "array", "items": object{"type": "object", "properties": properties}},
				}}},
			}}}},
		},
	}}
	return snapshot
}

// repeated is the snapshot with its resource so many times.
func repeated(snapshot object, times int) object {
	one, _ := snapshot["resources"].([]any)[0].(object)
	all := make([]any, times)
	for i := range all {
		copied := maps.Clone(one)
		copied["name"] = fmt.Sprint("w", i)
		all[i] = copied
	}
	snapshot["resources"] = all
	return snapshot
}

// liveMetadata is that of the only resource's live object.
func liveMetadata(snapshot object) object {
	one, _ := snapshot["resources"].([]any)[0].(object)
	live, _ := one["live"].(object)
	metadata, _ := live["metadata"].(object)
	return metadata
}

func managers() object {
	snapshot := widget(counted(3000, "1"), counted(3000, "2"))
	owned := object{}
	for i := range 3000 {
		owned[fmt.Sprint("f:k", i)] = object{}
	}
	entries := make([]any, 60)
	for i := range entries {
		entries[i] = object{
			"manager": fmt.Sprint("m", i), "operation": "Update", "time": "2026-01-01T00:00:00Z", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			"fieldsV1": object{"f:spec": object{"f:held": owned}},
		}
	}
	liveMetadata(snapshot)["managedFields"] = entries
	return snapshot
}

func annotated(text string) object {
	snapshot := widget(counted(10, "1"), counted(10, "2"))
	liveMetadata(snapshot)["annotations"] = object{"kubectl.kubernetes.io/last-applied-configuration": text}
	return snapshot
}

func lastApplied() object {
	snapshot := widget(counted(30_000, "1"), counted(30_000, "2"))
	one, _ := snapshot["resources"].([]any)[0].(object)
	liveMetadata(snapshot)["annotations"] = object{"kubectl.kubernetes.io/last-applied-configuration": string(encode(one["target"]))}
	return snapshot
}

func related() object {
	snapshot := configMaps(300, object{"a": "1"}, object{"a": "2"})
	var all []any
	for i := range 8000 {
		name := fmt.Sprint("o", i)
		all = append(all,
			object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": object{"name": name}, "webhooks": []any{object{
				"name": name, "rules": []any{object{"apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "resources": []any{"*"}, "operations": []any{"*"}}},
			}}},
			object{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": object{"name": name, "namespace": "argocd"}},
			object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "namespace": "web"}, "status": object{"phase": "Pending"}},
		)
	}
	snapshot["related"] = all
	return snapshot
}

func events() object {
	snapshot := configMaps(2000, object{"a": "1"}, object{"a": "2"})
	all := make([]any, 30_000)
	for i := range all {
		all[i] = object{
			"reason": "FailedCreate", "message": `error: secret "s" not found ` + strings.Repeat("y", 100), "lastTimestamp": "2026-01-01T00:00:00Z",
			"involvedObject": object{"kind": "ConfigMap", "apiVersion": "v1", "namespace": "web", "name": fmt.Sprint("c", i%2000)},
		}
	}
	snapshot["events"] = all
	return snapshot
}

func secrets() object {
	snapshot := configMaps(40, counted(10, strings.Repeat("c2VjcmV0LQ", 2000)), counted(10, strings.Repeat("c2VjcmV0LR", 2000)))
	all := make([]any, 1000)
	for i := range all {
		data := object{}
		for j := range 50 {
			data[fmt.Sprint("k", j)] = fmt.Sprintf("c2VjcmV0LQ%d%d=", i, j)
		}
		all[i] = object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": fmt.Sprint("s", i)}, "data": data}
	}
	snapshot["related"] = all
	return snapshot
}

func messages() object {
	snapshot := configMaps(1000, object{"a": "1"}, object{"a": "2"})
	var conditions, results []any
	for i := range 1000 {
		conditions = append(conditions, object{"type": "SyncError", "message": strings.Repeat(fmt.Sprint("denied ", i, " \""), 200)})
		results = append(results, object{"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": fmt.Sprint("c", i), "status": "SyncFailed", "message": strings.Repeat("is invalid: spec: Forbidden: ", 100)})
	}
	snapshot["application"] = object{"status": object{
		"sync": object{"status": "OutOfSync", "revision": "one"}, "conditions": conditions,
		"operationState": object{"phase": "Failed", "message": strings.Repeat("one or more objects failed to apply, ", 20_000), "syncResult": object{"revision": "one", "resources": results}},
	}}
	return snapshot
}

// jqs is a rule with so many jq paths, each with its number.
func jqs(n int, format string) object {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf(format, i)
	}
	return object{"group": "*", "kind": "*", "jqPathExpressions": paths}
}

func pointers(n int) object {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("/data/none%d", i)
	}
	return object{"group": "*", "kind": "*", "jsonPointers": all}
}

func ignoring(snapshot object, rules ...object) object {
	snapshot["application"] = object{"spec": object{"ignoreDifferences": rules}}
	return snapshot
}

func patterned(snapshot object) object {
	var rules []object
	for i := range 200 {
		rules = append(rules, object{"group": strings.Repeat("{a,*}", i), "kind": strings.Repeat("*a", 60), "jsonPointers": []string{"/data"}},
			object{"group": "*", "kind": "*?*?", "jsonPointers": []string{"/spec"}})
	}
	return ignoring(snapshot, rules...)
}

func customizing(text string) object {
	snapshot := configMaps(50, object{"a": "1"}, object{"a": "2"})
	snapshot["settings"] = object{"resource.customizations": text, "resource.exclusions": text, "resource.customizations.ignoreDifferences.all": text}
	return snapshot
}

// laughing has a setting of YAML whose aliases name aliases.
func laughing() object {
	var text strings.Builder
	text.WriteString("a0: &a0 [lol]\n")
	for i := range 40 {
		fmt.Fprintf(&text, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9), i)
	}
	return customizing(text.String())
}

func windows() object {
	snapshot := configMaps(10, object{"a": "1"}, object{"a": "2"})
	var all []any
	for i := range 5000 {
		for _, schedule := range []string{"TZ=UTC", "CRON_TZ=", "TZ=UTC ", "@every 1ns", "0 0 31 2 *", "*/0 * * * *", "1-99999999 * * * *", fmt.Sprintf("%d 0 29 2 *", i%60)} {
			all = append(all, object{"kind": "allow", "schedule": schedule, "duration": "999999h", "applications": []any{"*"}, "timeZone": "Nowhere/None"})
		}
	}
	snapshot["related"] = []any{object{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": object{"name": "mallory", "namespace": "argocd"}, "spec": object{"syncWindows": all}}}
	snapshot["settings"] = object{"now": "2026-05-04T03:00:00Z"}
	snapshot["application"] = object{"status": object{"sync": object{"status": "OutOfSync"}}}
	return snapshot
}

func quantities() object {
	held := func(values ...string) object {
		all := object{}
		for i := range 300 {
			all[fmt.Sprint("q", i)] = values[i%len(values)]
		}
		return object{"spec": object{"template": object{"spec": object{"containers": []any{object{"name": "a", "resources": object{"limits": all, "requests": all}}}}}}}
	}
	live, target := held("1e2147483647", "1e-2147483648", "9"+strings.Repeat("0", 100_000), "0x1p1000000000"), held("10e2147483646", "1E999999999999", "9"+strings.Repeat("0", 100_001), ".00000001e999999")
	return object{"resources": []any{resource("apps/v1/Deployment", "d", live, target)}}
}
