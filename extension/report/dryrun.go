package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/kube"
)

// DryRunner is an API server that can say what a sync would do, without doing it.
type DryRunner interface {
	// DryRun returns what a sync of the target would make of the live object, or of
	// nothing where live is nil. The error is a [*kube.RefusalError] where the sync would
	// be refused; any other says why there is no answer.
	DryRun(ctx context.Context, target map[string]any, serverSide bool, live map[string]any) (map[string]any, error)
}

// Limits of the dry runs of one snapshot.
const (
	mostDryRuns     = 1000
	parallelDryRuns = 4
)

const syncOptions = "argocd.argoproj.io/sync-options"

// dryRuns asks what a sync would do to what is out of sync.
func (c *collector) dryRuns(ctx context.Context) {
	if c.options.DryRun == nil {
		return
	}
	chosen, leftOut := c.choose()
	for _, why := range slices.Sorted(maps.Keys(leftOut)) {
		c.warnings = append(c.warnings, fmt.Sprintf("the snapshot lacks the dry runs of %s: %s", strings.Join(leftOut[why], ", "), why))
	}
	failures := make([]error, len(chosen))
	var running errgroup.Group
	running.SetLimit(parallelDryRuns)
	for i, r := range chosen {
		running.Go(func() error {
			r.DryRun, failures[i] = c.dryRun(ctx, r)
			return nil
		})
	}
	_ = running.Wait() // the failures are kept one by one
	for i, r := range chosen {
		c.warn("the dry run of "+called(r), failures[i])
	}
}

// choose returns the resources to ask about, and those left out by the reason.
func (c *collector) choose() (chosen []*drift.Resource, leftOut map[string][]string) {
	leftOut = map[string][]string{}
	status := c.statuses()
	for i := range c.snapshot.Resources {
		r := &c.snapshot.Resources[i]
		drifts := r.Live == nil || status[drift.ResourceRef{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] == outOfSync
		if r.Hook || r.Target == nil || !drifts {
			continue
		}
		why := c.unlikeSync(r, status)
		if why == "" && len(chosen) == mostDryRuns {
			why = fmt.Sprintf("%d are enough", mostDryRuns)
		}
		if why != "" {
			leftOut[why] = append(leftOut[why], called(r))
			continue
		}
		chosen = append(chosen, r)
	}
	return chosen, leftOut
}

// outOfSync is Argo CD's word.
const outOfSync = "OutOfSync"

// statuses are Argo CD's words for the resources.
func (c *collector) statuses() map[drift.ResourceRef]string {
	found := map[drift.ResourceRef]string{}
	for _, entry := range c.list("status", "resources") {
		found[drift.ResourceRef{Group: str(entry, "group"), Kind: str(entry, "kind"), Namespace: str(entry, "namespace"), Name: str(entry, "name")}] = str(entry, "status")
	}
	return found
}

// unlikeSync says why a sync of the resource is no such request as a dry run can
// make, or "".
func (c *collector) unlikeSync(r *drift.Resource, status map[drift.ResourceRef]string) string {
	switch {
	case isSecret(r.ResourceRef):
		return "Argo CD's API masks the values of Secrets"
	case r.Group == "rbac.authorization.k8s.io":
		return "a sync applies RBAC by kubectl auth reconcile, which a dry run cannot repeat"
	case c.hasOption(r, "Replace=true"):
		return "a sync replaces what has the option Replace=true"
	case c.hasOption(nil, "RespectIgnoreDifferences=true") && r.Live != nil:
		return "with the option RespectIgnoreDifferences=true a sync applies another object than Git renders"
	case r.Name == "":
		return "a sync gives it another name each time"
	case slices.ContainsFunc(c.snapshot.Resources, func(other drift.Resource) bool {
		return defines(other.Target, r) && (other.Live == nil || status[drift.ResourceRef{Group: other.Group, Kind: other.Kind, Name: other.Name}] == outOfSync)
	}):
		return "the sync applies the CRD first"
	}
	return ""
}

// hasOption reports whether the Application, or the resource where one is given, has
// a sync option.
func (c *collector) hasOption(r *drift.Resource, option string) bool {
	options, _ := nested(c.app, "spec", "syncPolicy", "syncOptions").([]any)
	return slices.Contains(options, any(option)) || r != nil && annotated(r, option)
}

func annotated(r *drift.Resource, option string) bool {
	for given := range strings.SplitSeq((&unstructured.Unstructured{Object: r.Target}).GetAnnotations()[syncOptions], ",") {
		if strings.TrimSpace(given) == option {
			return true
		}
	}
	return false
}

// defines reports whether an object is the CRD of the resource's kind.
func defines(crd map[string]any, r *drift.Resource) bool {
	return str(crd, "kind") == "CustomResourceDefinition" && nested(crd, "spec", "group") == r.Group && nested(crd, "spec", "names", "kind") == r.Kind
}

// dryRun asks about one resource; nil is no answer.
func (c *collector) dryRun(ctx context.Context, r *drift.Resource) (*drift.DryRun, error) {
	target := unstructured.Unstructured{Object: r.Target}
	if target.GetNamespace() == "" && r.Namespace != "" {
		target = *target.DeepCopy()
		target.SetNamespace(r.Namespace)
	}
	serverSide := c.hasOption(r, "ServerSideApply=true") && !annotated(r, "ServerSideApply=false")
	result, err := c.options.DryRun.DryRun(ctx, target.Object, serverSide, r.Live)
	refusal, refused := errors.AsType[*kube.RefusalError](err)
	switch {
	case err == nil:
		// The API server's bytes are nobody else's, but what comes back may be live itself.
		return &drift.DryRun{Result: (&unstructured.Unstructured{Object: result}).DeepCopy().Object}, nil
	case !refused:
		return nil, fmt.Errorf("ask the cluster: %w", err)
	case c.comesFirst(refusal.Error()):
		return nil, fmt.Errorf("the sync creates first what it needs: %w", refusal)
	}
	return &drift.DryRun{Error: refusal.Error()}, nil
}

// comesFirst reports whether a refusal misses what the same sync may create before:
// the namespace, or another object of the Application.
func (c *collector) comesFirst(refusal string) bool {
	if !strings.Contains(refusal, "not found") {
		return false
	}
	if c.hasOption(nil, "CreateNamespace=true") && strings.Contains(refusal, `namespaces "`+c.text("spec", "destination", "namespace")+`"`) {
		return true
	}
	return slices.ContainsFunc(c.snapshot.Resources, func(other drift.Resource) bool {
		return other.Target != nil && other.Live == nil && strings.Contains(refusal, `"`+other.Name+`" not found`)
	})
}

// called names a resource in a sentence.
func called(r *drift.Resource) string { return r.Kind + " " + r.Name }
