// Package application has the rules about the Application as Argo CD sees it: errors of
// rendering and of the comparison, a controller that does not look, health without drift.
package application

import (
	"errors"
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// ManifestGenerationError answers: the repo-server could not render, so Argo CD has no
// desired state and every sync ends before it starts. What the snapshot shows of
// the resources then says nothing: all of them lack a target.
// Evidence: a ComparisonError "Failed to load target state". Counter-evidence: the
// error is about the live side or the schema. Source: controller/state.go,
// CompareAppState; #12039, #28432.
func ManifestGenerationError(s *state.Application) []rule.Answer {
	messages := outcome.ErrorsOf(s).Target
	if len(messages) == 0 {
		return nil
	}
	c := rule.Answer{Mechanism: drift.ManifestGenerationError, Confidence: drift.Certain, Sync: drift.Blocked, Incomparable: true}
	for _, message := range messages {
		c.Evidence = append(c.Evidence, "Argo CD reports a ComparisonError: "+s.Quote(message))
	}
	return []rule.Answer{c}
}

// ComparisonErrorSchema answers: both sides are known, but the diff of one object failed,
// which leaves the whole Application Unknown and unable to sync.
// Evidence: a ComparisonError from the comparison itself, such as "field not
// declared in schema" or "duplicate entries for key". Source: controller/state.go;
// #17358, #25064, #11136.
func ComparisonErrorSchema(s *state.Application) []rule.Answer {
	messages := outcome.ErrorsOf(s).Schema
	if len(messages) == 0 {
		return incomparableHere(s)
	}
	if len(outcome.RefusedDryRuns(s)) > 0 {
		return nil
	}
	c := rule.Answer{Mechanism: drift.ComparisonErrorSchema, Confidence: drift.Certain, Sync: drift.Blocked}
	for _, message := range messages {
		c.Evidence = append(c.Evidence, "Argo CD reports a ComparisonError: "+s.Quote(message))
	}
	for _, r := range s.Resources {
		if r.CompareError != nil && len(c.Evidence) < 8 {
			c.Evidence = append(c.Evidence, fmt.Sprintf("%s cannot be compared here either", r.Ref.Words()))
		}
	}
	return []rule.Answer{c}
}

// incomparableHere is what cannot be compared here though Argo CD, which may know other
// schemas or has not looked yet, reports no error. What only Moorpin does not compare is
// none of it: that keeps no sync from starting.
func incomparableHere(s *state.Application) []rule.Answer {
	if len(s.Object.Status.Conditions) > 0 {
		return nil
	}
	c := rule.Answer{Mechanism: drift.ComparisonErrorSchema, Confidence: drift.Possible, Sync: drift.Blocked}
	for _, r := range s.Resources {
		if _, refused := errors.AsType[*compare.RefusedError](r.CompareError); refused && len(c.Evidence) < 8 {
			c.Evidence = append(c.Evidence, fmt.Sprintf("%s cannot be compared: %s", r.Ref.Words(), r.Quote(r.CompareError.Error())))
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	return []rule.Answer{c}
}

// DryRunRefused answers: a server-side diff asks the API server for a dry run, and the API
// server refuses it, so that nothing can be compared. What the refusal says is what
// is wrong with the object.
// Evidence: a ComparisonError that names the object and holds a refusal that is known.
func DryRunRefused(s *state.Application) []rule.Answer {
	var answers []rule.Answer
	for _, refused := range outcome.RefusedDryRuns(s) {
		ref := refused.Of.Ref
		answers = append(answers, rule.Answer{Mechanism: refused.Mechanism, About: &ref, Confidence: drift.Certain, Sync: drift.Blocked, Incomparable: true, Evidence: []string{
			"Argo CD cannot compare, because the API server refuses the dry run: " + s.Quote(refused.Said),
		}})
	}
	return answers
}

// ProjectNotPermitted answers: the AppProject forbids the source, the destination or the
// use of the project, so no sync can start.
// Evidence: an InvalidSpecError or ComparisonError that says so. What the project
// forbids of single kinds shows at the resources. Source: util/argo,
// ValidatePermissions; docs, projects.
func ProjectNotPermitted(s *state.Application) []rule.Answer {
	messages := outcome.ErrorsOf(s).Permission
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionInvalidSpecError) {
		if words.Mentions(message, outcome.PermitMarks) {
			messages = append(messages, message)
		}
	}
	if op := s.Object.Status.OperationState; op != nil && strings.Contains(op.Message, "operation not allowed:") {
		messages = append(messages, op.Message)
	}
	if len(messages) == 0 {
		return nil
	}
	c := rule.Answer{Mechanism: drift.ProjectNotPermitted, Confidence: drift.Certain, Sync: drift.Blocked, Incomparable: true}
	for _, message := range messages {
		c.Evidence = append(c.Evidence, "Argo CD reports: "+s.Quote(message))
	}
	return []rule.Answer{c}
}

// OtherErrors answers: a ComparisonError, InvalidSpecError or UnknownError that no rule
// knows still stops every sync, so it must not be passed over.
func OtherErrors(s *state.Application) []rule.Answer {
	var messages []string
	messages = append(messages, outcome.ErrorsOf(s).Other...)
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionInvalidSpecError) {
		if !words.Mentions(message, outcome.PermitMarks) {
			messages = append(messages, message)
		}
	}
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionUnknownError) {
		if !words.Mentions(message, outcome.LiveMarks) || len(outcome.ErrorsOf(s).Live) == 0 {
			messages = append(messages, message)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	c := rule.Answer{Mechanism: drift.Unexplained, Confidence: drift.Likely, Sync: drift.Blocked, Incomparable: s.Object.Status.Sync.Status == v1alpha1.SyncStatusCodeUnknown, Summary: "Argo CD reports an error of the Application that stops every sync."}
	for _, message := range messages {
		c.Evidence = append(c.Evidence, "Argo CD reports: "+s.Quote(message))
	}
	return []rule.Answer{c}
}
