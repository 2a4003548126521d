package scenarios

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// action is what a scenario injects.
type action = func(context.Context, *recorder.Stage) error

// git is a repository with the manifests in one file.
func git(manifests ...string) map[string]string {
	return map[string]string{"app/manifests.yaml": stream(manifests...)}
}

// stream joins manifests to one YAML stream.
func stream(manifests ...string) string { return strings.Join(manifests, "---\n") }

// inOrder does one thing after the other.
func inOrder(actions ...action) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		for _, act := range actions {
			if err := act(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// patch patches an object as the field manager.
func patch(manager, ref, content string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Patch(ctx, manager, ref, content) }
}

// status writes an object's status as the field manager.
func status(manager, ref, content string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.UpdateStatus(ctx, manager, ref, content) }
}

// scale sets the replicas through the scale subresource.
func scale(manager, ref string, replicas int) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Scale(ctx, manager, ref, replicas) }
}

// rewrite reads the object, changes it and writes all of it back.
func rewrite(manager, ref string, change func(map[string]any)) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Update(ctx, manager, ref, change) }
}

// apply applies by server-side apply.
func apply(manager, manifests string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Apply(ctx, manager, manifests) }
}

// kubectlApply applies as `kubectl apply` does.
func kubectlApply(manifests string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.KubectlApply(ctx, manifests) }
}

// remove deletes objects.
func remove(refs ...string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		for _, ref := range refs {
			if err := s.Delete(ctx, ref); err != nil {
				return err
			}
		}
		return nil
	}
}

// commit commits files over what Git holds.
func commit(files map[string]string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		_, err := s.Commit(ctx, files)
		return err
	}
}

// sync syncs, however that ends.
func sync() action {
	return func(ctx context.Context, s *recorder.Stage) error {
		_, err := s.Sync(ctx)
		return err
	}
}

// replaced is the manifest with texts replaced, pairs of old and new.
func replaced(manifest string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(manifest)
}

// set sets the value at the steps, keys of maps and indices of lists.
func set(object map[string]any, value any, steps ...any) {
	last := len(steps) - 1
	switch at := follow(object, steps[:last]).(type) {
	case map[string]any:
		at[steps[last].(string)] = value
	case []any:
		at[steps[last].(int)] = value
	}
}

// unset removes the key at the steps.
func unset(object map[string]any, steps ...any) {
	last := len(steps) - 1
	if at, ok := follow(object, steps[:last]).(map[string]any); ok {
		delete(at, steps[last].(string))
	}
}

// follow goes down the steps.
func follow(value any, steps []any) any {
	for _, step := range steps {
		switch at := value.(type) {
		case map[string]any:
			value = at[step.(string)]
		case []any:
			value = at[step.(int)]
		}
	}
	return value
}

// settled is true of an Application that Argo CD has compared after a sync.
func settled(status controlplane.Status) bool {
	return status.Sync != "" && status.Operation.FinishedAt != ""
}

// webhook serves a mutating webhook for one rule in the stage's namespace.
func webhook(name, rule string, mutate func(map[string]any)) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		return s.AddWebhook(ctx, recorder.Webhook{Name: name, Rules: "[" + rule + "]", Mutate: mutate})
	}
}

// describe prints a value the same way whatever number types it holds.
func describe(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
