package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/kube"
)

// observation is what was seen of an Application at one moment.
type observation struct {
	snapshot *drift.Snapshot
	verdict  cases.Verdict
}

// attempts is how often Argo CD is asked to compare again until its live states are
// those of the API server: it learns of a write by a watch, a moment later.
const attempts = 20

// observe refreshes until Argo CD has compared what is there now.
func (s *Stage) observe(ctx context.Context) (observation, error) {
	var stale error
	for range attempts {
		if !s.Scenario.NoRefresh {
			if _, err := s.Refresh(ctx); err != nil {
				return observation{}, err
			}
		}
		seen, err := s.collect(ctx)
		if err != nil {
			return observation{}, err
		}
		stale = errors.Join(s.current(ctx, seen.snapshot), seen.torn())
		if stale == nil || s.Scenario.NoRefresh {
			return seen, nil
		}
		select {
		case <-ctx.Done():
			return observation{}, errors.Join(context.Cause(ctx), stale)
		case <-time.After(pollPause):
		}
	}
	return observation{}, fmt.Errorf("compare what is there: %w", stale)
}

// current is an error when Argo CD compared other live states than those of the server.
func (s *Stage) current(ctx context.Context, snapshot *drift.Snapshot) error {
	for _, resource := range snapshot.Resources {
		soon, cancel := context.WithTimeout(ctx, time.Second)
		place, err := s.Plane.Resource(soon, kindOf(resource), resource.Namespace)
		cancel()
		if err != nil {
			continue // the kind is not served, so nothing of it lives
		}
		version, _, _ := unstructured.NestedString(resource.Live, "metadata", "resourceVersion")
		live, err := place.Get(ctx, resource.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && resource.Live == nil:
		case err != nil:
			return fmt.Errorf("read %s %s: %w", resource.Kind, resource.Name, err)
		case live.GetResourceVersion() != version:
			return fmt.Errorf("%s %s: version %s was compared, %s is there", resource.Kind, resource.Name, version, live.GetResourceVersion())
		}
	}
	return nil
}

// torn is an error when a comparison lay between reading the status and reading the
// states: what is said to be Synced has fields that differ.
func (o observation) torn() error {
	for _, resource := range o.verdict.Resources {
		if resource.Status == "Synced" && len(FlaggedFields(resource)) > 0 {
			return fmt.Errorf("%s %s: Synced in the status, and %v differ", resource.Kind, resource.Name, FlaggedFields(resource))
		}
	}
	return nil
}

func kindOf(resource drift.Resource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}
}

// collect takes a snapshot as `moorpin extension snapshot` does, and Argo CD's verdict.
func (s *Stage) collect(ctx context.Context) (observation, error) {
	token, err := s.Plane.Token(ctx)
	if err != nil {
		return observation{}, fmt.Errorf("reach Argo CD: %w", err)
	}
	client, err := argocd.New(argocd.Config{URL: s.Plane.ServerURL(), Token: token})
	if err != nil {
		return observation{}, fmt.Errorf("reach Argo CD: %w", err)
	}
	cluster, err := kube.NewObjects(s.Plane.Config())
	if err != nil {
		return observation{}, fmt.Errorf("reach the cluster: %w", err)
	}
	ref := argocd.Ref{Namespace: applicationNamespace, Name: s.App}
	snapshot, _, err := report.Collect(ctx, client, ref, report.Options{Now: time.Now, Compared: true, Cluster: cluster})
	if err != nil {
		return observation{}, fmt.Errorf("take a snapshot: %w", err)
	}
	seen := observation{snapshot: snapshot}
	if err := s.judge(&seen); err != nil {
		return observation{}, err
	}
	s.leaveOutOthers(snapshot)
	return seen, s.relate(ctx, snapshot)
}

// judge takes over Argo CD's verdict, and moves the states that it compared there.
func (s *Stage) judge(seen *observation) error {
	data, err := json.Marshal(seen.snapshot.Application["status"])
	if err != nil {
		return fmt.Errorf("encode status: %w", err)
	}
	var status struct {
		Sync struct {
			Status string `json:"status"`
		} `json:"sync"`
		Resources []struct {
			drift.ResourceRef `json:",inline"`

			Status          string `json:"status"`
			RequiresPruning bool   `json:"requiresPruning"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return fmt.Errorf("decode status: %w", err)
	}
	states := map[drift.ResourceRef]int{}
	for i, resource := range seen.snapshot.Resources {
		resource.Version = ""
		states[resource.ResourceRef] = i
	}
	seen.verdict = cases.Verdict{Sync: status.Sync.Status, Resources: []cases.ResourceVerdict{}}
	for _, entry := range status.Resources {
		verdict := cases.ResourceVerdict{ResourceRef: entry.ResourceRef, Status: entry.Status, RequiresPruning: entry.RequiresPruning}
		verdict.Version = ""
		if i, ok := states[verdict.ResourceRef]; ok {
			verdict.NormalizedLive = withoutOwners(seen.snapshot.Resources[i].NormalizedLive)
			verdict.PredictedLive = withoutOwners(seen.snapshot.Resources[i].PredictedLive)
		}
		seen.verdict.Resources = append(seen.verdict.Resources, verdict)
	}
	for i := range seen.snapshot.Resources {
		resource := &seen.snapshot.Resources[i]
		resource.NormalizedLive = nil
		if !s.serverSideDiff(resource) {
			resource.PredictedLive = nil
		}
	}
	return nil
}

// withoutOwners leaves out managedFields, which Argo CD carries along in both states
// and which stand in the live object already.
func withoutOwners(state map[string]any) map[string]any {
	if state == nil {
		return nil
	}
	copied := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(state)}
	copied.SetManagedFields(nil)
	return copied.Object
}

const compareOptions = "argocd.argoproj.io/compare-options"

// serverSideDiff tells whether Argo CD asked the API server what a sync would make of
// the object, which nobody can find out from a snapshot.
func (s *Stage) serverSideDiff(resource *drift.Resource) bool {
	options, _, _ := unstructured.NestedString(resource.Target, "metadata", "annotations", compareOptions)
	options += "," + s.Scenario.Annotations[compareOptions]
	return strings.Contains(options, "ServerSideDiff=true")
}
