package fix

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// The fixes of syncs that cannot start, fail or do not end.

// told is what the answer knows, as a comment.
func (f *Builder) told(lead ...string) string {
	return snippet.Note(append(lead, f.Answer.Evidence[:min(len(f.Answer.Evidence), maxTold)]...)...)
}

// maxTold is how many pieces of evidence a snippet repeats.
const maxTold = 10

// immutable: what its controller can make anew around running pods is orphaned, what
// runs once is better a hook, all else is deleted and created.
func (f *Builder) immutable() []drift.Fix {
	r, ref := f.subject(), f.about()
	replace := f.annotated(drift.FixReplaceForce, map[string]string{mark.SyncOptions: "Replace=true,Force=true"},
		"The API refuses the change, so that the object has to be deleted and created: until it is back, what it serves is down. Take the annotation out after the sync.", f.heldData())
	if r == nil {
		return []drift.Fix{replace}
	}
	o := r.Live
	if o == nil {
		o = r.Target
	}
	_, templates := object.At(o, "spec", "volumeClaimTemplates")
	restarts := object.Text(o, "spec", "template", "spec", "restartPolicy")
	switch {
	case templates:
		return []drift.Fix{f.operation(drift.FixRecreateOrphan, snippet.Dumped(ref)+snippet.Lines(snippet.Kubectl(ref, "delete", "--cascade=orphan"), f.syncOne()),
			"Deletes the object but not its pods and volumes; the sync creates it anew and it adopts them. Existing volumes keep their size and class: change those one by one."), replace}
	case restarts == "Never" || restarts == "OnFailure":
		hook := f.annotated(drift.FixConvertToHook, map[string]string{mark.Hook: "Sync", mark.HookDelete: "BeforeHookCreation"},
			"A run cannot be changed once it exists; as a hook, the one before is deleted and a new one created with each sync.")
		return []drift.Fix{hook, replace}
	}
	return []drift.Fix{replace}
}

// heldData warns where deleting the object deletes data.
func (f *Builder) heldData() string {
	if kind := f.about().Kind; kind == "PersistentVolumeClaim" || kind == "PersistentVolume" || kind == "Namespace" || kind == "CustomResourceDefinition" {
		return "Everything that it holds is deleted with it: do not use this without a backup."
	}
	return ""
}

func (f *Builder) longAnnotation() []drift.Fix {
	return []drift.Fix{
		f.annotated(drift.FixServerSideApply, map[string]string{mark.SyncOptions: "ServerSideApply=true"},
			"Client-side apply stores the whole manifest in an annotation, which may have 262144 bytes; server-side apply stores none."),
		{Kind: drift.FixServerSideApply, Where: drift.InApplication, Snippet: application(f.Application, nil, nil, "ServerSideApply=true"), Why: "The same for all of the Application; it changes how everything is compared, too."},
	}
}

func (f *Builder) missingCRD() []drift.Fix {
	ref := f.about()
	fix := f.annotated(drift.FixSkipDryRunAndWave, map[string]string{mark.SyncOptions: "SkipDryRunOnMissingResource=true", mark.SyncWave: "1"},
		"The kind is not served yet: without the dry run the sync starts, and the wave applies the object after what brings its CRD.")
	for _, r := range f.Resources {
		if r.Target != nil && object.Text(r.Target, "spec", "names", "kind") == ref.Kind && object.Text(r.Target, "spec", "group") == ref.Group {
			return []drift.Fix{fix}
		}
	}
	fix.Why += " This Application does not bring the CRD itself: whatever does must be synced first."
	return []drift.Fix{fix}
}

// dependency: what is missing but rendered here comes too late; anything else has to
// be provided.
func (f *Builder) dependency() []drift.Fix {
	said := strings.Join(f.Answer.Evidence, "\n")
	for _, r := range f.Resources {
		if r.Target == nil || r.Live != nil || r.Ref.Name == "" || !strings.Contains(said, strconv.Quote(r.Ref.Name)) {
			continue
		}
		inner := &Builder{Application: f.Application, R: r, Answer: &rule.Answer{}}
		wave := wave(r.Target) - 1
		return []drift.Fix{inner.annotated(drift.FixReorderWaves, map[string]string{mark.SyncWave: strconv.Itoa(wave)},
			"The Application renders what is missing, but applies it too late: an earlier wave has it there first."), f.provide()}
	}
	if ref, number, listed := f.listedLater(said); listed {
		inner := &Builder{Application: f.Application, R: &state.Resource{Application: f.Application, Given: &drift.Resource{}, Ref: ref}, Answer: &rule.Answer{}}
		return []drift.Fix{inner.annotated(drift.FixReorderWaves, map[string]string{mark.SyncWave: strconv.FormatInt(number-1, 10)},
			"Argo CD lists what is missing as the Application's own, but applies it too late: an earlier wave has it there first."), f.provide()}
	}
	return []drift.Fix{f.provide()}
}

// listedLater is a missing object that Argo CD lists as the Application's own, and its
// wave: the snapshot need not hold it.
func (f *Builder) listedLater(said string) (drift.ResourceRef, int64, bool) {
	of := f.about()
	for i := range f.Object.Status.Resources {
		listed := &f.Object.Status.Resources[i]
		if listed.Hook || listed.RequiresPruning || listed.Status != v1alpha1.SyncStatusCodeOutOfSync || listed.Name == "" || !strings.Contains(said, strconv.Quote(listed.Name)) || !strings.Contains(strings.ToLower(said), strings.ToLower(listed.Kind)) {
			continue
		}
		ref := drift.ResourceRef{Group: listed.Group, Version: listed.Version, Kind: listed.Kind, Namespace: listed.Namespace, Name: listed.Name}
		if r := f.Find(ref); r.Live == nil && drift.KeyOf(ref) != drift.KeyOf(of) {
			number := listed.SyncWave
			for j := range f.Object.Status.Resources {
				if waits := &f.Object.Status.Resources[j]; waits.Kind == of.Kind && waits.Name == of.Name && waits.Namespace == of.Namespace {
					number = min(number, waits.SyncWave)
				}
			}
			return ref, number, true
		}
	}
	return drift.ResourceRef{}, 0, false
}

func wave(o object.Object) int {
	number, err := strconv.Atoi(object.Annotation(o, mark.SyncWave))
	if err != nil {
		return 0
	}
	return number
}

func (f *Builder) provide() drift.Fix {
	s := f.told("Provide what is missing:") + "\n"
	namespace := words.First(f.about().Namespace, f.Object.Spec.Destination.Namespace)
	s += snippet.Lines(snippet.Command("kubectl", "get", "events", "--namespace="+namespace, "--field-selector=type=Warning"))
	return f.cluster(drift.FixProvideDependency, s, "Everything is applied, but it waits for an object that no sync of this Application creates. Create it, or correct the name that refers to it.")
}

func (f *Builder) hookStuck() []drift.Fix {
	r := f.waitedFor()
	if r == nil || r.Live != nil || !state.HasTTL(r.Target) && !f.endedUnseen(r.Ref) {
		return []drift.Fix{f.hookFix()}
	}
	changes := ttlRemovals(r.Target)
	if len(changes) == 0 {
		// Argo CD's answers leave the manifests of hooks out.
		changes = []snippet.Change{{Path: []snippet.Step{{Field: "spec"}, {Field: "ttlSecondsAfterFinished"}}, Value: "...", Remove: true}}
	}
	inner := &Builder{Application: f.Application, R: r, Answer: &rule.Answer{}}
	drop := inner.gitFix(drift.FixDropFieldFromGit, changes, "The hook ended and is gone, deleted by its own TTL, and Argo CD waits for its end for ever. Use "+mark.HookDelete+" instead.",
		"The running operation has to be ended first.")
	drop.Snippet += snippet.Note("after the commit:", Argocd(f.Application, "terminate-op"), Argocd(f.Application, "sync")) + "\n"
	return []drift.Fix{drop}
}

// ttlRemovals take the fields out of a manifest that have the object deleted some
// time after it ends.
func ttlRemovals(target object.Object) []snippet.Change {
	var changes []snippet.Change
	for name, value := range object.Map(target, "spec") {
		if strings.HasPrefix(name, "ttl") {
			changes = append(changes, snippet.Change{Path: []snippet.Step{{Field: "spec"}, {Field: name}}, Value: value, Remove: true})
		}
	}
	snippet.SortChanges(changes)
	return changes
}

// endedUnseen reports whether an event tells that the object ended, which Argo CD
// would have seen had the object stayed.
func (f *Builder) endedUnseen(ref drift.ResourceRef) bool {
	return slices.ContainsFunc(f.Events, func(e state.Event) bool {
		same := e.Involved.Kind == ref.Kind && e.Involved.Name == ref.Name && (ref.Namespace == "" || e.Involved.Namespace == ref.Namespace)
		return same && (strings.HasSuffix(e.Reason, "Completed") || strings.HasSuffix(e.Reason, "Succeeded"))
	})
}

// waitedFor is what the running operation waits for.
func (f *Builder) waitedFor() *state.Resource {
	if r := f.subject(); r != nil {
		return r
	}
	op := f.Object.Status.OperationState
	if op == nil {
		return nil
	}
	ref := outcome.WaitsFor(op.Message).Ref
	if ref.Name == "" {
		return nil
	}
	return f.Find(ref)
}

func (f *Builder) hookFix() drift.Fix {
	commands := f.inspect(f.waitedFor())
	commands = append(commands, snippet.Note("when the hook is fixed in Git:"), Argocd(f.Application, "terminate-op"), Argocd(f.Application, "sync"))
	return f.cluster(drift.FixFixHook, snippet.Lines(commands...), "The sync waits for a hook that does not end: its own logs say why. Ending the operation does not undo what was applied.")
}

// inspect are the commands that show what ails a workload.
func (f *Builder) inspect(r *state.Resource) []string {
	if r == nil || r.Ref.Name == "" {
		return []string{Argocd(f.Application, "get", "--show-operation")}
	}
	ref := r.Ref
	if ref.Namespace == "" && r.Live == nil {
		ref.Namespace = f.Object.Spec.Destination.Namespace
	}
	commands := []string{snippet.Kubectl(ref, "describe")}
	if _, pods := object.At(r.Live, "spec", "template", "spec", "containers"); pods || ref.Kind == "Pod" || ref.Kind == "Job" {
		commands = append(commands, snippet.Kubectl(ref, "logs", "--all-containers", "--tail=100"))
	}
	return commands
}

func (f *Builder) hookFailed() []drift.Fix {
	commands := append([]string{f.told()}, f.inspect(f.Find(f.about()))...)
	if op := f.Object.Status.OperationState; op != nil && outcome.InFlight(op) {
		commands = append(commands, Argocd(f.Application, "terminate-op"))
	}
	return []drift.Fix{f.cluster(drift.FixFixHook, snippet.Lines(append(commands, Argocd(f.Application, "sync"))...), "The hook failed by itself: fix it, then sync again, which runs all hooks again.")}
}

func (f *Builder) waveBlocked() []drift.Fix {
	return []drift.Fix{f.cluster(drift.FixFixWorkload, snippet.Lines(f.inspect(f.waitedFor())...),
		"The sync waits for this one to become healthy before it applies the next wave: fix it, or take it out of the early wave when nothing depends on it.")}
}

func (f *Builder) inProgress() []drift.Fix {
	return []drift.Fix{f.operation(drift.FixWait, snippet.Lines(Argocd(f.Application, "wait", "--operation", "--timeout=600")), "A sync is under way: what differs now may not differ when it is done.")}
}

func (f *Builder) generation() []drift.Fix {
	return []drift.Fix{f.advice(drift.FixFixManifestGeneration, f.told("What the repo-server says:")+"\n"+snippet.Note("when it is fixed in Git: "+Argocd(f.Application, "get", "--hard-refresh")),
		"Nothing can be rendered, so that there is nothing to compare or to sync; what is live stays as it is.")}
}

func (f *Builder) emptyGuard() []drift.Fix {
	risk := "the automated sync holds back, but a sync by hand with --prune would delete everything. Set allowEmpty only when it is meant."
	if f.Answer.Sync != drift.Destructive {
		risk = "the automated sync holds back. No sync would delete what is there now; what Git brings back later is created or updated as always."
	}
	return []drift.Fix{f.advice(drift.FixFixManifestGeneration, f.told("Git renders nothing:")+"\n"+snippet.Note("look at path, include, values and generators of the source; then: "+Argocd(f.Application, "get", "--hard-refresh")),
		"Nothing is rendered, which is seldom meant: "+risk)}
}

func (f *Builder) gaveUp() []drift.Fix {
	again := f.operation(drift.FixSync, snippet.Lines(Argocd(f.Application, "sync")), "Argo CD does not try the same revision again by itself; once what made the sync fail is fixed, a sync by hand starts it.")
	terminate := f.operation(drift.FixTerminateAndResync, snippet.Lines(Argocd(f.Application, "terminate-op"), Argocd(f.Application, "sync")), "Ends the operation that still retries an old revision, and syncs the current one.")
	if f.Answer.Sync == drift.Waits {
		return []drift.Fix{terminate}
	}
	return []drift.Fix{again}
}

func (f *Builder) denied() []drift.Fix {
	if right, found := outcome.NamedRight(f.Answer.Evidence); found {
		return []drift.Fix{f.grant(right)}
	}
	if said := strings.Join(f.Answer.Evidence, "\n"); words.Mentions(said, []string{"failed calling webhook"}) && !words.Mentions(said, []string{"denied the request"}) {
		return []drift.Fix{f.advice(drift.FixFixManifestToPolicy, f.told("Repair the webhook (its Service, its certificate), then sync again; the manifest may be fine:"),
			"The API server could not ask the webhook, and was told to refuse then; no policy has judged the manifest yet.")}
	}
	what := f.about().Words()
	if f.whole && f.Answer.About == nil {
		what = "the object that was refused"
	}
	return []drift.Fix{f.advice(drift.FixFixManifestToPolicy, f.told("Change "+what+" so that it satisfies what refused it:"),
		"A policy or quota refused the request; a sync fails until the manifest satisfies it, or its owner makes an exception.")}
}

// grant gives the account that syncs just what it was refused.
func (f *Builder) grant(right outcome.Right) drift.Fix {
	kind, name := "ClusterRole", "argocd-"+right.Verb+"-"+right.Resource
	metadata := map[string]any{"name": name}
	if right.Namespace != "" {
		kind = "Role"
		metadata["namespace"] = right.Namespace
	}
	subject := map[string]any{"kind": "User", "name": right.User, "apiGroup": "rbac.authorization.k8s.io"}
	if account, isAccount := strings.CutPrefix(right.User, "system:serviceaccount:"); isAccount {
		namespace, own, _ := strings.Cut(account, ":")
		subject = map[string]any{"kind": "ServiceAccount", "namespace": namespace, "name": own}
	}
	role := map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
		"rules": []any{map[string]any{"apiGroups": []any{right.Group}, "resources": []any{right.Resource}, "verbs": []any{right.Verb}}},
	}
	binding := map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind + "Binding", "metadata": metadata, "subjects": []any{subject},
		"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
	}
	return f.cluster(drift.FixProvideDependency, snippet.Note("who looks after the rights in the cluster applies:")+"\n"+snippet.Block(role)+"---\n"+snippet.Block(binding),
		"The account that syncs lacks a right; no change of the manifest helps. This gives just what was refused: a sync may need further verbs of the same kind, and more than you want to give is a reason to sync it with another account.",
		"Once it is there, the same sync goes through.")
}

func (f *Builder) deletion() []drift.Fix {
	ref := f.about()
	r := f.subject()
	if r == nil && ref.Kind == "Application" {
		r = &state.Resource{Application: f.Application, Ref: ref, Live: f.Snapshot.Application}
	}
	if r != nil && ref.Namespace != "" && object.Text(r.Live, "metadata", "deletionTimestamp") == "" {
		// Not the object itself is being deleted, but what holds it.
		ref, r = drift.ResourceRef{Kind: "Namespace", Name: ref.Namespace}, nil
	}
	commands := []string{snippet.Kubectl(ref, "get", "--output=jsonpath={.metadata.finalizers}{\"\\n\"}{.status.conditions}{\"\\n\"}")}
	why := "Finalizers hold the deletion until their controllers have cleaned up: first see that those run and what their logs say. Removing a finalizer by hand leaves behind what it guards."
	if ref.Kind == "Namespace" && ref.Group == "" {
		commands = append(commands,
			"kubectl api-resources --verbs=list --namespaced --output=name | xargs --no-run-if-empty --max-args=1 "+snippet.Command("kubectl", "get", "--ignore-not-found", "--show-kind", "--namespace="+ref.Name))
		return []drift.Fix{f.cluster(drift.FixClearFinalizer, snippet.Lines(commands...), "A namespace ends when the last object in it is gone: the list shows what is left, and whose finalizers hold it. "+why)}
	}
	if r != nil && len(object.List(r.Live, "metadata", "finalizers")) > 0 {
		patch := &snippet.JSONPatch{}
		patch.Test("/metadata/finalizers", r.Live["metadata"].(map[string]any)["finalizers"]) //nolint:forcetypeassert // list found it
		patch.Remove("/metadata/finalizers")
		commands = append(commands, snippet.Note("only when their controllers will never run again:"), snippet.Kubectl(ref, "patch", "--type=json", patch.Text()))
	}
	return []drift.Fix{f.cluster(drift.FixClearFinalizer, snippet.Lines(commands...), why)}
}

// installedVersion is in the message of a sync that found another version served.
var installedVersion = regexp.MustCompile(`Version "([a-z0-9]+)" of \S+ is installed`)

// newerVersion is an apiVersion of the kind that the cluster serves.
func (f *Builder) newerVersion() (string, bool) {
	r := f.subject()
	if r == nil {
		return "", false
	}
	if match := installedVersion.FindStringSubmatch(strings.Join(f.Answer.Evidence, "\n")); match != nil {
		if r.Ref.Group == "" {
			return match[1], true
		}
		return r.Ref.Group + "/" + match[1], true
	}
	given := object.Text(r.Target, "apiVersion")
	if live := object.Text(r.Live, "apiVersion"); live != "" && live != given {
		return live, true
	}
	crd, found := f.Crd(r.Ref.Group, r.Ref.Kind)
	if !found {
		return "", false
	}
	for _, version := range slices.Backward(object.List(crd, "spec", "versions")) {
		name := r.Ref.Group + "/" + object.Text(version, "name")
		if served, _ := object.At(version, "served"); served == true && name != given {
			return name, true
		}
	}
	return "", false
}

func (f *Builder) migrateVersion() []drift.Fix {
	why := "The cluster no longer serves the apiVersion of the manifest. Newer versions may have renamed fields: kubectl convert shows what becomes of them."
	if version, found := f.newerVersion(); found {
		changes := []snippet.Change{{Path: []snippet.Step{{Field: "apiVersion"}}, Value: version}}
		return []drift.Fix{{Kind: drift.FixMigrateAPIVersion, Where: drift.InGit, Snippet: snippet.Fragment(f.about(), version, changes), Why: why}}
	}
	return []drift.Fix{f.advice(drift.FixMigrateAPIVersion, f.told("Change the apiVersion of "+f.about().Words()+" to one that the cluster serves (kubectl api-resources shows them):"), why)}
}

func (f *Builder) mergeKey() []drift.Fix {
	return []drift.Fix{
		f.operation(drift.FixReplaceResource, snippet.Lines(f.syncOne("--replace")),
			"The lists cannot be merged, as their keys clash; a replacement writes Git's object as a whole, so that what only live has is lost.", f.losses()),
		f.annotated(drift.FixReplaceResource, map[string]string{mark.SyncOptions: "Replace=true"}, "The same for every sync of this object, where the clash comes back."),
	}
}

func (f *Builder) invalidManifest() []drift.Fix {
	return []drift.Fix{f.advice(drift.FixFixManifestType, f.told("Correct the manifest of "+f.about().Words()+":"), "The API server does not take the manifest: a text where a number belongs, a wrong indentation, or fields that exclude one another.")}
}

func (f *Builder) controllerStale() []drift.Fix {
	return []drift.Fix{f.cluster(drift.FixFixArgocdController, snippet.Lines(
		snippet.Note("in the cluster and namespace that Argo CD runs in:"),
		"kubectl get pods --namespace=argocd --selector=app.kubernetes.io/name=argocd-application-controller",
		"kubectl logs --namespace=argocd --tail=200 statefulset/argocd-application-controller",
		"kubectl rollout restart --namespace=argocd statefulset/argocd-application-controller"),
		"The status is old, because the application controller does not get to this Application: its logs say why (memory, a cluster out of reach, a wrong shard). A restart helps where it hangs.")}
}

func (f *Builder) unhealthy() []drift.Fix {
	commands := []string{}
	for _, status := range f.Object.Status.Resources {
		if status.Health != nil && (status.Health.Status == "Degraded" || status.Health.Status == "Progressing" || status.Health.Status == "Missing") && len(commands) < maxTold {
			ref := drift.ResourceRef{Group: status.Group, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}
			commands = append(commands, f.inspect(f.Find(ref))...)
		}
	}
	if len(commands) == 0 {
		commands = f.inspect(f.subject())
	}
	return []drift.Fix{f.cluster(drift.FixFixWorkload, snippet.Lines(commands...), "Nothing differs from Git, so that no sync helps: what Git says does not get healthy.")}
}

func (f *Builder) nothing() []drift.Fix {
	return []drift.Fix{f.none("Git and live agree.")}
}

// unexplained offers what is always possible, where fields differ.
func (f *Builder) unexplained() []drift.Fix {
	if len(f.fields) == 0 || f.R.Live == nil {
		return []drift.Fix{f.operation(drift.FixDecideCommitOrSync, f.told()+"\n"+snippet.Lines(Argocd(f.Application, "get", "--show-operation")), "What Argo CD reports is not known here: read it first.")}
	}
	return append(f.manualEdit(), f.ignore(drift.FixIgnoreDifferencesNarrow, f.fields, "As long as nobody knows why it differs, this hides it."))
}
