package classify

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// fixesFile lists the kinds of fixes that each mechanism was seen to offer.
const fixesFile = "../testdata/fixes.txt"

// nasty is text that breaks whatever quotes badly.
const nasty = "x'; echo \"$(boom)\" `boom` #\n--all\r\u2028: - {\\(.)} \u0000\x1b[31m|>"

// parseYAML reads a snapshot.
func parseYAML(t *testing.T, text string) *drift.Snapshot {
	t.Helper()
	snapshot, err := drift.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

const workload = `
application:
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: web, namespace: argocd}
  spec:
    project: shop
    destination: {server: https://kubernetes.default.svc, namespace: shop}
    syncPolicy: {automated: {selfHeal: true}}
settings: {argocdVersion: v3.6.1, trackingMethod: annotation}
resources:
- target:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: app, image: "web:1"}
          - {name: side, image: "side:1"}
  live:
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: shop
      uid: 5f0c
      annotations:
        kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"web","namespace":"shop"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"image":"web:1","name":"app"},{"image":"side:1","name":"side"}]}}}}'
    spec:
      replicas: 5
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: injected, image: "proxy:1"}
          - {name: app, image: "web:1"}
          - {name: side, image: "side:2"}
`

// arrange compares a snapshot's resources and prepares the first.
func arrange(t *testing.T, snapshot *drift.Snapshot) (*state.Application, *state.Resource) {
	t.Helper()
	s, err := state.New(t.Context(), snapshot)
	if err != nil {
		t.Fatal(err)
	}
	compare.All(s)
	for _, r := range s.Resources {
		r.Prepare()
	}
	return s, s.Resources[0]
}

// flagged are the fields that differ.
func flagged(r *state.Resource) []drift.Field {
	var found []drift.Field
	for _, d := range r.Differences {
		found = append(found, drift.Field{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive, Owner: &drift.Owner{Manager: nasty, Operation: "Update"}})
	}
	return found
}

func TestEveryMechanismHasFixes(t *testing.T) {
	snapshot := parseYAML(t, workload)
	hostile := parseYAML(t, workload)
	hostile.Resources[0].Live["metadata"].(map[string]any)["name"] = nasty
	hostile.Resources[0].Target["metadata"].(map[string]any)["name"] = nasty
	hostile.Resources[0].Live["spec"].(map[string]any)[nasty] = nasty
	hostile.Application["metadata"].(map[string]any)["name"] = nasty
	hostile.Resources[0].ResourceRef = drift.ResourceRef{}
	oneSided := parseYAML(t, workload)
	oneSided.Resources[0].Target = nil
	missing := parseYAML(t, workload)
	missing.Resources[0].Live = nil

	rows := map[string]struct {
		reason   string
		snapshot *drift.Snapshot
		whole    bool
	}{
		"two-sided":   {"the ordinary case", snapshot, false},
		"hostile":     {"names and values come from whoever may create objects", hostile, false},
		"live alone":  {"leftovers have no target", oneSided, false},
		"Git alone":   {"missing resources have no live object", missing, false},
		"Application": {"an answer about the whole has no resource", snapshot, true},
	}
	var script strings.Builder
	seen := map[drift.Mechanism]map[string]bool{}
	for name, row := range rows {
		for _, mechanism := range append(slices.Clone(drift.Mechanisms), drift.None, drift.Unexplained) {
			s, r := arrange(t, row.snapshot)
			c := &rule.Answer{Mechanism: mechanism, Sync: drift.OverwritesLive, Evidence: []string{nasty}, Loss: []string{nasty}}
			fields := flagged(r)
			if row.whole {
				r, fields = nil, nil
			}
			fixes := fix.For(s, r, c, fields)
			if len(fixes) == 0 || len(fixes) > fix.Most {
				t.Errorf("%s: %s: %d fixes (%s)", name, mechanism, len(fixes), row.reason)
			}
			for _, fix := range fixes {
				if seen[mechanism] == nil {
					seen[mechanism] = map[string]bool{}
				}
				seen[mechanism][string(fix.Kind)] = true
				if fix.Why == "" || fix.Snippet == "" {
					t.Errorf("%s: %s: %s says nothing: %+v", name, mechanism, fix.Kind, fix)
				}
				checkSnippet(t, name+": "+string(mechanism), fix, &script)
			}
		}
	}
	checkShell(t, script.String())
	var kinds strings.Builder
	for _, mechanism := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(&kinds, "%s: %s\n", mechanism, strings.Join(slices.Sorted(maps.Keys(seen[mechanism])), ", "))
	}
	if flag.Lookup("update").Value.String() == "true" { // which the tests from outside define
		if err := os.WriteFile(fixesFile, []byte(kinds.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(fixesFile); err != nil || string(want) != kinds.String() {
		t.Errorf("%s lists other kinds of fixes, have:\n%s%v; run the test with -update", fixesFile, kinds.String(), err)
	}
}

// checkSnippet holds a snippet against its place: YAML, or commands.
func checkSnippet(t *testing.T, name string, fix drift.Fix, script *strings.Builder) {
	t.Helper()
	switch fix.Where {
	case drift.InCluster, drift.InOperation:
		script.WriteString(fix.Snippet + "\n")
		for line := range strings.Lines(fix.Snippet) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(word, "#") && !slices.Contains([]string{"kubectl", "argocd", "helm", "umask"}, word) {
				t.Errorf("%s: %s: a line that is no command: %q", name, fix.Kind, line)
			}
		}
	default:
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(fix.Snippet), &parsed); err != nil {
			t.Errorf("%s: %s: %v:\n%s", name, fix.Kind, err, fix.Snippet)
		}
		allowed := map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "spec": true, "data": true, "rules": true, "status": true}
		for key := range parsed {
			if !allowed[key] {
				t.Errorf("%s: %s: the snippet has a key %q:\n%s", name, fix.Kind, key, fix.Snippet)
			}
		}
	}
}

// checkShell has bash parse the commands.
func checkShell(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snippets.sh")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "bash", "-n", path).CombinedOutput(); err != nil {
		t.Errorf("bash -n: %v\n%s", err, output)
	}
}

func TestFixFitsTheFacts(t *testing.T) {
	field := func(pointer string, inTarget, inLive bool) drift.Field {
		return drift.Field{Pointer: fieldpath.Pointer(pointer), InTarget: inTarget, InLive: inLive}
	}
	rows := map[string]struct {
		reason    string
		mechanism drift.Mechanism
		sync      drift.Sync
		set       map[string]any // in target, by pointer of maps alone
		live      map[string]any
		field     drift.Field
		want      drift.FixKind
	}{
		"restart that is only live": {"nothing to do", drift.RolloutRestart, drift.Noop, nil, nil, field("/spec/template/metadata/annotations/a", false, true), drift.FixNoneNeeded},
		"restart pinned in Git": {
			"every restart is drift", drift.RolloutRestart, drift.OverwritesLive,
			map[string]any{"/spec/template/metadata/annotations/a": "1"},
			nil,
			field("/spec/template/metadata/annotations/a", true, true), drift.FixDropFieldFromGit,
		},
		"null from a template":        {"the template left it", drift.EmptyVsAbsent, drift.Noop, map[string]any{"/spec/strategy": nil}, nil, field("/spec/strategy", true, false), drift.FixFixTemplateValue},
		"empty map":                   {"the template left it, too", drift.EmptyVsAbsent, drift.Noop, map[string]any{"/spec/strategy": map[string]any{}}, nil, field("/spec/strategy", true, false), drift.FixFixTemplateValue},
		"typo":                        {"the schema has a near name", drift.UnknownFieldPruned, drift.Noop, map[string]any{"/spec/replica": int64(2)}, nil, field("/spec/replica", true, false), drift.FixFixTypoInGit},
		"unknown field":               {"it stands at the wrong place", drift.UnknownFieldPruned, drift.Noop, map[string]any{"/spec/zzzzzz": "x"}, nil, field("/spec/zzzzzz", true, false), drift.FixFixTypoInGit},
		"application by a controller": {"the sync fights", drift.ApplicationSpecEdit, drift.FightsController, nil, nil, field("/spec/replicas", true, true), drift.FixIgnoreDifferencesNarrow},
		"application by a person":     {"the sync overwrites", drift.ApplicationSpecEdit, drift.OverwritesLive, nil, nil, field("/spec/replicas", true, true), drift.FixDecideCommitOrSync},
		"StatefulSet":                 {"pods and volumes can stay", drift.ImmutableField, drift.WillFail, nil, map[string]any{"/spec/volumeClaimTemplates": []any{}}, field("/spec/replicas", true, true), drift.FixRecreateOrphan},
		"run to the end":              {"a run is made anew", drift.ImmutableField, drift.WillFail, nil, map[string]any{"/spec/template/spec/restartPolicy": "Never"}, field("/spec/replicas", true, true), drift.FixConvertToHook},
		"selector":                    {"nothing else helps", drift.ImmutableField, drift.WillFail, nil, nil, field("/spec/replicas", true, true), drift.FixReplaceForce},
		"alias in Git":                {"the old name is in Git", drift.DeprecatedAlias, drift.Noop, map[string]any{"/spec/template/spec/serviceAccount": "x"}, nil, field("/spec/template/spec/serviceAccountName", false, true), drift.FixRenameDeprecatedField},
		"alias that is only live":     {"the removal does not stick", drift.DeprecatedAlias, drift.Noop, nil, nil, field("/spec/template/spec/serviceAccountName", false, true), drift.FixPinDefaultInGit},
		"prune to be confirmed":       {"it waits for a word", drift.PruneProtected, drift.Noop, nil, map[string]any{"/metadata/annotations/argocd.argoproj.io~1sync-options": "Prune=confirm"}, drift.Field{}, drift.FixPruneAfterReview},
		"prune forbidden":             {"it is to stay", drift.PruneProtected, drift.Noop, nil, map[string]any{"/metadata/annotations/argocd.argoproj.io~1sync-options": "Prune=false"}, drift.Field{}, drift.FixMarkIgnoreExtraneous},
		"retry of an old revision":    {"it has to be ended", drift.AutosyncGaveUp, drift.Waits, nil, nil, drift.Field{}, drift.FixTerminateAndResync},
		"gave up":                     {"a sync by hand", drift.AutosyncGaveUp, drift.Safe, nil, nil, drift.Field{}, drift.FixSync},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			snapshot := parseYAML(t, workload)
			snapshot.Resources[0].Target = with(t, snapshot.Resources[0].Target, row.set)
			snapshot.Resources[0].Live = with(t, snapshot.Resources[0].Live, row.live)
			s, r := arrange(t, snapshot)
			fixes := fix.For(s, r, &rule.Answer{Mechanism: row.mechanism, Sync: row.sync}, []drift.Field{row.field})
			if fixes[0].Kind != row.want {
				t.Errorf("%s first, want %s: %s", fixes[0].Kind, row.want, row.reason)
			}
		})
	}
}

// with sets values at pointers that lead through maps alone.
func with(t *testing.T, document object.Object, values map[string]any) object.Object {
	t.Helper()
	for pointer, value := range values {
		path := fix.GitPath(nil, fieldpath.Pointer(pointer).Steps())
		made, ok := fix.Edited(document, []snippet.Change{{Path: path, Value: value}}, true)
		if !ok {
			t.Fatalf("cannot set %s", pointer)
		}
		document = made
	}
	return document
}

func TestShellWordIsOneWord(t *testing.T) {
	for _, word := range []string{"", "plain", "-n", "a b", "a'b", `a\b`, "a\nb'c", "$(boom)", "`boom`", "!x", "ünïcode", "\x1b[31m", "a\tb\\'"} {
		quoted := snippet.ShellWord(word)
		if strings.ContainsAny(quoted, "\n\r") {
			t.Errorf("%q takes several lines: %q", word, quoted)
		}
		output, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+quoted).CombinedOutput()
		if err != nil || string(output) != word {
			t.Errorf("%q becomes %q (%v): %s", word, output, err, quoted)
		}
	}
}

// FuzzFragment holds the text of an edit against a YAML parser: what is set is what
// was meant, and what is removed is nowhere.
func FuzzFragment(f *testing.F) {
	f.Add("key", "value", "name")
	f.Add("y", "on", "1e3")
	f.Add(nasty, nasty, nasty)
	f.Add("a: b", "- x\n  y: |\n\n z", "# no")
	f.Add("true", "  lead\ntrail  \n", "0x1f")
	f.Fuzz(func(t *testing.T, key, value, name string) {
		key, value, name = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(value, "?"), strings.ToValidUTF8(name, "?")
		if key == "" || key == "gone" || len(key) > 200 {
			return
		}
		item := snippet.Step{Item: true, InGit: 0, Identity: []snippet.ItemKey{{Name: "name", Value: name}}}
		set := map[string]any{"text": value, "list": []any{value, map[string]any{key: value}, []any{}}, "none": nil}
		changes := []snippet.Change{
			{Path: []snippet.Step{{Field: "spec"}, {Field: "items"}, item, {Field: "a"}, {Field: key}}, Value: set},
			{Path: []snippet.Step{{Field: "spec"}, {Field: "items"}, item, {Field: "gone"}}, Value: set, Remove: true},
		}
		text := snippet.Fragment(drift.ResourceRef{Kind: "Thing", Name: name}, "v1", changes)
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		want := map[string]any{
			"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"items": []any{map[string]any{"name": name, "a": map[string]any{key: set}}}},
		}
		if diff := cmp.Diff(want, parsed); diff != "" {
			t.Fatalf("-want +got:\n%s\n%s", diff, text)
		}
	})
}

func TestSnippetsHoldNoSecrets(t *testing.T) {
	const value = "c2VjcmV0LXZhbHVl"
	snapshot := parseYAML(t, workload)
	secret := func(data string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "shop", "annotations": map[string]any{mark.LastApplied: `{"data":{"k":"` + data + `"}}`}},
			"data": map[string]any{"k": data}, "stringData": map[string]any{"t": data},
		}
	}
	snapshot.Resources = []drift.Resource{{Target: secret(value), Live: secret(value + "b2xk")}}
	s, r := arrange(t, snapshot)
	fields := r.Masked(flagged(r))
	for _, mechanism := range append(slices.Clone(drift.Mechanisms), drift.Unexplained) {
		for _, fix := range fix.For(s, r, &rule.Answer{Mechanism: mechanism}, slices.Clone(fields)) {
			if strings.Contains(fix.Snippet+fix.Why, value) || strings.Contains(fix.Snippet+fix.Why, state.MaskTarget) {
				t.Errorf("%s: %s shows the value:\n%s", mechanism, fix.Kind, fix.Snippet)
			}
		}
	}
}

func TestEveryMechanismHasARow(t *testing.T) {
	for _, mechanism := range append(slices.Clone(drift.Mechanisms), drift.None) {
		if _, found := fix.ByMechanism[mechanism]; !found {
			t.Errorf("%s has no fixes", mechanism)
		}
	}
	if len(fix.ByMechanism) != len(drift.Mechanisms)+1 {
		t.Errorf("%d mechanisms have fixes, want %d", len(fix.ByMechanism), len(drift.Mechanisms)+1)
	}
}
