package doctor

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Argo CD's components, by the names that its own manifests give them.
const (
	repoServer = "argocd-repo-server"
	apiServer  = "argocd-server"
)

// Labels of Argo CD's components: charts and operators give the Deployments names of
// their own, and keep one of these.
const (
	nameLabel      = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
)

// component finds the Deployment of one of Argo CD's components.
func (f Facts) component(name string) (appsv1.Deployment, bool) {
	part := strings.TrimPrefix(name, "argocd-")
	for _, is := range []func(appsv1.Deployment) bool{
		func(d appsv1.Deployment) bool { return d.Name == name || d.Labels[nameLabel] == name },
		func(d appsv1.Deployment) bool {
			return d.Labels[componentLabel] == part && d.Labels[partOfLabel] == partOf
		},
	} {
		if i := slices.IndexFunc(f.Deployments.Value, is); i >= 0 {
			return f.Deployments.Value[i], true
		}
	}
	return appsv1.Deployment{}, false
}

// deploymentOf is the name of a component's Deployment, as commands have to spell it.
func (f Facts) deploymentOf(name string) string {
	if d, there := f.component(name); there {
		return d.Name
	}
	return name
}

// program is a container that runs a command of Moorpin.
type program struct {
	container corev1.Container
	// args are command and arguments in one.
	args []string
	// init tells that it is an init container, native that it is one that goes on.
	init, native bool
}

// programs finds the containers of a Pod that run the given words one after the other.
func programs(pod corev1.PodSpec, words ...string) []program {
	var found []program
	look := func(containers []corev1.Container, init bool) {
		for _, c := range containers {
			args := slices.Concat(c.Command, c.Args)
			if !runs(args, words) {
				continue
			}
			native := init && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
			found = append(found, program{c, args, init, native})
		}
	}
	look(pod.InitContainers, true)
	look(pod.Containers, false)
	return found
}

// runs reports whether the words stand one after the other, in the arguments or in a
// script that is one of them.
func runs(args, words []string) bool {
	text := " " + strings.Join(strings.Fields(strings.Join(args, " ")), " ") + " "
	return strings.Contains(text, " "+strings.Join(words, " ")+" ")
}

// flag is the value of a flag, and whether it is given.
func (p program) flag(name string) (string, bool) {
	args := strings.Fields(strings.Join(p.args, " "))
	value, given := "", false
	for i, arg := range args {
		switch {
		case arg == "--"+name:
			value, given = "", true
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				value = args[i+1]
			}
		case strings.HasPrefix(arg, "--"+name+"="):
			value, given = strings.TrimPrefix(arg, "--"+name+"="), true
		}
	}
	return value, given
}

// switched reports whether a flag that is on or off is on.
func (p program) switched(name string) bool {
	value, given := p.flag(name)
	return given && value != "false"
}

// mount is the volume that is mounted at a path, by its name.
func mount(c corev1.Container, path string) (string, bool) {
	for _, m := range c.VolumeMounts {
		if strings.TrimSuffix(m.MountPath, "/") == path {
			return m.Name, true
		}
	}
	return "", false
}

// sidecar is the plugin's container in argocd-repo-server.
func (f Facts) sidecar() (appsv1.Deployment, program, bool) {
	d, there := f.component(repoServer)
	if !there {
		return d, program{}, false
	}
	for _, p := range programs(d.Spec.Template.Spec, "cmp", "serve") {
		if !p.init || p.native {
			return d, p, true
		}
	}
	return d, program{}, false
}

// backendDeployment is the one that runs the backend.
func (f Facts) backendDeployment() (appsv1.Deployment, program, bool) {
	for _, d := range f.Deployments.Value {
		if found := programs(d.Spec.Template.Spec, "extension", "serve"); len(found) > 0 {
			return d, found[0], true
		}
	}
	return appsv1.Deployment{}, program{}, false
}

// pluginName is the name that Applications give the plugin.
func pluginName(f Facts) string {
	name := extensionName
	_, p, there := f.sidecar()
	if !there {
		return name
	}
	if given, is := p.flag("name"); is {
		name = given
	}
	if version, is := p.flag("plugin-version"); is && version != "" {
		name += "-" + version
	}
	return name
}

// replicas says how many Pods a Deployment has and wants, and whether that is all.
func replicas(d appsv1.Deployment) (string, bool) {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	s := d.Status
	current := s.ObservedGeneration >= d.Generation
	text := fmt.Sprintf("%d of %d Pods are ready", s.ReadyReplicas, wanted)
	if current && s.UpdatedReplicas < wanted {
		text += fmt.Sprintf(", %d of the newest template", s.UpdatedReplicas)
	}
	return text, current && wanted > 0 && s.ReadyReplicas >= wanted && s.UpdatedReplicas >= wanted
}

// trouble is what keeps a container of a Deployment's Pods from running, as the first
// Pod says it; "" where no Pod says anything.
func (f Facts) trouble(d appsv1.Deployment, container string) string {
	for _, pod := range f.podsOf(d) {
		for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if container != "" && s.Name != container {
				continue
			}
			switch {
			case s.State.Waiting != nil && s.State.Waiting.Reason != "":
				return fmt.Sprintf("container %s of Pod %s waits: %s", s.Name, pod.Name, s.State.Waiting.Reason)
			case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
				return fmt.Sprintf("container %s of Pod %s ended with %d", s.Name, pod.Name, s.State.Terminated.ExitCode)
			}
		}
	}
	return ""
}

// podsOf are the Pods that a Deployment's selector selects.
func (f Facts) podsOf(d appsv1.Deployment) []corev1.Pod {
	var found []corev1.Pod
	if d.Spec.Selector == nil {
		return nil
	}
	for _, pod := range f.Pods.Value {
		if selects(d.Spec.Selector.MatchLabels, pod.Labels) {
			found = append(found, pod)
		}
	}
	return found
}

// selects reports whether a selector, which must not be empty, selects labels.
func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}
