package classify

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// outlook is what a sync of the whole Application does: the worst of the findings,
// and where it fails although something else of it is worse.
func outlook(report *drift.Report) string {
	said := strings.TrimSuffix(report.Sync.Summary(), ".")
	var worst []*drift.Finding
	var failing []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Sync == report.Sync {
			worst = append(worst, f)
		}
		if f.Sync == drift.WillFail && f.Resource.Kind != "Application" {
			failing = append(failing, f.Resource.Kind+" "+f.Resource.Name)
		}
	}
	if len(worst) > 0 && !slices.ContainsFunc(worst, func(f *drift.Finding) bool { return f.Effect() != worst[0].Effect() }) && worst[0].Effect() != report.Sync.Effect() {
		said = "A sync " + worst[0].Effect()
	}
	switch failing = words.Unique(failing); {
	case len(failing) == 0:
	case report.Sync == drift.WillFail:
		said = "A sync fails at " + words.Some(failing)
	default:
		said += "; it fails at " + words.Some(failing) + ", of which it then writes nothing"
	}
	return said + "."
}
