package classify_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// FuzzReport edits real objects at random and holds the report to its law: the
// normalised live state with every flagged field set to its target value is what
// Argo CD predicts; each field stands in one finding; what Argo CD does not flag
// says so.
func FuzzReport(f *testing.F) {
	all, err := cases.Load(f.Context(), "../testdata/cases")
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		snapshot := copied(t, all[random.IntN(len(all))].Snapshot)
		for i := range snapshot.Resources {
			r := &snapshot.Resources[i]
			r.NormalizedLive, r.PredictedLive = nil, nil
			for range random.IntN(4) {
				r.Target, r.Live = edited(random, r.Target), edited(random, r.Live)
			}
		}
		if snapshot.Settings[drift.SettingStrategy] == string(drift.ServerSide) {
			delete(snapshot.Settings, drift.SettingStrategy)
		}
		checkLaw(t, snapshot)
	})
}

func checkLaw(t *testing.T, snapshot *drift.Snapshot) {
	t.Helper()
	before := encoded(t, snapshot)
	report, err := classify.Classify(t.Context(), snapshot, classify.Options{Prove: true})
	if err != nil {
		return
	}
	if diff := cmp.Diff(before, encoded(t, snapshot)); diff != "" {
		t.Fatalf("Classify changed the snapshot: %s", diff)
	}
	compared, err := classify.Compare(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	blind := slices.ContainsFunc(report.Findings, func(f drift.Finding) bool { return f.Sync == drift.Blocked })
	for _, c := range compared {
		if c.Normalized == nil || blind || c.Ref.Kind == "Secret" {
			continue
		}
		var flagged []drift.Field
		seen := map[fieldpath.Pointer]bool{}
		for _, f := range report.Findings {
			if !same(f.Resource, c.Ref) || !f.Flagged {
				continue
			}
			for _, field := range f.Fields {
				if seen[field.Pointer] {
					t.Errorf("%s %s: %s stands in two findings", c.Ref.Kind, c.Ref.Name, field.Pointer)
				}
				seen[field.Pointer] = true
				flagged = append(flagged, field)
			}
		}
		slices.SortFunc(flagged, func(a, b drift.Field) int { return fieldpath.Compare(a.Pointer, b.Pointer) })
		if diff := cmp.Diff(plain(t, c.Predicted), plain(t, apply(t, c.Normalized, flagged))); diff != "" {
			t.Errorf("%s %s: live with the flagged fields set is not what Argo CD predicts: %s", c.Ref.Kind, c.Ref.Name, diff)
		}
	}
}

// apply sets each field to its target value: first those that both sides have, then
// it takes away what target lacks, from behind, and puts in what live lacks, from the front.
func apply(t *testing.T, live map[string]any, flagged []drift.Field) any {
	t.Helper()
	document := plain(t, live)
	for _, f := range flagged {
		if f.InLive && f.InTarget {
			document = set(document, f.Pointer.Steps(), func(any) (any, bool) { return f.Target, true })
		}
	}
	for _, f := range slices.Backward(flagged) {
		if !f.InTarget {
			document = set(document, f.Pointer.Steps(), func(any) (any, bool) { return nil, false })
		}
	}
	for _, f := range flagged {
		if !f.InLive {
			document = insert(document, f.Pointer.Steps(), f.Target)
		}
	}
	return document
}

// set replaces or removes the node at the steps.
func set(node any, steps []string, change func(any) (any, bool)) any {
	switch node := node.(type) {
	case map[string]any:
		if len(steps) > 1 {
			node[steps[0]] = set(node[steps[0]], steps[1:], change)
		} else if value, keep := change(node[steps[0]]); keep {
			node[steps[0]] = value
		} else {
			delete(node, steps[0])
		}
	case []any:
		i, _ := strconv.Atoi(steps[0])
		if i >= len(node) {
			return node
		}
		if len(steps) > 1 {
			node[i] = set(node[i], steps[1:], change)
		} else if value, keep := change(node[i]); keep {
			node[i] = value
		} else {
			return slices.Delete(node, i, i+1)
		}
	}
	return node
}

func insert(node any, steps []string, value any) any {
	switch node := node.(type) {
	case map[string]any:
		if len(steps) > 1 {
			node[steps[0]] = insert(node[steps[0]], steps[1:], value)
		} else {
			node[steps[0]] = value
		}
	case []any:
		i, _ := strconv.Atoi(steps[0])
		if len(steps) > 1 && i < len(node) {
			node[i] = insert(node[i], steps[1:], value)
		} else if len(steps) == 1 && i <= len(node) {
			return slices.Insert(node, i, value)
		}
	}
	return node
}

// edited changes one place of an object: another value, one more, one less, or another order.
func edited(random *rand.Rand, o map[string]any) map[string]any {
	if len(o) == 0 {
		return o
	}
	spec, _ := o["spec"].(map[string]any)
	if spec == nil || random.IntN(6) == 0 {
		spec, _ = o["metadata"].(map[string]any)
	}
	if spec != nil {
		editBelow(random, spec, 0)
	}
	return o
}

func editBelow(random *rand.Rand, holder any, depth int) {
	switch holder := holder.(type) {
	case map[string]any:
		names := make([]string, 0, len(holder))
		for name := range holder {
			names = append(names, name)
		}
		slices.Sort(names)
		if len(names) == 0 || random.IntN(8) == 0 {
			holder["added"+strconv.Itoa(random.IntN(3))] = value(random)
			return
		}
		name := names[random.IntN(len(names))]
		switch {
		case depth < 8 && random.IntN(4) > 0 && isHolder(holder[name]):
			editBelow(random, holder[name], depth+1)
		case random.IntN(3) == 0:
			delete(holder, name)
		default:
			holder[name] = value(random)
		}
	case []any:
		if len(holder) == 0 {
			return
		}
		i := random.IntN(len(holder))
		switch random.IntN(4) {
		case 0:
			random.Shuffle(len(holder), func(i, j int) { holder[i], holder[j] = holder[j], holder[i] })
		case 1:
			holder[i] = holder[random.IntN(len(holder))]
		default:
			if isHolder(holder[i]) {
				editBelow(random, holder[i], depth+1)
			} else {
				holder[i] = value(random)
			}
		}
	}
}

func isHolder(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func value(random *rand.Rand) any {
	values := []any{"", "text", int64(0), int64(7), 1.5, true, false, nil, []any{}, map[string]any{}, []any{"a", "b"}, []any{"b", "a"}, map[string]any{"name": "x"}, "1000m", "1", []any{map[string]any{"name": "a"}, map[string]any{"name": "b", "value": "c"}}}
	return values[random.IntN(len(values))]
}

func copied(t *testing.T, snapshot drift.Snapshot) *drift.Snapshot {
	t.Helper()
	parsed, err := drift.Parse(encoded(t, &snapshot))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func plain(t *testing.T, value any) any {
	t.Helper()
	var read map[string]any
	if err := kjson.Unmarshal(encoded(t, value), &read); err != nil {
		t.Fatal(err)
	}
	return read
}
