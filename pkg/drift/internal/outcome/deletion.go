package outcome

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// BeingDeleted is the answer about a live object that waits for its finalizers.
func BeingDeleted(r *state.Resource) (rule.Answer, bool) {
	since := object.Text(r.Live, "metadata", "deletionTimestamp")
	finalizers := object.List(r.Live, "metadata", "finalizers")
	if since == "" {
		return rule.Answer{}, false
	}
	// Namespaces keep theirs in the spec.
	finalizers = append(append([]any{}, finalizers...), object.List(r.Live, "spec", "finalizers")...)
	if len(finalizers) == 0 {
		return rule.Answer{}, false
	}
	names := make([]string, 0, len(finalizers))
	for _, name := range finalizers {
		names = append(names, words.Show(name))
	}
	c := rule.Answer{Mechanism: drift.DeletionStuck, Sync: drift.Waits, Evidence: []string{
		fmt.Sprintf("%s is being deleted since %s and waits for the finalizers %s", r.Ref.Words(), since, strings.Join(names, ", ")),
	}}
	for _, condition := range object.List(r.Live, "status", "conditions") {
		if kind := object.Text(condition, "type"); strings.Contains(kind, "Remaining") || strings.Contains(kind, "Deletion") && object.Text(condition, "status") == "True" {
			c.Evidence = append(c.Evidence, kind+": "+r.Quote(object.Text(condition, "message")))
		}
	}
	if r.Ref.Group == "" && r.Ref.Kind == "Namespace" {
		// Nothing can be created in a namespace that is going away.
		c.Sync = drift.WillFail
	}
	age, known := r.Application.SinceText(since)
	c.Confidence = rule.Grade(known && age >= LongMinutes, false)
	return c, true
}
