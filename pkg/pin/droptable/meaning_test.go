package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/pin"
)

// surroundings are what the objects hold beside the field in question, so that what it
// permits or forbids can show.
var surroundings = map[string][]string{
	"AppProject": {
		`{}`,
		`{"spec": {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}], "sourceNamespaces": ["*"], "clusterResourceWhitelist": [{"group": "*", "kind": "*"}], "namespaceResourceWhitelist": [{"group": "*", "kind": "*"}], "roles": [{"name": "r", "policies": ["p, proj:p:r, applications, sync, p/*, allow"], "groups": ["g"], "jwtTokens": [{"iat": 1, "exp": 2, "id": "i"}]}], "syncWindows": [{"kind": "deny", "schedule": "* * * * *", "duration": "24h", "applications": ["*"], "namespaces": ["*"], "clusters": ["*"]}], "orphanedResources": {"warn": true, "ignore": [{"kind": "Secret"}]}, "signatureKeys": [{"keyID": "0123456789ABCDEF"}], "destinationServiceAccounts": [{"server": "*", "namespace": "*", "defaultServiceAccount": "a"}]}}`,
		`{"spec": {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}], "namespaceResourceBlacklist": [{"group": "", "kind": "Secret"}], "clusterResourceBlacklist": [{"group": "", "kind": "Namespace"}]}}`,
	},
	"Application": {
		`{}`,
		`{"spec": {"project": "p", "source": {"repoURL": "https://example.org/a.git", "path": "a"}, "destination": {"server": "https://example.org", "namespace": "n"}, "syncPolicy": {"automated": {}, "managedNamespaceMetadata": {}}}, "status": {"operationState": {"syncResult": {"managedNamespaceMetadata": {}}}}}`,
	},
}

// readers ask Argo CD's own functions all they can tell of an object.
var readers = map[string]func(text []byte) (string, error){
	"AppProject":  readProject,
	"Application": readApplication,
}

func readProject(text []byte) (string, error) {
	var project v1alpha1.AppProject
	if err := json.Unmarshal(text, &project); err != nil {
		return "", err
	}
	var answers strings.Builder
	tell := func(format string, args ...any) { fmt.Fprintf(&answers, format+"\n", args...) }
	clusters := func(string) ([]*v1alpha1.Cluster, error) {
		return []*v1alpha1.Cluster{{Name: "c", Server: "https://example.org"}}, nil
	}
	for _, kind := range []schema.GroupKind{{Kind: "Secret"}, {Kind: "Namespace"}, {Group: "apps", Kind: "Deployment"}} {
		for _, namespaced := range []bool{true, false} {
			tell("kind %s %v: %v", kind, namespaced, project.IsGroupKindPermitted(kind, namespaced))
		}
		permitted, err := project.IsResourcePermitted(kind, "n", v1alpha1.ApplicationDestination{Server: "https://example.org"}, clusters)
		tell("resource %s: %v %v", kind, permitted, err)
	}
	for _, destination := range []v1alpha1.ApplicationDestination{{}, {Server: "https://example.org", Namespace: "n"}, {Name: "c", Namespace: "n"}, {Server: "https://other.org"}} {
		permitted, err := project.IsDestinationPermitted(destination, clusters)
		tell("destination %s: %v %v", destination.Server+destination.Name, permitted, err)
	}
	for _, repository := range []string{"", "https://example.org/a.git"} {
		tell("source: %v", project.IsSourcePermitted(v1alpha1.ApplicationSource{RepoURL: repository}))
	}
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "other"}, Spec: v1alpha1.ApplicationSpec{Destination: v1alpha1.ApplicationDestination{Server: "https://example.org", Namespace: "n", Name: "c"}}}
	tell("namespace: %v", project.IsAppNamespacePermitted(app, "argocd"))
	windows := project.Spec.SyncWindows.Matches(app)
	for _, manual := range []bool{true, false} {
		can, err := windows.CanSync(manual)
		tell("sync: %v %v", can, err)
	}
	tell("windows: %v, orphans: %v %v, signed: %v", project.Spec.SyncWindows.HasWindows(), project.Spec.OrphanedResources != nil, project.Spec.OrphanedResources != nil && project.Spec.OrphanedResources.IsWarn(), len(project.Spec.SignatureKeys) > 0)
	tell("policies: %s", project.ProjectPoliciesString())
	tell("valid: %v", project.ValidateProject())
	sent, err := project.Marshal()
	tell("on the wire: %x", sent)
	return answers.String(), err
}

func readApplication(text []byte) (string, error) {
	var app v1alpha1.Application
	if err := json.Unmarshal(text, &app); err != nil {
		return "", err
	}
	var answers strings.Builder
	tell := func(format string, args ...any) { fmt.Fprintf(&answers, format+"\n", args...) }
	tell("namespace metadata: %v", app.HasChangedManagedNamespaceMetadata())
	// The controller normalises what is stored before it compares or syncs anything.
	app.Spec = *argo.NormalizeApplicationSpec(&app.Spec)
	tell("sources: %v", app.Spec.HasMultipleSources())
	for _, source := range append(app.Spec.GetSources(), app.Spec.GetSource()) {
		kind, err := source.ExplicitType()
		if kind == nil {
			kind = new(v1alpha1.ApplicationSourceType)
		}
		tell("type: %v %v, zero %v", *kind, err, source.IsZero())
	}
	tell("automated: %v, policy: %v", app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.Automated != nil, app.Spec.SyncPolicy.IsZero())
	if app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.Retry != nil {
		next, err := app.Spec.SyncPolicy.Retry.NextRetryAt(time.Unix(0, 0), 1)
		tell("retry: %v %v %v", app.Spec.SyncPolicy.Retry.Limit, next, err)
	}
	sent, err := app.Spec.Marshal()
	tell("on the wire: %x", sent)
	return answers.String(), err
}

// answersDiffer tells a reader the object with the value and without it.
func answersDiffer(t *testing.T, kind string, pointer string, value any) string {
	t.Helper()
	steps := fieldpath.Pointer(pointer).Steps()
	read := readers[kind]
	for _, surrounding := range surroundings[kind] {
		var answers [2]string
		for i, put := range []bool{true, false} {
			var object any
			if err := json.Unmarshal([]byte(surrounding), &object); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(with(object, steps, value, put))
			if err != nil {
				t.Fatal(err)
			}
			if answers[i], err = read(text); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			return diff
		}
	}
	return ""
}

// with returns the object with the value at the path, or with nothing there; what is on
// the way is made, and "*" is the first item of a list.
func with(object any, steps []string, value any, put bool) any {
	if steps[0] == "*" {
		list, _ := object.([]any)
		if len(list) == 0 {
			list = []any{map[string]any{}}
		}
		list[0] = with(list[0], steps[1:], value, put)
		return list
	}
	fields, ok := object.(map[string]any)
	if !ok {
		fields = map[string]any{}
	}
	switch {
	case len(steps) > 1:
		fields[steps[0]] = with(fields[steps[0]], steps[1:], value, put)
	case put:
		fields[steps[0]] = value
	default:
		delete(fields, steps[0])
	}
	return fields
}

func table(t *testing.T) pin.RuleFile {
	t.Helper()
	text, err := Table()
	if err != nil {
		t.Fatal(err)
	}
	var file pin.RuleFile
	if err := yaml.Unmarshal(bytes.TrimPrefix(text, []byte(header)), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestMeaning: to every function of Argo CD that decides something, a value that the
// table drops says the same as its absence.
func TestMeaning(t *testing.T) {
	asked := 0
	for _, row := range table(t).Drop {
		if readers[row.Kind] == nil {
			continue // the functions that read ApplicationSets are not exported
		}
		for _, pointer := range row.Pointers {
			asked++
			if diff := answersDiffer(t, row.Kind, pointer, row.Value); diff != "" {
				t.Errorf("%s %s: %v is not the same as nothing; add it to the meanings:\n%s", row.Kind, pointer, row.Value, diff)
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d values are too few to show anything", asked)
	}
}

// TestMeaningsHold: each field that is kept for its meaning would be in the table but
// for that, and the readers that can be asked tell the difference.
func TestMeaningsHold(t *testing.T) {
	kept := map[string]bool{}
	reviewed := meanings
	meanings = nil
	defer func() { meanings = reviewed }()
	for _, row := range table(t).Drop {
		for _, pointer := range row.Pointers {
			for i, m := range reviewed {
				if m.kind != row.Kind || !strings.HasSuffix(pointer, m.pointer) {
					continue
				}
				kept[fmt.Sprint(i)] = true
				if readers[row.Kind] != nil && answersDiffer(t, row.Kind, pointer, row.Value) == "" {
					t.Errorf("%s %s: Argo CD's functions see no difference", row.Kind, pointer)
				}
			}
		}
	}
	if len(kept) != len(reviewed) {
		t.Errorf("only the meanings %v of %d name fields that would be dropped", slices.Sorted(maps.Keys(kept)), len(reviewed))
	}
}

// TestSchemaAllowsAbsence: the API server neither demands a dropped field nor gives it
// a default, by the CRDs that Argo CD is installed with.
func TestSchemaAllowsAbsence(t *testing.T) {
	all, err := crds.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]any{}
	for _, crd := range all {
		if version, found := fieldpath.Pointer("/spec/versions/0/schema/openAPIV3Schema").Value(crd.Content); found && crd.Group() == "argoproj.io" {
			schemas[crd.Kind()] = version
		}
	}
	looked := 0
	for _, row := range table(t).Drop {
		for _, pointer := range row.Pointers {
			schema, _ := schemas[row.Kind].(map[string]any)
			for _, step := range fieldpath.Pointer(pointer).Steps() {
				required, _ := schema["required"].([]any)
				if slices.Contains(required, any(step)) && strings.HasSuffix(pointer, "/"+step) {
					t.Errorf("%s %s: the field is required", row.Kind, pointer)
				}
				schema = below(schema, step)
			}
			if schema != nil {
				looked++
			}
			if _, found := schema["default"]; found {
				t.Errorf("%s %s: the field has a default", row.Kind, pointer)
			}
		}
	}
	if looked < 500 {
		t.Errorf("%d fields are too few to show anything", looked)
	}
}

func below(schema map[string]any, step string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	child, found := properties[step].(map[string]any)
	if !found && step == "*" {
		child, _ = schema["items"].(map[string]any)
	}
	return child
}
