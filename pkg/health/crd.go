package health

import (
	"fmt"
	"strings"
)

// crd is what Derive looks at.
type crd struct {
	group, version, kind, scope string
	// columns are the JSON paths of the printer columns, without dates.
	columns []string
	// status and spec are the schemas of those fields; nil when there is none.
	status, spec map[string]any
	// hasStatus tells that objects have a status at all, described or not.
	hasStatus bool
	// unpruned tells that the API server keeps fields that the schema does not know.
	unpruned bool
	// anything tells that nothing in the schema or beside it speaks of a status.
	anything bool
	// replicas is the path of the wanted replicas of the scale subresource.
	replicas []string
}

// readCRD reads apiextensions.k8s.io/v1 and v1beta1.
func readCRD(object map[string]any) (crd, error) {
	apiVersion := textAt(object, "apiVersion")
	if textAt(object, "kind") != "CustomResourceDefinition" || !strings.HasPrefix(apiVersion, "apiextensions.k8s.io/") {
		return crd{}, fmt.Errorf("%s %s is no CustomResourceDefinition", apiVersion, textAt(object, "kind"))
	}
	spec, _ := field(object, "spec")
	names, _ := field(spec, "names")
	result := crd{group: textAt(spec, "group"), kind: textAt(names, "kind"), scope: textAt(spec, "scope")}
	if result.group == "" || result.kind == "" {
		return crd{}, fmt.Errorf("the CustomResourceDefinition must have spec.group and spec.names.kind, not %q and %q", result.group, result.kind)
	}
	if result.scope == "" {
		result.scope = "Namespaced" // The default of v1beta1.
	}
	version := stored(spec)
	result.version = textAt(version, "name")
	if result.version == "" {
		result.version = textAt(spec, "version")
	}
	if result.version == "" {
		return crd{}, fmt.Errorf("the CustomResourceDefinition of %s %s has no version with storage: true", result.group, result.kind)
	}
	// In v1beta1 a version may leave to spec what all versions share.
	either := func(name string) any {
		if found, ok := field(version, name); ok {
			return found
		}
		found, _ := field(spec, name)
		return found
	}
	// In v1beta1 nothing is pruned unless it is asked for, in v1 the other way round.
	unpruned, said := field(spec, "preserveUnknownFields")
	result.unpruned = unpruned == true || !said && strings.HasSuffix(apiVersion, "/v1beta1")
	result.readColumns(either("additionalPrinterColumns"))
	validation := either("schema")
	if validation == nil {
		validation, _ = field(spec, "validation")
	}
	root, _ := field(validation, "openAPIV3Schema")
	result.readSchema(root, either("subresources"))
	return result, nil
}

// stored returns the version that is stored.
func stored(spec any) any {
	versions, _ := field(spec, "versions")
	for _, version := range items(versions) {
		if storage, _ := field(version, "storage"); storage == true {
			return version
		}
	}
	return nil
}

func (c *crd) readColumns(columns any) {
	for _, column := range items(columns) {
		path := textAt(column, "jsonPath")
		if path == "" {
			path = textAt(column, "JSONPath")
		}
		if path != "" && textAt(column, "type") != "date" {
			c.columns = append(c.columns, path)
		}
	}
}

func (c *crd) readSchema(root, subresources any) {
	c.status, c.hasStatus = property(root, "status")
	c.spec, _ = property(root, "spec")
	// A status that the schema does not know is pruned, unless it knows nothing at all or
	// keeps what it does not know.
	if keeps, _ := field(root, "x-kubernetes-preserve-unknown-fields"); properties(root) == nil || keeps == true || c.unpruned {
		_, subresource := field(subresources, "status")
		c.anything = !c.hasStatus && !subresource
		c.hasStatus = true
	}
	scale, _ := field(subresources, "scale")
	if path := textAt(scale, "specReplicasPath"); path != "" {
		c.replicas = strings.Split(strings.TrimPrefix(path, "."), ".")
	}
}

// properties returns the named fields of a schema; nil when it names none.
func properties(schema any) map[string]any {
	found, _ := field(schema, "properties")
	result, _ := found.(map[string]any)
	if len(result) == 0 {
		return nil
	}
	return result
}

// property returns the schema of one named field.
func property(schema any, name string) (map[string]any, bool) {
	result, ok := properties(schema)[name].(map[string]any)
	return result, ok
}

// element returns the schema of a list's items or of a map's values.
func element(schema any) (map[string]any, bool) {
	for _, name := range []string{"items", "additionalProperties"} {
		if found, ok := field(schema, name); ok {
			if result, ok := found.(map[string]any); ok {
				return result, true
			}
		}
	}
	return nil, false
}

// isConditions reports whether a schema is that of a list of conditions.
func isConditions(schema any) bool {
	one, ok := element(schema)
	if !ok {
		return false
	}
	_, kind := property(one, "type")
	_, status := property(one, "status")
	return kind && status
}
