package recorder

import (
	"context"
	"fmt"
	"time"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// pollPause is the breath between two looks at something that is waited for.
const pollPause = 100 * time.Millisecond

// Commit commits files over what Git holds and returns the revision. A file with the
// content [Removed] goes away.
func (s *Stage) Commit(ctx context.Context, files map[string]string) (string, error) {
	filled := map[string]string{}
	for name, content := range files {
		if content == Removed {
			if err := removeFile(s.Repository.Dir(), name); err != nil {
				return "", fmt.Errorf("commit: %w", err)
			}
			continue
		}
		filled[name] = s.fill(content)
	}
	return s.Repository.Commit(ctx, "Change the application", filled)
}

// Refresh asks Argo CD to render and compare again.
func (s *Stage) Refresh(ctx context.Context) (controlplane.Status, error) {
	return s.Plane.RefreshApplication(ctx, s.App, controlplane.RefreshHard)
}

// Sync syncs and waits for the operation to end, however it ends.
func (s *Stage) Sync(ctx context.Context) (controlplane.Status, error) {
	status, err := s.Plane.Sync(ctx, s.App)
	if err != nil && status.Operation.FinishedAt != "" {
		return s.Refresh(ctx)
	}
	return status, err
}

// StartSync starts an operation and does not wait for it. The body is that of Argo CD's
// sync request; nil is a plain sync.
func (s *Stage) StartSync(ctx context.Context, body map[string]any) error {
	if body == nil {
		body = map[string]any{}
	}
	return s.Plane.PostAPI(ctx, "/api/v1/applications/"+s.App+"/sync", body)
}

// WaitFor waits until the Application's status is as wanted.
func (s *Stage) WaitFor(ctx context.Context, wanted func(controlplane.Status) bool) (controlplane.Status, error) {
	return s.Plane.WaitForApplication(ctx, s.App, wanted)
}

// WaitCondition waits until Argo CD has a condition of the type.
func (s *Stage) WaitCondition(ctx context.Context, kind string) error {
	_, err := s.WaitFor(ctx, func(status controlplane.Status) bool {
		for _, condition := range status.Conditions {
			if condition.Type == kind {
				return true
			}
		}
		return false
	})
	return err
}

// PatchApplication patches the Application itself as the field manager does.
func (s *Stage) PatchApplication(ctx context.Context, manager, patch string) error {
	return s.Patch(ctx, manager, applicationRef+s.App, patch)
}
