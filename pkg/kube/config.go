// Package kube is Moorpin's only door to a Kubernetes API server: it finds
// out how to reach one and watches what the other packages need of it.
//
// It writes nothing but ConfigMaps, and those only through [ConfigMaps]. The watch of
// CRDs needs the verbs get, list and watch on
// customresourcedefinitions.apiextensions.k8s.io and nothing else.
// An API server that is down, slow or forbidding never stops its caller: the
// last known state stays in use, State says how old it is, and the watch
// recovers by itself.
package kube

import (
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ErrNoCluster is returned by Config when no kubeconfig is named and the
// process does not run in a pod with a service-account token.
var ErrNoCluster = errors.New("no cluster to ask: no kubeconfig is named and this is no pod with a service-account token")

// Config says how to reach the API server: as the kubeconfig file says, with
// its current context, or, when none is named, as the pod's service account
// may. Without either it returns ErrNoCluster.
func Config(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		// Repo-server's pods have the cluster's address in their environment but
		// mount no token: that is no cluster to ask either.
		if errors.Is(err, rest.ErrNotInCluster) || errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNoCluster
		}
		if err != nil {
			return nil, fmt.Errorf("read the pod's service account: %w", err)
		}
		return named(config), nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", kubeconfig, err)
	}
	return named(config), nil
}

// named sets the name under which Moorpin shows in the API server's audit log.
// Requests are few, and the first list comes in many small pages: the client's
// own limit of five a second would only make a start slow.
func named(config *rest.Config) *rest.Config {
	config.UserAgent = "moorpin"
	config.QPS = -1
	return config
}
