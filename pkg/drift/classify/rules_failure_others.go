package classify

import (
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// failedWithoutDrift: a sync applies all resources again, so what it could not apply
// fails again, though nothing of it differs.
func failedWithoutDrift(s *state.Application) []rule.Answer {
	var claims []rule.Answer
	for _, refused := range outcome.RefusedUnseen(s) {
		c := outcome.Explain(refused.Of, refused.Failure)
		c.About = &refused.Ref
		claims = append(claims, c)
	}
	return claims
}
