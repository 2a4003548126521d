package attack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Post is an attack on the extension's backend by a body that is posted to it. It is
// refused in a sentence that holds one of Says, or answered, and everybody else is
// answered meanwhile.
type Post struct {
	Reason string
	// Route is where it goes.
	Route string
	// Body is the JSON for the Application NAME of the namespace argocd, in the project
	// of the attacker.
	Body func(name, project string) []byte
	// Says lists what the refusal may say: one of them. Answered tells that it may also be
	// answered, for less than it asks for.
	Says     []string
	Answered bool
}

type object = map[string]any

// Routes of the backend.
const (
	Classify = "/api/v1/classify"
	Prove    = "/api/v1/fixes/prove"
	Rollback = "/api/v1/rollback"
)

// What the backend says of its bounds.
const (
	saysWeight = "MiB of memory, more than the" // weighed beforehand
	saysMemory = "bytes of memory"              // --worker-memory
	saysAnswer = "what it comes to is more than"
	saysTime   = "that one may take" // --timeout
	saysShare  = "another project waited"
	saysPath   = "it takes longer than" // of a jq path
)

// heavy are the bounds that any large snapshot may meet.
var heavy = []string{saysWeight, saysMemory, saysAnswer, saysTime, saysShare}

// Posts returns the attacks on the backend, by name.
func Posts() map[string]Post {
	all := map[string]Post{}
	for name, made := range snapshots() {
		all[name] = Post{Reason: made.reason, Route: Classify, Body: func(app, project string) []byte { return encoded(made.make(), app, project) }, Says: heavy, Answered: true}
	}
	for name, made := range trials() {
		all[name] = Post{Reason: made.reason, Route: Prove, Body: func(app, project string) []byte {
			return encode(object{"snapshot": named(made.make(), app, project), "rules": made.rules})
		}, Says: append([]string{cmp.Or(made.says, saysPath)}, heavy...), Answered: made.says == ""}
	}
	for name, post := range documents() {
		post.Says = append(post.Says, heavy...)
		all[name] = post
	}
	aliases := all["YAML in a setting"]
	aliases.Says, aliases.Answered = append([]string{"excessive aliasing"}, heavy...), false
	all["YAML in a setting"] = aliases
	dump := snapshots()["many differences"]
	all["rollback"] = Post{"a dump of much that is to be pruned", Rollback, func(app, project string) []byte { return encoded(dump.make(), app, project) }, heavy, true}
	return all
}

// documents are bodies that are no snapshots.
func documents() map[string]Post {
	raw := func(head, piece, tail string, times int) func(string, string) []byte {
		return func(app, project string) []byte {
			text := fmt.Sprintf(`{"application":{"metadata":{"namespace":"argocd","name":%q},"spec":{"project":%q}},"settings":{"a":`, app, project)
			return []byte(text + head + strings.Repeat(piece, times) + tail + `}}`)
		}
	}
	return map[string]Post{
		"deep":            {"nested 100 000 times", Classify, raw("", "[", "", 100_000), []string{"nested deeper than"}, false},
		"many empty":      {"20 MB of empty lists", Classify, raw("[[]", ",[]", "]", 7_000_000), []string{"values"}, false},
		"many objects":    {"8 MB of objects that take 40 times as much", Classify, raw(`[{"a":1}`, `,{"a":1}`, "]", 1_000_000), []string{saysWeight}, false},
		"long number":     {"a number of a million digits", Classify, raw("1", "0", "", 1_000_000), []string{"digits"}, false},
		"huge exponents":  {"numbers beyond any machine's", Classify, raw("[1e999999999", ",1e-999999999,-1e999999999", "]", 10_000), []string{"the snapshot cannot be read"}, true},
		"gzip bomb":       {"a thousand times as much as is sent", Classify, raw("", strings.Repeat(" ", 1<<20), "1", 1<<7), []string{"unpacked"}, false},
		"full body":       {"a text as long as a body may be", Classify, raw(`"`, strings.Repeat("x", 1<<20), `"`, 31), nil, true},
		"full of escapes": {"a text of escapes", Classify, raw(`"`, strings.Repeat(`\u0000`, 1<<17), `"`, 31), nil, true},
	}
}

// trial is one with the rules that it tries, and what the refusal says; "" where it may
// be answered.
type trial struct {
	made

	rules []object
	says  string
}

func trials() map[string]trial {
	some := func() object { return configMaps(50, counted(300, "1"), counted(300, "2")) }
	rules := func(n int, rule object) []object {
		all := make([]object, n)
		for i := range all {
			all[i] = rule
		}
		return all
	}
	return map[string]trial{
		"rules that walk":    {made{"all rules that may be tried walk everything", some}, rules(20, jqs(50, `.. | select(. == "%d")`)), ""},
		"rules that explode": {made{"rules that make much of little", some}, rules(1, jqs(1, `[range(1000000000 + %d)]`)), "rules[0].jqPathExpressions[0]"},
		"rules that loop":    {made{"rules that never end", some}, rules(1, object{"kind": "*", "jqPathExpressions": []string{"def f: f; f"}}), "rules[0].jqPathExpressions[0]"},
		"too many rules":     {made{"more rules than are tried", some}, rules(100, jqs(2, ".data.k%d")), "at most 20 rules"},
		"too many paths":     {made{"more paths than are tried", some}, rules(1, jqs(5000, ".data.k%d")), "at most 50 of them"},
		"long rules":         {made{"more bytes of rules than are read", some}, rules(20, object{"kind": strings.Repeat("k", 100_000)}), "bytes of rules"},
		"rules on much":      {made{"rules for what is large itself", func() object { return configMaps(1, counted(50_000, "1"), counted(50_000, "2")) }}, rules(20, jqs(50, ".data.k%d")), ""},
	}
}

// encode is JSON of what always can be written.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func encoded(snapshot object, app, project string) []byte {
	return encode(named(snapshot, app, project))
}

// named is the snapshot as one of the Application.
func named(snapshot object, name, project string) object {
	app, _ := snapshot["application"].(object)
	if app == nil {
		app = object{}
	}
	spec, _ := app["spec"].(object)
	if spec == nil {
		spec = object{}
	}
	spec["project"] = project
	spec["destination"] = object{"server": "https://kubernetes.default.svc", "namespace": "web"}
	app["apiVersion"], app["kind"], app["spec"] = "argoproj.io/v1alpha1", "Application", spec
	app["metadata"] = object{"namespace": "argocd", "name": name}
	snapshot["application"] = app
	return snapshot
}
