package doctor_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/doctor"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// theSecret is what testdata/healthy.yaml holds; it may not leave.
const theSecret = "secret-of-the-fixture-01"

// fakeCluster is a cluster of objects; what is forbidden is named kind or kind/name.
type fakeCluster struct {
	objects   []map[string]any
	forbidden []string
	down      bool
}

func (f *fakeCluster) Get(_ context.Context, kind schema.GroupKind, namespace, name string) (map[string]any, bool, error) {
	if err := f.refuse(kind.Kind, name); err != nil {
		return nil, false, err
	}
	for _, object := range f.objects {
		u := unstructured.Unstructured{Object: object}
		if u.GetKind() == kind.Kind && u.GetName() == name && u.GetNamespace() == namespace {
			return object, true, nil
		}
	}
	return nil, false, nil
}

func (f *fakeCluster) List(_ context.Context, _, kind, namespace string) ([]map[string]any, bool, error) {
	if err := f.refuse(kind, ""); err != nil {
		return nil, false, err
	}
	var found []map[string]any
	for _, object := range f.objects {
		u := unstructured.Unstructured{Object: object}
		if u.GetKind() == kind && u.GetNamespace() == namespace {
			found = append(found, object)
		}
	}
	return found, false, nil
}

func (f *fakeCluster) refuse(kind, name string) error {
	if f.down {
		return errors.New("dial tcp: connection refused")
	}
	for _, one := range f.forbidden {
		if one == kind || one == kind+"/"+name {
			return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, name, errors.New("no"))
		}
	}
	return nil
}

// fakeServer is an argocd-server.
type fakeServer struct {
	version string
	scripts argocd.Answer
	answer  argocd.Answer
	// asked is about which Application of which project.
	asked []string
	err   error
}

func (f *fakeServer) Version(context.Context) (string, error)        { return f.version, f.err }
func (f *fakeServer) Scripts(context.Context) (argocd.Answer, error) { return f.scripts, f.err }

func (f *fakeServer) Extension(_ context.Context, path string, ref argocd.Ref, project string) (argocd.Answer, error) {
	f.asked = append(f.asked, path+" "+ref.String()+" "+project)
	return f.answer, f.err
}

const (
	pages   = "window.fetch(\"extensions/moorpin/api\");\n"
	told    = `{"version":"v0.1.0","feeds":["browser","backend"]}`
	metrics = `moorpin_cmp_confined 1
# HELP moorpin_live_crds_synced 1 once the cluster's CRDs were read completely.
moorpin_live_crds_synced 1
moorpin_live_crds_up 1
moorpin_live_crds_definitions 42
moorpin_live_crds_refused 0
moorpin_live_crds_last_contact_timestamp_seconds 1.795e+09
moorpin_cmp_objects_total 100
moorpin_cmp_warnings_total{kind="Widget.test.moorpin.dev",reason="no schema"} 2
moorpin_cmp_warnings_total{kind="Gadget.test.moorpin.dev",reason="no schema"} 1
`
)

// patient is an installation to break.
type patient struct {
	cluster *fakeCluster
	server  *fakeServer
	sources doctor.Sources
	plugin  doctor.Plugin
	metrics string
	apps    []map[string]any
}

// healthy is an installation in which nothing is amiss.
func healthy(t testing.TB) *patient {
	t.Helper()
	data, err := os.ReadFile("testdata/healthy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Decode("healthy.yaml", data, manifest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := &patient{
		cluster: &fakeCluster{}, metrics: metrics, plugin: doctor.Plugin{Serving: true},
		server: &fakeServer{
			version: "v2.14.21", scripts: argocd.Answer{Status: http.StatusOK, Kind: "application/javascript", Body: []byte("// source\n" + pages)},
			answer: argocd.Answer{Status: http.StatusOK, Kind: "application/json", Body: []byte(told)},
		},
		apps: []map[string]any{{"metadata": map[string]any{"name": "shop", "namespace": "argocd"}, "spec": map[string]any{"project": "web"}}},
	}
	for _, object := range objects {
		p.cluster.objects = append(p.cluster.objects, object.Content)
	}
	p.sources = doctor.Sources{
		Cluster: p.cluster, Namespace: "argocd", Server: p.server, Version: "v0.1.0", Bundle: []byte(pages),
		Socket:  func(context.Context) (doctor.Plugin, error) { return p.plugin, nil },
		Metrics: func(context.Context) (string, error) { return p.metrics, nil },
		Applications: func(context.Context) iter.Seq2[map[string]any, error] {
			return func(yield func(map[string]any, error) bool) {
				for _, app := range p.apps {
					if !yield(app, nil) {
						return
					}
				}
			}
		},
		Now: func() time.Time { return time.Unix(1795000030, 0) },
	}
	return p
}

// examine gathers and judges.
func (p *patient) examine(t testing.TB) doctor.Report {
	t.Helper()
	report := doctor.Examine(doctor.Gather(t.Context(), p.sources))
	if text := report.Text(); strings.Contains(text, theSecret) {
		t.Errorf("the secret is in the report:\n%s", text)
	}
	return report
}

// object is one of the cluster's objects, to change.
func (p *patient) object(t testing.TB, kind, name string) map[string]any {
	t.Helper()
	object, found, err := p.cluster.Get(t.Context(), schema.GroupKind{Kind: kind}, "argocd", name)
	if err != nil || !found {
		t.Fatalf("%s %s: %v", kind, name, err)
	}
	return object
}

// set sets a field of an object; path parts that are numbers are not supported, for
// nothing here needs them.
func (p *patient) set(t testing.TB, where string, value any, path ...string) {
	t.Helper()
	kind, name, _ := strings.Cut(where, "/")
	if err := unstructured.SetNestedField(p.object(t, kind, name), value, path...); err != nil {
		t.Fatal(err)
	}
}

// drop removes an object.
func (p *patient) drop(t testing.TB, kind, name string) {
	t.Helper()
	gone := p.object(t, kind, name)
	kept := p.cluster.objects[:0:0]
	for _, object := range p.cluster.objects {
		if u := (unstructured.Unstructured{Object: object}); u.GetKind() != kind || u.GetName() != name {
			kept = append(kept, object)
		}
	}
	if len(kept) == len(p.cluster.objects) {
		t.Fatalf("%v is still there", gone)
	}
	p.cluster.objects = kept
}

// container is a container of a Deployment.
func (p *patient) container(t testing.TB, deployment string, index int) map[string]any {
	t.Helper()
	spec, _, err := unstructured.NestedFieldNoCopy(p.object(t, "Deployment", deployment), "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	return spec.([]any)[index].(map[string]any)
}
