package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// podOf is a Pod as a Job's controller makes it: %job and %image.
const podOf = `apiVersion: v1
kind: Pod
metadata: {name: %job-x7k2p, labels: {role: task, job-name: %job}}
spec:
  restartPolicy: Never
  nodeName: worker-3
  containers: [{name: task, image: "registry.example.com/shop/tasks:1.14.2"}]
`

// stuck is the status of a Pod whose only container waits: %name, %reason and %message.
const stuck = `{phase: Pending, conditions: [{type: PodScheduled, status: "True"}, {type: Ready, status: "False", reason: ContainersNotReady}],
containerStatuses: [{name: %name, image: "", imageID: "", ready: false, restartCount: 0,
state: {waiting: {reason: %reason, message: %message}}}]}`

func waits(ref, container, reason, message string) action {
	return status("kubelet", ref, replaced(stuck, "%name", container, "%reason", reason, "%message", `'`+message+`'`))
}

const noDeletion = "argocd.argoproj.io/hook-delete-policy: BeforeHookCreation"

func hooksStuck() []recorder.Scenario {
	const ttl = "\n  ttlSecondsAfterFinished: 0"
	withTTL := replaced(hookJob("warm-up", "PreSync"), "\n  backoffLimit: 3", "\n  backoffLimit: 3"+ttl)
	return []recorder.Scenario{
		{
			Name: "hook-stuck/migration-never-ends", App: "members",
			Cause: "a PreSync migration hangs, and the sync has been running for three hours",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, hookJob("migrate", "PreSync"))), startSync(waitingFor("migrate")),
				jobStatus("batch/v1/Job/migrate", activeJob), hoursLater(3)),
		},
		{
			Name: "hook-stuck/image-cannot-be-pulled", App: "tenants",
			Cause: "the image of a Sync hook cannot be pulled, its Job has no deadline, and an hour has passed",
			Files: git(settings, ingressService), SyncPolicy: serverSideApply,
			Related: []string{"v1/Pod/seed-x7k2p"},
			Inject: inOrder(commit(git(settings, ingressService, hookJob("seed", "Sync", noDeletion))), startSync(waitingFor("seed")),
				create(kcm, replaced(podOf, "%job", "seed")),
				jobStatus("batch/v1/Job/seed", `{startTime: "%now", active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {}}`),
				waits("v1/Pod/seed-x7k2p", "task", "ImagePullBackOff", `Back-off pulling image "registry.example.com/shop/tasks:1.14.2"`), hoursLater(1)),
		},
		{
			Name: "hook-stuck/vanished-by-its-ttl", App: "warm-cache",
			Cause: "the TTL controller deletes the Job of a PreSync hook before Argo CD has seen it finish",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, withTTL)), startSync(waitingFor("warm-up")),
				vanished("batch/v1/Job/warm-up"), waitSeconds(2), hoursLater(5)),
		},
		{
			Name: "hook-stuck/suspended-job", App: "reports-build",
			Cause: "the Job of a PostSync hook is created suspended, and nobody resumes it for a day",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, replaced(hookJob("build", "PostSync"), "\n  backoffLimit: 3", "\n  backoffLimit: 3\n  suspend: true"))),
				startSync(waitingFor("build")),
				jobStatus("batch/v1/Job/build", `{active: 0, uncountedTerminatedPods: {}, conditions: [{type: Suspended, status: "True", reason: JobSuspended, message: Job suspended}]}`),
				hoursLater(24)),
		},
	}
}

func hooksFailed() []recorder.Scenario {
	const crashed = `{phase: Failed, reason: Error, conditions: [{type: Ready, status: "False", reason: PodFailed}],
containerStatuses: [{name: check, image: "registry.example.com/tools/dig:9", imageID: "", ready: false, restartCount: 0,
state: {terminated: {exitCode: 1, reason: Error}}}]}`
	return []recorder.Scenario{
		{
			Name: "hook-failed/migration-before-the-release", App: "shipping",
			Cause: "the PreSync migration of a new release fails, so that the release is not applied",
			Files: git(settings, storefrontService),
			Inject: inOrder(commit(git(replaced(settings, "10m", "20m"), storefrontService, hookJob("migrate", "PreSync"))),
				startSync(waitingFor("migrate")),
				failing("batch/v1/Job/migrate", "BackoffLimitExceeded", "Job has reached the specified backoff limit"), awaitEnd()),
		},
		{
			Name: "hook-failed/smoke-test-after-the-release", App: "portal",
			Cause: "all is applied, and the PostSync smoke test runs into its deadline",
			Files: git(settings, storefrontService), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(replaced(settings, "10m", "20m"), storefrontService, hookJob("smoke", "PostSync"))),
				startSync(waitingFor("smoke")),
				failing("batch/v1/Job/smoke", "DeadlineExceeded", "Job was active longer than specified deadline"), awaitEnd()),
		},
		{
			Name: "hook-failed/pod-as-a-check", App: "gateway-check",
			Cause: "a bare Pod serves as PreSync check and ends with an error",
			Files: git(ingressService),
			Inject: inOrder(commit(git(ingressService, `apiVersion: v1
kind: Pod
metadata: {name: check-dns, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {restartPolicy: Never, containers: [{name: check, image: "registry.example.com/tools/dig:9", args: [gateway]}]}
`)), startSync("waiting for completion of hook /Pod/check-dns"), status("kubelet", "v1/Pod/check-dns", crashed), awaitEnd()),
		},
		{
			Name: "hook-failed/chart-upgrade", App: "crm-upgrade",
			Cause: "the pre-upgrade Job of a chart's new version fails",
			Files: map[string]string{"app/Chart.yaml": chartFile, "app/values.yaml": "ttl: 10m\n", "app/templates/settings.yaml": replaced(settings, "10m", "{{ .Values.ttl }}")},
			Inject: inOrder(commit(map[string]string{
				"app/values.yaml":            "ttl: 90s\n",
				"app/templates/upgrade.yaml": jobOf("name: upgrade", `, annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "-5"}`, ""),
			}), startSync(waitingFor("upgrade")),
				failing("batch/v1/Job/upgrade", "BackoffLimitExceeded", "Job has reached the specified backoff limit"), awaitEnd()),
		},
	}
}

// inWave puts the manifest into a wave.
func inWave(manifest, wave string) string {
	mark := `annotations: {argocd.argoproj.io/sync-wave: "` + wave + `"}`
	return replaced(manifest, "metadata:\n  name:", "metadata:\n  "+mark+"\n  name:", "metadata: {name", "metadata: {"+mark+", name")
}

const publicService = `apiVersion: v1
kind: Service
metadata: {name: public}
spec:
  type: LoadBalancer
  selector: {app: edge}
  ports: [{name: https, port: 443, targetPort: 8443, protocol: TCP}]
`

// healthOf is what an operation says that waits for the object; at first it names what
// comes next instead.
func healthOf(object string) string { return "waiting for healthy state of " + object }

func wavesBlocked() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "wave-blocked/operator-never-ready", App: "streams",
			Cause: "the Deployment of an early wave does not become ready for two hours, and the next wave waits",
			Files: git(inWave(settings, "1")),
			Inject: inOrder(commit(git(inWave(storefront, "0"), inWave(replaced(settings, "10m", "4m"), "1"))), startSync(healthOf("apps/Deployment/storefront")),
				unavailable(), hoursLater(2)),
		},
		{
			Name: "wave-blocked/load-balancer-pending", App: "public-edge",
			Cause: "a Service of an early wave gets no load balancer for hours, and the next wave waits",
			Files: git(inWave(settings, "2")), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(inWave(publicService, "1"), inWave(replaced(settings, "eu-central-1", "eu-west-1"), "2"))), startSync(healthOf("/Service/public")), hoursLater(6)),
		},
		{
			Name: "wave-blocked/claim-not-bound", App: "photos-wave",
			Cause: "a claim of the first wave is not bound for an hour, and the Service of the next wave is not made",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, inWave(replaced(claim, "%s", ""), "0"), inWave(storefrontService, "5"))),
				startSync(healthOf("/PersistentVolumeClaim/photos")), hoursLater(1)),
		},
	}
}

func syncsInProgress() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "sync-in-progress/migration-just-started", App: "feeds",
			Cause: "a sync has just begun and waits for its PreSync migration",
			Files: git(settings),
			Inject: inOrder(commit(git(replaced(settings, "10m", "20m"), hookJob("migrate", "PreSync"))),
				startSync(waitingFor("migrate")), jobStatus("batch/v1/Job/migrate", activeJob)),
		},
		{
			Name: "sync-in-progress/first-wave-rolls-out", App: "recommendations",
			Cause: "a sync of a few seconds waits for the Deployment of its first wave, which is rolling out",
			Files: git(inWave(settings, "1")), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(inWave(storefront, "0"), inWave(replaced(settings, "10m", "4m"), "1"))),
				startSync(healthOf("apps/Deployment/storefront")), unavailable()),
		},
		{
			Name: "sync-in-progress/auto-sync-at-work", App: "chat-auto",
			Cause: "auto-sync has just taken up a commit and runs its PostSync hook",
			Files: git(settings), SyncPolicy: automated(map[string]any{"prune": true}),
			Inject: inOrder(commit(git(replaced(settings, "10m", "20m"), hookJob("notify", "PostSync"))), refresh(),
				awaitMessage(waitingFor("notify")), jobStatus("batch/v1/Job/notify", activeJob)),
		},
	}
}
