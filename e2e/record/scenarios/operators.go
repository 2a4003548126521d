package scenarios

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// caBundle is a new authority, as base64 of PEM.
func caBundle(name string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err.Error() // the API server will refuse it and say so
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(1760000000, 0), NotAfter: time.Unix(2080000000, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err.Error()
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// policyWebhook is a webhook configuration that concerns a kind that nobody writes.
const policyWebhook = `apiVersion: admissionregistration.k8s.io/v1
kind: %kind
metadata:
  name: %name
  annotations: {%annotation}
webhooks:
- name: validate.%name.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  matchPolicy: Equivalent
  timeoutSeconds: 10
  objectSelector: {}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NAMESPACE}}
  clientConfig:
    caBundle: "%bundle"
    service: {name: policy-webhook, namespace: $NAMESPACE, path: /validate, port: 443}
  rules:
  - {apiGroups: [policy.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [budgets], scope: "*"}
`

const (
	validating = "ValidatingWebhookConfiguration"
	mutating   = "MutatingWebhookConfiguration"
)

func webhookOf(kind, name, annotation, bundle string) string {
	return replaced(policyWebhook, "%kind", kind, "%name", name, "%annotation", annotation, "%bundle", bundle)
}

// convertedCRD is a CRD with a conversion webhook, whose authority Git leaves empty.
const convertedCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: tunnels.net.example.com
  annotations: {cert-manager.io/inject-ca-from: tunnel-system/tunnel-serving}
spec:
  group: net.example.com
  names: {kind: Tunnel, listKind: TunnelList, plural: tunnels, singular: tunnel}
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        caBundle: ""
        service: {name: tunnel-webhook, namespace: tunnel-system, path: /convert, port: 443}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {peer: {type: string}}}}}}
`

func caBundles() []recorder.Scenario {
	const (
		registration = "admissionregistration.k8s.io/v1/"
		field        = "/webhooks/0/clientConfig/caBundle"
		injectFrom   = "cert-manager.io/inject-ca-from: $NAMESPACE/policy-webhook"
	)
	inject := func(manager, on string) action {
		return rewrite(manager, on, func(object map[string]any) {
			set(object, caBundle(manager), "webhooks", 0, "clientConfig", "caBundle")
		})
	}
	return []recorder.Scenario{
		{
			Name: "ca-bundle-injection/empty-bundle-in-git", App: "policy-injected",
			Cause:  "cert-manager's cainjector fills the CA bundle that Git renders empty",
			Files:  git(webhookOf(validating, "policy-injected", injectFrom, "")),
			Inject: inject("cainjector", registration+validating+"/policy-injected"),
		},
		{
			Name: "ca-bundle-injection/placeholder-authority", App: "policy-placeholder",
			Cause:      "an operator puts its own CA in the place of a placeholder from Git",
			Files:      git(webhookOf(mutating, "policy-placeholder", "app.kubernetes.io/part-of: policy", caBundle("placeholder"))),
			SyncPolicy: serverSideApply,
			Inject:     inject("policy-operator", registration+mutating+"/policy-placeholder"),
		},
		{
			Name: "ca-bundle-injection/openshift-service-ca", App: "policy-service-ca",
			Cause:       "OpenShift's service CA operator fills the CA bundle",
			Files:       git(webhookOf(validating, "policy-service-ca", "service.beta.openshift.io/inject-cabundle: \"true\"", caBundle("old"))),
			Annotations: serverSideDiff,
			Inject:      inject("service-ca-operator", registration+validating+"/policy-service-ca"),
		},
		{
			Name: "ca-bundle-injection/conversion-webhook", App: "tunnel-operator",
			Cause: "cert-manager's cainjector fills the CA bundle of a CRD's conversion webhook",
			Files: git(convertedCRD),
			Inject: rewrite("cainjector", "apiextensions.k8s.io/v1/CustomResourceDefinition/tunnels.net.example.com", func(object map[string]any) {
				set(object, caBundle("tunnel"), "spec", "conversion", "webhook", "clientConfig", "caBundle")
			}),
		},
	}
}

const nodePool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %name}
spec:
  weight: 10
  limits: {cpu: "200", memory: 800Gi}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m, budgets: [{nodes: 10%}]}
  template:
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
`

func writebacks() []recorder.Scenario {
	const (
		istio = "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration/mesh-validator"
		pool  = "karpenter.sh/v1/NodePool/general-purpose"
		neg   = "/metadata/annotations/cloud.google.com~1neg"
	)
	return []recorder.Scenario{
		{
			Name: "operator-writeback/failure-policy-of-a-webhook", App: "mesh-validator",
			Cause:  "istiod sets the failure policy of its webhook to Fail once it is ready",
			Files:  git(webhookOf(validating, "mesh-validator", "app: istiod", caBundle("mesh"))),
			Inject: rewrite("pilot-discovery", istio, func(object map[string]any) { set(object, "Fail", "webhooks", 0, "failurePolicy") }),
		},
		{
			Name: "operator-writeback/network-endpoint-groups", App: "storefront-neg",
			Cause:      "the load balancer's controller rewrites the annotation of a Service",
			Files:      git(replaced(storefrontService, "  name: storefront\n  labels", "  name: storefront\n  annotations: {cloud.google.com/neg: '{\"ingress\":true}'}\n  labels")),
			SyncPolicy: serverSideApply,
			Inject: rewrite("glbc", onService, func(object map[string]any) {
				set(object, `{"exposed_ports":{"80":{}},"ingress":true}`, "metadata", "annotations", "cloud.google.com/neg")
			}),
		},
		{
			Name: "operator-writeback/requests-tuned", App: "storefront-tuned",
			Cause: "a rightsizing operator applies its own requests and limits to a Deployment",
			Files: git(storefront), Annotations: serverSideDiff,
			Inject: apply("rightsizer-operator", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: storefront}\nspec: {template: {spec: {containers: [{name: web, resources: {requests: {cpu: 90m}, limits: {memory: 300Mi}}}]}}}\n"),
		},
		{
			Name: "operator-writeback/limits-of-a-node-pool", App: "node-pools",
			Cause: "a cost operator lowers the limits and the weight of a Karpenter NodePool",
			Files: git(replaced(nodePool, "%name", "general-purpose")), CRDs: []string{"nodepools.karpenter.sh"},
			Inject: rewrite("cost-controller", pool, func(object map[string]any) {
				set(object, "120", "spec", "limits", "cpu")
				set(object, int64(5), "spec", "weight")
			}),
		},
	}
}
