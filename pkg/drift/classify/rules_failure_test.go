package classify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/refusal"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// The messages are those of kube-apiserver 1.34, kubectl and Argo CD.
func TestFailureOf(t *testing.T) {
	for message, want := range map[string]drift.Mechanism{
		`Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"web2"}}: field is immutable`:                                                                            drift.ImmutableField,
		`StatefulSet.apps "db" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy' and 'minReadySeconds' are forbidden`: drift.ImmutableField,
		`Service "db" is invalid: spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`:                                                                                                 drift.ImmutableField,
		`PersistentVolumeClaim "data" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound answers`:                          drift.ImmutableField,
		`PersistentVolumeClaim "data" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`:                                                               drift.ImmutableField,
		`RoleBinding.rbac.authorization.k8s.io "rb" is invalid: roleRef: Invalid value: {"kind":"Role"}: cannot change roleRef`:                                                                         drift.ImmutableField,
		`StorageClass.storage.k8s.io "fast" is invalid: parameters: Forbidden: updates to parameters are forbidden.`:                                                                                    drift.ImmutableField,
		`Widget.example.com "w" is invalid: spec.size: Invalid value: 2: Value is immutable`:                                                                                                            drift.ImmutableField,
		`CustomResourceDefinition.apiextensions.k8s.io "x" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes`:                                                               drift.AnnotationTooLong,
		`resource mapping not found for name: "w" namespace: "" from "/dev/shm/1": no matches for kind "Widget" in version "example.com/v1"`:                                                            drift.MissingCRD,
		`Widget.example.com "" not found`: drift.MissingCRD,
		`The Kubernetes API could not find version "v1beta1" of networking.k8s.io/Ingress for requested resource a/b. Version "v1" of networking.k8s.io/Ingress is installed on the destination cluster.`: drift.RemovedAPIVersion,
		`admission webhook "validate.kyverno.svc-fail" denied the request: spec.replicas: Invalid value: is immutable`:                                                                                    drift.AdmissionDenied,
		`pods "x" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=4, limited: cpu=4`:                                                                                                         drift.AdmissionDenied,
		`pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged`:                                                                                                                     drift.AdmissionDenied,
		`deployments.apps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression`:                                                                             drift.AdmissionDenied,
		`Internal error occurred: failed calling webhook "m.example.com": no endpoints available for service "m"`:                                                                                         drift.AdmissionDenied,
		`configmaps "c" is forbidden: unable to create new content in namespace web because it is being terminated`:                                                                                       drift.DeletionStuck,
		`namespaces "web" not found`: drift.MissingDependency,
		`Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again`:                drift.ResourceVersionInGit,
		`resourceVersion should not be set on objects to be created`:                                                                                                  drift.ResourceVersionInGit,
		`Service "web" is invalid: spec.ports[1].name: Duplicate value: "http"`:                                                                                       drift.MergeKeyConflict,
		`Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`: drift.InvalidManifest,
		`error validating data: ValidationError(Deployment.spec): unknown field "replica" in io.k8s.api.apps.v1.DeploymentSpec`:                                       drift.InvalidManifest,
		`failed to create typed patch object (web/web; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string`:                        drift.InvalidManifest,
		"Deployment.apps \"web\" is invalid: spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'":                         drift.InvalidManifest,
		`resource :Secret is not permitted in project default`:                                                                                                        drift.ProjectNotPermitted,
		`something nobody has met`: drift.Unexplained,
	} {
		if got := outcome.Cause(message); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

func TestPartAbout(t *testing.T) {
	const message = `one or more objects failed to apply, reason: error when patching "/dev/shm/1": Deployment.apps "web" is invalid: spec.selector: field is immutable,error when patching "/dev/shm/2": Service "web" is invalid: spec.ports[1].name: Duplicate value: "http" (retried 5 times).`
	part, found := outcome.PartAbout(message, drift.ResourceRef{Kind: "Service", Name: "web"})
	if !found || outcome.Cause(part) != drift.MergeKeyConflict {
		t.Errorf("Service: %t %q", found, part)
	}
	part, found = outcome.PartAbout(message, drift.ResourceRef{Group: "apps", Kind: "Deployment", Name: "web"})
	if !found || outcome.Cause(part) != drift.ImmutableField {
		t.Errorf("Deployment: %t %q", found, part)
	}
	if part, found = outcome.PartAbout(message, drift.ResourceRef{Kind: "ConfigMap", Name: "web"}); found {
		t.Errorf("a ConfigMap of the same name is not meant: %q", part)
	}
}

func TestQuote(t *testing.T) {
	r := &state.Resource{Application: &state.Application{Snapshot: &drift.Snapshot{}}, Ref: drift.ResourceRef{Kind: "Secret", Name: "db"}}
	for _, message := range []string{
		`Secret "db" is invalid: data: Invalid value: "hunter2"`,
		"cannot patch: Object: &{map[\"data\":map[\"password\":\"hunter2\"]]}",
		`for: {"apiVersion":"v1","data":{"password":"hunter2"}}`,
		"line\nhunter2",
	} {
		if said := r.Quote(message); strings.Contains(said, "hunter2") {
			t.Errorf("a Secret's value is quoted: %s", said)
		}
	}
	if said := r.Application.Quote(strings.Repeat("é", 4000)); len(said) > state.MaxQuote+3 {
		t.Errorf("a message of %d bytes is quoted", len(said))
	}
}

// deploy is a two-sided Deployment that Argo CD applied, with the differences laid
// over the target.
func deploy(live, target string) string {
	return `
application: {status: {sync: {status: OutOfSync}}}
resources:
- target: ` + target + `
  live: ` + live + "\n"
}

func TestForeseenFailures(t *testing.T) {
	const owner = `managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {}}]`
	const widgets = `
related: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
  size: {type: integer, x-kubernetes-validations: [{rule: "self == oldSelf"}]}, color: {type: string}}}}}}}]}}]`
	widget := func(size, color string) string {
		return `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: web, ` + owner + `}, spec: {size: ` + size + `, color: ` + color + `}}`
	}
	situations{
		"selector": {
			"the API holds it fixed", deploy(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: web, `+owner+`}, spec: {selector: {matchLabels: {app: a}}}}`,
				`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: web}, spec: {selector: {matchLabels: {app: b}}}}`),
			[]string{"immutable-field Deployment/a will-fail likely"},
		},
		"selector with force": {
			"the object is deleted and made anew", deploy(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: web, annotations: {argocd.argoproj.io/sync-options: Force=true}, `+owner+`}, spec: {selector: {matchLabels: {app: a}}}}`,
				`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: web, annotations: {argocd.argoproj.io/sync-options: Force=true}}, spec: {selector: {matchLabels: {app: b}}}}`),
			[]string{"immutable-field Deployment/a destructive likely"},
		},
		"immutable ConfigMap": {
			"it says so itself", deploy(`{apiVersion: v1, kind: ConfigMap, immutable: true, metadata: {name: c, namespace: web, `+owner+`}, data: {a: "1"}}`,
				`{apiVersion: v1, kind: ConfigMap, immutable: true, metadata: {name: c, namespace: web}, data: {a: "2"}}`),
			[]string{"immutable-field ConfigMap/c will-fail likely"},
		},
		"transition rule": {
			"the CRD compares with the old value", deploy(widget("1", "red"), widget("2", "red")) + widgets,
			[]string{"immutable-field Widget/w will-fail likely"},
		},
		"resourceVersion": {
			"only the API server sets it", deploy(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, resourceVersion: "9", `+owner+`}}`,
				`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, resourceVersion: "5"}}`),
			[]string{"resource-version-in-git ConfigMap/c will-fail certain"},
		},
		"port of the same name": {
			"the merge keeps both", deploy(`{apiVersion: v1, kind: Service, metadata: {name: s, namespace: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"web"},"spec":{"ports":[{"name":"http","port":80}]}}'}}, spec: {ports: [{name: http, port: 8080, protocol: TCP, targetPort: 80}]}}`,
				`{apiVersion: v1, kind: Service, metadata: {name: s, namespace: web}, spec: {ports: [{name: http, port: 80}]}}`),
			[]string{"merge-key-conflict Service/s will-fail likely"},
		},
	}.run(t)
}

// A refusal is about all that Git changed in the object, and about nothing that
// somebody else did to it.
func TestTogether(t *testing.T) {
	_, report := judge(t, deploy(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: web, managedFields: [{manager: kubectl-edit, operation: Update, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}, {manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:selector": {}, "f:minReadySeconds": {}}}}]}, spec: {minReadySeconds: 1, replicas: 5, selector: {matchLabels: {app: a}}}}`,
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: web}, spec: {minReadySeconds: 2, replicas: 3, selector: {matchLabels: {app: b}}}}`))
	got := map[drift.Mechanism][]string{}
	for _, f := range report.Findings {
		for _, field := range f.Fields {
			got[f.Mechanism] = append(got[f.Mechanism], string(field.Pointer))
		}
	}
	want := map[drift.Mechanism][]string{drift.ImmutableField: {"/spec/minReadySeconds", "/spec/selector/matchLabels/app"}, drift.ManualEdit: {"/spec/replicas"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFrozen(t *testing.T) {
	for pointer, want := range map[string]bool{
		"spec.serviceName": true, "spec.replicas": false, "spec.template.spec.containers.0.image": false,
		"spec.volumeClaimTemplates.0.spec.resources.requests.storage": true, "spec.volumeClaimTemplates.0.kind": false, "metadata.labels.a": false, "spec": false,
	} {
		rule := refusal.FrozenRules[[2]string{"apps", "StatefulSet"}][0]
		if got := rule.Covers(strings.Split(pointer, ".")); got != want {
			t.Errorf("StatefulSet %s: %t, want %t", pointer, got, want)
		}
	}
}
