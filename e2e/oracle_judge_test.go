package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	generator "github.com/moorpin/moorpin/e2e/generate"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// oracle asks the server about the objects of one kind.
type oracle struct {
	server  oracleServer
	schemas crd.Lookup
	kind    *generator.Kind
}

// oracleVerdict is what comes out for one object.
type oracleVerdict struct {
	object  map[string]any
	profile generator.Profile
	changes []pin.Change
	// refusal is the server's answer when it does not take the object.
	refusal string
	// differences are the fields in which the server and pin differ, for people.
	differences []string
	// The rest is counted, see oracleCounts.
	foreseen, lost, scaled bool
}

// String returns the differences and the object that has them.
func (v oracleVerdict) String() string {
	return strings.Join(v.differences, "\n  ") + "\n  object " + jsonText(v.object)
}

// judge asks the server for the object and for its pinned twin.
func (o oracle) judge(ctx context.Context, object map[string]any, facts generator.Facts) (oracleVerdict, error) {
	verdict := oracleVerdict{object: object, profile: facts.Profile, lost: len(facts.Lost) > 0}
	live, refusal, err := o.server.stored(ctx, o.kind, object)
	if err != nil || refusal != "" {
		verdict.refusal = refusal
		return verdict, err
	}
	result, err := o.pin(ctx, object)
	if err != nil {
		return verdict, err
	}
	verdict.changes = result.Changes
	twin := runtime.DeepCopyJSON(result.Object.Content)
	metadata, _ := twin["metadata"].(map[string]any)
	metadata["name"] = fmt.Sprint(metadata["name"], "-pinned")
	liveTwin, refusal, err := o.server.stored(ctx, o.kind, twin)
	if err != nil {
		return verdict, err
	}
	if refusal != "" {
		verdict.differences = []string{"the server takes the object, and refuses it pinned: " + refusal}
		return verdict, nil
	}
	return verdict, o.compare(&verdict, facts, oracleTwins{live, liveTwin, result.Object.Content})
}

// oracleTwins is what the server returned of the object, what it returned of the
// pinned object, and the pinned object.
type oracleTwins struct {
	unpinned, twin, pinned map[string]any
}

// compare holds the three against one another.
func (o oracle) compare(v *oracleVerdict, facts generator.Facts, all oracleTwins) error {
	foreseen, err := o.kind.Stored(v.object)
	if err != nil {
		return fmt.Errorf("ask the server's libraries: %w", err)
	}
	v.foreseen = reflect.DeepEqual(withoutServerMetadata(all.unpinned), withoutServerMetadata(foreseen))
	view := oracleView{lost: facts.Lost}
	for _, pointer := range o.kind.Replicas {
		if given, _ := pointer.Value(v.object); given != nil {
			continue
		}
		_, scaled := pointer.Value(all.unpinned)
		v.scaled = v.scaled || scaled
		view.replicas = append(view.replicas, pointer)
		if value, _ := pointer.Value(all.pinned); value != nil {
			v.differences = append(v.differences, fmt.Sprintf("%s is behind the scale subresource, and pinned to %s", pointer, jsonText(value)))
		}
	}
	if !reflect.DeepEqual(v.object["status"], all.pinned["status"]) {
		v.differences = append(v.differences, "the status is pinned to "+jsonText(all.pinned["status"]))
	}
	got, err := view.sent(all.pinned)
	if err != nil {
		return err
	}
	v.differences = append(v.differences, oracleDifferences("unpinned", view.of(all.unpinned), "pinned", got)...)
	v.differences = append(v.differences, oracleDifferences("twin", view.of(all.twin), "pinned", got)...)
	v.differences = append(v.differences, oracleDifferences("unpinned", withoutServerMetadata(all.unpinned), "twin", withoutServerMetadata(all.twin))...)
	return nil
}

// pin pins the object, and drops nothing: what controllers drop is not the server's doing.
func (o oracle) pin(ctx context.Context, object map[string]any) (pin.Result, error) {
	options := pin.Options{Mode: pin.ModeAll, Schemas: o.schemas, Rules: &pin.Rules{}}
	results, err := pin.All(ctx, []manifest.Object{{Content: runtime.DeepCopyJSON(object)}}, options)
	if err != nil {
		return pin.Result{}, fmt.Errorf("pin: %w", err)
	}
	if warnings := results[0].Warnings; len(warnings) > 0 {
		return pin.Result{}, fmt.Errorf("pin: %v", warnings)
	}
	return results[0], nil
}

// oracleView takes away what is not compared, by what pin promises.
type oracleView struct {
	// lost are the fields that the server does not keep and pin has to leave alone.
	lost []fieldpath.Pointer
	// replicas are behind the scale subresource, and Git leaves them out.
	replicas []fieldpath.Pointer
}

// withoutServerMetadata is an object without what the server sets in metadata, and without what
// differs between twins.
func withoutServerMetadata(object map[string]any) map[string]any {
	seen := runtime.DeepCopyJSON(object)
	metadata, _ := seen["metadata"].(map[string]any)
	for _, name := range []string{
		"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink",
	} {
		delete(metadata, name)
	}
	return seen
}

// of is an object without what pin never pins: its status and its replicas.
func (v oracleView) of(object map[string]any) map[string]any {
	seen := withoutServerMetadata(object)
	delete(seen, "status")
	for _, pointer := range v.replicas {
		removeField(seen, pointer)
	}
	return seen
}

// sent is what pin made, as the server sees it: with numbers as JSON has them.
func (v oracleView) sent(object map[string]any) (map[string]any, error) {
	encoded, err := json.Marshal(v.of(object))
	if err != nil {
		return nil, fmt.Errorf("encode the pinned object: %w", err)
	}
	var seen map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &seen); err != nil {
		return nil, fmt.Errorf("decode the pinned object: %w", err)
	}
	for _, pointer := range v.lost {
		removeField(seen, pointer)
	}
	return seen, nil
}

func removeField(object map[string]any, pointer fieldpath.Pointer) {
	steps := pointer.Steps()
	parent, _ := pointer.Parent().Value(object)
	if fields, ok := parent.(map[string]any); ok {
		delete(fields, steps[len(steps)-1])
	}
}

// oracleDifferences lists the smallest fields in which two values differ.
func oracleDifferences(leftName string, left any, rightName string, right any) []string {
	var found []string
	eachDifference("", left, right, func(pointer fieldpath.Pointer, left, right string) {
		found = append(found, fmt.Sprintf("%s: %s has %s, %s has %s", pointer, leftName, left, rightName, right))
	})
	return found
}

func eachDifference(at fieldpath.Pointer, left, right any, visit func(at fieldpath.Pointer, left, right string)) {
	if reflect.DeepEqual(left, right) {
		return
	}
	leftMap, isMap := left.(map[string]any)
	rightMap, areMaps := right.(map[string]any)
	if isMap && areMaps {
		all := maps.Clone(leftMap)
		maps.Copy(all, rightMap)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			l, inLeft := leftMap[name]
			r, inRight := rightMap[name]
			switch {
			case inLeft && inRight:
				eachDifference(at.Key(name), l, r, visit)
			case inLeft:
				visit(at.Key(name), jsonText(l), "nothing")
			default:
				visit(at.Key(name), "nothing", jsonText(r))
			}
		}
		return
	}
	leftList, isList := left.([]any)
	rightList, areLists := right.([]any)
	if isList && areLists && len(leftList) == len(rightList) {
		for i := range leftList {
			eachDifference(at.Index(i), leftList[i], rightList[i], visit)
		}
		return
	}
	visit(at, jsonText(left), jsonText(right))
}

func jsonText(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}
