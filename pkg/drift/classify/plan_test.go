package classify

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/plan"
)

const zombies = `
application:
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: web, namespace: argocd}
  spec: {destination: {server: https://kubernetes.default.svc, namespace: shop}}
resources:
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: mounted, namespace: shop}}
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: free, namespace: shop, uid: u-free}}
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: by-zombie, namespace: shop}}
- live: {apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: shop}}
- live: {apiVersion: v1, kind: Secret, metadata: {name: kept-on-purpose, namespace: shop, annotations: {argocd.argoproj.io/sync-options: Prune=false}}}
- live: {apiVersion: v1, kind: Service, metadata: {name: hook, namespace: shop}, spec: {selector: {app: zombie}}}
- live: {apiVersion: v1, kind: Service, metadata: {name: called, namespace: shop}}
- live: {apiVersion: v1, kind: ServiceAccount, metadata: {name: zombie, namespace: shop}}
- live: {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}}
- live: {apiVersion: v1, kind: Namespace, metadata: {name: empty}}
- live: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: zombie, namespace: shop}}
- live:
    apiVersion: rbac.authorization.k8s.io/v1
    kind: RoleBinding
    metadata: {name: zombie, namespace: shop}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: zombie}
    subjects: [{kind: ServiceAccount, name: zombie, namespace: shop}]
- live:
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingWebhookConfiguration
    metadata: {name: zombie}
    webhooks: [{name: a, clientConfig: {service: {name: hook, namespace: shop}}}]
- live:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: zombie, namespace: shop, uid: d1}
    spec:
      selector: {matchLabels: {app: zombie}}
      template:
        metadata: {labels: {app: zombie}}
        spec:
          serviceAccountName: zombie
          volumes: [{name: v, configMap: {name: by-zombie}}]
- live:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: in-traffic, namespace: shop}
    spec: {selector: {matchLabels: {app: t}}, template: {metadata: {labels: {app: t}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: shared}}]}}}
- live: {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: shared, namespace: shop}}
- live: {apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}}
- live: {apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: unused}}
- live:
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: widgets.example.com}
    spec: {group: example.com, names: {kind: Widget, plural: widgets}}
- live: {apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: shop}}
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: shop, ownerReferences: [{kind: Widget, name: other, controller: true, uid: zz}]}}
- target: {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: shop}, spec: {ingressClassName: nginx, tls: [{secretName: tls}]}}
  live: null
related:
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, envFrom: [{configMapRef: {name: mounted}}], env: [{name: URL, value: "http://called.shop.svc:80/"}]}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: elsewhere, namespace: other}, spec: {containers: [{name: c, envFrom: [{configMapRef: {name: free}}]}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: zombie-1-2, namespace: shop, labels: {app: zombie}, ownerReferences: [{kind: ReplicaSet, name: zombie-1, uid: rs}]}, spec: {serviceAccountName: zombie, volumes: [{name: v, configMap: {name: by-zombie}}]}}
- {apiVersion: v1, kind: Service, metadata: {name: front, namespace: shop}, spec: {selector: {app: t}}}
`

// planFor makes a plan in which every object that is only live is a leftover.
func planFor(t *testing.T, text string) plan.Plan {
	t.Helper()
	snapshot := parseYAML(t, text)
	report := &drift.Report{Application: "argocd/web"}
	for i := range snapshot.Resources {
		if r := &snapshot.Resources[i]; r.Target == nil {
			report.Findings = append(report.Findings, drift.Finding{Mechanism: drift.PendingPrune, Resource: drift.RefOf(r.Live)})
		}
	}
	return plan.For(snapshot, report)
}

func stepNames(steps []plan.Deletion) []string {
	var found []string
	for _, step := range steps {
		found = append(found, step.Resource.Kind+" "+step.Resource.Name)
	}
	return found
}

func TestPlan(t *testing.T) {
	p := planFor(t, zombies)
	reasons := map[string]string{
		"mounted":         "Pod shop/p refers to it (configMapRef)",
		"tls":             "Ingress shop/i refers to it (secretName)",
		"kept-on-purpose": "it is kept on purpose: it carries argocd.argoproj.io/sync-options: Prune=false",
		"called":          "Pod shop/p names its address",
		"in-traffic":      "Service shop/front sends requests to its pods",
		"shared":          "Deployment shop/in-traffic refers to it (claimName)",
		"nginx":           "Ingress shop/i refers to it (ingressClassName)",
		"owned":           "Widget other owns it, and would make it again",
	}
	got := map[string]string{}
	for _, kept := range p.Keep {
		got[kept.Resource.Name] = kept.Reasons[0]
	}
	if diff := cmp.Diff(reasons, got); diff != "" {
		t.Errorf("kept: -want +got:\n%s", diff)
	}
	want := []string{
		"ValidatingWebhookConfiguration zombie", "Widget w", "Service hook", "Deployment zombie", "RoleBinding zombie", "Role zombie",
		"ConfigMap by-zombie", "ConfigMap free", "ServiceAccount zombie", "IngressClass unused", "CustomResourceDefinition widgets.example.com",
	}
	if diff := cmp.Diff(want, stepNames(p.Delete)); diff != "" {
		t.Errorf("order: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"PersistentVolumeClaim data", "Namespace empty"}, stepNames(p.Manual)); diff != "" {
		t.Errorf("by hand: -want +got:\n%s", diff)
	}
	for _, step := range p.Delete {
		if !slices.ContainsFunc(p.Unseen, func(c plan.Check) bool { return c.Resource == step.Resource }) && slices.Contains([]string{"ConfigMap", "IngressClass", "Role", "CustomResourceDefinition"}, step.Resource.Kind) {
			t.Errorf("nothing says how to see who else uses %s", step.Resource.Words())
		}
	}
}

func TestPlanDeletesNothingInDoubt(t *testing.T) {
	for _, mechanism := range plan.InDoubt {
		snapshot := parseYAML(t, oneZombie)
		report := &drift.Report{Findings: []drift.Finding{{Mechanism: mechanism}, {Mechanism: drift.PendingPrune, Resource: drift.RefOf(snapshot.Resources[0].Live)}}}
		if plan := plan.For(snapshot, report); len(plan.Delete) > 0 || len(plan.Keep) != 1 {
			t.Errorf("%s: deletes %v, keeps %v", mechanism, plan.Delete, plan.Keep)
		}
	}
}

func TestPlanMarkdown(t *testing.T) {
	text := planFor(t, zombies).Markdown()
	for _, part := range []string{
		"- `ConfigMap shop/mounted`\n  - Pod shop/p refers to it (configMapRef)\n",
		"kubectl delete --namespace=shop RoleBinding.rbac.authorization.k8s.io/zombie\nkubectl delete --namespace=shop Role.rbac.authorization.k8s.io/zombie\n",
		"kubectl get --output=yaml --namespace=shop ConfigMap/free > 0",
		"kubectl get widgets.example.com --all-namespaces",
		"## By hand only",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the plan lacks %q:\n%s", part, text)
		}
	}
	if empty := (plan.Plan{Application: "a"}).Markdown(); !strings.Contains(empty, "nothing to delete") {
		t.Errorf("an empty plan says: %s", empty)
	}
}

// fakeKubectl notes its arguments one a line, and answers as $ANSWERS says.
const fakeKubectl = `#!/usr/bin/env bash
{ for word in "$@"; do printf '<%s>' "$word"; done; printf '\n'; } >> "$CALLS"
if [[ "$1" == --context=* ]]; then shift; fi
case "$1" in
get)
  for word in "$@"; do
    case "$word" in
    pods,*) printf '%s' "${READERS-}"; exit ;;
    --output=yaml) printf 'apiVersion: v1\ndata:\n  uid: keep\nkind: X\nmetadata:\n  name: n\n  resourceVersion: "1"\n  uid: u\nspec: {}\n' ;;
    '--output=jsonpath={.metadata.uid}') printf '%s' "${UID_NOW-u-free}" ;;
    --output=name) printf '%s' "${INSTANCES-}" ;;
    esac
  done
  ;;
create) cat >> "$CALLS" ;;
esac
`

// TestPlanScriptIsSound holds the template of the script, and one that is made of it,
// against shellcheck, which `make test` installs.
func TestPlanScriptIsSound(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no shellcheck; `make packages` installs it")
		}
		t.Skip("there is no shellcheck; `make packages` installs it")
	}
	s := newScript(t, planFor(t, zombies))
	for _, path := range []string{"../plan/script.sh", s.path} {
		if said, err := exec.CommandContext(t.Context(), shellcheck, path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, said)
		}
	}
}

// script is a way to run a plan's script.
type script struct {
	t           *testing.T
	calls, path string
	environment []string
}

func newScript(t *testing.T, plan plan.Plan) *script {
	t.Helper()
	folder := t.TempDir()
	s := &script{t: t, calls: filepath.Join(folder, "calls"), path: filepath.Join(folder, "plan.sh")}
	for name, content := range map[string]string{"plan.sh": plan.Script(), "bin/kubectl": fakeKubectl} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.environment = append(os.Environ(), "PATH="+filepath.Join(folder, "bin")+":"+os.Getenv("PATH"), "CALLS="+s.calls, "DUMPS="+filepath.Join(folder, "dumps"))
	return s
}

// run returns what the script printed, and what kubectl was called with.
func (s *script) run(answers string, environment []string, arguments ...string) (output, calls string) {
	s.t.Helper()
	if err := os.WriteFile(s.calls, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	command := exec.CommandContext(s.t.Context(), "bash", append([]string{s.path}, arguments...)...)
	command.Env = append(slices.Clone(s.environment), environment...)
	command.Stdin = strings.NewReader(answers)
	printed, err := command.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, printed)
	}
	called, err := os.ReadFile(s.calls)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(printed), string(called)
}

const oneZombie = `
application: {kind: Application, metadata: {name: web, namespace: argocd}}
resources:
- live: {apiVersion: v1, kind: ConfigMap, metadata: {name: free, namespace: shop, uid: u-free}}
- live: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, names: {kind: Widget, plural: widgets}}}
`

func TestPlanScript(t *testing.T) {
	s := newScript(t, planFor(t, oneZombie))

	printed, calls := s.run("", nil)
	if calls != "" || !strings.Contains(printed, "+ kubectl delete --ignore-not-found --namespace=shop ConfigMap/free") {
		t.Errorf("by default it only prints; called:\n%s\nprinted:\n%s", calls, printed)
	}
	printed, calls = s.run("n\nn\n", []string{"DRY_RUN=0"})
	if strings.Contains(calls, "<delete>") || !strings.Contains(printed, "left alone") {
		t.Errorf("without a yes nothing is deleted; called:\n%s\nprinted:\n%s", calls, printed)
	}
	if _, calls = s.run("y\n", []string{"DRY_RUN=0", "CONTEXT=blue"}); !strings.Contains(calls, "<--context=blue><delete><--ignore-not-found><--namespace=shop><ConfigMap/free>") {
		t.Errorf("with a yes it is deleted; called:\n%s", calls)
	}
	if strings.Count(calls, "<delete>") != 1 {
		t.Errorf("one yes deletes one object; called:\n%s", calls)
	}
	if _, calls = s.run("", []string{"DRY_RUN=0", "YES=1"}); strings.Count(calls, "<delete>") != 2 {
		t.Errorf("YES=1 deletes both; called:\n%s", calls)
	}
	if printed, calls = s.run("", []string{"DRY_RUN=0", "YES=1", "READERS=name: free"}); strings.Count(calls, "<delete>") != 1 || !strings.Contains(printed, "name: free") {
		t.Errorf("YES=1 does not answer whether the named object is needed; called:\n%s\nprinted:\n%s", calls, printed)
	}
	if _, calls = s.run("y\ny\nn\n", []string{"DRY_RUN=0", "READERS=name: free"}); strings.Count(calls, "<delete>") != 1 {
		t.Errorf("two answers delete what is named elsewhere; called:\n%s", calls)
	}
	if _, calls = s.run("", []string{"DRY_RUN=0", "YES=1", "CHECKED=1", "READERS=name: free"}); strings.Count(calls, "<delete>") != 2 {
		t.Errorf("CHECKED=1 answers it; called:\n%s", calls)
	}
	if printed, calls = s.run("", []string{"DRY_RUN=0", "YES=1", "INSTANCES=widget/w"}); strings.Contains(calls, "widgets.example.com>\n") && strings.Contains(calls, "<delete><--ignore-not-found><CustomResourceDefinition") || !strings.Contains(printed, "still in use") {
		t.Errorf("a definition with instances stays; called:\n%s\nprinted:\n%s", calls, printed)
	}
	if printed, calls = s.run("", []string{"DRY_RUN=0", "YES=1", "UID_NOW=another"}); strings.Contains(calls, "ConfigMap/free>\n<delete>") || !strings.Contains(printed, "another one by now") {
		t.Errorf("what was replaced stays; called:\n%s\nprinted:\n%s", calls, printed)
	}
	_, calls = s.run("", []string{"DRY_RUN=0", "YES=1"}, "rollback")
	if strings.Count(calls, "<create><--filename=->") != 2 || strings.Contains(calls, "resourceVersion") || !strings.Contains(calls, "  uid: keep") || strings.Contains(calls, "  uid: u\n") {
		t.Errorf("rollback creates both again without the server's fields; called:\n%s", calls)
	}
}

// TestPlanScriptQuotes runs a script about objects with hostile names.
func TestPlanScriptQuotes(t *testing.T) {
	folder := t.TempDir()
	mark := filepath.Join(folder, "mark")
	hostile := "a'; touch " + mark + "; echo \"$(touch " + mark + ")\" `touch " + mark + "` \n touch " + mark + " #"
	snapshot := &drift.Snapshot{Application: map[string]any{"kind": "Application"}}
	report := &drift.Report{Application: hostile}
	for _, name := range []string{hostile, "-n", "--all"} {
		live := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": hostile, "finalizers": []any{hostile}}}
		snapshot.Resources = append(snapshot.Resources, drift.Resource{Live: live})
		report.Findings = append(report.Findings, drift.Finding{Mechanism: drift.PendingPrune, Resource: drift.RefOf(live)})
	}
	plan := plan.For(snapshot, report)
	s := newScript(t, plan)
	s.run("", []string{"UID_NOW=u"})
	_, calls := s.run("", []string{"DRY_RUN=0", "YES=1", "UID_NOW=u"})
	if _, err := os.Stat(mark); err == nil {
		t.Error("the script ran a part of a name")
	}
	if !strings.Contains(calls, "<delete><--ignore-not-found><--namespace="+hostile+"><ConfigMap/"+hostile+">") {
		t.Errorf("the name did not arrive whole:\n%s", calls)
	}
	for line := range strings.Lines(plan.Markdown()) {
		if strings.HasPrefix(strings.TrimSpace(line), "touch") {
			t.Errorf("a name breaks out of its line: %q", line)
		}
	}
}
