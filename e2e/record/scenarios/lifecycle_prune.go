package scenarios

import (
	"context"
	"strings"
	"time"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const (
	ingressClass = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: internal-legacy}
spec: {controller: k8s.io/ingress-nginx}
`
	claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: photos%s}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 20Gi}}
  storageClassName: standard
  volumeMode: Filesystem
`
	tenantReader = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`
	agentConfig = `apiVersion: v1
kind: ConfigMap
metadata: {name: node-agent}
data: {agent.yaml: "scrape: 30s\n"}
`
)

func pendingPrunes() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "pending-prune/configmap-still-mounted", App: "node-agent-slim",
			Cause:  "a ConfigMap is removed from Git while a DaemonSet still mounts it",
			Files:  git(nodeAgent, agentConfig),
			Inject: inOrder(rolledOut(onNodeAgent), commit(git(nodeAgent))),
		},
		{
			Name: "pending-prune/service-and-role-after-a-sync", App: "storefront-slim",
			Cause: "a Service and a Role are removed from Git and a sync without prune follows",
			Files: git(settings, storefrontService, tenantReader), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(settings)), sync()),
		},
		{
			Name: "pending-prune/generated-name-of-a-configmap", App: "flags-generated",
			Cause: "kustomize gives a ConfigMap a new name at every change, and the old one stays after the sync",
			Files: map[string]string{
				"app/kustomization.yaml": "configMapGenerator: [{name: flags, literals: [beta=off]}]\n",
			},
			Inject: inOrder(commit(map[string]string{
				"app/kustomization.yaml": "configMapGenerator: [{name: flags, literals: [beta=on]}]\n",
			}), sync()),
		},
		{
			Name: "pending-prune/ingress-class-of-another-team", App: "ingress-classes",
			Cause: "an IngressClass is removed from Git, and auto-sync does not prune",
			Files: git(settings, ingressClass), SyncPolicy: automated(map[string]any{"selfHeal": true}),
			Inject: commit(git(settings)),
		},
	}
}

// bound binds a claim as the volume controller does.
func bound(ref string) action {
	return status(kcm, ref, "{phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 20Gi}}")
}

func pruneProtected() []recorder.Scenario {
	// Argo CD asks for the confirmation before it looks whether the sync prunes at all.
	option := func(manifest, value string) string {
		return replaced(manifest, "metadata: {", "metadata: {annotations: {argocd.argoproj.io/sync-options: "+value+"}, ")
	}
	photos := replaced(claim, "%s", "")
	return []recorder.Scenario{
		{
			Name: "prune-protected/claim-with-prune-false", App: "photos",
			Cause:  "a claim that must never be pruned is removed from Git",
			Files:  git(settings, option(photos, "Prune=false")),
			Inject: inOrder(bound("v1/PersistentVolumeClaim/photos"), commit(git(settings))),
		},
		{
			Name: "prune-protected/skipped-by-auto-sync", App: "photos-pruned",
			Cause:      "a Service that must never be pruned is removed from Git, and auto-sync prunes all but it",
			Files:      git(settings, option(ingressService, "\"ServerSideApply=true,Prune=false\""), agentConfig),
			SyncPolicy: automated(map[string]any{"prune": true, "selfHeal": true}),
			Inject:     inOrder(commit(git(settings)), refresh(), collected("v1/ConfigMap/node-agent"), awaitEnd()),
		},
		{
			Name: "prune-protected/confirmation-awaited", App: "tenant-roles",
			Cause:  "a Role whose pruning has to be confirmed is removed from Git",
			Files:  git(settings, option(tenantReader, "Prune=confirm")),
			Inject: commit(git(settings)),
		},
		{
			Name: "prune-protected/sync-waits-for-the-confirmation", App: "tenant-roles-synced",
			Cause: "a Role whose pruning has to be confirmed is removed from Git, and a sync has been waiting for that since yesterday",
			Files: git(settings, option(tenantReader, "Prune=confirm")), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(settings)), startSync("Waiting for pruning confirmation of "), hoursLater(20)),
		},
	}
}

const ingressService = `apiVersion: v1
kind: Service
metadata: {name: edge}
spec:
  selector: {app: edge}
  ports: [{name: https, port: 443, targetPort: 8443, protocol: TCP}]
`

// job is a plain Job: %name, %meta (after the name) and %spec (before the template).
const job = `apiVersion: batch/v1
kind: Job
metadata: {%name%meta}
spec:
  backoffLimit: 3%spec
  template:
    metadata: {labels: {role: task}}
    spec:
      restartPolicy: Never
      containers:
      - name: task
        image: registry.example.com/shop/tasks:1.14.2
        args: [run, --once]
`

// jobOf fills the job.
func jobOf(name, meta, spec string) string {
	return replaced(job, "%name", name, "%meta", meta, "%spec", spec)
}

// hookJob is a Job that is a hook of the phase.
func hookJob(name, phase string, more ...string) string {
	all := append([]string{"argocd.argoproj.io/hook: " + phase}, more...)
	return jobOf("name: "+name, ", annotations: {"+strings.Join(all, ", ")+"}", "")
}

const (
	succeeded = `{startTime: "%now", completionTime: "%now", succeeded: 1, uncountedTerminatedPods: {},
conditions: [{type: SuccessCriteriaMet, status: "True", reason: CompletionsReached, message: Reached expected number of succeeded pods},
{type: Complete, status: "True", reason: CompletionsReached, message: Reached expected number of succeeded pods}]}`
	failedJob = `{startTime: "%now", failed: 4, uncountedTerminatedPods: {},
conditions: [{type: FailureTarget, status: "True", reason: %reason, message: %message},
{type: Failed, status: "True", reason: %reason, message: %message}]}`
	activeJob = `{startTime: "%now", active: 1, ready: 1, terminating: 0, uncountedTerminatedPods: {}}`
)

// ended makes a Job succeed.
func ended(ref string) action { return jobStatus(ref, succeeded) }

// jobStatus writes the status of a Job as its controller; %now is the time.
func jobStatus(ref, content string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		if err := awaitObject(ref)(ctx, s); err != nil {
			return err
		}
		now := time.Now().UTC().Format(time.RFC3339)
		return s.UpdateStatus(ctx, kcm, ref, replaced(content, "%now", now))
	}
}

// vanished deletes a Job and what follows it, as the TTL controller does.
func vanished(ref string) action { return inOrder(remove(ref), collected(ref)) }

// failing makes a Job fail.
func failing(ref, reason, message string) action {
	return jobStatus(ref, replaced(failedJob, "%reason", reason, "%message", message))
}

// waitingFor is what an operation says that waits for the Job of a hook.
func waitingFor(job string) string {
	return "waiting for completion of hook batch/Job/" + job
}

func hookLeftovers() []recorder.Scenario {
	const keep = "argocd.argoproj.io/hook-delete-policy: BeforeHookCreation"
	return []recorder.Scenario{
		{
			Name: "hook-leftover/finished-migration", App: "orders-migrated",
			Cause: "a PreSync Job has finished, and nothing deletes it before the next sync",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, hookJob("migrate", "PreSync"))),
				startSync(waitingFor("migrate")), ended("batch/v1/Job/migrate"), awaitEnd()),
		},
		{
			Name: "hook-leftover/hook-taken-out-of-git", App: "search-indexed",
			Cause: "a finished PostSync Job stays when its manifest is removed from Git",
			Files: git(settings, storefrontService), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(settings, storefrontService, hookJob("reindex", "PostSync", keep))),
				startSync(waitingFor("reindex")), ended("batch/v1/Job/reindex"), awaitEnd(), commit(git(settings, storefrontService))),
		},
		{
			Name: "hook-leftover/chart-hook-stays", App: "mailer-seeded",
			Cause: "the finished Job of a chart's post-install hook stays",
			Files: map[string]string{
				"app/Chart.yaml": chartFile, "app/templates/settings.yaml": settings, "app/values.yaml": "{}\n",
			},
			Inject: inOrder(commit(map[string]string{
				"app/templates/seed.yaml": jobOf("name: seed", ", annotations: {helm.sh/hook: \"post-install,post-upgrade\"}", ""),
			}), startSync(waitingFor("seed")), ended("batch/v1/Job/seed"), awaitEnd()),
		},
	}
}

const workflows = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: workflows.argoproj.io}
spec:
  group: argoproj.io
  names: {kind: Workflow, listKind: WorkflowList, plural: workflows, singular: workflow, shortNames: [wf]}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const training = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: train}
spec:
  entrypoint: main
  ttlStrategy: {secondsAfterCompletion: 600}
  templates:
  - name: main
    container: {image: "registry.example.com/ml/train:7", args: [--epochs=3]}
`

func ttlDeleted() []recorder.Scenario {
	const ttl = "\n  ttlSecondsAfterFinished: "
	return []recorder.Scenario{
		{
			Name: "ttl-deleted/schema-job", App: "orders-schema",
			Cause:  "a plain Job has finished, and the TTL controller deletes it",
			Files:  git(settings, jobOf("name: schema", "", ttl+"300")),
			Inject: inOrder(ended("batch/v1/Job/schema"), refresh(), vanished("batch/v1/Job/schema")),
		},
		{
			Name: "ttl-deleted/failed-job-too", App: "orders-import",
			Cause: "of two plain Jobs one succeeds and one fails, and the TTL controller deletes both",
			Files: git(jobOf("name: import", "", ttl+"0"), jobOf("name: verify", ", labels: {step: two}", ttl+"60"), settings), SyncPolicy: serverSideApply,
			Inject: inOrder(ended("batch/v1/Job/import"), failing("batch/v1/Job/verify", "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
				refresh(), vanished("batch/v1/Job/import"), vanished("batch/v1/Job/verify")),
		},
		{
			Name: "ttl-deleted/workflow", App: "model-training", Cluster: workflows,
			Cause: "a Workflow has finished, and its controller deletes it after its ttlStrategy",
			Files: git(settings, training),
			Inject: inOrder(rewrite("workflow-controller", "argoproj.io/v1alpha1/Workflow/train", func(workflow map[string]any) {
				set(workflow, map[string]any{"phase": "Succeeded", "finishedAt": "2026-01-05T08:05:00Z"}, "status")
			}), refresh(), remove("argoproj.io/v1alpha1/Workflow/train")),
		},
	}
}
