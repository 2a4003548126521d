package doctor_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/doctor"
)

// fault is one thing that goes wrong, and what the doctor must find.
type fault struct {
	reason  string
	inflict func(t *testing.T, p *patient)
	check   string
	status  doctor.Status
	// says and remedy are parts of the sentence and of the remedy.
	says, remedy string
}

func config(text string) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-cm", text, "data", "extension.config.moorpin")
	}
}

func policy(lines string) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-rbac-cm", lines, "data", "policy.moorpin.csv")
	}
}

func value(text string) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		p.set(t, "Secret/moorpin-extension", base64.StdEncoding.EncodeToString([]byte(text)), "data", "secret")
	}
}

func sidecarArgs(args ...any) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		p.container(t, "argocd-repo-server", 1)["args"] = append([]any{"cmp", "serve"}, args...)
	}
}

// withoutInside leaves only what is seen from outside of the sidecar.
func withoutInside(inflict func(*testing.T, *patient)) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		p.sources.Socket, p.sources.Metrics = nil, nil
		inflict(t, p)
	}
}

func counted(from, to string) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		if !strings.Contains(p.metrics, from) {
			t.Fatalf("no %q in the metrics", from)
		}
		p.metrics = strings.Replace(p.metrics, from, to, 1)
	}
}

func nothing(*testing.T, *patient) {}

var faults = map[string]fault{
	"wrong namespace": {"a typo", func(_ *testing.T, p *patient) { p.sources.Namespace = "argo" }, "cluster", doctor.Fail, "no argocd-cm in the namespace argo", "--namespace"},
	"API down":        {"a laptop without the network", func(_ *testing.T, p *patient) { p.cluster.down = true }, "cluster", doctor.Fail, "connection refused", "--kubeconfig"},
	"no right":        {"a kubeconfig of a guest", func(_ *testing.T, p *patient) { p.cluster.forbidden = []string{"ConfigMap"} }, "cluster", doctor.Unknown, "kubectl auth can-i get configmaps/argocd-cm -n argocd", "may read"},
	"no label": {"a ConfigMap written by hand", func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-rbac-cm", map[string]any{}, "metadata", "labels")
	}, "cluster", doctor.Fail, "argocd-rbac-cm lacks the label", "kubectl -n argocd label configmap argocd-rbac-cm"},
	"old Argo CD": {"below the range", func(_ *testing.T, p *patient) { p.server.version = "v2.12.4" }, "argocd-version", doctor.Fail, "older than v2.13", "upgrade"},
	"new Argo CD": {"above the range", func(_ *testing.T, p *patient) { p.server.version = "v3.7.0" }, "argocd-version", doctor.Warn, "newer than v3.6", "docs/compatibility.md"},
	"between":     {"read about, never run", func(_ *testing.T, p *patient) { p.server.version = "v3.4.2" }, "argocd-version", doctor.OK, "docs/compatibility.md", ""},
	"no version":  {"a build of one's own", func(_ *testing.T, p *patient) { p.server.version = "main" }, "argocd-version", doctor.Unknown, "no version", ""},
	"large settings": {"many health checks", func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-cm", strings.Repeat("x", 800<<10), "data", "checks")
	}, "settings-size", doctor.Warn, "checks with 800 KiB", "moorpin lua"},
	"full settings": {"the next change is refused", func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-cm", strings.Repeat("x", 1000<<10), "data", "checks")
	}, "settings-size", doctor.Fail, "refused", "moorpin lua"},
	"other sidecar": {"a container of another make", func(t *testing.T, p *patient) {
		p.container(t, "argocd-repo-server", 1)["command"] = []any{"cat"}
		sidecarless(t, p)
	}, "sidecar", doctor.Fail, "no container of argocd-repo-server", "components/cmp"},
	"no socket folder": {"nobody sees the socket", func(t *testing.T, p *patient) {
		delete(p.container(t, "argocd-repo-server", 1), "volumeMounts")
	}, "sidecar", doctor.Fail, "mounts no volume", "components/cmp"},
	"another volume": {"repo-server sees another folder", func(t *testing.T, p *patient) {
		p.container(t, "argocd-repo-server", 0)["volumeMounts"] = []any{map[string]any{"name": "other", "mountPath": "/home/argocd/cmp-server/plugins"}}
	}, "sidecar", doctor.Fail, "no other container mounts", "components/cmp"},
	"of a chart":  {"it names things after its release", renamed(map[string]any{"app.kubernetes.io/name": "argocd-repo-server"}), "sidecar", doctor.OK, "of release-repo runs", ""},
	"of operator": {"it has labels of its own", renamed(map[string]any{"app.kubernetes.io/component": "repo-server", "app.kubernetes.io/part-of": "argocd"}), "sidecar", doctor.OK, "of release-repo runs", ""},
	"of others":   {"a part of something else", renamed(map[string]any{"app.kubernetes.io/component": "repo-server"}), "sidecar", doctor.Fail, "no Deployment argocd-repo-server", "--namespace"},
	"rolling out": {"it takes a while", func(t *testing.T, p *patient) {
		p.set(t, "Deployment/argocd-repo-server", int64(1), "status", "updatedReplicas")
	}, "sidecar", doctor.Warn, "1 of the newest template", "rollout status"},
	"crash loop": {"the Pod says why", crashing, "sidecar", doctor.Fail, "CrashLoopBackOff", "kubectl -n argocd logs deployment/argocd-repo-server -c moorpin"},
	"other tools": {"Argo CD was upgraded, the sidecar was not", func(t *testing.T, p *patient) {
		p.container(t, "argocd-repo-server", 1)["image"] = "quay.io/argoproj/argocd:v2.13.1"
	}, "sidecar-tools", doctor.Warn, "v2.13.1", "build the kustomization again"},
	"socket missing": {"the sidecar does not run", func(_ *testing.T, p *patient) {
		p.sources.Socket = func(context.Context) (doctor.Plugin, error) {
			return doctor.Plugin{}, errors.New("there is no socket x")
		}
	}, "socket", doctor.Fail, "no socket x", "999"},
	"draining":        {"a rollout", func(_ *testing.T, p *patient) { p.plugin.Serving = false }, "socket", doctor.Warn, "about to end", "wait"},
	"not inside":      {"the socket is a file of the Pod", withoutInside(nothing), "socket", doctor.Unknown, "--socket", "kubectl -n argocd exec deployment/argocd-repo-server"},
	"discovery":       {"it costs a copy", func(_ *testing.T, p *patient) { p.plugin.Discovery = true }, "discovery", doctor.Warn, "1 of 3 Applications name none", "--discovery"},
	"discovery flag":  {"seen from outside", withoutInside(sidecarArgs("--discovery")), "discovery", doctor.Warn, "discovery is on", "--discovery"},
	"discovery=false": {"said to be off", withoutInside(sidecarArgs("--discovery=false")), "discovery", doctor.OK, "1 of 3 name it", ""},

	"no Landlock": {"an old kernel", counted("cmp_confined 1\n", "cmp_confined 0\n"), "confinement", doctor.Warn, "has no Landlock", "--confine=require"},
	"unconfined": {"the Deployment is not seen", func(t *testing.T, p *patient) {
		counted("cmp_confined 1\n", "cmp_confined 0\n")(t, p)
		p.sources.Cluster = nil
	}, "confinement", doctor.Warn, "or the sidecar has --confine=off", "take --confine=off"},
	"older sidecar": {"it does not count that", counted("moorpin_cmp_confined 1\n", ""), "confinement", doctor.Unknown, "older than this doctor", ""},
	"not confined":  {"somebody was in a hurry", sidecarArgs("--confine=off"), "confinement", doctor.Fail, "told not to", "--confine=off"},
	"must be":       {"it would not run otherwise", withoutInside(sidecarArgs("--confine=require")), "confinement", doctor.OK, "does not start", ""},
	"may be":        {"the kernel decides", withoutInside(nothing), "confinement", doctor.Unknown, "metrics say", "port-forward"},

	"schemas unread":  {"no right to read CRDs", counted("crds_synced 1\n", "crds_synced 0\n"), "schemas", doctor.Fail, "not read", "get, list and watch"},
	"schemas stale":   {"the watch broke", counted("crds_up 1\n", "crds_up 0\n"), "schemas", doctor.Fail, "the watch is broken", "service account"},
	"schemas silent":  {"nothing heard for long", counted("1.795e+09", "1.794e+09"), "schemas", doctor.Fail, "the watch is broken", "service account"},
	"schemas refused": {"a CRD that is not structural", counted("refused 0", "refused 3"), "schemas", doctor.Warn, "3 more cannot be used", "log"},
	"no watch":        {"a sidecar without a token", func(_ *testing.T, p *patient) { p.metrics = "moorpin_cmp_objects_total 1\n" }, "schemas", doctor.Warn, "watches no cluster", "--kubeconfig"},
	"not asked":       {"metrics say what arguments cannot", withoutInside(nothing), "schemas", doctor.Unknown, "its metrics say", "port-forward"},
	"folder only":     {"as old as the image", withoutInside(sidecarArgs("--live=off", "--crds", "/crds")), "schemas", doctor.Warn, "/crds only", "token"},
	"token by default": {"Kubernetes mounts one unless told not to", withoutInside(func(t *testing.T, p *patient) {
		c := p.container(t, "argocd-repo-server", 1)
		c["volumeMounts"] = c["volumeMounts"].([]any)[:1]
		unstructured.RemoveNestedField(p.object(t, "Deployment", "argocd-repo-server"), "spec", "template", "spec", "automountServiceAccountToken")
	}), "schemas", doctor.Unknown, "its metrics say", ""},
	"no schemas": {"hardly anything is pinned", withoutInside(func(t *testing.T, p *patient) {
		c := p.container(t, "argocd-repo-server", 1)
		c["volumeMounts"] = c["volumeMounts"].([]any)[:1]
	}), "schemas", doctor.Fail, "no source of CRDs", "components/cmp"},

	"backend gone": {"half an installation", func(t *testing.T, p *patient) { p.drop(t, "Deployment", "moorpin-extension") }, "backend", doctor.Fail, "no Deployment", "components/extension"},
	"backend unready": {"no secret, no readiness", func(t *testing.T, p *patient) {
		p.set(t, "Deployment/moorpin-extension", int64(0), "status", "readyReplicas")
	}, "backend", doctor.Fail, "0 of 2 Pods", "app.kubernetes.io/name=moorpin-extension"},
	"backend's secret": {"it knows another one", func(t *testing.T, p *patient) {
		p.set(t, "Deployment/moorpin-extension", []any{}, "spec", "template", "spec", "volumes")
	}, "backend", doctor.Fail, "does not mount the Secret moorpin-extension", ""},
	"service gone":      {"the URL leads nowhere", func(t *testing.T, p *patient) { p.drop(t, "Service", "moorpin-extension") }, "service", doctor.Fail, "not there", "components/extension"},
	"service port":      {"a changed port", config(configured("http://moorpin-extension.argocd.svc:9999", "$moorpin-extension:secret")), "service", doctor.Fail, "port 9999", ""},
	"service elsewhere": {"only one namespace is looked at", config(configured("http://moorpin-extension.other.svc.cluster.local:8080", "$moorpin-extension:secret")), "service", doctor.Unknown, "namespace other", ""},
	"service address":   {"only Services are looked at", config(configured("http://10.0.0.7:8080", "$moorpin-extension:secret")), "service", doctor.Unknown, "10.0.0.7 and no Service", ""},
	"service selects": {"labels that do not fit", func(t *testing.T, p *patient) {
		p.set(t, "Service/moorpin-extension", "other", "spec", "selector", "app.kubernetes.io/name")
	}, "service", doctor.Fail, "does not select", ""},

	"secret gone": {"the name is sent instead", func(t *testing.T, p *patient) { p.drop(t, "Secret", "moorpin-extension") }, "secret", doctor.Fail, "no Secret moorpin-extension", "openssl rand -hex 32"},
	"secret unlabelled": {"Argo CD does not read it", func(t *testing.T, p *patient) {
		p.set(t, "Secret/moorpin-extension", map[string]any{}, "metadata", "labels")
	}, "secret", doctor.Fail, "lacks the label", "kubectl -n argocd label secret moorpin-extension app.kubernetes.io/part-of=argocd"},
	"secret short":  {"it can be guessed", value("short"), "secret", doctor.Fail, "5 characters", "patch secret"},
	"secret empty":  {"a template without a value", value(" \n"), "secret", doctor.Fail, "is empty", "patch secret"},
	"secret a name": {"a reference to a reference", value("$moorpin-extension:secret"), "secret", doctor.Fail, "begins with $", "patch secret"},
	"secret binary": {"no header can carry it", value("secret-of-the-\x00-fixture-01"), "secret", doctor.Fail, "no header", "patch secret"},
	"secret's key":  {"a rotation half done", config(configured("http://moorpin-extension:8080", "$moorpin-extension:next")), "secret", doctor.Fail, "no key next", "patch secret"},
	"own secret":    {"a reference without a name", config(configured("http://moorpin-extension:8080", "$moorpin.secret")), "secret", doctor.Fail, "no Secret argocd-secret", ""},

	"no config":     {"the component is not there", func(t *testing.T, p *patient) { p.set(t, "ConfigMap/argocd-cm", map[string]any{}, "data") }, "extension-config", doctor.Fail, "has no extension.config.moorpin", "Moorpin-Secret"},
	"open secret":   {"everybody may read argocd-cm", config(configured("http://moorpin-extension:8080", theSecret)), "extension-config", doctor.Fail, "everybody to read", "value: '$moorpin-extension:secret'"},
	"no header":     {"the backend refuses", config("services: [{url: http://moorpin-extension:8080}]"), "extension-config", doctor.Fail, "no header Moorpin-Secret", "Moorpin-Secret"},
	"broken config": {"no extension works then", config("services: {" + theSecret), "extension-config", doctor.Fail, "extension.config.moorpin is no YAML", ""},
	"broken neighbour": {"one bad key takes all down", func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-cm", "services: []", "data", "extension.config.other")
	}, "extension-config", doctor.Fail, "other has no services", "mend"},
	"twice": {"in both ways of writing it", func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-cm", "extensions: [{name: moorpin, backend: {services: [{url: http://a}]}}]", "data", "extension.config")
	}, "extension-config", doctor.Fail, "moorpin is configured twice", ""},
	"no URL": {"a path is none", config(configured("/moorpin", "$moorpin-extension:secret")), "extension-config", doctor.Fail, "none of http", ""},

	"flag off": {"the default", func(t *testing.T, p *patient) { p.set(t, "ConfigMap/argocd-cmd-params-cm", map[string]any{}, "data") }, "extension-flag", doctor.Fail, "not \"true\"", "rollout restart deployment argocd-server"},
	"no restart": {"read at the start only", func(t *testing.T, p *patient) {
		p.set(t, "Pod/argocd-server-1", "2026-11-20T09:00:00Z", "status", "startTime")
	}, "extension-flag", doctor.Warn, "argocd-server-1 is older", "rollout restart"},
	"flag by argument": {"another way to say it", func(t *testing.T, p *patient) {
		p.set(t, "ConfigMap/argocd-cmd-params-cm", map[string]any{}, "data")
		p.container(t, "argocd-server", 0)["args"] = []any{"/usr/local/bin/argocd-server", "--enable-proxy-extension"}
	}, "extension-flag", doctor.OK, "started with", ""},

	"no policy":     {"not even the admin may", policy(""), "rbac", doctor.Fail, "not even the admin", "extensions, invoke, moorpin, allow"},
	"other right":   {"a word short", policy("p, role:readonly, extensions, invoke, other, allow"), "rbac", doctor.Fail, "not even the admin", ""},
	"wildcard":      {"globs count", policy("p, dev@example.com, exten*, *, *, allow"), "rbac", doctor.OK, "dev@example.com", ""},
	"idle role":     {"a role that nobody has", policy("p, role:dev, extensions, invoke, moorpin, allow"), "rbac", doctor.Warn, "no group and no user", "g, GROUP, role:dev"},
	"given role":    {"a group has it", policy("p, role:dev, extensions, invoke, moorpin, allow\ng, team, role:dev"), "rbac", doctor.OK, "role:dev", ""},
	"denied":        {"deny weighs more", policy("p, a, extensions, invoke, moorpin, allow\np, b, extensions, *, *, deny"), "rbac", doctor.Warn, "denies it to b", "deny"},
	"broken policy": {"Argo CD keeps the old one", policy("p, role:readonly, extensions, invoke, moorpin"), "rbac", doctor.Fail, "line 1 of policy.moorpin.csv", "mend"},
	"no CSV":        {"Argo CD keeps the old one", policy(`p, "role`), "rbac", doctor.Fail, "is no CSV", ""},

	"no pages":    {"the file is missing", func(_ *testing.T, p *patient) { p.server.scripts.Body = []byte("other()") }, "ui", doctor.Fail, "no pages", "moorpin extension bundle"},
	"old pages":   {"an init container of another image", func(_ *testing.T, p *patient) { p.server.scripts.Body = []byte("old('extensions/moorpin/')") }, "ui", doctor.Warn, "another version", "same image"},
	"no Argo CD":  {"a web page of somebody else", func(_ *testing.T, p *patient) { p.server.scripts.Kind = "text/html" }, "ui", doctor.Fail, "is --server Argo CD", "--grpc-web-root-path"},
	"server down": {"nobody answers", func(_ *testing.T, p *patient) { p.server.err = errors.New("connection refused") }, "ui", doctor.Fail, "connection refused", "--server"},
	"not served": {"seen from the Deployment", func(t *testing.T, p *patient) {
		p.sources.Server = nil
		delete(p.container(t, "argocd-server", 0), "volumeMounts")
	}, "ui", doctor.Fail, "mounts nothing at /tmp/extensions", "components/extension"},
	"two images": {"an upgrade half done", func(t *testing.T, p *patient) {
		p.container(t, "moorpin-extension", 0)["image"] = "ghcr.io/moorpin/moorpin:v0.2.0"
	}, "skew", doctor.Warn, "v0.2.0 (the backend)", "images:"},
	"other binary": {"an old moorpin on the laptop", func(_ *testing.T, p *patient) { p.sources.Version = "v0.0.9" }, "skew", doctor.Warn, "v0.0.9 (this command)", "moorpin"},
}

// renamed gives argocd-repo-server another name, and labels.
func renamed(labels map[string]any) func(*testing.T, *patient) {
	return func(t *testing.T, p *patient) {
		metadata := p.object(t, "Deployment", "argocd-repo-server")["metadata"].(map[string]any)
		metadata["name"], metadata["labels"] = "release-repo", labels
	}
}

// sidecarless takes the arguments away, too.
func sidecarless(t *testing.T, p *patient) {
	t.Helper()
	delete(p.container(t, "argocd-repo-server", 1), "args")
}

func configured(url, secret string) string {
	return "services:\n- url: " + url + "\n  headers:\n  - {name: moorpin-secret, value: '" + secret + "'}\n"
}

func crashing(t *testing.T, p *patient) {
	p.set(t, "Pod/argocd-repo-server-1", []any{map[string]any{
		"name": "moorpin", "image": "x", "imageID": "x", "ready": false, "restartCount": int64(7),
		"state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
	}}, "status", "containerStatuses")
}

// TestFaults breaks a healthy installation in one way after the other.
func TestFaults(t *testing.T) {
	met := map[string]bool{"answer": true} // TestServer
	for name, fault := range faults {
		met[fault.check] = true
		t.Run(name, func(t *testing.T) {
			p := healthy(t)
			fault.inflict(t, p)
			report := p.examine(t)
			f := finding(t, report, fault.check)
			if f.Status != fault.status || !strings.Contains(f.Says, fault.says) || !strings.Contains(strings.Join(f.Remedy, "\n"), fault.remedy) {
				t.Errorf("%s: want %s that says %q with remedy %q:\n%s %s\n%s", fault.reason, fault.status, fault.says, fault.remedy, f.Status, f.Says, strings.Join(f.Remedy, "\n"))
			}
			if f.Status == doctor.Fail && len(f.Remedy) == 0 {
				t.Error("it fails without a remedy")
			}
		})
	}
	for _, id := range doctor.Checks() {
		if !met[id] {
			t.Errorf("no fault shows that the check %s can fail", id)
		}
	}
}
