package scenarios

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// controllerHangs stops the application controller for as long as a snapshot takes.
func controllerHangs() action {
	return func(_ context.Context, s *recorder.Stage) error {
		pid, ok := s.Plane.Processes()["argocd-application-controller"]
		if !ok {
			return fmt.Errorf("the plane has no application controller: %v", s.Plane.Processes())
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stop the application controller: %w", err)
		}
		time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may have ended since
		return nil
	}
}

// longAgo moves the snapshot away from the last comparison.
func longAgo(hours int) action { return moved(hours, "now") }

func controllersStale() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "controller-stale/refresh-not-taken-up", App: "search",
			Cause: "the application controller hangs, and a refresh that was asked for has been pending for two days",
			Files: git(settings, storefrontService), NoRefresh: true,
			Inject: inOrder(controllerHangs(), applicationEdited(`{metadata: {annotations: {argocd.argoproj.io/refresh: normal}}}`), longAgo(48)),
		},
		{
			Name: "controller-stale/operation-not-taken-up", App: "geo", SyncPolicy: serverSideApply,
			Cause: "the application controller hangs, and a sync that was asked for eleven hours ago has not begun",
			Files: git(settings), NoRefresh: true,
			Inject: inOrder(controllerHangs(), func(ctx context.Context, s *recorder.Stage) error { return s.StartSync(ctx, nil) }, longAgo(11)),
		},
		{
			Name: "controller-stale/cluster-away", App: "loyalty", NoSync: true,
			Cause: "the controller cannot reach the API server of the destination, so that it has no live state",
			Files: git(settings),
			Cluster: `apiVersion: v1
kind: Secret
metadata: {name: cluster-edge-7, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster}}
stringData:
  name: edge-7
  server: https://127.0.0.1:1
  config: '{"tlsClientConfig": {"insecure": true}}'
`,
			Spec: map[string]any{"destination": map[string]any{"server": "https://127.0.0.1:1", "namespace": "loyalty"}},
			Inject: inOrder(func(_ context.Context, s *recorder.Stage) error {
				s.Scrub("127.0.0.1:1", "10.20.7.1:6443")
				return nil
			}, condition("ComparisonError")),
		},
	}
}
