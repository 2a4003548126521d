package classify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// What waits for an object that Argo CD lists for a later wave does not wait for what no
// sync creates.
func TestListedForLater(t *testing.T) {
	_, report := judge(t, `
application:
  status:
    sync: {status: OutOfSync}
    operationState: {phase: Running, startedAt: "2026-01-02T09:00:00Z", operation: {sync: {}}, message: "waiting for healthy state of apps/Deployment/api"}
    resources:
    - {group: apps, version: v1, kind: Deployment, namespace: web, name: api, status: Synced, health: {status: Progressing}}
    - {version: v1, kind: Secret, namespace: web, name: api-keys, status: OutOfSync, health: {status: Missing}, syncWave: 2}
resources:
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {template: {}}}
  live: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {template: {}}}
events:
- {reason: FailedMount, message: 'MountVolume.SetUp failed for volume "keys": secret "api-keys" not found', involvedObject: {kind: Pod, namespace: web, name: api-1}}`)
	i := findingOf(report, drift.MissingDependency)
	if i < 0 {
		t.Fatalf("no finding: %+v", report.Findings)
	}
	first := report.Findings[i].Fixes[0]
	if first.Kind != drift.FixReorderWaves || !strings.Contains(first.Snippet, "kind: Secret") || !strings.Contains(first.Snippet, `sync-wave: "-1"`) {
		t.Errorf("the first fix is %s: %s", first.Kind, first.Snippet)
	}
}

// A wave that has only begun is waited for, however long the operation runs.
func TestWaveJustBegun(t *testing.T) {
	wave := func(made string) string {
		return fmt.Sprintf(`
application: {status: {operationState: {phase: Running, startedAt: "2026-01-02T09:00:00Z", operation: {sync: {}}, message: "waiting for healthy state of apps/Deployment/api"}}}
resources:
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {replicas: 1}}
  live: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web, creationTimestamp: "%s"}, spec: {replicas: 1}}`, made)
	}
	situations{
		"just begun":   {"the Deployment is a minute old", wave("2026-01-02T10:00:00Z"), []string{"sync-in-progress Application/web wait certain"}},
		"as old as it": {"the Deployment is as old as the operation", wave("2026-01-02T09:00:00Z"), []string{"wave-blocked Deployment/api wait likely"}},
	}.run(t)
}

// An illness is as old as the resource's own conditions and events say.
func TestLongIllness(t *testing.T) {
	ill := func(since, events string) string {
		return fmt.Sprintf(`
application:
  status:
    health: {status: Progressing, lastTransitionTime: "2026-01-02T10:00:30Z"}
    resources: [{group: apps, version: v1, kind: Deployment, namespace: web, name: api, status: Synced, health: {status: Progressing}}]
resources:
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {template: {}}}
  live: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {template: {}}, status: {conditions: [{type: Available, status: "False", lastTransitionTime: "%s"}]}}
events: [%s]`, since, events)
	}
	const long, short, found = "2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z", "unhealthy-not-drift Deployment/api noop certain"
	backOff := func(first string) string {
		return `{reason: BackOff, message: Back-off restarting failed container, firstTimestamp: "` + first + `", lastTimestamp: "2026-01-02T10:00:00Z", involvedObject: {kind: Pod, namespace: web, name: api-1}}`
	}
	situations{
		"by its condition": {"it is not available for a day", ill(long, ""), []string{found}},
		"by an event":      {"its Pod is restarted in vain for a day", ill(short, backOff(long)), []string{found}},
		"young":            {"a minute is a rollout", ill(short, backOff(short)), []string{"none Application/web nothing-to-do certain"}},
	}.run(t)
}
