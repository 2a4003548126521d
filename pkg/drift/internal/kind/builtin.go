package kind

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// ServedVersions are the versions of a CRD that are served.
func ServedVersions(crd object.Object) []string {
	var served []string
	for _, version := range object.List(crd, "spec", "versions") {
		if on, _ := object.At(version, "served"); on == true {
			served = append(served, object.Text(version, "name"))
		}
	}
	if len(served) == 0 {
		if only := object.Text(crd, "spec", "version"); only != "" {
			served = append(served, only)
		}
	}
	return served
}

// WithDefaults returns an object of one of Kubernetes' own kinds with the defaults
// that are known for it; an empty one when it does not fit its kind.
func WithDefaults(plain object.Object) object.Object {
	ref := drift.RefOf(plain)
	typed, err := scheme.Scheme.New(schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind})
	if err != nil {
		return object.Object{}
	}
	data, err := json.Marshal(plain)
	if err == nil {
		err = json.Unmarshal(data, typed)
	}
	if err != nil {
		return object.Object{}
	}
	scheme.Scheme.Default(typed)
	filled := object.Object{}
	if data, err = json.Marshal(typed); err == nil {
		err = kjson.Unmarshal(data, &filled)
	}
	if err != nil {
		return object.Object{}
	}
	return filled
}

// Aliases are pairs of fields that the API server keeps equal; the first is the
// one to use.
var Aliases = [][2]string{{"serviceAccountName", "serviceAccount"}}

// Extension is the key under which a definition names the kinds that it is for.
const Extension = "x-kubernetes-group-version-kind"

// BuiltIn are the names of the schemas of Kubernetes' own kinds.
var BuiltIn = sync.OnceValue(func() map[schema.GroupVersionKind]string {
	names := map[schema.GroupVersionKind]string{}
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || strings.HasSuffix(kind.Kind, "List") || !holdsMetadata(goType) {
			continue
		}
		name, found := strings.CutPrefix(goType.PkgPath(), "k8s.io/api/")
		if found {
			names[kind] = "io.k8s.api." + strings.ReplaceAll(name, "/", ".") + "." + kind.Kind
		}
	}
	return names
})

func holdsMetadata(goType reflect.Type) bool {
	_, found := goType.FieldByName("ObjectMeta")
	return found
}
