package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// Sizes of what the browser is measured with.
const (
	manyFields    = 5000
	manyResources = 200
)

// projectLab is the AppProject of what only testers see.
const projectLab = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: lab, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`

type action = func(context.Context, *recorder.Stage) error

var serverSideApply = map[string]any{"syncOptions": []any{"ServerSideApply=true"}}

// applications are what Argo CD shows: a shop as platform teams have it, and the
// extremes that only testers see.
func applications() []recorder.Scenario {
	lab := func(scenario recorder.Scenario) recorder.Scenario {
		scenario.Spec = map[string]any{"project": "lab"}
		return scenario
	}
	return []recorder.Scenario{
		{Name: "checkout", Files: files(checkout, removedService), SyncPolicy: serverSideApply, CRDs: []string{"externalsecrets.external-secrets.io"}, Inject: inOrder(
			commit(files(checkout)),
			refresh,
			scale("kube-controller-manager", "apps/v1/Deployment/checkout", 7),
			patch("kubectl-edit", "v1/ConfigMap/checkout-settings", `{data: {payment.timeout: 45s, feature.giftCards: "true"}}`),
			patch("Terraform", "v1/ConfigMap/checkout-region", `{data: {region: eu-west-3}}`),
			patch("cainjector", "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration/checkout-policy", `[{op: add, path: /webhooks/0/clientConfig/caBundle, value: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=}]`),
		)},
		{Name: "payments", Files: files(paymentKeys), SyncPolicy: serverSideApply, CRDs: []string{"externalsecrets.external-secrets.io"}},
		{Name: "catalog", Files: files(deployment("catalog")), Inject: patch("kubectl-edit", "apps/v1/Deployment/catalog",
			`[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: debug}]`)},
		{Name: "search", Files: files(deployment("search"), autoscaler("search")), Inject: scale("kube-controller-manager", "apps/v1/Deployment/search", 6)},
		{Name: "ledger", Files: files(deployment("ledger"))},
		lab(recorder.Scenario{Name: "fields", Files: files(manyKeys("git")), SyncPolicy: serverSideApply, Inject: apply("kubectl-edit", manyKeys("somebody"))}),
		lab(recorder.Scenario{Name: "resources", Files: files(manyMaps("git")), Inject: apply("kubectl-edit", manyMaps("somebody"))}),
		lab(recorder.Scenario{Name: "hostile", Files: files(hostile("harmless", "harmless")), Inject: apply(hostileManager, hostile(hostileText, hostileAnnotation))}),
	}
}

func files(manifests ...string) map[string]string {
	return map[string]string{"app/manifests.yaml": strings.Join(manifests, "---\n")}
}

func inOrder(actions ...action) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		for _, act := range actions {
			if err := act(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

func patch(manager, ref, content string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Patch(ctx, manager, ref, content) }
}

func scale(manager, ref string, replicas int) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Scale(ctx, manager, ref, replicas) }
}

func apply(manager, manifests string) action {
	return func(ctx context.Context, s *recorder.Stage) error { return s.Apply(ctx, manager, manifests) }
}

func commit(changed map[string]string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		_, err := s.Commit(ctx, changed)
		return err
	}
}

func refresh(ctx context.Context, s *recorder.Stage) error {
	_, err := s.Refresh(ctx)
	return err
}

// manyKeys is a ConfigMap with as many fields as a view has to bear.
func manyKeys(value string) string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flags}\ndata:\n")
	for i := range manyFields {
		fmt.Fprintf(&text, "  flag-%04d: %s\n", i, value)
	}
	return text.String()
}

func manyMaps(value string) string {
	var all []string
	for i := range manyResources {
		all = append(all, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tenant-%03d}\ndata: {tier: %s, region: eu-central-1}\n", i, value))
	}
	return strings.Join(all, "---\n")
}

// What a page must show as text and nothing else: markup, addresses that run, characters
// that turn the text around, control characters, and a word without an end.
const (
	hostileManager    = `<img src=x onerror=alert(1)>`
	hostileText       = `"</script><script>alert('moorpin')</script><img src=https://evil.example.com/x.png onerror=alert(1)> javascript:alert(1) \u202Edlrow\u202C \u200B\u0085 \u2066x\u2069 [link](javascript:alert(1)) \e[31m"`
	hostileAnnotation = `"<svg onload=alert(1)>"`
)

func hostile(value, annotation string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hostile\n  annotations:\n    example.com/note: " + annotation +
		"\ndata:\n  text: " + value + "\n  __proto__: " + value + "\n  constructor: " + value + "\n  long: " + value[:1] + strings.Repeat("x", 6000) + value[len(value)-1:] + "\n"
}
