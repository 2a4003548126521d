package classify_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// TestNoSyncThatFailsIsAdvised holds, over the corpus and over cases of it that were
// changed at random, that nobody is told first to sync where a sync fails, cannot start,
// deletes, or is undone.
func TestNoSyncThatFailsIsAdvised(t *testing.T) {
	all, err := cases.Load(t.Context(), ownCorpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		checkAdvice(t, c.Name, &c.Snapshot)
	}
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 3))
		c := all[random.IntN(len(all))]
		snapshot := copied(t, c.Snapshot)
		worsen(random, snapshot)
		checkAdvice(t, c.Name, snapshot)
	}
}

func checkAdvice(t *testing.T, name string, snapshot *drift.Snapshot) {
	t.Helper()
	report, err := classify.Classify(t.Context(), snapshot, classify.Options{})
	if err != nil {
		return
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		switch f.Sync {
		case drift.Blocked, drift.WillFail, drift.FightsController, drift.Destructive:
		default:
			continue
		}
		if len(f.Fixes) == 0 {
			t.Errorf("%s: %s of %s, %s: no fix is left", name, f.Mechanism, f.Resource.Name, f.Sync)
			continue
		}
		if first := firstCommand(f.Fixes[0].Snippet); strings.HasPrefix(first, "argocd app sync ") && !strings.Contains(first, " --replace") && !strings.Contains(first, " --force") && !strings.Contains(first, " --prune") {
			t.Errorf("%s: %s of %s: a sync is %s, and the advice is %q", name, f.Mechanism, f.Resource.Name, f.Sync, first)
		}
	}
}

func firstCommand(snippet string) string {
	for line := range strings.Lines(snippet) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

// worsen changes what decides the effect of a sync.
func worsen(random *rand.Rand, snapshot *drift.Snapshot) {
	refusals := []string{
		"", `Deployment.apps "web" is invalid: spec.selector: Invalid value: "x": field is immutable`, "admission webhook \"p\" denied the request: no",
		"something that nobody knows", "metadata.annotations: Too long: must have at most 262144 bytes", `the server could not find the requested resource`,
	}
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		if said := refusals[random.IntN(len(refusals))]; said != "" {
			r.DryRun = &drift.DryRun{Error: said}
		}
		metadata, ok := r.Target["metadata"].(map[string]any)
		if !ok || random.IntN(3) > 0 {
			continue
		}
		annotations, _ := metadata["annotations"].(map[string]any)
		if annotations == nil {
			annotations = map[string]any{}
			metadata["annotations"] = annotations
		}
		annotations["argocd.argoproj.io/sync-options"] = []string{"Replace=true", "Replace=true,Force=true", "Force=true"}[random.IntN(3)]
	}
	spec, _ := snapshot.Application["spec"].(map[string]any)
	if spec != nil && random.IntN(2) == 0 {
		spec["syncPolicy"] = map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}}
	}
}
