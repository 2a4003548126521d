// Package generate makes random custom resources that a real API server is likely
// to accept, from the schema of their CRD.
//
// [New] compiles one served version of a CRD into a [Kind]; [Kind.Object] makes its
// objects, one for every index, the same ones for the same seed on every machine.
// The objects keep the rules of the schema (types, required fields, enums, patterns,
// bounds, formats, alternatives, unique items); for what cannot be derived, such as
// CEL rules, an object is checked by the API server's own libraries and mended at
// random until they find no fault.
//
// What matters to defaulting is made more often than chance would: objects and
// lists that are empty, items that lack what has a default, values equal to the
// default and others, explicit nulls wherever they can stand, fields that the schema
// does not know, and a status. The metadata of the object itself stays plain.
//
// New refuses a CRD that does not decode, a version that it does not serve and one
// without a structural schema. [Facts] says of an object what a test has to know.
package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Kind is one served version of a CRD. It may be used by many goroutines.
type Kind struct {
	// Resource names the kind as a URL does, with its version.
	Resource schema.GroupVersionResource
	// Name is the kind's name, such as "Certificate".
	Name string
	// Namespaced tells whether the objects live in a namespace.
	Namespaced bool
	// Replicas is what the specReplicasPath of the scale subresource names, in this
	// version and in the storage version; empty where there is no scale subresource.
	Replicas []fieldpath.Pointer

	statusApart      bool                // the status subresource: create ignores the status
	numbers          []fieldpath.Pointer // the scale subresource: what has to be a number
	request, storage *schemaOf
	checks           checks
	// literals are the texts that the CEL rules compare with.
	literals []string
	// basis is a small valid object to fall back to; nil where none was found.
	basis func() map[string]any
}

// Kinds compiles all served versions of the CRD.
func Kinds(crd map[string]any) ([]*Kind, error) {
	decoded, err := decode(crd)
	if err != nil {
		return nil, err
	}
	var kinds []*Kind
	for i := range decoded.Spec.Versions {
		if !decoded.Spec.Versions[i].Served {
			continue
		}
		kind, err := compile(decoded, &decoded.Spec.Versions[i])
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// New compiles one version of the CRD.
func New(crd map[string]any, version string) (*Kind, error) {
	decoded, err := decode(crd)
	if err != nil {
		return nil, err
	}
	for i := range decoded.Spec.Versions {
		if each := &decoded.Spec.Versions[i]; each.Name == version && each.Served {
			return compile(decoded, each)
		}
	}
	return nil, fmt.Errorf("%s: version %q is not served", decoded.Name, version)
}

// String names the kind for people: "Certificate.v1.cert-manager.io".
func (k *Kind) String() string {
	return k.Name + "." + k.Resource.Version + "." + k.Resource.Group
}

// HasDefaults says whether the server fills in anything outside of status.
func (k *Kind) HasDefaults() bool {
	for _, version := range []*schemaOf{k.request, k.storage} {
		for _, name := range version.root.names {
			if name != "status" && version.root.properties[name].defaults {
				return true
			}
		}
	}
	return false
}

func decode(crd map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := json.Marshal(crd)
	if err != nil {
		return nil, fmt.Errorf("encode the CRD: %w", err)
	}
	var decoded apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil, fmt.Errorf("decode the CRD: %w", err)
	}
	if decoded.APIVersion != "apiextensions.k8s.io/v1" {
		return nil, fmt.Errorf("%s: apiVersion %q is not supported; use apiextensions.k8s.io/v1", decoded.Name, decoded.APIVersion)
	}
	return &decoded, nil
}

func compile(crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) (*Kind, error) {
	kind := &Kind{
		Resource:   schema.GroupVersionResource{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural},
		Name:       crd.Spec.Names.Kind,
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	if sub := version.Subresources; sub != nil {
		kind.statusApart = sub.Status != nil
		if sub.Scale != nil {
			kind.numbers = []fieldpath.Pointer{pathOf(sub.Scale.SpecReplicasPath), pathOf(sub.Scale.StatusReplicasPath)}
		}
	}
	props, err := internal(version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	if kind.request, err = newSchema(props); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	stored := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if stored < 0 {
		return nil, fmt.Errorf("%s: no version is the storage version", kind)
	}
	for _, each := range []*apiextensionsv1.CustomResourceDefinitionVersion{version, &crd.Spec.Versions[stored]} {
		if sub := each.Subresources; sub != nil && sub.Scale != nil {
			kind.Replicas = append(kind.Replicas, pathOf(sub.Scale.SpecReplicasPath))
		}
	}
	storageProps, err := internal(&crd.Spec.Versions[stored])
	if err != nil {
		return nil, fmt.Errorf("%s: storage version: %w", kind, err)
	}
	if kind.storage, err = newSchema(storageProps); err != nil {
		return nil, fmt.Errorf("%s: storage version: %w", kind, err)
	}
	if kind.checks.schema, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, fmt.Errorf("%s: validation: %w", kind, err)
	}
	kind.checks.rules = cel.NewValidator(kind.request.structural, true, celconfig.PerCallLimit)
	kind.literals = literals(kind.request.root)
	kind.basis = sync.OnceValue(kind.findBasis)
	return kind, nil
}

func internal(version *apiextensionsv1.CustomResourceDefinitionVersion) (*apiextensions.JSONSchemaProps, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("the version has no schema")
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return &props, nil
}

func newSchema(props *apiextensions.JSONSchemaProps) (*schemaOf, error) {
	made, err := structural.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("the schema is not structural: %w", err)
	}
	if err := defaulting.PruneDefaults(made); err != nil {
		return nil, fmt.Errorf("prune the schema's defaults: %w", err)
	}
	return &schemaOf{made, prepare(made)}, nil
}

func pathOf(jsonPath string) fieldpath.Pointer {
	return fieldpath.Of(strings.Split(strings.TrimPrefix(jsonPath, "."), ".")...)
}

var quoted = regexp.MustCompile(`'([\w./:-]{1,60})'|"([\w./:-]{1,60})"`)

// literals gathers the quoted texts of all rules: values that a rule compares with
// are the ones that fulfil it.
func literals(n *node) []string {
	var found []string
	for _, rule := range n.XValidations {
		for _, match := range quoted.FindAllStringSubmatch(rule.Rule, -1) {
			found = append(found, match[1]+match[2])
		}
	}
	for _, name := range n.names {
		found = append(found, literals(n.properties[name])...)
	}
	for _, child := range []*node{n.additional, n.items} {
		if child != nil {
			found = append(found, literals(child)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// source returns the random numbers for one object of the kind.
func (k *Kind) source(seed uint64, index int) *rand.Rand {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s/%d", k, index)
	return rand.New(rand.NewPCG(seed, sum.Sum64()))
}
