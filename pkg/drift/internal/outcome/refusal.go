package outcome

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// failureMark tells what refused an object by the words of the API server, of
// kubectl and of Argo CD.
type failureMark struct {
	mechanism drift.Mechanism
	words     []string
}

// failureMarks are asked in this order: who spoke comes before what was said, for
// a webhook may say anything.
var failureMarks = []failureMark{
	{drift.AnnotationTooLong, []string{"metadata.annotations: too long"}},
	{drift.ProjectNotPermitted, []string{"is not permitted in project"}},
	{drift.AdmissionDenied, []string{"admission webhook", "denied the request", "exceeded quota", "violates podsecurity", "validatingadmissionpolicy", "failed calling webhook", "maximum cpu usage", "minimum cpu usage", "maximum memory usage", "minimum memory usage", "must specify limits", "must specify requests", "failed quota"}},
	{drift.DeletionStuck, []string{"because it is being terminated", "object is being deleted"}},
	{drift.MissingDependency, []string{"namespaces \"", "namespace \""}},
	{drift.ResourceVersionInGit, []string{"resourceversion should not be set", "resourceversion: invalid value", "the object has been modified", "precondition failed: uid", "field is immutable: uid", "metadata.uid: invalid value"}},
	{drift.RemovedAPIVersion, []string{"could not find version"}},
	{drift.MissingCRD, []string{"no matches for kind", "could not find the requested resource", "the kubernetes api could not find", "ensure crds are installed first", "\"\" not found"}},
	{drift.ImmutableField, []string{"is immutable", "are immutable", "immutable field", "updates to statefulset spec for fields other than", "cannot change roleref", "may not change once set", "may not be changed in an update", "updates to parameters are forbidden", "updates to provisioner are forbidden", "updates to reclaimpolicy are forbidden", "pod updates may not change fields other than", "field can not be less than", "spec is immutable", "cannot be changed", "immutable after creation", "immutable"}},
	{drift.MergeKeyConflict, []string{"duplicate value", "duplicate nodeport", "port is already allocated", "setelementorder", "may not specify more than 1 volume type"}},
	{drift.InvalidManifest, []string{"is invalid:", "unable to decode", "cannot unmarshal", "error validating", "validationerror", "failed to create typed patch", "field not declared in schema", "unknown field", "strict decoding", "expected numeric", "unrecognized type", "cannot be handled as", "required value", "unsupported value", "must be of type", "cannot convert", "couldn't create patch", "cannot create patch", "unable to convert", "error converting yaml", "does not match the namespace", "unable to parse", "invalid object", "invalid value", "in body must be"}},
	{drift.AdmissionDenied, []string{"is forbidden:"}},
}

// Cause tells what made the API server or Argo CD refuse an object. Unexplained
// stands for a message that none of the marks knows.
func Cause(message string) drift.Mechanism {
	// kubectl puts the patch before the reason, in which any word may stand.
	if i := strings.LastIndex(message, "error when "); i >= 0 {
		message = message[i:]
	}
	message = strings.ToLower(message)
	for _, mark := range failureMarks {
		for _, words := range mark.words {
			if !strings.Contains(message, words) {
				continue
			}
			if mark.mechanism == drift.MissingDependency && !strings.Contains(message, "not found") {
				continue
			}
			return mark.mechanism
		}
	}
	return drift.Unexplained
}

// passingMarks are the words of failures that pass by themselves: of the network,
// of an API server that is away or busy, of credentials.
var passingMarks = []string{
	"i/o timeout", "connection refused", "connection reset", "no such host", "no route to host", "tls handshake", "unexpected eof", "context deadline exceeded",
	"context canceled", "request timed out", "request timeout", "timed out", "timeout exceeded", "too many requests", "try again later", "the server is currently unable",
	"etcdserver:", "provide credentials", "unauthorized", "service unavailable", "internal error occurred: resource quota evaluation timed out", "leader changed",
	"unable to connect", "dial tcp", "broken pipe", "http2:", "operation terminated", "x509:", "transport is closing", "nil pointer",
}

// Passing reports whether a failure says nothing about the object. What a webhook
// or a policy refused is never passing; that a webhook could not be reached is.
func Passing(message string) bool {
	return Unreached(message) || words.Mentions(message, passingMarks) && Cause(message) != drift.AdmissionDenied
}

// unreachedMarks are the words of a webhook that did not answer. A certificate that
// is not trusted is not among them: that does not pass by itself.
var unreachedMarks = []string{
	"connection refused", "connection reset", "no endpoints available", "i/o timeout", "context deadline exceeded", "timed out", "no route to host", "eof",
	"too many requests", "service unavailable", "tls handshake timeout",
}

// Unreached reports whether the API server could not reach a webhook, which then
// decided nothing.
func Unreached(message string) bool {
	return words.Mentions(message, []string{"failed calling webhook", "failed to call webhook"}) && words.Mentions(message, unreachedMarks) && !words.Mentions(message, []string{"denied the request"})
}

// overcome reports whether what a failure missed is there by now: the CRD with the
// version, the namespace, room in a quota, or a right.
func overcome(r *state.Resource, message string) bool {
	switch mechanism := Cause(message); {
	case mechanism == drift.MissingCRD && r.Target != nil:
		if r.Live != nil && drift.RefOf(r.Live).Version == drift.RefOf(r.Target).Version && drift.RefOf(r.Live).Group == drift.RefOf(r.Target).Group {
			return true
		}
		crd, found := r.Application.Crd(r.Ref.Group, r.Ref.Kind)
		return found && slices.Contains(kind.ServedVersions(crd), drift.RefOf(r.Target).Version)
	case mechanism == drift.AdmissionDenied:
		right, missing := MissingRight(message)
		return quotaHasRoom(r, message) || missing && granted(r.Application, right)
	case mechanism == drift.MissingDependency && r.Ref.Namespace != "":
		for _, namespace := range r.Application.Related.Of("", "Namespace") {
			if object.Text(namespace, "metadata", "name") == r.Ref.Namespace && object.Text(namespace, "metadata", "deletionTimestamp") == "" {
				return true
			}
		}
		return slices.ContainsFunc(r.Application.Resources, func(other *state.Resource) bool {
			return other.Live != nil && object.Text(other.Live, "metadata", "namespace") == r.Ref.Namespace
		})
	}
	return false
}

var quotaExceeded = regexp.MustCompile(`exceeded quota: ([^,]+), requested: ([^=]+)=([^,]+)`)

// quotaHasRoom reports whether the quota that a refusal names has room by now for
// what was asked.
func quotaHasRoom(r *state.Resource, message string) bool {
	found := quotaExceeded.FindStringSubmatch(message)
	if found == nil {
		return false
	}
	asked, isOne := value.Quantity(found[3])
	if !isOne {
		return false
	}
	for _, quota := range r.Application.Related.Of("", "ResourceQuota") {
		if object.Text(quota, "metadata", "name") != found[1] || object.Text(quota, "metadata", "namespace") != r.Ref.Namespace {
			continue
		}
		hard, hasHard := value.Quantity(object.Text(quota, "status", "hard", found[2]))
		used, hasUsed := value.Quantity(object.Text(quota, "status", "used", found[2]))
		if hasHard && hasUsed {
			used.Add(asked)
			return used.Cmp(hard) <= 0
		}
	}
	return false
}

// Failure is what the last sync said about a resource.
type Failure struct {
	Message string
	// Current tells that it was said about the revision that is compared now.
	Current bool
	// Inferred tells that the words name no object, and that no other can be meant.
	Inferred bool
}

// FailureOf returns what the last sync, or its last attempt, said when it could not
// apply the resource: the resource's own result, else the operation's message or
// Argo CD's condition where those name the object.
// Source: gitops-engine sync_context.go, setOperationFailed.
func FailureOf(r *state.Resource) (Failure, bool) {
	op := r.Application.Object.Status.OperationState
	if op == nil {
		return Failure{}, false
	}
	current := state.SyncedRevision(op) == "" || state.SyncedRevision(op) == r.Application.Revision()
	if r.Result != nil {
		refused := r.Result.Status == synccommon.ResultCodeSyncFailed && r.Result.HookType == "" && !Passing(r.Result.Message) && !overcome(r, r.Result.Message) && (current || !gaveUp(r, r.Result.Message))
		return Failure{Message: r.Result.Message, Current: current}, refused
	}
	if !Failing(op) {
		return Failure{}, false
	}
	texts := append([]string{op.Message}, r.Application.Conditions(v1alpha1.ApplicationConditionSyncError)...)
	for _, said := range texts {
		if part, found := PartAbout(said, r.Ref); found && !Passing(part) && !overcome(r, part) && (current || !gaveUp(r, part)) {
			return Failure{Message: part, Current: current}, true
		}
	}
	if unnamed, failed := UnnamedFailure(r.Application); failed && unnamed.Of == r {
		return unnamed.Failure, true
	}
	return Failure{}, false
}

// maxMessage is the length in bytes up to which a message is searched for the
// names of objects, of which there may be many.
const maxMessage = 64 << 10

// PartAbout cuts from an operation's message, which joins those of several
// resources, the part that names the object: Kind.group "name" or kinds.group "name".
func PartAbout(message string, ref drift.ResourceRef) (string, bool) {
	if ref.Name == "" || ref.Kind == "" || len(message) > maxMessage {
		return "", false
	}
	quoted := `"` + ref.Name + `"`
	for from := 0; ; {
		i := strings.Index(message[from:], quoted)
		if i < 0 {
			return "", false
		}
		i += from
		words := strings.Fields(message[:i])
		if len(words) > 0 && namesKind(words[len(words)-1], ref) {
			start := i - len(words[len(words)-1]) - 1
			if cut := strings.LastIndex(message[:i], ",error when"); cut >= 0 {
				start = cut + 1
			}
			part := message[max(0, start):]
			if end := strings.Index(part[len(quoted):], ",error when"); end >= 0 {
				part = part[:len(quoted)+end]
			}
			return part, true
		}
		from = i + len(quoted)
	}
}

// namesKind reports whether a word is the kind, its plural or either with its group.
func namesKind(word string, ref drift.ResourceRef) bool {
	name, group, _ := strings.Cut(strings.ToLower(word), ".")
	kind := strings.ToLower(ref.Kind)
	if group != "" && group != strings.ToLower(ref.Group) {
		return false
	}
	return name == kind || name == kind+"s" || name == kind+"es" || strings.TrimSuffix(kind, "y")+"ies" == name
}

// CauseOf tells what the failure of this very resource is. Words that several
// causes share are told apart by the object.
func CauseOf(r *state.Resource, f Failure) drift.Mechanism {
	mechanism := Cause(f.Message)
	if mechanism == drift.ResourceVersionInGit && !PinsVersion(r) {
		// Two writers at the same moment conflict too; that is over by the next attempt.
		return drift.Unexplained
	}
	if mechanism == drift.MissingCRD && r.ServedOtherwise() != "" {
		return drift.RemovedAPIVersion
	}
	return mechanism
}

// PinsVersion reports whether Git renders what only the API server may set.
func PinsVersion(r *state.Resource) bool {
	return object.Text(r.Target, "metadata", "resourceVersion") != "" || object.Text(r.Target, "metadata", "uid") != ""
}

// syncAfter is what a sync comes to that meets the same refusal.
func syncAfter(mechanism drift.Mechanism) drift.Sync {
	if mechanism == drift.ProjectNotPermitted {
		return drift.Blocked
	}
	return drift.WillFail
}

// Explain is the answer that a failure makes.
func Explain(r *state.Resource, f Failure) rule.Answer {
	c := rule.Answer{Mechanism: CauseOf(r, f), Confidence: drift.Certain, Evidence: []string{"the last sync failed here: " + r.Quote(f.Message)}}
	c.Sync = syncAfter(c.Mechanism)
	if f.Inferred {
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "the message names no object; no other that the sync had to write can be meant")
	}
	if said, found := withoutRight(f.Message); found {
		c.Summary = said
	}
	if !f.Current {
		c.Confidence = drift.Possible
		c.Evidence = append(c.Evidence, fmt.Sprintf("that was at revision %s; the comparison is with %s", state.Short(state.SyncedRevision(r.Application.Object.Status.OperationState)), state.Short(r.Application.Revision())))
	}
	if c.Mechanism == drift.Unexplained {
		c.Summary = "The last sync of the resource failed for a reason that no rule knows."
		c.Confidence = drift.Possible
	}
	if c.Mechanism == drift.RemovedAPIVersion {
		if how := r.ServedOtherwise(); how != "" {
			c.Evidence = append(c.Evidence, how)
		}
	}
	if c.Mechanism == drift.ImmutableField {
		Recreates(r, &c)
	}
	return c
}

// Recreates corrects the effect where the sync replaces what it cannot change: with
// Force=true kubectl deletes the object and makes a new one.
func Recreates(r *state.Resource, c *rule.Answer) {
	if r.Live == nil || !state.HasOption(r.Target, mark.SyncOptions, "Force=true") || r.SyncsServerSide() {
		return
	}
	c.Sync = drift.Destructive
	c.Evidence = append(c.Evidence, "Force=true is set: the sync deletes the object and creates it anew")
	c.Loss = append(c.Loss, r.Ref.Words()+" is deleted with what it holds, and created anew")
}

// Refused reports whether the answer is about the object, and no accident of the way.
func Refused(d *drift.DryRun) bool { return d != nil && d.Error != "" && !Passing(d.Error) }

// DryRunAnswer is the answer that a refused dry run makes.
func DryRunAnswer(r *state.Resource, dry *drift.DryRun) rule.Answer {
	c := rule.Answer{Mechanism: CauseOf(r, Failure{Message: dry.Error, Current: true}), Confidence: drift.Certain, Sync: drift.WillFail}
	kind := string(c.Mechanism)
	if c.Mechanism == drift.Unexplained {
		kind = "for a reason that no rule knows"
		c.Summary = "The API server refuses the sync of the resource for a reason that no rule knows."
	}
	c.Evidence = []string{fmt.Sprintf("a dry run of the sync is refused (%s): %s", kind, r.Quote(dry.Error))}
	if slices.Contains([]drift.Mechanism{drift.ImmutableField, drift.InvalidManifest, drift.MergeKeyConflict}, c.Mechanism) {
		// kubectl deletes and creates anew only what is refused as invalid.
		Recreates(r, &c)
	}
	return c
}
