package outcome

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// Unnamed is a failure of the last sync whose words name no object that the snapshot has.
type Unnamed struct {
	Failure

	// Of is the one resource that it can be about; nil where several can.
	Of *state.Resource
}

// UnnamedFailure is what the last sync, of the revision that is compared now, said in
// words that are known and that name no object: what it could not write then it cannot
// write now either. It is read once.
func UnnamedFailure(s *state.Application) (Unnamed, bool) {
	s.FailureOnce.Do(func() {
		if found, failed := readUnnamed(s); failed {
			s.FailureFound = found
		}
	})
	found, failed := s.FailureFound.(Unnamed)
	return found, failed
}

func readUnnamed(s *state.Application) (Unnamed, bool) {
	op := s.Object.Status.OperationState
	if s.Incomparable || !Failing(op) || len(op.Message) > maxMessage || state.SyncedRevision(op) != "" && state.SyncedRevision(op) != s.Revision() {
		return Unnamed{}, false
	}
	for _, result := range s.Results() {
		if result.Status == synccommon.ResultCodeSyncFailed {
			return Unnamed{}, false // the results say what failed
		}
	}
	for _, text := range append([]string{op.Message}, s.Conditions(v1alpha1.ApplicationConditionSyncError)...) {
		if len(text) > maxMessage {
			continue
		}
		for part := range strings.SplitSeq(text, ",error when ") {
			if found, failed := unnamedPart(s, part); failed {
				return found, true
			}
		}
	}
	return Unnamed{}, false
}

// unnamedPart reads the words about one object.
func unnamedPart(s *state.Application, part string) (Unnamed, bool) {
	mechanism := Cause(part)
	if mechanism == drift.Unexplained || Passing(part) || strings.Contains(part, "operation not allowed:") {
		return Unnamed{}, false
	}
	if slices.ContainsFunc(s.Resources, func(r *state.Resource) bool { _, named := PartAbout(part, r.Ref); return named }) {
		return Unnamed{}, false
	}
	found := Unnamed{Failure: Failure{Message: part, Current: true, Inferred: true}, Of: onlyOne(s, part)}
	about := found.Of
	if about == nil {
		about = &state.Resource{Application: s, Given: &drift.Resource{}, Ref: drift.ResourceRef{Namespace: s.Object.Spec.Destination.Namespace}}
	}
	if overcome(about, part) || CauseOf(about, found.Failure) == drift.Unexplained {
		return Unnamed{}, false
	}
	return found, true
}

// onlyOne is the resource that a failure can only be about: of those that the sync had to
// write and did not, the one whose kind or name the words hold, or the only one there is.
func onlyOne(s *state.Application, part string) *state.Resource {
	var left []*state.Resource
	for _, r := range s.Resources {
		if r.Target != nil && r.Drifts() && (r.Result == nil || r.Result.Status != synccommon.ResultCodeSynced) {
			left = append(left, r)
		}
	}
	said := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(part), func(c rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-", c) }) {
		said[strings.Trim(word, ".-")] = true
	}
	for _, holds := range []func(*state.Resource) bool{
		func(r *state.Resource) bool {
			for word := range said {
				if namesKind(word, r.Ref) {
					return true
				}
			}
			return false
		},
		func(r *state.Resource) bool { return said[strings.ToLower(r.Ref.Name)] },
	} {
		if meant := slices.DeleteFunc(slices.Clone(left), func(r *state.Resource) bool { return !holds(r) }); len(meant) > 0 {
			left = meant
		}
	}
	if len(left) != 1 {
		return nil
	}
	return left[0]
}
