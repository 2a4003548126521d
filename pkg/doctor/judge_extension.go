package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// flagKey switches proxy extensions on, in argocd-cmd-params-cm.
const flagKey = "server.enable.proxy.extension"

func judgeBackend(f Facts) finding {
	if f.Deployments.Obstacle != "" {
		return unread("the Deployments", f.Deployments.Obstacle)
	}
	d, p, there := f.backendDeployment()
	if !there {
		return bad(fmt.Sprintf("no Deployment in the namespace %s runs `moorpin extension serve`", f.Namespace), f.addComponent("extension")...)
	}
	text, ready := replicas(d)
	says := fmt.Sprintf("%s runs the backend, %s", d.Name, text)
	logs := fmt.Sprintf("kubectl -n %s logs deployment/%s -c %s", f.Namespace, d.Name, p.container.Name)
	if trouble := f.trouble(d, ""); trouble != "" {
		return bad(says+"; "+trouble, logs)
	}
	if !ready {
		return bad(says, fmt.Sprintf("kubectl -n %s describe pods -l %s", f.Namespace, selectorText(d)), logs)
	}
	if ref, is := f.reference(); is && !mountsSecret(d, ref.secret) {
		return bad(fmt.Sprintf("%s; it does not mount the Secret %s, which argocd-server sends", says, ref.secret), f.addComponent("extension")...)
	}
	return fine(says)
}

func selectorText(d appsv1.Deployment) string {
	if d.Spec.Selector == nil {
		return ""
	}
	var parts []string
	for key, value := range d.Spec.Selector.MatchLabels {
		parts = append(parts, key+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// mountsSecret reports whether a volume of the Pods is the Secret.
func mountsSecret(d appsv1.Deployment, name string) bool {
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Secret != nil && v.Secret.SecretName == name {
			return true
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.Secret != nil && source.Secret.Name == name {
				return true
			}
		}
	}
	return false
}

func judgeService(f Facts) finding {
	found, is := f.configured()
	switch {
	case !is:
		return unknown(strings.TrimSuffix("argocd-cm does not say which Service it is: "+f.Settings.Obstacle, ": "))
	case f.Services.Obstacle != "":
		return unread("the Services", f.Services.Obstacle)
	}
	for _, s := range found.Backend.Services {
		at, err := s.host(f.Namespace)
		if err != nil {
			return bad(err.Error(), "write http://moorpin-extension:8080")
		}
		if _, err := netip.ParseAddr(at.address); err == nil {
			return unknown(fmt.Sprintf("argocd-cm names the address %s and no Service", at.address))
		}
		if at.namespace != f.Namespace {
			return unknown(fmt.Sprintf("%s is in the namespace %s, which is not looked at", at.name, at.namespace))
		}
		if answer := f.judgeHost(at); answer.status != OK {
			return answer
		}
	}
	return fine("the Service in argocd-cm is there and selects the backend's Pods")
}

// judgeHost looks at the Service of one URL.
func (f Facts) judgeHost(at host) finding {
	i := slices.IndexFunc(f.Services.Value, func(s corev1.Service) bool { return s.Name == at.name })
	if i < 0 {
		return bad(fmt.Sprintf("argocd-cm points at the Service %s, which is not there", at.name), f.addComponent("extension")...)
	}
	s := f.Services.Value[i]
	if !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return strconv.Itoa(int(p.Port)) == at.port }) {
		return bad(fmt.Sprintf("argocd-cm points at port %s of the Service %s, which has no such port", at.port, at.name), fmt.Sprintf("kubectl -n %s get service %s", f.Namespace, at.name))
	}
	d, _, there := f.backendDeployment()
	if there && !selects(s.Spec.Selector, d.Spec.Template.Labels) {
		return bad(fmt.Sprintf("the Service %s does not select the Pods of %s", at.name, d.Name), f.addComponent("extension")...)
	}
	return fine("")
}

// configLines are what belongs into argocd-cm.
var configLines = []string{
	"in argocd-cm:",
	"data:",
	"  " + configKey + ": |",
	"    services:",
	"    - url: http://moorpin-extension:8080",
	"      headers:",
	"      - name: " + secretHeader,
	"        value: '$moorpin-extension:secret'",
}

func judgeConfig(f Facts) finding {
	switch {
	case f.Settings.Obstacle != "":
		return unread("argocd-cm", f.Settings.Obstacle)
	case !f.Settings.Found:
		return bad("there is no argocd-cm", configLines...)
	}
	all, err := extensions(f.Settings.Value.Data)
	if err != nil {
		return bad("argocd-server serves no proxy extension at all: in argocd-cm "+err.Error(), append([]string{"mend that key; Moorpin's is,"}, configLines...)...)
	}
	found, is := own(all)
	if !is {
		return bad("argocd-cm has no "+configKey, configLines...)
	}
	for _, s := range found.Backend.Services {
		ref, sent, referred := s.secretReference()
		switch {
		case !sent:
			return bad("the extension sends no header "+secretHeader+", so the backend refuses everything", configLines...)
		case !referred:
			return bad("the secret stands in argocd-cm for everybody to read; take it for lost and put a reference there", configLines...)
		case ref.secret == "" || ref.key == "":
			return bad("the header "+secretHeader+" refers to no Secret", configLines...)
		}
		if _, err := s.host(f.Namespace); err != nil {
			return bad(err.Error(), configLines...)
		}
	}
	return fine(fmt.Sprintf("argocd-cm sends the extension %s to %s", extensionName, found.Backend.Services[0].URL))
}

func judgeFlag(f Facts) finding {
	restart := f.restartServer()
	if f.flagged() {
		return fine("argocd-server is started with proxy extensions")
	}
	switch {
	case f.Parameters.Obstacle != "":
		return unread("argocd-cmd-params-cm", f.Parameters.Obstacle)
	case f.Parameters.Value.Data[flagKey] != "true":
		return bad(fmt.Sprintf("%s is not \"true\" in argocd-cmd-params-cm, so argocd-server serves no proxy extension", flagKey),
			fmt.Sprintf(`kubectl -n %s patch configmap argocd-cmd-params-cm --type merge -p '{"data":{"%s":"true"}}'`, f.Namespace, flagKey), restart)
	}
	if pod, before := f.startedBefore(setAt(f.Parameters.Value, flagKey)); before {
		return warn(fmt.Sprintf("Pod %s is older than %s in argocd-cmd-params-cm, which it reads at its start only", pod, flagKey), restart)
	}
	return fine(flagKey + ` is "true" in argocd-cmd-params-cm`)
}

// flagged reports whether argocd-server's own arguments or environment switch proxy
// extensions on; a reference to argocd-cmd-params-cm does not count.
func (f Facts) flagged() bool {
	d, _ := f.component(apiServer)
	for _, c := range d.Spec.Template.Spec.Containers {
		p := program{args: slices.Concat(c.Command, c.Args)}
		if p.switched("enable-proxy-extension") {
			return true
		}
		for _, variable := range c.Env {
			if variable.Name == "ARGOCD_SERVER_ENABLE_PROXY_EXTENSION" && variable.Value == "true" {
				return true
			}
		}
	}
	return false
}

// setAt is when a key of a ConfigMap was last written by whoever owns it; zero where
// nobody says.
func setAt(m corev1.ConfigMap, key string) time.Time {
	var last time.Time
	for _, entry := range m.ManagedFields {
		if entry.FieldsV1 == nil || entry.Time == nil || !strings.Contains(string(entry.FieldsV1.Raw), `"f:`+key+`"`) {
			continue
		}
		if entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// startedBefore finds a Pod of argocd-server that was there before a time.
func (f Facts) startedBefore(at time.Time) (string, bool) {
	d, there := f.component(apiServer)
	if !there || at.IsZero() {
		return "", false
	}
	for _, pod := range f.podsOf(d) {
		if started := pod.Status.StartTime; started != nil && started.Time.Before(at) {
			return pod.Name, true
		}
	}
	return "", false
}
