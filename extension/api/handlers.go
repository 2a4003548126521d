package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Feeds are where snapshots can come from.
const (
	FeedBrowser = "browser"
	FeedBackend = "backend"
)

// Capabilities say what the backend can do.
type Capabilities struct {
	// Version is Moorpin's, ArgoCDVersion that of the Argo CD in front of it.
	Version       string `json:"version"`
	ArgoCDVersion string `json:"argocdVersion,omitempty"`
	// Feeds are "browser", where a snapshot can be posted, and "backend", where the
	// backend collects it.
	Feeds  []string `json:"feeds"`
	Limits Limits   `json:"limits"`
}

// Limits are what a question may not exceed.
type Limits struct {
	// BodyBytes is the size of a body, unpacked.
	BodyBytes int64 `json:"bodyBytes"`
	// Depth and Values are those of a body's JSON.
	Depth  int   `json:"depth"`
	Values int64 `json:"values"`
	// Seconds are how long an answer takes at most.
	Seconds float64 `json:"seconds"`
	Rules   int     `json:"rules"`
}

// ResourceReport is what a report says about one resource.
type ResourceReport struct {
	// Application is namespace/name.
	Application string            `json:"application"`
	Resource    drift.ResourceRef `json:"resource"`
	Findings    []drift.Finding   `json:"findings"`
	Version     string            `json:"version"`
	ComparedAt  string            `json:"comparedAt,omitempty"`
	CollectedAt string            `json:"collectedAt,omitempty"`
}

// Trial asks what further ignore rules would do.
type Trial struct {
	// Snapshot is what to try them on; without one the backend collects it.
	Snapshot json.RawMessage `json:"snapshot,omitempty"`
	// Rules are written like those of an Application's spec.ignoreDifferences.
	Rules []v1alpha1.ResourceIgnoreDifferences `json:"rules"`
}

func (a *api) capabilities(context.Context, *question) (*reply, error) {
	answer := Capabilities{
		Version: a.options.Version, ArgoCDVersion: a.options.ArgoCDVersion, Feeds: []string{FeedBrowser},
		Limits: Limits{
			BodyBytes: a.options.MaxBody, Depth: maxDepth, Values: a.options.MaxBody / bytesPerValue,
			Seconds: a.options.Timeout.Seconds(), Rules: maxRules,
		},
	}
	if a.options.TokenMode {
		answer.Feeds = append(answer.Feeds, FeedBackend)
	}
	return replyJSON(answer, "")
}

func (a *api) classify(ctx context.Context, q *question) (*reply, error) {
	answer, err := a.options.Reporter.Classify(ctx, q.posted(q.body))
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the step
	}
	return encoded(answer)
}

// posted is a snapshot that was sent, which must be of the caller's Application.
func (q *question) posted(document []byte) report.Posted {
	return report.Posted{Document: document, Of: identity(q.caller), By: q.caller.Username}
}

func (a *api) report(ctx context.Context, q *question) (*reply, error) {
	answer, err := a.collect(ctx, q)
	if err != nil {
		return nil, err
	}
	given, err := encoded(answer)
	if err != nil {
		return nil, err
	}
	given.kept = len(answer.Encoded) > 0
	return given, nil
}

// collect lets the reporter collect and explain. The answer leaves only where the
// Application that it is about is in the project that Argo CD has checked. The answer
// itself tells: a snapshot asked for later may be of another project.
func (a *api) collect(ctx context.Context, q *question) (*report.Answer, error) {
	answer, err := a.options.Reporter.Report(ctx, q.caller.Application)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if answer.Project != q.caller.Project {
		return nil, &report.ForeignError{Field: "spec.project", Checked: q.caller.Project}
	}
	return answer, nil
}

// collected is the snapshot that the reporter has collected.
func (a *api) collected(ctx context.Context, q *question) (*drift.Snapshot, error) {
	snapshot, err := a.options.Reporter.Snapshot(ctx, q.caller.Application)
	if err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	if err := identity(q.caller).Check(snapshot.Application); err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	return snapshot, nil
}

// encoded is the answer as the reporter has written it.
func encoded(answer *report.Answer) (*reply, error) {
	if len(answer.Encoded) == 0 {
		return replyJSON(answer, answer.Version)
	}
	return &reply{kind: jsonText, body: answer.Encoded, version: answer.Version}, nil
}

func (a *api) resource(ctx context.Context, q *question) (*reply, error) {
	ref, err := q.resource()
	if err != nil {
		return nil, err
	}
	answer, err := a.collect(ctx, q)
	if err != nil {
		return nil, err
	}
	// It is written out anew for each who asks, and is no larger than the whole.
	if err := q.sent.holdSize(len(answer.Encoded)); err != nil {
		return nil, err
	}
	found := ResourceReport{
		Application: q.caller.Application.String(), Resource: ref, Findings: []drift.Finding{},
		Version: answer.Version, ComparedAt: answer.ComparedAt, CollectedAt: answer.CollectedAt,
	}
	for _, finding := range answer.Report.Findings {
		about := finding.Resource
		about.Version = ""
		if about == ref {
			found.Findings = append(found.Findings, finding)
		}
	}
	return replyJSON(found, answer.Version)
}

// resource reads group, kind, namespace and name of the query.
func (q *question) resource() (drift.ResourceRef, error) {
	var ref drift.ResourceRef
	for _, row := range []struct {
		name     string
		into     *string
		required bool
	}{{"group", &ref.Group, false}, {"kind", &ref.Kind, true}, {"namespace", &ref.Namespace, false}, {"name", &ref.Name, true}} {
		values := q.query[row.name]
		switch {
		case len(values) > 1:
			return ref, badParameter(row.name, "is there more than once")
		case row.required && (len(values) == 0 || values[0] == ""):
			return ref, badParameter(row.name, "is missing")
		case len(values) == 1 && len(values[0]) > maxParameter:
			return ref, badParameter(row.name, fmt.Sprintf("is longer than %d bytes", maxParameter))
		case len(values) == 1:
			*row.into = values[0]
		}
	}
	return ref, nil
}

func badParameter(name, reason string) error {
	r := refuse(http.StatusBadRequest, "query", "the parameter "+name+" "+reason, "ask with ?group=&kind=&namespace=&name=, each at most once")
	r.Part = name
	return r
}

func (a *api) prove(ctx context.Context, q *question) (*reply, error) {
	trial, err := readTrial(q.body)
	if err != nil {
		return nil, err
	}
	if err := checkRules(trial.Rules); err != nil {
		return nil, err
	}
	preview, err := a.try(ctx, q, trial)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	return replyJSON(preview, "")
}

// try tries the rules on the posted snapshot, or on the collected one where there is none.
func (a *api) try(ctx context.Context, q *question, trial *Trial) (*drift.Preview, error) {
	if trial.Snapshot != nil && string(trial.Snapshot) != "null" {
		return a.options.Reporter.Try(ctx, q.posted(trial.Snapshot), trial.Rules) //nolint:wrapcheck // prove names the step
	}
	snapshot, err := a.collected(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.options.Reporter.Preview(ctx, snapshot, trial.Rules) //nolint:wrapcheck // prove names the step
}

func (a *api) rollbackCollected(ctx context.Context, q *question) (*reply, error) {
	answer, err := a.collect(ctx, q)
	if err != nil {
		return nil, err
	}
	snapshot, err := a.collected(ctx, q)
	if err != nil {
		return nil, err
	}
	if metadata, _ := snapshot.Application["metadata"].(map[string]any); answer.UID != "" && metadata["uid"] != any(answer.UID) {
		return nil, busy(http.StatusConflict, "replaced", "the Application was replaced meanwhile by another of its name")
	}
	stream, err := a.options.Reporter.Rollback(ctx, report.Question{Snapshot: snapshot})
	if err != nil {
		return nil, fmt.Errorf("rollback: %w", err)
	}
	return q.rollback(stream), nil
}

func (a *api) rollbackPosted(ctx context.Context, q *question) (*reply, error) {
	stream, err := a.options.Reporter.Rollback(ctx, report.Question{Posted: q.posted(q.body)})
	if err != nil {
		return nil, fmt.Errorf("rollback: %w", err)
	}
	return q.rollback(stream), nil
}

func (q *question) rollback(stream []byte) *reply {
	name := strings.ReplaceAll(q.caller.Application.String(), "/", "_")
	return &reply{kind: yamlText, body: stream, file: "rollback_" + name + ".yaml"}
}
