package recorder

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
)

func TestParseRef(t *testing.T) {
	for text, want := range map[string]Ref{
		"v1/ConfigMap/a":             {Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "a"},
		"v1/ConfigMap/ns/a":          {Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "ns", Name: "a"},
		"apps/v1/Deployment/web":     {Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "web"},
		"keda.sh/v1alpha1/Kind/ns/a": {Kind: schema.GroupVersionKind{Group: "keda.sh", Version: "v1alpha1", Kind: "Kind"}, Namespace: "ns", Name: "a"},
	} {
		if got, err := ParseRef(text); err != nil || got != want {
			t.Errorf("%s is read as %+v (error %v)", text, got, err)
		}
	}
	for _, text := range []string{"", "web", "Deployment/web", "apps/Deployment/web", "a/v1/b/c/d/e"} {
		if got, err := ParseRef(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestDifferences(t *testing.T) {
	for name, tc := range map[string]struct {
		live, predicted string
		want            []string
		reason          string
	}{
		"equal":            {`{"a":[1,{"b":2}]}`, `{"a":[1,{"b":2}]}`, nil, "nothing differs"},
		"smallest node":    {`{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":3}}`, []string{"/a/c"}, "the map around it does not differ as a whole"},
		"root of subtree":  {`{"a":{"b":{"c":1}}}`, `{"a":{}}`, []string{"/a/b"}, "one side lacks all of it"},
		"escaped key":      {`{"a/b":1}`, `{"a/b":2}`, []string{"/a~1b"}, "keys hold slashes"},
		"null is a value":  {`{"a":null}`, `{}`, []string{"/a"}, "absent is not null"},
		"list by place":    {`{"l":[1,2]}`, `{"l":[2,1]}`, []string{"/l/0", "/l/1"}, "the lists are of one length"},
		"list by name":     {`{"l":[{"name":"x"},{"name":"a","v":1}]}`, `{"l":[{"name":"a","v":2}]}`, []string{"/l/0", "/l/1/v"}, "names tell who is who"},
		"appended live":    {`{"l":[1,2,3]}`, `{"l":[1,2]}`, []string{"/l/2"}, "the beginnings are equal"},
		"appended target":  {`{"l":[1]}`, `{"l":[1,2]}`, []string{"/l/1"}, "live lacks the item: the target's index"},
		"inserted":         {`{"l":[1,9,2]}`, `{"l":[1,2]}`, []string{"/l/1"}, "the ends are equal"},
		"empty list":       {`{"l":[1,2]}`, `{"l":[]}`, []string{"/l/0", "/l/1"}, "both have the list"},
		"list turned null": {`{"l":[1]}`, `{"l":null}`, []string{"/l"}, "null has no items"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Differences(decoded(t, tc.live), decoded(t, tc.predicted))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// labelled is a case in which somebody scales.
func labelled() cases.Case {
	resource := drift.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	state := func(replicas int) map[string]any {
		return map[string]any{"spec": map[string]any{"replicas": replicas}}
	}
	return cases.Case{
		Name: "manual-edit/scaled", Snapshot: drift.Snapshot{Resources: []drift.Resource{{ResourceRef: resource}}},
		Expect: cases.Expect{Findings: []cases.Finding{{
			Resource: resource, Mechanism: drift.ManualEdit, Flagged: true, Fields: []string{"/spec/replicas"}, Sync: drift.OverwritesLive,
		}}},
		ArgoCD: &cases.Verdict{Sync: "OutOfSync", Resources: []cases.ResourceVerdict{{
			ResourceRef: resource, Status: "OutOfSync", NormalizedLive: state(3), PredictedLive: state(2),
		}}},
	}
}

func TestCheckLabel(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*cases.Case)
		want   string
	}{
		"right":           {func(*cases.Case) {}, ""},
		"other field":     {func(c *cases.Case) { c.Expect.Findings[0].Fields = []string{"/spec/paused"} }, "/spec/paused"},
		"field forgotten": {func(c *cases.Case) { c.Expect.Findings[0].Fields = nil }, "/spec/replicas"},
		"other object":    {func(c *cases.Case) { c.Expect.Findings[0].Resource.Name = "db" }, "which the snapshot lacks"},
		"no finding":      {func(c *cases.Case) { c.Expect.Findings = nil }, "no flagged finding"},
		"nothing flagged": {func(c *cases.Case) {
			c.ArgoCD.Resources[0].Status = "Synced"
			c.ArgoCD.Resources[0].PredictedLive = c.ArgoCD.Resources[0].NormalizedLive
		}, "Argo CD flags []"},
		"hidden though flagged": {func(c *cases.Case) { c.Expect.Findings[0].Flagged = false }, "Argo CD flags"},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := labelled()
			tc.change(&recorded)
			err := CheckLabel(recorded)
			var wrong *LabelError
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("a right label is refused: %v", err)
			case tc.want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error is %v, want %q", err, tc.want)
			}
		})
	}
}

func TestSameFacts(t *testing.T) {
	again := labelled()
	again.ArgoCD.Resources[0].NormalizedLive["metadata"] = map[string]any{"uid": "b"}
	again.ArgoCD.Resources[0].PredictedLive["metadata"] = map[string]any{"uid": "b"}
	if err := SameFacts(labelled(), again); err != nil {
		t.Errorf("another uid is another case: %v", err)
	}
	again.ArgoCD.Resources[0].PredictedLive["metadata"] = map[string]any{"uid": "c"}
	if err := SameFacts(labelled(), again); err == nil || !strings.Contains(err.Error(), "/metadata/uid") {
		t.Errorf("another flagged field goes unnoticed: %v", err)
	}
}

func TestScenariosMayNotShareNames(t *testing.T) {
	for name, tc := range map[string]struct {
		second Scenario
		want   string
	}{
		"distinct":    {Scenario{Name: "none/b"}, ""},
		"case":        {Scenario{Name: "none/a", App: "b"}, "case none/a"},
		"application": {Scenario{Name: "none/b", App: "a", Namespace: "b"}, "application a"},
		"namespace":   {Scenario{Name: "none/b", Namespace: "a"}, "namespace a"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckNames([]Scenario{{Name: "none/a"}, tc.second})
			if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
		})
	}
}

func TestPatchOfAMutation(t *testing.T) {
	object := decoded(t, `{"metadata":{"name":"a"},"spec":{"list":[1,{"x":1}]}}`)
	patch, err := patchOf(object, func(object map[string]any) {
		object["spec"].(map[string]any)["list"].([]any)[1].(map[string]any)["x"] = 2
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"op":"add","path":"/spec","value":{"list":[1,{"x":2}]}}]`; string(patch) != want {
		t.Errorf("patch is %s, want %s", patch, want)
	}
}
