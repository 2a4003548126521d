package doctor

import (
	"context"
	"errors"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// capabilitiesPath is what the backend is asked for: it needs no snapshot.
const capabilitiesPath = "moorpin/api/v1/capabilities"

func gatherServer(ctx context.Context, from Sources, facts *Facts) {
	if from.Server == nil {
		facts.ServerVersion, facts.Scripts, facts.Answer = Hidden[string](noServer), Hidden[argocd.Answer](noServer), Hidden[argocd.Answer](noServer)
		return
	}
	facts.ServerVersion = answered(from.Server.Version(ctx))
	facts.Scripts = answered(from.Server.Scripts(ctx))
	app, project, err := subject(ctx, from)
	if err != nil {
		facts.Answer = Hidden[argocd.Answer](oneLine(err.Error()))
		return
	}
	facts.Answer = answered(from.Server.Extension(ctx, capabilitiesPath, app, project))
}

var (
	errNoApplication = errors.New("the token sees no Application to ask about: give its account `applications, get`")
	errNotSeen       = errors.New("the token does not see the Application that --application names: check the name, or give its account `applications, get`")
)

// subject is the Application to ask about, with its project: every call through Argo
// CD's proxy is about one.
func subject(ctx context.Context, from Sources) (argocd.Ref, string, error) {
	wanted := from.Application
	if wanted.Name != "" && wanted.Namespace == "" {
		wanted.Namespace = from.Namespace
	}
	for app, err := range from.Applications(ctx) {
		if err != nil {
			return argocd.Ref{}, "", err
		}
		found := refOf(app, from.Namespace)
		if wanted.Name != "" && wanted != found {
			continue
		}
		spec, _ := app["spec"].(map[string]any)
		project, _ := spec["project"].(string)
		if project == "" {
			project = argocd.DefaultProject
		}
		return found, project, nil
	}
	if wanted.Name != "" {
		return argocd.Ref{}, "", errNotSeen
	}
	return argocd.Ref{}, "", errNoApplication
}

func refOf(app map[string]any, home string) argocd.Ref {
	metadata, _ := app["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	if namespace == "" {
		namespace = home
	}
	return argocd.Ref{Namespace: namespace, Name: name}
}
