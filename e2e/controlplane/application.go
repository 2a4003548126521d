package controlplane

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

const (
	applicationVersion = "argoproj.io/v1alpha1"
	refreshAnnotation  = "argocd.argoproj.io/refresh"
	syncInfo           = "moorpin-e2e" // names the operation that Sync waits for
)

// Application is what the Applications of tests differ in. Maps are written
// word for word, so empty and false values reach the server.
type Application struct {
	Name       string
	Namespace  string         // of spec.destination; made when absent
	Source     map[string]any // spec.source
	SyncPolicy map[string]any // spec.syncPolicy, may be nil
}

// Object is the Application as YAML would hold it: project default,
// destination the plane's own API server.
func (a Application) Object() *unstructured.Unstructured {
	spec := map[string]any{
		"project":     "default",
		"source":      a.Source,
		"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": a.Namespace},
	}
	if a.SyncPolicy != nil {
		spec["syncPolicy"] = a.SyncPolicy
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": applicationVersion,
		"kind":       "Application",
		"metadata":   map[string]any{"name": a.Name, "namespace": Namespace},
		"spec":       spec,
	}}
}

// CreateApplication applies the Application, and its destination namespace
// first. It does not wait for Argo CD.
func (p *Plane) CreateApplication(ctx context.Context, application Application) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(application.Namespace)
	return p.Apply(ctx, "", namespace, application.Object())
}

// Refresh is how thoroughly Argo CD compares again.
type Refresh string

// RefreshNormal reads Git again; RefreshHard also forgets cached manifests.
const (
	RefreshNormal Refresh = "normal"
	RefreshHard   Refresh = "hard"
)

// RefreshApplication asks for a refresh, and returns the status once Argo CD
// has compared.
func (p *Plane) RefreshApplication(ctx context.Context, name string, refresh Refresh) (Status, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	applications, err := p.applications(ctx)
	if err != nil {
		return Status{}, err
	}
	for {
		if err := annotate(ctx, applications, name, refresh); err != nil {
			return Status{}, err
		}
		// Argo CD removes the annotation in the same write that brings the status.
		attempt, cancel := context.WithTimeout(ctx, refreshPatience)
		status, err := p.WaitForApplication(attempt, name, func(s Status) bool { return s.Refresh == "" && s.Sync != "" })
		cancel()
		if err == nil {
			return status, nil
		}
		if ctx.Err() != nil {
			return status, fmt.Errorf("refresh application %s: %w", name, err)
		}
		// A refresh that is asked for while Argo CD writes a status can be left lying.
		// As the person at the button would, ask again.
		if err := annotate(ctx, applications, name, nil); err != nil {
			return status, err
		}
	}
}

// refreshPatience is how long one request for a refresh may lie before it is made again.
const refreshPatience = 15 * time.Second

// annotate asks for a refresh; nil takes the request back.
func annotate(ctx context.Context, applications dynamic.ResourceInterface, name string, refresh any) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{refreshAnnotation: refresh}},
	})
	if err != nil {
		return fmt.Errorf("encode refresh: %w", err)
	}
	_, err = applications.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return fmt.Errorf("refresh application %s: %w", name, err)
	}
	return nil
}

// Sync refreshes the Application, syncs it through argocd-server, as a user
// does, with the options of its syncPolicy, and refreshes it again once the
// operation has ended. A sync that ends in anything but Succeeded is an
// error. It is not for Applications that sync by themselves.
func (p *Plane) Sync(ctx context.Context, name string) (Status, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if status, err := p.RefreshApplication(ctx, name, RefreshNormal); err != nil {
		return status, fmt.Errorf("sync application %s: %w", name, err)
	}
	id := rand.Text()
	body := map[string]any{"infos": []any{map[string]any{"name": syncInfo, "value": id}}}
	for {
		err := p.PostAPI(ctx, "/api/v1/applications/"+name+"/sync", body)
		if err == nil {
			break
		}
		var refused *APIError
		busy := errors.As(err, &refused) && refused.Status == http.StatusBadRequest &&
			strings.Contains(refused.Message, "another operation is already in progress")
		if !busy || pause(ctx) != nil {
			return Status{}, fmt.Errorf("sync application %s: %w", name, err)
		}
	}
	ended := func(s Status) bool { return s.Operation.ID == id && s.Operation.FinishedAt != "" }
	status, err := p.WaitForApplication(ctx, name, ended)
	if err != nil {
		return status, fmt.Errorf("sync application %s: %w", name, err)
	}
	if status.Operation.Phase != "Succeeded" {
		return status, fmt.Errorf("sync application %s: operation ended: %s", name, status)
	}
	return p.RefreshApplication(ctx, name, RefreshNormal)
}

// ApplicationStatus reads the status as it is now.
func (p *Plane) ApplicationStatus(ctx context.Context, name string) (Status, error) {
	applications, err := p.applications(ctx)
	if err != nil {
		return Status{}, err
	}
	object, err := applications.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Status{}, fmt.Errorf("read application %s: %w", name, err)
	}
	return readStatus(object)
}

// WaitForApplication returns the first status that is as wanted. When the
// context's deadline comes first (three minutes when it has none), the error holds
// the last status: sync, health, conditions, operation and what differs.
func (p *Plane) WaitForApplication(ctx context.Context, name string, wanted func(Status) bool) (Status, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	last := Status{Name: name}
	for {
		status, err := p.ApplicationStatus(ctx, name)
		if err != nil && ctx.Err() == nil {
			return last, err
		}
		if err == nil {
			last = status
			if wanted(status) {
				return status, nil
			}
		}
		if err := pause(ctx); err != nil {
			return last, fmt.Errorf("wait for application: %w; last seen: %s", err, last)
		}
	}
}

func (p *Plane) applications(ctx context.Context) (dynamic.ResourceInterface, error) {
	kind := schema.FromAPIVersionAndKind(applicationVersion, "Application")
	return p.Resource(ctx, kind, Namespace)
}
