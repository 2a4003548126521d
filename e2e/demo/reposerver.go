package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/app/discovery"
	"github.com/argoproj/argo-cd/v2/util/cmp"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// served is what the destination of the example serves.
const served = "v1,v1/Service,apps/v1,apps/v1/Deployment,argoproj.io/v1alpha1,argoproj.io/v1alpha1/Application," +
	"external-secrets.io/v1,external-secrets.io/v1/ExternalSecret,external-secrets.io/v1/SecretStore"

// render asks the plugin for an Application's objects, step by step as
// repo-server does: find the plugin by its name, ask for its configuration,
// send the whole repository, read the answer.
func render(ctx context.Context, app application, repository, pin string) (objects []manifest.Object, err error) {
	environment, err := environ(app, pin)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(repository, app.path)
	connection, plugin, err := discovery.DetectConfigManagementPlugin(ctx, path, repository, "moorpin", environment, []string{})
	if err != nil {
		return nil, fmt.Errorf("find the plugin: %w", err)
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	_, err = plugin.CheckPluginConfiguration(ctx, &emptypb.Empty{})
	if err != nil {
		return nil, fmt.Errorf("ask for the plugin's configuration: %w", err)
	}
	reply, err := generate(ctx, plugin, func(stream cmp.StreamSender) error {
		return cmp.SendRepoStream(ctx, path, repository, stream, environment, []string{})
	})
	if err != nil {
		return nil, err
	}
	for _, text := range reply.GetManifests() {
		read, err := manifest.Decode(app.name, []byte(text), manifest.Limits{})
		if err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		objects = append(objects, read...)
	}
	return objects, nil
}

func generate(ctx context.Context, plugin apiclient.ConfigManagementPluginServiceClient, send func(cmp.StreamSender) error) (*apiclient.ManifestResponse, error) {
	stream, err := plugin.GenerateManifest(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	err = send(stream)
	if err != nil {
		return nil, fmt.Errorf("send the repository: %w", err)
	}
	reply, err := stream.CloseAndRecv()
	if err != nil {
		return nil, fmt.Errorf("generate manifests: %w", err)
	}
	return reply, nil
}

// environ is the environment that repo-server gives to a plugin.
func environ(app application, pin string) ([]string, error) {
	parameters := v1alpha1.ApplicationSourcePluginParameters{{Name: "pin", String_: new(pin)}}
	for _, name := range slices.Sorted(maps.Keys(app.parameters)) {
		parameters = append(parameters, v1alpha1.ApplicationSourcePluginParameter{Name: name, String_: new(app.parameters[name])})
	}
	environment, err := parameters.Environ()
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	return append(environment,
		"ARGOCD_APP_NAME="+app.name, "ARGOCD_APP_NAMESPACE=shop", "ARGOCD_APP_SOURCE_PATH="+app.path,
		"ARGOCD_APP_REVISION=0000000000000000000000000000000000000000", "ARGOCD_APP_SOURCE_REPO_URL=https://git.example.com/shop.git",
		"ARGOCD_APP_SOURCE_TARGET_REVISION=main", "KUBE_VERSION=1.34", "KUBE_API_VERSIONS="+served), nil
}
