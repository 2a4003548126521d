package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
)

// notApplicableError says why a fix cannot be applied by a test.
type notApplicableError struct{ reason string }

func (e *notApplicableError) Error() string { return e.reason }

// apply applies the fix, and reports whether it promises to keep live values through a sync.
func (a *attempt) apply(ctx context.Context) (keeps bool, err error) {
	switch a.fix.Where {
	case drift.InApplication:
		return a.applyRules(ctx)
	case drift.InGit:
		return false, a.applyEdit(ctx)
	default:
		return false, &notApplicableError{"the fix is an edit of " + string(a.fix.Where)}
	}
}

// applicationPatch is what a snippet adds to an Application.
type applicationPatch struct {
	Spec struct {
		IgnoreDifferences []any `json:"ignoreDifferences,omitempty"`
		SyncPolicy        struct {
			SyncOptions []any `json:"syncOptions,omitempty"`
		} `json:"syncPolicy,omitzero"`
	} `json:"spec"`
}

// applyRules adds to the Application what the snippet says, as a person would who
// pastes it, beside what is there.
func (a *attempt) applyRules(ctx context.Context) (keeps bool, err error) {
	var added applicationPatch
	if err := yaml.UnmarshalStrict([]byte(a.fix.Snippet), &added); err != nil {
		return false, fmt.Errorf("read the snippet: %w\n%s", err, a.fix.Snippet)
	}
	rules, err := asValues(a.fix.Rules())
	if err != nil {
		return false, err
	}
	if diff := gocmp.Diff(rules, added.Spec.IgnoreDifferences); diff != "" {
		return false, fmt.Errorf("the snippet says other rules than were tried (-tried +snippet):\n%s", diff)
	}
	there, _, _ := unstructured.NestedSlice(a.before.Snapshot.Application, "spec", "ignoreDifferences")
	options, _, _ := unstructured.NestedSlice(a.before.Snapshot.Application, "spec", "syncPolicy", "syncOptions")
	keeps = slices.Contains(added.Spec.SyncPolicy.SyncOptions, any("RespectIgnoreDifferences=true"))
	added.Spec.IgnoreDifferences = append(there, added.Spec.IgnoreDifferences...)
	added.Spec.SyncPolicy.SyncOptions = append(options, added.Spec.SyncPolicy.SyncOptions...)
	patch, err := json.Marshal(added)
	if err != nil {
		return false, fmt.Errorf("encode patch: %w", err)
	}
	a.steps = append(a.steps, "rules added to the Application")
	return keeps, a.stage.PatchApplication(ctx, "argocd-server", string(patch))
}

func asValues(from any) ([]any, error) {
	data, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("encode rules: %w", err)
	}
	var values []any
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, fmt.Errorf("decode rules: %w", err)
	}
	return values, nil
}

// applyEdit makes the edit in the file of Git that holds the manifest, and commits it.
func (a *attempt) applyEdit(ctx context.Context) error {
	source, _, _ := unstructured.NestedString(a.before.Snapshot.Application, "status", "sourceType")
	if source != "Directory" {
		return &notApplicableError{"the edit is one of a " + source + " source, which only its author can make"}
	}
	a.edited = map[string]string{}
	root := a.stage.Repository.Dir()
	err := filepath.WalkDir(filepath.Join(root, "app"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".yml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content, changed, err := a.editStream(string(data))
		if err != nil || !changed {
			return err
		}
		name, err := filepath.Rel(root, path)
		a.edited[filepath.ToSlash(name)] = content
		return err
	})
	if err != nil {
		return fmt.Errorf("edit the manifest: %w", err)
	}
	if len(a.edited) == 0 {
		return &notApplicableError{"no file of Git holds the manifest as it is rendered"}
	}
	a.steps = append(a.steps, "edited and committed")
	_, err = a.stage.Repository.Commit(ctx, "Apply the fix", a.edited)
	return err
}

// editStream edits the finding's object in a YAML stream.
func (a *attempt) editStream(stream string) (content string, changed bool, err error) {
	documents := strings.Split(stream, "\n---\n")
	for i, document := range documents {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return "", false, err
		}
		if !a.means(object) {
			continue
		}
		edited, ok := a.fix.Edited(object.Object)
		if !ok {
			return "", false, fmt.Errorf("the edit does not fit the manifest:\n%s", document)
		}
		data, err := yaml.Marshal(edited)
		if err != nil {
			return "", false, err
		}
		documents[i], changed = strings.TrimSuffix(string(data), "\n"), true
	}
	return strings.Join(documents, "\n---\n") + "\n", changed, nil
}

// means reports whether the manifest is that of the finding's object.
func (a *attempt) means(object *unstructured.Unstructured) bool {
	want, group := a.finding.Resource, object.GroupVersionKind().Group
	place := object.GetNamespace()
	return group == want.Group && object.GetKind() == want.Kind && object.GetName() == want.Name &&
		(place == "" || place == want.Namespace)
}
