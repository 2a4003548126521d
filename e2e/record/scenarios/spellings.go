package scenarios

import (
	"context"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const backupCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.storage.example.com}
spec:
  group: storage.example.com
  names: {kind: Backup, listKind: BackupList, plural: backups, singular: backup}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              schedule: {type: string}
              retention: {type: string}
              notBefore: {type: string, format: date-time}
              suspend: {type: boolean}
              verify: {type: boolean}
              endpoint: {type: string}
              allowed: {type: array, items: {type: string}}
              nodeSelector: {type: object, additionalProperties: {type: string}}
              note: {type: string}
              resources:
                type: object
                properties:
                  cpu: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
                  memory: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

const onBackup = "storage.example.com/v1/Backup/nightly"

const prometheus = `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: shop}
spec:
  replicas: 2
  retention: 15d
  serviceAccountName: prometheus
  resources: {requests: {cpu: 1000m, memory: 4096Mi}}
  storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 0.5Ti}}}}}
`

const onPrometheus = "monitoring.coreos.com/v1/Prometheus/shop"

func droppedDefaults() []recorder.Scenario {
	app := replaced(child, "automated: {selfHeal: true}", "automated: {prune: false, selfHeal: true}")
	files := childFiles("mailer-explicit")
	files["app/child.yaml"] = replaced(app, "%name", "mailer-explicit")
	scaled := replaced(scaledObject, "%kind", "Deployment", "%name", "storefront", "  triggers:\n", "  advanced: {restoreToOriginalReplicaCount: false}\n  triggers:\n")
	return []recorder.Scenario{
		{
			Name: "explicit-default-dropped/prune-false", App: "root-prune",
			Cause:  "Argo CD writes a child Application back without the prune: false that Git sets",
			Files:  files,
			Inject: func(ctx context.Context, s *recorder.Stage) error { return childWritten(ctx, s, "mailer-explicit") },
		},
		{
			Name: "explicit-default-dropped/scaled-object", App: "storefront-restore",
			Cause: "KEDA adds its finalizer to a ScaledObject and drops a false that Git sets",
			Files: git(scaled), CRDs: []string{crdScaledObject}, SyncPolicy: serverSideApply,
			Inject: rewrite("keda", "keda.sh/v1alpha1/ScaledObject/storefront", func(object map[string]any) {
				set(object, []any{"finalizer.keda.sh"}, "metadata", "finalizers")
				unset(object, "spec", "advanced", "restoreToOriginalReplicaCount")
			}),
		},
		{
			Name: "explicit-default-dropped/certificate-authority-false", App: "certificate-written",
			Cause: "cert-manager writes a Certificate back through its Go types, without isCA: false",
			Files: git(certificate + "  isCA: false\n"), CRDs: []string{crdCertificate},
			Inject: rewrite("cert-manager-certificates-trigger", onCertificate, func(object map[string]any) {
				unset(object, "spec", "isCA")
				set(object, map[string]any{"cert-manager.io/issue-temporary-certificate": "true"}, "metadata", "labels")
			}),
		},
	}
}

// childWritten waits until Argo CD has written a child Application back.
func childWritten(ctx context.Context, s *recorder.Stage, name string) error {
	_, err := s.Plane.WaitForApplication(ctx, name, settled)
	return err
}

func quantities() []recorder.Scenario {
	job := `apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata: {name: render}
spec:
  maxReplicaCount: 10
  jobTargetRef:
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: render
          image: registry.example.com/media/render:4.4
          resources: {requests: {cpu: "0.5", memory: 1024Mi}}
  triggers:
  - {type: rabbitmq, metadata: {queueName: frames, value: "5"}}
`
	return []recorder.Scenario{
		{
			Name: "quantity-format/prometheus", App: "prometheus-shop",
			Cause: "the Prometheus operator writes its object back with canonical quantities",
			Files: git(prometheus), CRDs: []string{"prometheuses.monitoring.coreos.com"},
			Inject: rewrite("PrometheusOperator", onPrometheus, func(object map[string]any) {
				set(object, "1", "spec", "resources", "requests", "cpu")
				set(object, "4Gi", "spec", "resources", "requests", "memory")
				set(object, "512Gi", "spec", "storage", "volumeClaimTemplate", "spec", "resources", "requests", "storage")
			}),
		},
		{
			Name: "quantity-format/scaled-job", App: "render-farm",
			Cause: "KEDA writes a ScaledJob back with canonical quantities",
			Files: git(job), CRDs: []string{"scaledjobs.keda.sh"}, SyncPolicy: serverSideApply,
			Inject: rewrite("keda", "keda.sh/v1alpha1/ScaledJob/render", func(object map[string]any) {
				set(object, "500m", "spec", "jobTargetRef", "template", "spec", "containers", 0, "resources", "requests", "cpu")
				set(object, "1Gi", "spec", "jobTargetRef", "template", "spec", "containers", 0, "resources", "requests", "memory")
			}),
		},
		{
			Name: "quantity-format/number-made-text", App: "backup-quantity",
			Cause: "an operator writes a quantity that Git gives as a number back as text",
			Files: git(backup("  resources: {cpu: 2, memory: 2048Mi}\n")), Cluster: backupCRD, Annotations: serverSideDiff,
			Inject: rewrite("backup-operator", onBackup, func(object map[string]any) {
				set(object, "2", "spec", "resources", "cpu")
				set(object, "2Gi", "spec", "resources", "memory")
			}),
		},
	}
}

// backup is an object of backupCRD with further fields of its spec.
func backup(fields string) string {
	return "apiVersion: storage.example.com/v1\nkind: Backup\nmetadata: {name: nightly}\nspec:\n  schedule: 30 2 * * *\n" + fields
}

func canonicalValues() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "value-canonicalised/durations-of-a-certificate", App: "certificate-durations",
			Cause: "cert-manager writes durations back in their full spelling",
			Files: git(certificate + "  duration: 2160h\n  renewBefore: 360h\n"), CRDs: []string{crdCertificate},
			Inject: rewrite("cert-manager-certificates-readiness", onCertificate, func(object map[string]any) {
				set(object, "2160h0m0s", "spec", "duration")
				set(object, "360h0m0s", "spec", "renewBefore")
			}),
		},
		{
			Name: "value-canonicalised/time-in-utc", App: "rollout-time",
			Cause: "Argo Rollouts writes a time back in UTC",
			Files: git(rollout + "  restartAt: \"2026-03-01T09:30:00+01:00\"\n"), CRDs: []string{crdRollout}, SyncPolicy: serverSideApply,
			Inject: rewrite("rollouts-controller", onRollout, func(object map[string]any) {
				set(object, "2026-03-01T08:30:00Z", "spec", "restartAt")
			}),
		},
		{
			Name: "value-canonicalised/host-and-addresses", App: "backup-endpoint",
			Cause: "an operator writes a host in lower case and addresses in their shortest spelling",
			Files: git(backup("  endpoint: Backup.Example.COM\n  allowed: [\"2001:0DB8:0000::0001\", 10.0.0.1]\n")), Cluster: backupCRD,
			Annotations: serverSideDiff,
			Inject: rewrite("backup-operator", onBackup, func(object map[string]any) {
				set(object, "backup.example.com", "spec", "endpoint")
				set(object, "2001:db8::1", "spec", "allowed", 0)
			}),
		},
		{
			Name: "value-canonicalised/duration-at-admission", App: "backup-retention",
			Cause: "a webhook of the operator canonicalises a duration at admission",
			Files: git(backup("  retention: 72h\n")), Cluster: backupCRD,
			Related: []string{recorder.WebhookRef("backup-defaults")},
			Before: webhook("backup-defaults", "{apiGroups: [storage.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [backups]}", func(object map[string]any) {
				set(object, "72h0m0s", "spec", "retention")
			}),
		},
	}
}
