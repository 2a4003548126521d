package compare

import (
	"encoding/json"
	"fmt"
	"maps"

	openapi "github.com/google/gnostic-models/openapiv2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/util/proto"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// typesOf are the schemas that structured merge needs: those of Kubernetes' own
// kinds by their names (Argo CD's packages hold the schemas), those of custom kinds
// from the CRDs in the snapshot. A kind without either is merged without a schema:
// maps by key, lists as a whole.
func typesOf(s *state.Application) (*managedfields.GvkParser, error) {
	definitions := map[string]any{}
	for kind, name := range kind.BuiltIn() {
		definitions[name] = kindOnly(kind)
	}
	for _, kind := range customKinds(s) {
		found, err := definitionsOf(s, kind)
		if err != nil || len(found) == 0 {
			definitions["moorpin.without-schema/"+kind.String()] = kindOnly(kind)
			continue
		}
		maps.Copy(definitions, found)
	}
	document, err := json.Marshal(map[string]any{
		"swagger": "2.0", "info": map[string]any{"title": "kinds", "version": "v1"}, "paths": map[string]any{}, "definitions": definitions,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the kinds: %w", err)
	}
	parsed, err := openapi.ParseDocument(document)
	if err != nil {
		return nil, fmt.Errorf("describe the kinds: %w", err)
	}
	models, err := proto.NewOpenAPIData(parsed)
	if err != nil {
		return nil, fmt.Errorf("describe the kinds: %w", err)
	}
	parser, err := managedfields.NewGVKParser(models, false)
	if err != nil {
		return nil, fmt.Errorf("describe the kinds: %w", err)
	}
	return parser, nil
}

// kindOnly is a definition that says no more than which kind it is for.
func kindOnly(k schema.GroupVersionKind) map[string]any {
	return map[string]any{kind.Extension: []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}}}
}

// customKinds are the kinds of the two-sided resources that Kubernetes itself does not have.
func customKinds(s *state.Application) []schema.GroupVersionKind {
	seen := map[schema.GroupVersionKind]bool{}
	var kinds []schema.GroupVersionKind
	for _, r := range s.Resources {
		if r.Target == nil || r.Live == nil {
			continue
		}
		ref := drift.RefOf(r.Target)
		k := schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind}
		if _, builtIn := kind.BuiltIn()[k]; builtIn || seen[k] {
			continue
		}
		seen[k] = true
		kinds = append(kinds, k)
	}
	return kinds
}

// definitionsOf are the OpenAPI definitions that the API server publishes for a
// custom kind.
func definitionsOf(s *state.Application, kind schema.GroupVersionKind) (map[string]any, error) {
	found, ok := s.Crd(kind.Group, kind.Kind)
	if !ok {
		return map[string]any{}, nil
	}
	crd := &apiextensions.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, crd); err != nil {
		return nil, fmt.Errorf("read the CRD of %s: %w", kind.Kind, err)
	}
	swagger, err := builder.BuildOpenAPIV2(crd, kind.Version, builder.Options{V2: true})
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", kind.Kind, err)
	}
	data, err := json.Marshal(swagger.Definitions)
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", kind.Kind, err)
	}
	definitions := map[string]any{}
	if err := json.Unmarshal(data, &definitions); err != nil {
		return nil, fmt.Errorf("describe %s: %w", kind.Kind, err)
	}
	return definitions, nil
}
