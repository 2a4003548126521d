package refusal

import (
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// FailedWithoutDrift answers: a sync applies all resources again, so what it could not apply
// fails again, though nothing of it differs.
func FailedWithoutDrift(s *state.Application) []rule.Answer {
	var answers []rule.Answer
	if unnamed, failed := outcome.UnnamedFailure(s); failed && unnamed.Of == nil {
		answers = append(answers, unnamedAnswer(s, unnamed.Failure))
	}
	for _, refused := range outcome.RefusedUnseen(s) {
		c := outcome.Explain(refused.Of, refused.Failure)
		c.About = &refused.Ref
		answers = append(answers, c)
	}
	return answers
}

// unnamedAnswer is about the Application: which of its objects was refused, nobody said.
func unnamedAnswer(s *state.Application, f outcome.Failure) rule.Answer {
	nameless := &state.Resource{Application: s, Given: &drift.Resource{}, Ref: s.Ref()}
	c := outcome.Explain(nameless, f)
	c.Confidence = drift.Likely
	c.Evidence = []string{"the last sync, of this revision, failed: " + s.Quote(f.Message), "the message names no object, and it may be about several; argocd app get --show-operation lists them"}
	if c.Summary == "" {
		c.Summary = "The last sync failed at one of the objects. " + c.Mechanism.Summary()
	}
	return c
}
