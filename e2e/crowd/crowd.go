// Package crowd makes up a fleet of Applications for tests and benchmarks, always the
// same: one in ten drifts in a field, one in twenty waits to be pruned, one in fifty
// cannot be rendered, and one in forty is Degraded behind its drift. An API server that
// knows Argo CD's CRDs accepts them. It is no part of any command.
package crowd

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

type object = map[string]any

// reconciled is when all were compared, a minute before Now.
const reconciled = "2026-05-04T03:00:00Z"

// Now is the time of the fleet.
const Now = "2026-05-04T03:01:00Z"

// Application is number i of the fleet, with a number of resources.
func Application(i, resources int) map[string]any {
	sync, health := "Synced", "Healthy"
	listed := make([]any, resources)
	results := make([]any, resources)
	for j := range listed {
		ref := func() object {
			return object{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": fmt.Sprintf("team-%d", i%20), "name": fmt.Sprintf("workload-%d", j)}
		}
		entry, result := ref(), ref()
		entry["status"], entry["health"] = "Synced", object{"status": "Healthy"}
		result["status"], result["message"], result["hookPhase"], result["syncPhase"] = "Synced", fmt.Sprintf("deployment.apps/workload-%d configured", j), "Running", "Sync"
		listed[j], results[j] = entry, result
	}
	flag := func(j int) object {
		sync = "OutOfSync"
		entry := listed[j%resources].(object)
		entry["status"] = sync
		return entry
	}
	status := object{"reconciledAt": reconciled, "sourceType": "Directory"}
	if i%10 == 0 {
		flag(0)
	}
	if i%20 == 1 {
		flag(1)["requiresPruning"] = true
	}
	if i%50 == 2 {
		sync = "Unknown"
		status["conditions"] = []any{object{"type": "ComparisonError", "message": "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = app path does not exist"}}
	}
	if i%40 == 0 {
		health = "Degraded"
		flag(2)["health"] = object{"status": health, "message": "Deployment exceeded its progress deadline"}
	}
	status["sync"] = object{"status": sync, "revision": strings.Repeat("0a", 20)}
	status["health"] = object{"status": health, "lastTransitionTime": "2026-05-04T02:00:00Z"}
	status["resources"] = listed
	status["operationState"] = object{
		"phase": "Succeeded", "message": "successfully synced (all tasks run)", "startedAt": "2026-05-04T01:00:00Z", "finishedAt": "2026-05-04T01:00:10Z",
		"operation":  object{"sync": object{"revision": strings.Repeat("0a", 20)}},
		"syncResult": object{"revision": strings.Repeat("0a", 20), "source": object{"repoURL": "https://git.example.com/apps.git", "path": "app"}, "resources": results},
	}
	return object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": object{"name": fmt.Sprintf("app-%04d", i), "namespace": "argocd", "uid": fmt.Sprintf("uid-%d", i), "resourceVersion": strconv.Itoa(i)},
		"spec": object{
			"project": fmt.Sprintf("project-%d", i%5), "source": object{"repoURL": "https://git.example.com/apps.git", "path": "app", "targetRevision": "main"},
			"destination": object{"server": "https://kubernetes.default.svc", "namespace": fmt.Sprintf("team-%d", i%20)},
		},
		"status": status,
	}
}

// All is a fleet of such Applications, each made when it is asked for.
func All(applications, resources int) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		for i := range applications {
			if !yield(Application(i, resources), nil) {
				return
			}
		}
	}
}
