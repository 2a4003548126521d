package classify

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// applicationRules are all asked, for several things may be wrong with an
// Application at once; each has its own counter-evidence. The order is that of
// Argo CD: whether it can compare at all, what its operation does, what its
// conditions warn of.
var applicationRules = []applicationRule{
	{drift.ManifestGenerationError, manifestGenerationError},
	{"", dryRunRefused},
	{drift.ComparisonErrorSchema, comparisonErrorSchema},
	{drift.ControllerStale, controllerStale},
	{drift.ProjectNotPermitted, projectNotPermitted},
	{drift.Unexplained, otherErrors},
	{drift.SyncWindowBlocked, syncWindowBlocked},
	{"", operationInFlight},
	{drift.AutosyncEmptyGuard, autosyncEmptyGuard},
	{drift.AutosyncGaveUp, autosyncGaveUp},
	{drift.HookFailed, hookFailed},
	{drift.DeletionStuck, deletionStuck},
	{drift.SharedResource, sharedWarnings},
	{drift.RepeatedResource, repeatedResource},
	{drift.ExcludedResource, excludedWarnings},
	{drift.ManagedNamespaceMetadata, managedNamespaceMetadata},
	{drift.HookLeftover, requiresPruningUnseen(true)},
	{drift.PendingPrune, requiresPruningUnseen(false)},
	{drift.SelfhealFight, selfhealUnseen},
	{drift.MissingDependency, missingDependency},
	{drift.StaleComparison, staleComparison},
	{drift.UnhealthyNotDrift, unhealthyNotDrift},
	{"", failedWithoutDrift},
}

// conditions returns the messages of the Application's conditions of a type.
func (s *situation) conditions(kind v1alpha1.ApplicationConditionType) []string {
	var messages []string
	for _, condition := range s.app.Status.Conditions {
		if condition.Type == kind {
			messages = append(messages, condition.Message)
		}
	}
	return messages
}

// comparisonErrors are the ComparisonErrors, sorted by what Argo CD could not do.
// Any of them stops a sync before it starts (controller/sync.go, SyncAppState).
type comparisonErrors struct{ target, live, schema, permission, other []string }

// Markers of the part of the comparison that failed, as controller/state.go and
// the diff packages word them.
var (
	targetMarks = []string{"failed to load target state", "failed to load local manifests", "failed to generate manifest", "manifest generation error", "failed to unmarshal manifests", "failed to deduplicate target state"}
	liveMarks   = []string{"failed to load live state", "failed to get cluster version", "failed to get cluster info", "error synchronizing cache state", "failed to sync cluster"}
	schemaMarks = []string{"failed to compare desired state to live state", "field not declared in schema", "duplicate entries for key", "structured merge"}
	permitMarks = []string{"is not permitted in project", "is permitted in project", "allowed destinations in project", "not allowed in project", "is not allowed to use project"}
)

func (s *situation) comparisonErrors() comparisonErrors {
	var sorted comparisonErrors
	for _, message := range s.conditions(v1alpha1.ApplicationConditionComparisonError) {
		switch {
		case words.Mentions(message, liveMarks):
			sorted.live = append(sorted.live, message)
		case words.Mentions(message, schemaMarks):
			sorted.schema = append(sorted.schema, message)
		case words.Mentions(message, permitMarks):
			sorted.permission = append(sorted.permission, message)
		case words.Mentions(message, targetMarks):
			sorted.target = append(sorted.target, message)
		default:
			sorted.other = append(sorted.other, message)
		}
	}
	return sorted
}

// manifestGenerationError: the repo-server could not render, so Argo CD has no
// desired state and every sync ends before it starts. What the snapshot shows of
// the resources then says nothing: all of them lack a target.
// Evidence: a ComparisonError "Failed to load target state". Counter-evidence: the
// error is about the live side or the schema. Source: controller/state.go,
// CompareAppState; #12039, #28432.
func manifestGenerationError(s *situation) []claim {
	errors := s.comparisonErrors().target
	if len(errors) == 0 {
		return nil
	}
	c := claim{mechanism: drift.ManifestGenerationError, confidence: drift.Certain, sync: drift.Blocked, incomparable: true}
	for _, message := range errors {
		c.evidence = append(c.evidence, "Argo CD reports a ComparisonError: "+s.quote(message))
	}
	return []claim{c}
}

// comparisonErrorSchema: both sides are known, but the diff of one object failed,
// which leaves the whole Application Unknown and unable to sync.
// Evidence: a ComparisonError from the comparison itself, such as "field not
// declared in schema" or "duplicate entries for key". Source: controller/state.go;
// #17358, #25064, #11136.
func comparisonErrorSchema(s *situation) []claim {
	errors := s.comparisonErrors().schema
	if len(errors) == 0 {
		return s.incomparableHere()
	}
	if len(s.refusedDryRuns()) > 0 {
		return nil
	}
	c := claim{mechanism: drift.ComparisonErrorSchema, confidence: drift.Certain, sync: drift.Blocked}
	for _, message := range errors {
		c.evidence = append(c.evidence, "Argo CD reports a ComparisonError: "+s.quote(message))
	}
	for _, r := range s.resources {
		if r.compareError != nil && len(c.evidence) < 8 {
			c.evidence = append(c.evidence, fmt.Sprintf("%s cannot be compared here either", r.ref.Words()))
		}
	}
	return []claim{c}
}

// incomparableHere is what cannot be compared here though Argo CD, which may know other
// schemas or has not looked yet, reports no error.
func (s *situation) incomparableHere() []claim {
	if len(s.app.Status.Conditions) > 0 {
		return nil
	}
	c := claim{mechanism: drift.ComparisonErrorSchema, confidence: drift.Possible, sync: drift.Blocked}
	for _, r := range s.resources {
		if r.compareError != nil && len(c.evidence) < 8 {
			c.evidence = append(c.evidence, fmt.Sprintf("%s cannot be compared: %s", r.ref.Words(), r.quote(r.compareError.Error())))
		}
	}
	if len(c.evidence) == 0 {
		return nil
	}
	return []claim{c}
}

var dryRun = regexp.MustCompile(`dryrun mode for resource ([A-Za-z]+)/([^:\s]+): (.+)`)

// refusedDryRun is an object of which the API server refused the dry run that Argo CD
// compares by.
type refusedDryRun struct {
	of        *resource
	mechanism drift.Mechanism
	said      string
}

// refusedDryRuns are those that a ComparisonError names with a refusal that is known.
func (s *situation) refusedDryRuns() []refusedDryRun {
	var refused []refusedDryRun
	for _, message := range s.comparisonErrors().schema {
		found := dryRun.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		mechanism := failureOf(found[3])
		if mechanism == drift.Unexplained || passing(found[3]) {
			continue
		}
		i := slices.IndexFunc(s.resources, func(r *resource) bool { return r.ref.Kind == found[1] && r.ref.Name == found[2] })
		if i >= 0 {
			refused = append(refused, refusedDryRun{s.resources[i], mechanism, found[3]})
		}
	}
	return refused
}

// dryRunRefused: a server-side diff asks the API server for a dry run, and the API
// server refuses it, so that nothing can be compared. What the refusal says is what
// is wrong with the object.
// Evidence: a ComparisonError that names the object and holds a refusal that is known.
func dryRunRefused(s *situation) []claim {
	var claims []claim
	for _, refused := range s.refusedDryRuns() {
		ref := refused.of.ref
		claims = append(claims, claim{mechanism: refused.mechanism, about: &ref, confidence: drift.Certain, sync: drift.Blocked, incomparable: true, evidence: []string{
			"Argo CD cannot compare, because the API server refuses the dry run: " + s.quote(refused.said),
		}})
	}
	return claims
}

// projectNotPermitted: the AppProject forbids the source, the destination or the
// use of the project, so no sync can start.
// Evidence: an InvalidSpecError or ComparisonError that says so. What the project
// forbids of single kinds shows at the resources. Source: util/argo,
// ValidatePermissions; docs, projects.
func projectNotPermitted(s *situation) []claim {
	messages := s.comparisonErrors().permission
	for _, message := range s.conditions(v1alpha1.ApplicationConditionInvalidSpecError) {
		if words.Mentions(message, permitMarks) {
			messages = append(messages, message)
		}
	}
	if op := s.app.Status.OperationState; op != nil && strings.Contains(op.Message, "operation not allowed:") {
		messages = append(messages, op.Message)
	}
	if len(messages) == 0 {
		return nil
	}
	c := claim{mechanism: drift.ProjectNotPermitted, confidence: drift.Certain, sync: drift.Blocked, incomparable: true}
	for _, message := range messages {
		c.evidence = append(c.evidence, "Argo CD reports: "+s.quote(message))
	}
	return []claim{c}
}

// otherErrors: a ComparisonError, InvalidSpecError or UnknownError that no rule
// knows still stops every sync, so it must not be passed over.
func otherErrors(s *situation) []claim {
	var messages []string
	messages = append(messages, s.comparisonErrors().other...)
	for _, message := range s.conditions(v1alpha1.ApplicationConditionInvalidSpecError) {
		if !words.Mentions(message, permitMarks) {
			messages = append(messages, message)
		}
	}
	for _, message := range s.conditions(v1alpha1.ApplicationConditionUnknownError) {
		if !words.Mentions(message, liveMarks) || len(s.comparisonErrors().live) == 0 {
			messages = append(messages, message)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	c := claim{mechanism: drift.Unexplained, confidence: drift.Likely, sync: drift.Blocked, incomparable: s.app.Status.Sync.Status == v1alpha1.SyncStatusCodeUnknown, summary: "Argo CD reports an error of the Application that stops every sync."}
	for _, message := range messages {
		c.evidence = append(c.evidence, "Argo CD reports: "+s.quote(message))
	}
	return []claim{c}
}

// maxQuote bounds what is quoted of a message.
const maxQuote = 320

// quote shortens a message for evidence. Messages of kubectl and of the API server
// may repeat the manifest that they refused, Secrets among them: what follows the
// start of such a copy is left out. Values of Secrets go before the message is cut, as
// half of one is a secret still.
func (s *situation) quote(message string) string {
	message = strings.TrimSpace(s.hidden().quoted(message))
	for _, start := range []string{"Object: &", "map[string]", `{"apiVersion"`, "data:{", "stringData", `"data":`, "last-applied-configuration\":", "object=&"} {
		if i := strings.Index(message, start); i > 0 {
			message = strings.TrimRight(message[:i], " \t\n") + " ..."
		}
	}
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxQuote {
		message = strings.ToValidUTF8(message[:maxQuote], "") + "..."
	}
	return message
}

// automated reports whether the Application syncs by itself, and the policy. The
// policy is read from the document, as newer versions know more of it: "enabled:
// false" turns it off since v3.1.
func (s *situation) automated() (policy map[string]any, enabled bool) {
	node, found := object.At(s.snapshot.Application, "spec", "syncPolicy", "automated")
	policy, _ = node.(map[string]any)
	if !found || node == nil || policy["enabled"] == false {
		return policy, false
	}
	return policy, true
}

// prunes reports whether a sync by the Application's own policy deletes what Git
// no longer renders.
func (s *situation) prunes() bool {
	policy, enabled := s.automated()
	return enabled && policy["prune"] == true
}

// pruneEffect is what a sync does to what it would prune, and a sentence about it.
func (s *situation) pruneEffect() (effect drift.Sync, sentence string) {
	if s.prunes() {
		return drift.Destructive, "the Application prunes automatically, so the next sync deletes it"
	}
	return drift.Noop, "automatic pruning is off: a sync leaves it in place, a sync with --prune deletes it"
}

// drifts reports whether Argo CD has anything to sync: a flagged difference, a
// resource that one side lacks, or changed metadata of the namespace.
func (s *situation) drifts() bool {
	for _, r := range s.resources {
		if r.drifts() {
			return true
		}
	}
	return s.app.HasChangedManagedNamespaceMetadata()
}

// drifts reports whether Argo CD flags the resource.
func (r *resource) drifts() bool {
	if r.ofHook() || r.compareError != nil {
		return false
	}
	switch {
	case r.target != nil && r.live != nil:
		return len(r.differences) > 0
	case r.target == nil:
		return r.live != nil && !foreignID(r)
	}
	return true
}
