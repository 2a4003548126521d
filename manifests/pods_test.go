package manifests

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// image is Moorpin's, without its tag.
const image = "ghcr.io/moorpin/moorpin:"

// pods are the templates of all Pods that Moorpin adds or adds to.
func pods(t *testing.T, objects []*unstructured.Unstructured) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for _, object := range objects {
		switch {
		case object.GetKind() == "Deployment" && (isOurs(object) || object.GetName() == "argocd-repo-server" || object.GetName() == "argocd-server"):
			found[object.GetName()] = typed[appsv1.Deployment](t, object).Spec.Template
		case object.GetKind() == "Job" && isOurs(object):
			found[object.GetName()] = typed[batchv1.Job](t, object).Spec.Template
		}
	}
	return found
}

// typed decodes an object, and fails for a field that its kind does not have.
func typed[T any](t *testing.T, object *unstructured.Unstructured) T {
	t.Helper()
	var into T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &into, true); err != nil {
		t.Fatalf("%s: %v", id(object), err)
	}
	return into
}

// TestPodSecurity: every Pod passes the profile "restricted" of Pod Security, those of Argo
// CD that Moorpin adds to included.
func TestPodSecurity(t *testing.T) {
	judge, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for version := range Releases() {
		for _, sidecar := range []string{"cmp", "cmp-native-sidecar"} {
			components := append([]string{sidecar}, Everything()[1:]...)
			templates := pods(t, made(t, Overlay{Release: version, Base: "ha/namespace-install", Namespace: "argocd", Components: components}))
			if len(templates) != 4 {
				t.Errorf("%d Pods are judged instead of 4", len(templates))
			}
			for name, template := range templates {
				for _, result := range judge.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
					if !result.Allowed {
						t.Errorf("%s with %s: %s: %s", name, sidecar, result.ForbiddenReason, result.ForbiddenDetail)
					}
				}
			}
			privileged := templates["argocd-repo-server"]
			privileged.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
			if policy.AggregateCheckResults(judge.EvaluatePod(level, &privileged.ObjectMeta, &privileged.Spec)).Allowed {
				t.Error("the judge lets everything pass")
			}
		}
	}
}

// TestContainers: what "restricted" does not ask for, Moorpin's containers have as well.
func TestContainers(t *testing.T) {
	templates := pods(t, made(t, Overlay{Release: "v3.1", Base: "namespace-install", Namespace: "argocd", Components: Everything()}))
	ours := 0
	for pod, template := range templates {
		volumes := map[string]corev1.Volume{}
		for _, volume := range template.Spec.Volumes {
			volumes[volume.Name] = volume
		}
		for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
			if c.Name == "moorpin" || strings.HasPrefix(c.Image, image) {
				ours++
				checkContainer(t, pod, c, volumes)
			}
		}
	}
	if ours != 6 {
		t.Errorf("%d containers are looked at instead of 6", ours)
	}
}

func checkContainer(t *testing.T, pod string, c corev1.Container, volumes map[string]corev1.Volume) {
	t.Helper()
	name := pod + "/" + c.Name
	if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("%s can write to its root", name)
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		t.Errorf("%s has no requests and limits: %v", name, c.Resources)
	}
	for _, mount := range c.VolumeMounts {
		folder := volumes[mount.Name].EmptyDir
		if strings.HasPrefix(mount.Name, "moorpin-") && folder != nil && folder.SizeLimit.IsZero() {
			t.Errorf("%s: the volume %s has no limit", name, mount.Name)
		}
	}
}

// TestTokens: only the containers that ask the API server hold a token for it.
func TestTokens(t *testing.T) {
	const mount = "/var/run/secrets/kubernetes.io/serviceaccount"
	templates := pods(t, made(t, Overlay{Release: "v2.14", Base: "namespace-install", Namespace: "argocd", Components: []string{"cmp", "extension", "extension-token", "lua"}}))
	for pod, want := range map[string][]string{"argocd-repo-server": {"moorpin"}, "moorpin-extension": nil} {
		spec := templates[pod].Spec
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s mounts its token into every container", pod)
		}
		var have []string
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == mount }) {
				have = append(have, c.Name)
			}
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("tokens of %s: -want +got:\n%s", pod, diff)
		}
	}
}

// TestSidecarRoom: as many renders as may run at once fit into the volume and the memory.
func TestSidecarRoom(t *testing.T) {
	pod := pods(t, made(t, Overlay{Release: "v2.14", Base: "namespace-install", Namespace: "argocd", Components: []string{"cmp"}}))["argocd-repo-server"]
	sidecar := pod.Spec.Containers[slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == "moorpin" })]
	flags := map[string]int64{}
	for _, arg := range sidecar.Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			flags[name] = n
		}
	}
	work := pod.Spec.Volumes[slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "moorpin-work" })]
	disk, memory := flags["parallelism"]*flags["max-tree-bytes"], flags["parallelism"]*flags["max-render-memory"]
	if limit := work.EmptyDir.SizeLimit.Value(); disk <= 0 || limit < disk+1<<30 {
		t.Errorf("the repositories take up to %d bytes, and the volume has %d: the whole Pod would be evicted", disk, limit)
	}
	if limit := sidecar.Resources.Limits.Memory().Value(); memory <= 0 || limit < memory+1<<29 {
		t.Errorf("the renders take up to %d bytes of memory beside the sidecar's own, of %d", memory, limit)
	}
}
