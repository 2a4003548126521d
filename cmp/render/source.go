package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// pinModes are the values of the parameter pin.
var pinModes = []string{"all", "atomic", "none"}

// FromEnvironment makes a Request of the environment that Argo CD gives to a plugin
// (receive.Metadata.Env), for the app in the folder path of the private copy root.
// Every variable may be missing; without ARGOCD_APP_PARAMETERS, or with "null", the
// files decide the type of the source.
func FromEnvironment(env map[string]string, root, path string) (Request, error) {
	request := Request{
		Root: root, Path: path,
		AppName:     env["ARGOCD_APP_NAME"],
		Namespace:   env["ARGOCD_APP_NAMESPACE"],
		Project:     env[projectVariable],
		Revision:    env["ARGOCD_APP_REVISION"],
		KubeVersion: env["KUBE_VERSION"],
		Source: v1alpha1.ApplicationSource{
			RepoURL:        env["ARGOCD_APP_SOURCE_REPO_URL"],
			Path:           env["ARGOCD_APP_SOURCE_PATH"],
			TargetRevision: env["ARGOCD_APP_SOURCE_TARGET_REVISION"],
		},
	}
	for version := range strings.SplitSeq(env["KUBE_API_VERSIONS"], ",") {
		if version != "" {
			request.APIVersions = append(request.APIVersions, version)
		}
	}
	var parameters []parameter
	text := env["ARGOCD_APP_PARAMETERS"]
	if text != "" {
		err := json.Unmarshal([]byte(text), &parameters)
		if err != nil {
			return Request{}, refuse("ARGOCD_APP_PARAMETERS", "is no JSON list of parameters: %v", err)
		}
	}
	return request, request.apply(parameters)
}

// parameter is an entry of spec.source.plugin.parameters.
type parameter struct {
	Name   string            `json:"name"`
	String *string           `json:"string"`
	Map    map[string]string `json:"map"`
	Array  []string          `json:"array"`
}

// apply puts the parameters of the plugin into the request.
func (r *Request) apply(parameters []parameter) error {
	given := ""
	for _, parameter := range parameters {
		where := "plugin parameter " + parameter.Name
		if parameter.String == nil {
			return refuse(where, "has no string; write the parameters helm, kustomize, directory and pin as {name: ..., string: ...}")
		}
		var err error
		switch parameter.Name {
		case "pin":
			if r.Pin != "" || !slices.Contains(pinModes, *parameter.String) {
				return refuse(where, "must come once, and be all, atomic or none")
			}
			r.Pin = *parameter.String
			continue
		case "helm":
			r.Source.Helm, err = parseBlock[v1alpha1.ApplicationSourceHelm](where, *parameter.String)
		case "kustomize":
			r.Source.Kustomize, err = parseBlock[v1alpha1.ApplicationSourceKustomize](where, *parameter.String)
		case "directory":
			r.Source.Directory, err = parseBlock[v1alpha1.ApplicationSourceDirectory](where, *parameter.String)
		default:
			return refuse(where, "is not known; the parameters are helm, kustomize and directory, of which one may hold that block of the source, and pin")
		}
		if err != nil {
			return err
		}
		if given != "" {
			return refuse(where, "comes beside the parameter %s; a source has one of helm, kustomize and directory, once", given)
		}
		given = parameter.Name
	}
	argo.NormalizeSource(&r.Source)
	return nil
}

// parseBlock reads the YAML or JSON of a source's block, and refuses fields that
// Argo CD does not know: the API server would have dropped them from the
// Application with a warning that nobody sees here.
func parseBlock[Block any](where, text string) (*Block, error) {
	block := new(Block)
	data := []byte(text)
	err := manifest.CheckAliases(where, data, manifest.Limits{})
	if err != nil {
		return nil, fmt.Errorf("read the source: %w", err)
	}
	if documents(text) > 1 {
		return nil, refuse(where, "holds more than one YAML document; a source has one block")
	}
	data, err = yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, refuse(where, "is not valid YAML: %v", err)
	}
	faults, err := kjson.UnmarshalStrict(data, block)
	err = errors.Join(append(faults, err)...)
	if err != nil {
		return nil, refuse(where, "is no such block of a source: %v", err)
	}
	return block, nil
}

// documents counts the YAML documents that hold something.
func documents(text string) int {
	count, started := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasPrefix(line, "---"):
			started = strings.TrimSpace(line[len("---"):]) != ""
		case line == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
			continue
		case started:
			continue
		default:
			started = true
		}
		if started {
			count++
		}
	}
	return count
}
