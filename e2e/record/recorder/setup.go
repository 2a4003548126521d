package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/record/cases"
)

// open makes what the scenario wants to be there, and syncs.
func (s *Stage) open(ctx context.Context) error {
	var err error
	s.Repository, err = controlplane.NewRepository(ctx, filepath.Join(s.Plane.Dir(), "repositories", s.App))
	if err != nil {
		return err
	}
	s.scrubs = append(s.scrubs, s.Repository.URL(), "https://git.example.com/platform/"+s.App+".git")
	if _, err := s.Commit(ctx, s.Scenario.Files); err != nil {
		return err
	}
	if err := InstallCRDs(ctx, s.Plane, s.Scenario.CRDs...); err != nil {
		return err
	}
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(s.Namespace)
	if err := s.Plane.Apply(ctx, "", namespace); err != nil {
		return err
	}
	if err := s.Plane.ApplyYAML(ctx, s.Namespace, []byte(s.fill(s.Scenario.Cluster))); err != nil {
		return err
	}
	if err := s.Plane.Apply(ctx, "", s.application()); err != nil {
		return err
	}
	s.onClose(func(ctx context.Context) error { return s.Delete(ctx, applicationRef+s.App) })
	if s.Scenario.Before != nil {
		if err := s.Scenario.Before(ctx, s); err != nil {
			return err
		}
	}
	if s.Scenario.NoSync {
		return nil
	}
	_, err = s.Plane.Sync(ctx, s.App)
	return err
}

// application is the Application as the scenario wants it.
func (s *Stage) application() *unstructured.Unstructured {
	source := map[string]any{"repoURL": s.Repository.URL(), "targetRevision": "main", "path": "app"}
	maps.Copy(source, s.Scenario.Source)
	application := controlplane.Application{
		Name: s.App, Namespace: s.Namespace, Source: source, SyncPolicy: s.Scenario.SyncPolicy,
	}.Object()
	spec, _ := application.Object["spec"].(map[string]any)
	for key, value := range s.Scenario.Spec {
		spec[key] = s.fillValue(value)
		if value == nil {
			delete(spec, key)
		}
	}
	application.SetAnnotations(s.Scenario.Annotations)
	return application
}

// fill puts the stage's own names into a text of the scenario.
func (s *Stage) fill(text string) string {
	return strings.NewReplacer("$REPOSITORY", s.Repository.URL(), "$APP", s.App, "$NAMESPACE", s.Namespace).Replace(text)
}

func (s *Stage) fillValue(value any) any {
	switch value := value.(type) {
	case string:
		return s.fill(value)
	case map[string]any:
		filled := map[string]any{}
		for key, item := range value {
			filled[key] = s.fillValue(item)
		}
		return filled
	case []any:
		filled := make([]any, len(value))
		for i, item := range value {
			filled[i] = s.fillValue(item)
		}
		return filled
	default:
		return value
	}
}

// onClose runs when the stage is closed, the last one first.
func (s *Stage) onClose(cleanup func(context.Context) error) {
	s.cleanups = append(s.cleanups, cleanup)
}

// scrub takes out what only this run knows.
func (s *Stage) scrub(recorded *cases.Case) (*cases.Case, error) {
	data, err := json.Marshal(recorded)
	if err != nil {
		return nil, fmt.Errorf("encode case: %w", err)
	}
	scrubbed, err := cases.Decode([]byte(strings.NewReplacer(s.scrubs...).Replace(string(data))))
	if err != nil {
		return nil, fmt.Errorf("scrub case: %w", err)
	}
	return &scrubbed, nil
}

// settingsOf are the scenario's settings of argocd-cm.
func settingsOf(scenario Scenario) map[string]string {
	settings := DefaultSettings()
	maps.Copy(settings, scenario.Settings)
	return settings
}
