package refusal

import (
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// FailedWithoutDrift answers: a sync applies all resources again, so what it could not apply
// fails again, though nothing of it differs.
func FailedWithoutDrift(s *state.Application) []rule.Answer {
	var answers []rule.Answer
	for _, refused := range outcome.RefusedUnseen(s) {
		c := outcome.Explain(refused.Of, refused.Failure)
		c.About = &refused.Ref
		answers = append(answers, c)
	}
	return answers
}
