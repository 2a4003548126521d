package doctor

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pluginFolder is where repo-server looks for the sockets of plugins.
const pluginFolder = "/home/argocd/cmp-server/plugins"

// staleAfter is when CRDs count as old: a healthy watch hears something every minute or
// so.
const staleAfter = 10 * time.Minute

func judgeSidecar(f Facts) finding {
	if f.Deployments.Obstacle != "" {
		return unread("the Deployments", f.Deployments.Obstacle)
	}
	d, p, there := f.sidecar()
	switch {
	case d.Name == "":
		return bad(fmt.Sprintf("the namespace %s has no Deployment %s", f.Namespace, repoServer), "name Argo CD's namespace with --namespace")
	case !there:
		return bad(fmt.Sprintf("no container of %s runs `moorpin cmp serve`", d.Name), f.addComponent("cmp")...)
	}
	if says := unshared(d.Spec.Template.Spec, p); says != "" {
		return bad(says, f.addComponent("cmp")...)
	}
	text, ready := replicas(d)
	where := fmt.Sprintf("container %s of %s runs the plugin, %s", p.container.Name, d.Name, text)
	if trouble := f.trouble(d, p.container.Name); trouble != "" {
		return bad(where+"; "+trouble, fmt.Sprintf("kubectl -n %s logs deployment/%s -c %s", f.Namespace, d.Name, p.container.Name))
	}
	if !ready {
		return warn(where, fmt.Sprintf("kubectl -n %s rollout status deployment %s", f.Namespace, d.Name))
	}
	return fine(where)
}

// unshared says what keeps repo-server from finding the plugin's socket: both containers
// have to mount the same volume.
func unshared(pod corev1.PodSpec, p program) string {
	if socket, given := p.flag("socket"); given && socket != "" {
		return "" // somebody knows better where it belongs
	}
	ours, there := mount(p.container, pluginFolder)
	if !there {
		return fmt.Sprintf("container %s mounts no volume at %s, so its socket is seen by nobody", p.container.Name, pluginFolder)
	}
	for _, c := range pod.Containers {
		theirs, there := mount(c, pluginFolder)
		if c.Name != p.container.Name && there && theirs == ours {
			return ""
		}
	}
	return fmt.Sprintf("no other container mounts the volume %s at %s, so repo-server does not find the socket", ours, pluginFolder)
}

// judgeTools: helm, kustomize and git have to be those of the running Argo CD, which
// they are where the sidecar's image is repo-server's.
func judgeTools(f Facts) finding {
	d, p, there := f.sidecar()
	if !there {
		return unknown("there is no sidecar to look at" + because(f.Deployments.Obstacle))
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		if _, server := mount(c, pluginFolder); !server || c.Name == p.container.Name {
			continue
		}
		if c.Image == p.container.Image {
			return fine("the sidecar runs in the image of " + c.Name + ", with its helm, kustomize and git")
		}
		return warn(fmt.Sprintf("the sidecar's image is %s and that of %s is %s: their helm and kustomize may render differently", p.container.Image, c.Name, c.Image),
			"build the kustomization again after every change of Argo CD's image: the component cmp takes the image from "+c.Name)
	}
	return unknown("no container of " + d.Name + " mounts " + pluginFolder)
}

func because(obstacle string) string {
	switch obstacle {
	case "":
		return ""
	case noCluster:
		return ": " + noCluster
	}
	return ": the Deployments " + obstacle
}

func judgeSocket(f Facts) finding {
	_, _, there := f.sidecar()
	switch {
	case f.Plugin.Obstacle == noSocket && f.Deployments.Found && !there:
		return unknown("there is no sidecar to look at")
	case f.Plugin.Obstacle == noSocket:
		remedy := fmt.Sprintf("kubectl -n %s exec deployment/%s -c moorpin -- /moorpin/moorpin doctor --socket %s/%s.sock", f.Namespace, f.deploymentOf(repoServer), pluginFolder, pluginName(f))
		return unknown("it is seen from inside the sidecar only: "+noSocket, remedy)
	case f.Plugin.Obstacle != "":
		return bad(f.Plugin.Obstacle, "read the log of the sidecar; run this command as the user that runs it (999)")
	case !f.Plugin.Value.Serving:
		return warn("the plugin answers and says that it does not serve: it is about to end", "wait for the new Pod")
	}
	return fine("the plugin answers on its socket and serves")
}

func judgeDiscovery(f Facts) finding {
	on, known := f.Plugin.Value.Discovery, f.Plugin.Found
	if _, p, there := f.sidecar(); there && !known {
		on, known = p.switched("discovery"), true
	}
	if !known {
		return unknown("neither the socket nor the sidecar's arguments are seen" + because(f.Deployments.Obstacle))
	}
	apps := f.Applications.Value
	more := ""
	if apps.More {
		more = "at least "
	}
	if on {
		says := "discovery is on: every Application that names no tool costs one more copy of its repository for each render"
		if f.Applications.Found {
			says += fmt.Sprintf("; %s%d of %d Applications name none", more, apps.Untyped, apps.Total)
		}
		return warn(says, "take --discovery from the sidecar's arguments, and name the plugin in Applications or in .argocd-source.yaml")
	}
	says := "discovery is off, so only Applications that name the plugin pay for it"
	if f.Applications.Found {
		says += fmt.Sprintf("; %s%d of %d name it in their spec", more, apps.Named, apps.Total)
	}
	return fine(says)
}

// askMetrics are the commands that let the doctor read the sidecar's metrics.
func (f Facts) askMetrics() []string {
	return []string{
		fmt.Sprintf("kubectl -n %s port-forward deployment/%s 8085 &", f.Namespace, f.deploymentOf(repoServer)),
		"moorpin doctor --sidecar-metrics http://127.0.0.1:8085/metrics",
	}
}

func judgeConfinement(f Facts) finding {
	const remedy = "run repo-server on nodes whose kernel has Landlock (Linux 5.13 and later, landlock in /sys/kernel/security/lsm), or give the sidecar --confine=require so that it does not start elsewhere"
	confined, told := f.Metrics.Value[metricConfined]
	_, p, there := f.sidecar()
	mode, _ := p.flag("confine")
	switch {
	case there && mode == "off":
		return bad("the sidecar is told not to confine what it renders: checks alone keep a repository from its token and from other checkouts", "take --confine=off from its arguments")
	case f.Metrics.Found && told && confined > 0:
		return fine("what renders is confined by Landlock")
	case f.Metrics.Found && told && !there:
		return warn("what renders is not confined: the node's kernel has no Landlock, or the sidecar has --confine=off; checks alone keep a repository from the sidecar's token and from other checkouts", remedy, "take --confine=off from the sidecar's arguments, where it stands")
	case f.Metrics.Found && told:
		return warn("the node's kernel has no Landlock: checks alone keep a repository from the sidecar's token and from other checkouts", remedy)
	case f.Metrics.Found:
		return unknown("the sidecar's metrics do not say; it is older than this doctor")
	case there && mode == "require":
		return fine("the sidecar does not start where it cannot confine what it renders")
	case f.Metrics.Obstacle != noMetrics:
		return unknown("the sidecar's metrics cannot be read: "+f.Metrics.Obstacle, "give the sidecar --metrics-address :8085")
	case !there:
		return unknown("there is no sidecar to look at" + because(f.Deployments.Obstacle))
	}
	return unknown("whether the node's kernel confines what renders, the sidecar's metrics say", f.askMetrics()...)
}

func judgeSchemas(f Facts) finding {
	if f.Metrics.Found {
		return judgeLive(f)
	}
	port := f.askMetrics()
	if f.Metrics.Obstacle != noMetrics {
		return unknown("the sidecar's metrics cannot be read: "+f.Metrics.Obstacle, "give the sidecar --metrics-address :8085")
	}
	d, p, there := f.sidecar()
	if !there {
		return unknown("there is no sidecar to look at" + because(f.Deployments.Obstacle))
	}
	folders, fromFolder := p.flag("crds")
	token := mountsToken(d.Spec.Template.Spec, p.container)
	_, kubeconfig := p.flag("kubeconfig")
	live, _ := p.flag("live")
	switch {
	case live != "off" && (token || kubeconfig):
		return unknown("the sidecar is to read them from the cluster; whether it does, and how old they are, its metrics say", port...)
	case fromFolder:
		return warn(fmt.Sprintf("the sidecar has them from %s only, read once at its start: they are as old as its image or volume", folders),
			"let it read the cluster's own, with a token in this container and the ClusterRole of the component cmp")
	}
	return bad("the sidecar has no source of CRDs but the rendered manifests themselves, so hardly anything is pinned", f.addComponent("cmp")...)
}

// mountsToken reports whether the container has a service account's token.
func mountsToken(pod corev1.PodSpec, c corev1.Container) bool {
	const folder = "/var/run/secrets/kubernetes.io/serviceaccount"
	if _, mounted := mount(c, folder); mounted {
		return true
	}
	return pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken
}

// judgeLive looks at what the sidecar says of the cluster's CRDs.
func judgeLive(f Facts) finding {
	m := f.Metrics.Value
	if _, watches := m[metricSynced]; !watches {
		return warn("the sidecar watches no cluster: it has CRDs from its folders and from rendered manifests only",
			"give it a service account's token or --kubeconfig, and get, list and watch on customresourcedefinitions.apiextensions.k8s.io")
	}
	age, ever := m.contact(f.Now)
	heard := "its API server has never answered"
	if ever {
		heard = fmt.Sprintf("its API server answered %s ago", age)
	}
	read := fmt.Sprintf("%.0f CRDs of the cluster are in use; %s", m[metricCRDs], heard)
	rights := "grant get, list and watch on customresourcedefinitions.apiextensions.k8s.io to its service account (ClusterRole moorpin-cmp), and let it reach the API server"
	switch {
	case m[metricSynced] == 0:
		return bad("the sidecar has not read the cluster's CRDs yet: what is rendered meanwhile lacks pins, and Argo CD caches it", rights, "then refresh hard")
	case m[metricUp] == 0 || age > staleAfter:
		return bad(read+", and the watch is broken: CRDs that changed since are not seen", rights)
	case m[metricRefused] > 0:
		return warn(fmt.Sprintf("%s; %.0f more cannot be used", read, m[metricRefused]), "read the sidecar's log for \"a CRD of the cluster cannot be used\"")
	}
	says := read
	if passed := m[metricUnpinned]; passed > 0 {
		says += fmt.Sprintf("; of %.0f rendered objects %.0f passed unchanged for want of a schema", m[metricObjects], passed)
	}
	return fine(says)
}
