package controlplane

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Status is what tests look at in an Application: its status, in the words of
// Argo CD, and whether a refresh is pending.
type Status struct {
	Name         string
	Sync         string // Synced, OutOfSync or Unknown; empty before the first comparison
	Health       string // Healthy, Progressing, Degraded, Missing, ...
	Revision     string // the commit that was compared
	Refresh      string // the refresh that is asked for, empty when none is
	ReconciledAt string // RFC 3339, seconds
	Operation    Operation
	Conditions   []Condition
	Resources    []Resource
}

// Operation is the last sync.
type Operation struct {
	Phase      string // Running, Succeeded, Failed, Error, Terminating
	Message    string
	FinishedAt string
	ID         string // given by Sync
}

// Condition is a problem that Argo CD has with the Application, such as a
// ComparisonError.
type Condition struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Resource is Argo CD's verdict on one object.
type Resource struct {
	Group, Version, Kind, Namespace, Name string

	Sync   string // Synced, OutOfSync or Unknown
	Health string // empty when Argo CD has no opinion
}

// String is one line for each thing that somebody who waits wants to know.
func (s Status) String() string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "application %s is %q and %q at revision %q, reconciled at %q",
		s.Name, s.Sync, s.Health, s.Revision, s.ReconciledAt)
	if s.Refresh != "" {
		fmt.Fprintf(text, ", %s refresh pending", s.Refresh)
	}
	if s.Operation.Phase != "" {
		fmt.Fprintf(text, "\n  operation %s: %s", s.Operation.Phase, s.Operation.Message)
	}
	for _, condition := range s.Conditions {
		fmt.Fprintf(text, "\n  condition %s: %s", condition.Type, condition.Message)
	}
	for _, r := range s.Resources {
		if r.Sync != "Synced" {
			fmt.Fprintf(text, "\n  %s %s/%s is %s", r.Kind, r.Namespace, r.Name, r.Sync)
		}
	}
	return text.String()
}

// wireStatus is the part of an Application that Status is read from.
type wireStatus struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status struct {
		Sync struct {
			Status   string `json:"status"`
			Revision string `json:"revision"`
		} `json:"sync"`
		Health         wireHealth    `json:"health"`
		ReconciledAt   string        `json:"reconciledAt"`
		OperationState wireOperation `json:"operationState"`
		Conditions     []Condition   `json:"conditions"`
		Resources      []struct {
			Group     string     `json:"group"`
			Version   string     `json:"version"`
			Kind      string     `json:"kind"`
			Namespace string     `json:"namespace"`
			Name      string     `json:"name"`
			Status    string     `json:"status"`
			Health    wireHealth `json:"health"`
		} `json:"resources"`
	} `json:"status"`
}

type wireHealth struct {
	Status string `json:"status"`
}

type wireOperation struct {
	Phase      string `json:"phase"`
	Message    string `json:"message"`
	FinishedAt string `json:"finishedAt"`
	Operation  struct {
		Info []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"info"`
	} `json:"operation"`
}

func readStatus(application *unstructured.Unstructured) (Status, error) {
	data, err := json.Marshal(application.Object)
	if err != nil {
		return Status{}, fmt.Errorf("encode application: %w", err)
	}
	var wire wireStatus
	if err := json.Unmarshal(data, &wire); err != nil {
		return Status{}, fmt.Errorf("decode application %s: %w", application.GetName(), err)
	}
	from := wire.Status
	operation := from.OperationState
	status := Status{
		Name: wire.Metadata.Name,
		Sync: from.Sync.Status, Health: from.Health.Status, Revision: from.Sync.Revision,
		Refresh: wire.Metadata.Annotations[refreshAnnotation], ReconciledAt: from.ReconciledAt,
		Operation:  Operation{Phase: operation.Phase, Message: operation.Message, FinishedAt: operation.FinishedAt},
		Conditions: from.Conditions,
	}
	for _, info := range operation.Operation.Info {
		if info.Name == syncInfo {
			status.Operation.ID = info.Value
		}
	}
	for _, r := range from.Resources {
		status.Resources = append(status.Resources, Resource{
			Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
			Sync: r.Status, Health: r.Health.Status,
		})
	}
	return status, nil
}
