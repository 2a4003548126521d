package doctor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// uiFolder is where argocd-server looks for extensions of the UI.
const uiFolder = "/tmp/extensions"

// bundleMark stands in every version of the pages.
const bundleMark = "extensions/moorpin/"

func judgeUI(f Facts) finding {
	if !f.Scripts.Found {
		return f.judgeUIVolume()
	}
	answer := f.Scripts.Value
	install := append(f.addComponent("extension"), "or write the pages into a volume at "+uiFolder+" of argocd-server: moorpin extension bundle DIR")
	switch {
	case answer.Status != http.StatusOK || strings.Contains(answer.Kind, "text/html"):
		return bad(fmt.Sprintf("GET /extensions.js answers %d with %s: is --server Argo CD, and its root path right?", answer.Status, cmp.Or(answer.Kind, "nothing")), "check --server and --grpc-web-root-path")
	case bytes.Contains(answer.Body, bytes.TrimSpace(f.Bundle)) && len(f.Bundle) > 0:
		return fine("argocd-server serves the pages of this version")
	case bytes.Contains(answer.Body, []byte(bundleMark)):
		return warn("argocd-server serves pages of another version of Moorpin than "+f.Version, "give all parts the same image, or run the moorpin of the pages' version to look")
	}
	return bad("argocd-server serves no pages of Moorpin in /extensions.js", install...)
}

// judgeUIVolume looks at argocd-server's Pods where argocd-server itself is not asked.
func (f Facts) judgeUIVolume() finding {
	if f.Scripts.Obstacle != noServer {
		return bad("argocd-server does not answer: "+f.Scripts.Obstacle, "check --server")
	}
	d, there := f.component(apiServer)
	switch {
	case f.Deployments.Obstacle != "":
		return unread("the Deployments", f.Deployments.Obstacle)
	case !there:
		return unknown(fmt.Sprintf("the namespace %s has no Deployment %s; %s", f.Namespace, apiServer, noServer))
	case !mountsUI(d):
		return bad(fmt.Sprintf("%s mounts nothing at %s, so it serves no pages of Moorpin", d.Name, uiFolder), f.addComponent("extension")...)
	}
	return unknown(fmt.Sprintf("%s mounts a volume below %s; what it serves is not asked: %s", d.Name, uiFolder, noServer))
}

func mountsUI(d appsv1.Deployment) bool {
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if m.MountPath == uiFolder || strings.HasPrefix(m.MountPath, uiFolder+"/") {
				return true
			}
		}
	}
	return false
}

// capabilities is what the backend says of itself.
type capabilities struct {
	Version       string   `json:"version"`
	ArgoCDVersion string   `json:"argocdVersion"`
	Feeds         []string `json:"feeds"`
}

// told are the backend's capabilities, where it answered.
func (f Facts) told() (capabilities, bool) {
	var answer capabilities
	a := f.Answer.Value
	if !f.Answer.Found || a.Status != http.StatusOK || json.Unmarshal(a.Body, &answer) != nil || len(answer.Feeds) == 0 {
		return capabilities{}, false
	}
	return answer, true
}

// judgeAnswer follows a call through argocd-server: how far it came tells what is amiss.
func judgeAnswer(f Facts) finding {
	if !f.Answer.Found {
		return unknown(f.Answer.Obstacle)
	}
	if answer, told := f.told(); told {
		feed := "it explains what the pages send"
		if slices.Contains(answer.Feeds, "backend") {
			feed = "it collects by itself, with a token"
		}
		return fine("the backend answers through argocd-server; " + feed)
	}
	a := f.Answer.Value
	var problem struct {
		Error string `json:"error"`
		Hint  string `json:"hint"`
	}
	ours := json.Unmarshal(a.Body, &problem) == nil && problem.Error != ""
	switch {
	case ours && a.Status == http.StatusForbidden && strings.Contains(problem.Error, secretHeader):
		return bad("the backend refuses argocd-server: "+oneLine(problem.Error), f.resend()...)
	case ours:
		return bad(fmt.Sprintf("the backend answers %d: %s", a.Status, oneLine(problem.Error)), oneLine(problem.Hint))
	case a.Status == http.StatusUnauthorized && strings.Contains(string(a.Body), "Unauthorized extension request"):
		return bad("the token's account may not ask the backend, or not see the Application", policyLines...)
	case a.Status == http.StatusUnauthorized:
		return bad("argocd-server does not take the token", "make a new one with `argocd account generate-token`")
	case a.Status == http.StatusNotFound:
		return bad("argocd-server knows no extension "+extensionName, configLines...)
	case a.Status == http.StatusOK:
		return bad("argocd-server answers with its own page: proxy extensions are off, or it was not restarted since",
			flagKey+`: "true"   # in argocd-cmd-params-cm`, f.restartServer())
	case a.Status >= http.StatusBadGateway:
		return bad(fmt.Sprintf("argocd-server does not reach the backend (%d)", a.Status),
			fmt.Sprintf("kubectl -n %s get endpointslices -l kubernetes.io/service-name=moorpin-extension", f.Namespace), "let a NetworkPolicy pass argocd-server to the backend's port")
	}
	return bad(fmt.Sprintf("argocd-server answers %d: %s", a.Status, oneLine(string(a.Body))))
}

// resend are the steps after which argocd-server sends the secret that the backend has:
// it notices a changed value only when its own settings change.
func (f Facts) resend() []string {
	name := extensionName + "-extension"
	if ref, is := f.reference(); is {
		name = ref.secret
	}
	return []string{
		fmt.Sprintf("kubectl -n %s rollout restart deployment %s   # it read the Secret %s before it was changed", f.Namespace, f.deploymentOf(apiServer), name),
	}
}
