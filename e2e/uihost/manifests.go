package main

import "strings"

// deployment is one that holds everything that the API server would add to what tests show.
func deployment(name string) string {
	return strings.ReplaceAll(`apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 3
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers:
      - name: NAME
        image: registry.example.com/shop/NAME:1.14.2
        env: [{name: LOG_LEVEL, value: info}]
        ports: [{name: http, containerPort: 8080}]
`, "NAME", name)
}

func autoscaler(name string) string {
	return strings.ReplaceAll(`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: NAME}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}
  minReplicas: 2
  maxReplicas: 12
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}
`, "NAME", name)
}

// paymentKeys leaves out what its CRD adds inside of a list.
const paymentKeys = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: payment-keys}
spec:
  refreshInterval: 1h
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {name: payment-keys, creationPolicy: Owner}
  data:
  - secretKey: PUBLIC_KEY
    remoteRef: {key: payments/gateway, property: public}
  - secretKey: PRIVATE_KEY
    remoteRef: {key: payments/gateway, property: private}
`

// removedService is in the first commit alone.
const removedService = `apiVersion: v1
kind: Service
metadata: {name: checkout-legacy}
spec:
  selector: {app: checkout}
  ports: [{name: http, port: 80, targetPort: 8080}]
`

// checkout is what a team deploys together.
var checkout = strings.Join([]string{
	deployment("checkout"),
	autoscaler("checkout"),
	paymentKeys,
	`apiVersion: v1
kind: Service
metadata: {name: checkout}
spec:
  selector: {app: checkout}
  ports: [{name: http, port: 80, targetPort: 8080}]
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: checkout-settings}
data:
  feature.giftCards: "false"
  payment.timeout: 20s
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: checkout-region}
data: {region: eu-central-1}
`, `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: checkout-policy
  annotations: {cert-manager.io/inject-ca-from: checkout/checkout-policy}
webhooks:
- name: orders.checkout.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {caBundle: "", service: {name: checkout-policy, namespace: checkout, path: /validate}}
  rules: [{apiGroups: [shop.example.com], apiVersions: [v1], operations: [CREATE], resources: [orders]}]
`,
}, "---\n")
