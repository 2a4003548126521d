// Package schema turns CustomResourceDefinitions into what pinning needs to know of
// them: for every field, what the API server makes of it when it is absent or null.
//
// [Parse] reads one CRD (apiextensions.k8s.io/v1 or v1beta1) into a [Definition];
// a [Set] holds definitions by group and kind, and [Layer] puts sets on top of one
// another. A definition's [Version] carries a tree of [Node]s, compiled once: it
// answers for the whole way of an object through the API server, from the request's
// version to the storage version and back (docs/decisions/0001-pinning.md), so that
// pinning an object is one walk.
//
// Parse refuses what is no CRD and what the API server would not decode. A version
// whose schema is not structural, or that is converted by a webhook, is kept with
// its [Obstacle]: its objects pass unchanged.
package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Obstacle says why objects of a version cannot be pinned. The empty Obstacle means that they can.
type Obstacle string

// The obstacles.
const (
	// NotServed: the CRD does not have the version, or does not serve it.
	NotServed Obstacle = "version not served"
	// ConvertedByWebhook: the version is not the storage version, and a webhook
	// converts between them: what it does cannot be foreseen.
	ConvertedByWebhook Obstacle = "converted by webhook"
	// NotStructural: the schema breaks the rules that defaulting needs.
	NotStructural Obstacle = "schema not structural"
	// WithoutSchema: the version has no schema.
	WithoutSchema Obstacle = "no schema"
	// TooLarge: the CRD takes more work, or holds more defaults, than any that an API
	// server could bear.
	TooLarge Obstacle = "schema too large"
)

// Definition is one CRD: a group and kind with its versions. It does not change.
type Definition struct {
	// Name is the CRD's own, such as "externalsecrets.external-secrets.io".
	Name string
	// Source says where the CRD was found: a file, "live", "rendered".
	Source    string
	GroupKind schema.GroupKind
	// Namespaced tells whether the objects live in a namespace.
	Namespaced bool
	versions   map[string]*Version
}

// Version is one version of a definition.
type Version struct {
	// Name is the version's, such as "v1".
	Name string
	// Obstacle is empty when Root holds what pinning needs.
	Obstacle Obstacle
	// Detail says more of the obstacle, for people; it may be empty.
	Detail string
	// Root is the tree for a whole object; nil when nothing is ever pinned.
	Root *Node
}

// Version returns the version called name. A version that the CRD lacks comes with
// the obstacle [NotServed].
func (d *Definition) Version(name string) *Version {
	if version, found := d.versions[name]; found {
		return version
	}
	return &Version{Name: name, Obstacle: NotServed, Detail: "the CRD has " + strings.Join(d.VersionNames(), ", ")}
}

// VersionNames returns the names of the CRD's versions, sorted.
func (d *Definition) VersionNames() []string {
	return slices.Sorted(maps.Keys(d.versions))
}

// scheme and codecs know the CRD types of both API versions.
var (
	scheme = func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		install.Install(scheme)
		metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
		return scheme
	}()
	codecs = serializer.NewCodecFactory(scheme)
)

// IsCRD reports whether an object claims to be a CustomResourceDefinition.
func IsCRD(object map[string]any) bool {
	apiVersion, _ := object["apiVersion"].(string)
	return object["kind"] == "CustomResourceDefinition" && strings.HasPrefix(apiVersion, apiextensions.GroupName+"/")
}

// Parse reads one CustomResourceDefinition. source says where it was found and is
// kept for reports. It does not change crd. The error says what keeps it from being
// decoded; schemas that are not structural, or too large, are obstacles of their
// version, no error. When the context ends, its cause is the error.
func Parse(ctx context.Context, crd map[string]any, source string) (*Definition, error) {
	if !IsCRD(crd) {
		return nil, fmt.Errorf("%s: is no CustomResourceDefinition of %s", source, apiextensions.GroupName)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", source, context.Cause(ctx))
	}
	if textOver(crd, maxText) < 0 {
		return nil, fmt.Errorf("%s: the CustomResourceDefinition holds more than %d bytes, which no API server takes", source, maxText)
	}
	text, err := json.Marshal(crd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	decoded, err := runtime.Decode(codecs.UniversalDecoder(apiextensions.SchemeGroupVersion), text)
	if err != nil {
		return nil, fmt.Errorf("%s: decode the CustomResourceDefinition: %w", source, err)
	}
	internal, ok := decoded.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return nil, fmt.Errorf("%s: is a %T, not a CustomResourceDefinition", source, decoded)
	}
	if internal.Spec.Names.Kind == "" || internal.Spec.Group == "" {
		return nil, fmt.Errorf("%s: spec.group and spec.names.kind of the CustomResourceDefinition must not be empty", source)
	}
	budget := &budget{done: ctx.Done()}
	definition, err := define(internal, source, budget)
	if budget.ended {
		return nil, fmt.Errorf("%s: compile %s: %w", source, internal.Name, context.Cause(ctx))
	}
	return definition, err
}

// textOver returns what is left of the limit, in bytes of JSON, after a value;
// less than zero as soon as it is passed.
func textOver(value any, limit int) int {
	limit -= 2
	switch value := value.(type) {
	case string:
		limit -= len(value)
	case map[string]any:
		for name, child := range value {
			if limit = textOver(child, limit-len(name)-3); limit < 0 {
				return limit
			}
		}
	case []any:
		for _, child := range value {
			if limit = textOver(child, limit); limit < 0 {
				return limit
			}
		}
	}
	return limit
}

func define(crd *apiextensions.CustomResourceDefinition, source string, budget *budget) (*Definition, error) {
	definition := &Definition{
		Name:       crd.Name,
		Source:     source,
		GroupKind:  schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		Namespaced: crd.Spec.Scope == apiextensions.NamespaceScoped,
		versions:   make(map[string]*Version, len(crd.Spec.Versions)),
	}
	schemas := map[string]*versionSchema{}
	storage := ""
	for _, version := range crd.Spec.Versions {
		parsed, err := readSchema(crd, version.Name, budget)
		if err != nil {
			return nil, fmt.Errorf("%s: %s, version %s: %w", source, crd.Name, version.Name, err)
		}
		schemas[version.Name] = parsed
		if version.Storage {
			storage = version.Name
		}
	}
	if storage == "" {
		return nil, fmt.Errorf("%s: %s has no version with storage: true", source, crd.Name)
	}
	compiler := newCompiler(budget)
	for _, version := range crd.Spec.Versions {
		definition.versions[version.Name] = compiler.version(crd, version, schemas[version.Name], schemas[storage])
	}
	return definition, nil
}

// How much of the faults of a schema is told: how many, and in how many bytes.
const (
	maxFaults = 10
	maxDetail = 4 << 10
)

// tell spells the first faults, each once. There may be as many as there are fields.
func tell(faults field.ErrorList) string {
	told := faults[:min(len(faults), maxFaults)].ToAggregate().Error()
	if more := len(faults) - maxFaults; more > 0 {
		told += fmt.Sprintf(", and %d more", more)
	}
	if len(told) > maxDetail {
		told = strings.ToValidUTF8(told[:maxDetail], "") + "..."
	}
	return told
}

// versionSchema is a version's structural schema, or why it has none.
type versionSchema struct {
	structural  *structuralschema.Structural
	obstacle    Obstacle
	detail      string
	replicasPtr []string
}

func readSchema(crd *apiextensions.CustomResourceDefinition, version string, budget *budget) (*versionSchema, error) {
	result := &versionSchema{}
	if !budget.spend(len(crd.Spec.Versions)) { // each is looked for among all
		result.obstacle, result.detail = TooLarge, budget.over
		return result, nil
	}
	subresources, err := apiextensions.GetSubresourcesForVersion(crd, version)
	if err != nil {
		return nil, fmt.Errorf("subresources: %w", err)
	}
	if subresources != nil && subresources.Scale != nil {
		result.replicasPtr = strings.Split(strings.TrimPrefix(subresources.Scale.SpecReplicasPath, "."), ".")
	}
	validation, err := apiextensions.GetSchemaForVersion(crd, version)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if validation == nil || validation.OpenAPIV3Schema == nil {
		result.obstacle = WithoutSchema
		return result, nil
	}
	if !budget.admit(validation.OpenAPIV3Schema, 0) {
		result.obstacle, result.detail = TooLarge, budget.over
		return result, nil
	}
	structural, err := structuralschema.NewStructural(validation.OpenAPIV3Schema)
	if err != nil {
		result.obstacle, result.detail = NotStructural, err.Error()
		return result, nil //nolint:nilerr // a schema that is not structural is data, not our failure.
	}
	if faults := structuralschema.ValidateStructural(nil, structural); len(faults) > 0 {
		result.obstacle, result.detail = NotStructural, tell(faults)
		return result, nil
	}
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, errors.Join(errors.New("defaults of the schema"), err)
	}
	result.structural = structural
	return result, nil
}
