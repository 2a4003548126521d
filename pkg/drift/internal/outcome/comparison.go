package outcome

import (
	"regexp"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// Errors are the ComparisonErrors, sorted by what Argo CD could not do.
// Any of them stops a sync before it starts (controller/sync.go, SyncAppState).
type Errors struct{ Target, Live, Schema, Permission, Other []string }

// Markers of the part of the comparison that failed, as controller/state.go and
// the diff packages word them.
var (
	targetMarks = []string{"failed to load target state", "failed to load local manifests", "failed to generate manifest", "manifest generation error", "failed to unmarshal manifests", "failed to deduplicate target state"}
	LiveMarks   = []string{"failed to load live state", "failed to get cluster version", "failed to get cluster info", "error synchronizing cache state", "failed to sync cluster"}
	schemaMarks = []string{"failed to compare desired state to live state", "field not declared in schema", "duplicate entries for key", "structured merge"}
	PermitMarks = []string{"is not permitted in project", "is permitted in project", "allowed destinations in project", "not allowed in project", "is not allowed to use project"}
)

// ErrorsOf sorts the ComparisonErrors of the Application.
func ErrorsOf(s *state.Application) Errors {
	var sorted Errors
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionComparisonError) {
		switch {
		case words.Mentions(message, LiveMarks):
			sorted.Live = append(sorted.Live, message)
		case words.Mentions(message, schemaMarks):
			sorted.Schema = append(sorted.Schema, message)
		case words.Mentions(message, PermitMarks):
			sorted.Permission = append(sorted.Permission, message)
		case words.Mentions(message, targetMarks):
			sorted.Target = append(sorted.Target, message)
		default:
			sorted.Other = append(sorted.Other, message)
		}
	}
	return sorted
}

// Uncompared reports whether Argo CD has not compared the Application: it says Unknown,
// or nothing.
func Uncompared(s *state.Application) bool {
	status := s.Object.Status.Sync.Status
	return status == "" || status == v1alpha1.SyncStatusCodeUnknown
}

var dryRun = regexp.MustCompile(`dryrun mode for resource ([A-Za-z]+)/([^:\s]+): (.+)`)

// RefusedDryRun is an object of which the API server refused the dry run that Argo CD
// compares by.
type RefusedDryRun struct {
	Of        *state.Resource
	Mechanism drift.Mechanism
	Said      string
}

// RefusedDryRuns are those that a ComparisonError names with a refusal that is known.
func RefusedDryRuns(s *state.Application) []RefusedDryRun {
	var refused []RefusedDryRun
	for _, message := range ErrorsOf(s).Schema {
		found := dryRun.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		mechanism := Cause(found[3])
		if mechanism == drift.Unexplained || Passing(found[3]) {
			continue
		}
		i := slices.IndexFunc(s.Resources, func(r *state.Resource) bool { return r.Ref.Kind == found[1] && r.Ref.Name == found[2] })
		if i >= 0 {
			refused = append(refused, RefusedDryRun{s.Resources[i], mechanism, found[3]})
		}
	}
	return refused
}

// FailsAgain reports whether it is known why the last sync could not apply something, so
// that another sync meets it again.
func FailsAgain(s *state.Application) bool {
	if _, failed := UnnamedFailure(s); failed {
		return true
	}
	known := func(r *state.Resource, f Failure) bool { return CauseOf(r, f) != drift.Unexplained }
	return slices.ContainsFunc(RefusedUnseen(s), func(refused Unseen) bool { return known(refused.Of, refused.Failure) }) ||
		slices.ContainsFunc(s.Resources, func(r *state.Resource) bool {
			f, failed := FailureOf(r)
			return failed && r.Drifts() && known(r, f)
		})
}

// Unseen is what the last sync could not apply.
type Unseen struct {
	Failure

	// Ref is as the sync's result has it; of lacks both sides where the snapshot does
	// not hold the object.
	Ref drift.ResourceRef
	Of  *state.Resource
}

// RefusedUnseen is what the last sync could not apply and that no flagged field or
// missing object stands for: a hook, or an object that does not differ (any more).
func RefusedUnseen(s *state.Application) []Unseen {
	op := s.Object.Status.OperationState
	if s.Incomparable || op == nil || op.SyncResult == nil || !Failing(op) {
		return nil
	}
	byKey := make(map[drift.Key]*state.Resource, len(s.Resources))
	for _, r := range s.Resources {
		byKey[drift.KeyOf(r.Ref)] = r
	}
	current := state.SyncedRevision(op) == "" || state.SyncedRevision(op) == s.Revision()
	var refused []Unseen
	for _, result := range op.SyncResult.Resources {
		if result == nil || result.Status != synccommon.ResultCodeSyncFailed || Passing(result.Message) {
			continue
		}
		ref := drift.ResourceRef{Group: result.Group, Version: result.Version, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}
		r, listed := resourceOf(byKey, &ref)
		if listed && r.Drifts() && result.HookType == "" {
			continue
		}
		if !listed {
			r = &state.Resource{Application: s, Given: &drift.Resource{}, Ref: ref}
		}
		if overcome(r, result.Message) || !current && gaveUp(r, result.Message) {
			continue
		}
		refused = append(refused, Unseen{Failure{Message: result.Message, Current: current}, ref, r})
	}
	return refused
}

// resourceOf finds the resource that a result is about. Argo CD notes a namespace for
// objects that have none, which is taken out of the reference.
func resourceOf(byKey map[drift.Key]*state.Resource, ref *drift.ResourceRef) (*state.Resource, bool) {
	if r, listed := byKey[drift.KeyOf(*ref)]; listed {
		return r, true
	}
	r, listed := byKey[drift.Key{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}]
	if listed {
		ref.Namespace = ""
	}
	return r, listed
}
