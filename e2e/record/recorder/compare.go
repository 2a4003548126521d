package recorder

import (
	"encoding/json"
	"fmt"

	"github.com/moorpin/moorpin/e2e/record/cases"
)

// SameFacts is an error unless two recordings of one scenario agree in what does not
// depend on the run: the label, Argo CD's verdict on each resource and the fields that
// it flags. Times, uids, revisions and random values may differ.
func SameFacts(before, again cases.Case) error {
	first, err := factsOf(before)
	if err != nil {
		return err
	}
	second, err := factsOf(again)
	if err != nil {
		return err
	}
	if first != second {
		return fmt.Errorf("%s comes out differently; record it again, and ask why.\nbefore: %s\nnow:    %s", before.Name, first, second)
	}
	return nil
}

// factsOf is a text of what has to stay the same.
func factsOf(recorded cases.Case) (string, error) {
	if recorded.ArgoCD == nil {
		return "", fmt.Errorf("%s was not recorded, it has no verdict of Argo CD", recorded.Name)
	}
	type verdict struct {
		Status string   `json:"status"`
		Fields []string `json:"fields"`
	}
	resources := map[string]verdict{}
	for _, resource := range recorded.ArgoCD.Resources {
		name := fmt.Sprintf("%s/%s/%s/%s", resource.Group, resource.Kind, resource.Namespace, resource.Name)
		resources[name] = verdict{resource.Status, FlaggedFields(resource)}
	}
	data, err := json.Marshal(map[string]any{"label": recorded.Expect, "sync": recorded.ArgoCD.Sync, "resources": resources})
	if err != nil {
		return "", fmt.Errorf("encode facts of %s: %w", recorded.Name, err)
	}
	return string(data), nil
}
