package scenarios

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// kcm is the field manager of Kubernetes' own controllers.
const kcm = "kube-controller-manager"

// lifecycle is about the ownership of resources, the comparison's configuration and
// syncs that cannot work.
func lifecycle() []recorder.Scenario {
	return slices.Concat(
		trackingMissing(), sharedResources(), labelsCopied(), instanceLabels(),
		pendingPrunes(), pruneProtected(), hookLeftovers(), ttlDeleted(),
		repeatedResources(), excludedResources(), managedNamespaces(),
		ignoreWithoutRespect(), ignoreRulesDead(), respectBlocks(), coownerResidue(),
		schemaErrors(), selfhealFights(), controllersStale(),
		hooksStuck(), hooksFailed(), wavesBlocked(), syncsInProgress(),
		generationErrors(), projectsNotPermitted(), syncWindows(), gaveUp(), emptyGuards(),
		immutableFields(), tooLong(), missingCRDs(), missingDependencies(), admissionDenied(),
		resourceVersions(), deletionsStuck(), removedVersions(), mergeKeys(), invalidManifests(),
		unhealthy(), several(), quiet(),
	)
}

// automated is a sync policy; options are those of syncPolicy.automated.
func automated(options map[string]any) map[string]any {
	return map[string]any{"automated": options}
}

// withOptions is a sync policy with sync options.
func withOptions(options ...any) map[string]any { return map[string]any{"syncOptions": options} }

// with joins maps to a new one.
func with(parts ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// create creates objects as the field manager.
func create(manager, manifests string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Create(ctx, manager, manifests) }
}

// startSync starts a sync and waits until its message begins so.
func startSync(message string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		if _, err := s.Refresh(ctx); err != nil {
			return err
		}
		if err := s.StartSync(ctx, nil); err != nil {
			return err
		}
		return awaitMessage(message)(ctx, s)
	}
}

// awaitMessage waits until the running operation says so.
func awaitMessage(message string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		_, err := s.WaitFor(ctx, func(status controlplane.Status) bool {
			return status.Operation.Phase == "Running" && strings.HasPrefix(status.Operation.Message, message)
		})
		return err
	}
}

// awaitEnd waits until the operation has ended.
func awaitEnd() action {
	return func(ctx context.Context, s *recorder.Stage) error {
		_, err := s.WaitFor(ctx, func(status controlplane.Status) bool { return status.Operation.FinishedAt != "" })
		return err
	}
}

// refresh asks Argo CD to compare again.
func refresh() action {
	return func(ctx context.Context, s *recorder.Stage) error {
		_, err := s.Refresh(ctx)
		return err
	}
}

// condition waits until Argo CD has a condition of the type.
func condition(kind string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		if _, err := s.Refresh(ctx); err != nil {
			return err
		}
		return s.WaitCondition(ctx, kind)
	}
}

// applicationEdited patches the Application itself, as Argo CD's UI does.
func applicationEdited(content string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		return s.PatchApplication(ctx, "argocd-server", content)
	}
}

// hoursLater moves the clock of what is recorded, where nothing would change by waiting:
// the moment of the snapshot and that of the last comparison.
func hoursLater(hours int) action { return moved(hours, "now", "reconciledAt") }

// moved moves the times of these keys.
func moved(hours int, keys ...string) action {
	return func(_ context.Context, s *recorder.Stage) error {
		const hour = "2006-01-02T15:"
		now := time.Now().UTC()
		for i := range 2 { // the hour may pass while the scenario plays
			at := now.Add(time.Duration(i) * time.Hour)
			later := at.Add(time.Duration(hours) * time.Hour)
			for _, key := range keys {
				s.Scrub(`"`+key+`":"`+at.Format(hour), `"`+key+`":"`+later.Format(hour))
			}
		}
		return nil
	}
}

// rolledOut writes the status of workloads whose Pods all run.
func rolledOut(refs ...string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		for _, ref := range refs {
			err := s.Update(ctx, kcm, ref, func(object map[string]any) {
				content := map[string]any{"observedGeneration": follow(object, []any{"metadata", "generation"})}
				counts := []string{"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"}
				count := follow(object, []any{"spec", "replicas"})
				if object["kind"] == "DaemonSet" {
					counts = []string{"desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable", "numberMisscheduled"}
					count = int64(3)
				}
				for _, name := range counts {
					content[name] = count
				}
				if object["kind"] == "DaemonSet" {
					content["numberMisscheduled"] = int64(0)
				}
				if object["kind"] == "Deployment" {
					content["conditions"] = rolledOutConditions()
				}
				set(object, content, "status")
			}, "status")
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func rolledOutConditions() []any {
	return []any{
		map[string]any{
			"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
			"message": "Deployment has minimum availability.",
		},
		map[string]any{
			"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
			"message": "The ReplicaSet has successfully progressed.",
		},
	}
}

// collected waits until the object is being deleted, and lets it go as the garbage
// collector does, which does not run here.
func collected(ref string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for {
			object, err := s.Get(ctx, ref)
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if object.GetDeletionTimestamp() != nil {
				return s.Patch(ctx, kcm, ref, "{metadata: {finalizers: null}}")
			}
			if err := waitSeconds(0.1)(ctx, s); err != nil {
				return fmt.Errorf("wait until %s is deleted: %w", ref, err)
			}
		}
	}
}

// awaitObject waits until the object is there.
func awaitObject(ref string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for {
			_, err := s.Get(ctx, ref)
			if !apierrors.IsNotFound(err) {
				return err
			}
			if err := waitSeconds(0.1)(ctx, s); err != nil {
				return fmt.Errorf("wait for %s: %w", ref, err)
			}
		}
	}
}

// waitSeconds lets time pass.
func waitSeconds(seconds float64) action {
	return func(ctx context.Context, _ *recorder.Stage) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Duration(seconds * float64(time.Second))):
			return nil
		}
	}
}

// rewriteStatus reads the object, changes its status and writes that back, as
// Kubernetes' own controllers do.
func rewriteStatus(ref string, change func(map[string]any)) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		return s.Update(ctx, kcm, ref, change, "status")
	}
}
