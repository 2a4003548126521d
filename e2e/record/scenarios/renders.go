package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// chart is a chart named broker with the templates.
func chart(templates map[string]string) map[string]string {
	files := map[string]string{
		"app/Chart.yaml":  "apiVersion: v2\nname: broker\nversion: 0.9.2\n",
		"app/values.yaml": "image: registry.example.com/messaging/broker:3.13\nreplicas: 2\n",
	}
	for name, content := range templates {
		files["app/templates/"+name] = content
	}
	return files
}

const randomSecret = `apiVersion: v1
kind: Secret
metadata: {name: broker}
type: Opaque
data:
  username: {{ "broker" | b64enc }}
  password: {{ randAlphaNum 24 | b64enc }}
`

// broker is a workload: %pod is put into the metadata of its pods, %env into its environment.
const broker = `apiVersion: apps/v1
kind: %kind
metadata: {name: broker}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: broker}}
  template:
    metadata:
      labels: {app: broker}
      annotations: {%pod}
    spec:
      containers:
      - name: broker
        image: {{ .Values.image }}
        env:
        - {name: BROKER_MODE, value: cluster}
        %env
`

func brokerOf(kind, pod, env string) string {
	manifest := replaced(broker, "%kind", kind, "%pod", pod, "%env", env)
	if kind == "StatefulSet" {
		manifest = replaced(manifest, "  selector: {match", "  serviceName: broker\n  selector: {match")
	}
	return manifest
}

const (
	onBroker    = "apps/v1/Deployment/broker"
	onBrokerSet = "apps/v1/StatefulSet/broker"
	onBrokerKey = "v1/Secret/broker"
	onBrokerMap = "v1/ConfigMap/broker"
)

func randomRenders() []recorder.Scenario {
	authority := `{{- $ca := genCA "broker" 365 }}
{{- $cert := genSignedCert "broker" nil (list "broker.svc") 365 $ca }}
apiVersion: v1
kind: Secret
metadata: {name: broker}
type: kubernetes.io/tls
data:
  tls.crt: {{ $cert.Cert | b64enc }}
  tls.key: {{ $cert.Key | b64enc }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: broker-queues}
webhooks:
- name: queues.broker.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ .Release.Namespace }}}}
  clientConfig:
    caBundle: {{ $ca.Cert | b64enc }}
    service: {name: broker, namespace: {{ .Release.Namespace }}, path: /validate}
  rules: [{apiGroups: [broker.example.com], apiVersions: [v1], operations: [CREATE], resources: [queues]}]
`
	return []recorder.Scenario{
		{
			Name: "random-render/password-of-a-secret", App: "broker-password",
			Cause: "a chart makes a new password at every render",
			Files: chart(map[string]string{"secret.yaml": randomSecret, "broker.yaml": brokerOf("Deployment", "", "")}),
		},
		{
			Name: "random-render/certificate-authority", App: "broker-authority",
			Cause: "a chart makes a new authority and certificate at every render",
			Files: chart(map[string]string{"tls.yaml": authority}),
		},
		{
			Name: "random-render/cookie-in-the-environment", App: "broker-cookie",
			Cause:      "a chart puts a new cookie into the environment at every render",
			Files:      chart(map[string]string{"broker.yaml": brokerOf("StatefulSet", "", "- {name: ERLANG_COOKIE, value: {{ randAlphaNum 32 | quote }}}")}),
			SyncPolicy: serverSideApply,
		},
		{
			Name: "random-render/identity-of-a-cluster", App: "broker-identity",
			Cause:       "a chart makes a new cluster id at every render",
			Files:       chart(map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: broker}\ndata: {cluster.id: {{ uuidv4 | quote }}, mode: cluster}\n"}),
			Annotations: serverSideDiff,
		},
	}
}

func timestampRenders() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "timestamp-render/rolled-at-every-render", App: "broker-rolled",
			Cause: "a chart stamps the pod template with the time of the render",
			Files: chart(map[string]string{"broker.yaml": brokerOf("Deployment", `updatedAt: {{ now | date "2006-01-02 MST 15:04:05" | quote }}`, "")}),
		},
		{
			Name: "timestamp-render/time-in-a-configmap", App: "broker-stamped",
			Cause:      "a chart writes the time of the render into a ConfigMap",
			Files:      chart(map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: broker}\ndata: {deployed: {{ now | date \"2006-01-02T15:04:05Z07:00\" | quote }}, mode: cluster}\n"}),
			SyncPolicy: serverSideApply,
		},
		{
			Name: "timestamp-render/unix-time-in-the-environment", App: "broker-epoch",
			Cause:       "a chart puts the second of the render into the environment",
			Files:       chart(map[string]string{"broker.yaml": brokerOf("StatefulSet", "", "- {name: DEPLOYED_AT, value: {{ now | unixEpoch | quote }}}")}),
			Annotations: serverSideDiff,
		},
		{
			Name: "timestamp-render/label-of-a-service", App: "broker-labelled",
			Cause: "a chart puts the time of the render into an annotation of a Service",
			Files: chart(map[string]string{"service.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n  name: broker\n  annotations: {example.com/rendered: {{ now | date \"20060102150405\" | quote }}}\nspec: {selector: {app: broker}, ports: [{port: 5672}]}\n"}),
		},
	}
}

func checksumChurn() []recorder.Scenario {
	include := func(name string) string {
		return `checksum/` + name + `: {{ include (print $.Template.BasePath "/` + name + `.yaml") . | sha256sum }}`
	}
	randomMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: broker}\ndata: {seed: {{ randAlphaNum 20 | quote }}}\n"
	return []recorder.Scenario{
		{
			Name: "checksum-churn/checksum-of-a-random-secret", App: "broker-checksum",
			Cause: "a chart makes a new password at every render, and a checksum of it in the pods",
			Files: chart(map[string]string{"secret.yaml": randomSecret, "broker.yaml": brokerOf("Deployment", include("secret"), "")}),
		},
		{
			Name: "checksum-churn/hash-of-rendered-values", App: "broker-hash",
			Cause:      "a chart hashes what it renders anew every time into the pods of a StatefulSet",
			Files:      chart(map[string]string{"broker.yaml": brokerOf("StatefulSet", "brokerConfigHash: {{ randAlphaNum 20 | sha256sum }}", "")}),
			SyncPolicy: serverSideApply,
		},
		{
			Name: "checksum-churn/two-checksums", App: "broker-checksums",
			Cause: "a chart makes a random Secret and a random ConfigMap, and checksums of both",
			Files: chart(map[string]string{
				"secret.yaml": randomSecret, "config.yaml": randomMap,
				"broker.yaml": brokerOf("Deployment", include("config")+", "+include("secret"), ""),
			}),
			Annotations: serverSideDiff,
		},
	}
}
