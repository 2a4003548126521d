package fix

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

func (f *Builder) adopt() []drift.Fix {
	fixes := []drift.Fix{f.operation(drift.FixSyncToAdopt, f.syncSnippet(), "The sync writes Argo CD's mark on the object, which adopts it; where Git differs in nothing else, nothing else changes.")}
	if id := object.Annotation(f.R.Target, mark.TrackingID); id != "" {
		mark := snippet.KubectlPairs(f.about(), "annotate", mark.TrackingID+"="+id)
		fixes = append(fixes, f.cluster(drift.FixSyncToAdopt, snippet.Lines(mark), "The same mark by hand, for an object that must not be applied yet."))
	} else if label := object.Text(f.R.Target, "metadata", "labels", f.Settings.InstanceLabel); label != "" {
		mark := snippet.KubectlPairs(f.about(), "label", f.Settings.InstanceLabel+"="+label)
		fixes = append(fixes, f.cluster(drift.FixSyncToAdopt, snippet.Lines(mark), "The same mark by hand, for an object that must not be applied yet."))
	}
	return fixes
}

func (f *Builder) oneOwner() []drift.Fix {
	other := "the other Application"
	if r := f.subject(); r != nil {
		if name, claimed := r.Claimant(); claimed {
			other = "Application " + name
		}
	}
	return []drift.Fix{
		f.advice(drift.FixSingleOwner, snippet.Note(f.about().Words()+" is rendered by this Application and by "+other+".", "Delete its manifest from one of them, without pruning it there: first annotate it with "+mark.SyncOptions+": Prune=false, and sync."),
			"Each sync of the one takes the object from the other. Keep it in the Application that it belongs to.", f.losses()),
		{
			Kind: drift.FixSingleOwner, Where: drift.InApplication, Snippet: application(f.Application, nil, nil, "FailOnSharedResource=true"),
			Why: "Until then: syncs of this Application fail instead of taking the object over.",
		},
	}
}

func (f *Builder) argoCM(kind drift.FixKind, data map[string]any, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InArgoCM, Snippet: snippet.Note("ConfigMap argocd-cm") + "\n" + snippet.Block(map[string]any{"data": data}), Why: words.Sentences(why...)}
}

func (f *Builder) copiedLabel() []drift.Fix {
	ref := f.about()
	return []drift.Fix{
		f.argoCM(drift.FixChangeTrackingMethod, map[string]any{"application.resourceTrackingMethod": state.TrackAnnotation},
			"Labels are copied to what a controller makes from the object, and Argo CD takes the copies for its own; the annotation says for which object it was written.",
			"It is for all Applications of this Argo CD: the next sync of each writes the annotation."),
		f.cluster(drift.FixMarkIgnoreExtraneous, snippet.Lines(snippet.KubectlPairs(ref, "annotate", mark.CompareOptions+"=IgnoreExtraneous", mark.SyncOptions+"=Prune=false")),
			"For this object alone, until its controller makes it anew: it counts for nothing in the sync status and is not pruned. Better set both in the template that it is copied from."),
	}
}

func (f *Builder) labelConflict() []drift.Fix {
	return []drift.Fix{
		f.argoCM(drift.FixChangeTrackingMethod, map[string]any{"application.resourceTrackingMethod": state.TrackAnnotation},
			"With annotations the label is free for whoever else sets it.", "It is for all Applications of this Argo CD: the next sync of each writes the annotation."),
		f.argoCM(drift.FixChangeTrackingMethod, map[string]any{"application.instanceLabelKey": "argocd.argoproj.io/instance"},
			"Keeps labels, under a name that nobody else uses; objects of kinds that no sync touches lose their mark until the next one."),
	}
}

func (f *Builder) pendingPrune() []drift.Fix {
	ref := f.about()
	snippet := snippet.Note("First run: moorpin extension classify -o plan SNAPSHOT", "It lists who still refers to the object.") + "\n" + snippet.Dumped(ref) +
		snippet.Lines(f.syncOne("--prune"))
	return []drift.Fix{f.operation(drift.FixPruneAfterReview, snippet,
		"Deletes what Git no longer renders, after a dump that brings it back with kubectl create.", f.losses(), f.warnFinalizers())}
}

// warnFinalizers says what a deletion would wait for.
func (f *Builder) warnFinalizers() string {
	r := f.subject()
	if r == nil {
		return ""
	}
	finalizers := object.List(r.Live, "metadata", "finalizers")
	if len(finalizers) == 0 {
		return ""
	}
	return fmt.Sprintf("Its finalizers keep it until their controllers have cleaned up: %s.", words.Some(words.Shown(finalizers)))
}

// pruneProtected: Prune=confirm waits for a word, Prune=false means to stay.
func (f *Builder) pruneProtected() []drift.Fix {
	ref := f.about()
	r := f.subject()
	if r == nil || state.HasOption(r.Live, mark.SyncOptions, "Prune=confirm") {
		approve := snippet.Kubectl(f.Ref(), "annotate", "--overwrite") + ` "argocd.argoproj.io/deletion-approved=$(date -u +%Y-%m-%dT%H:%M:%SZ)"` + "\n"
		if r != nil {
			approve = snippet.Dumped(ref) + approve
		}
		return []drift.Fix{f.operation(drift.FixPruneAfterReview, approve, "Confirms the deletions that the operation waits for, all of them. Dump what is to be deleted first.")}
	}
	mark := snippet.KubectlPairs(ref, "annotate", mark.CompareOptions+"="+options(object.Annotation(r.Live, mark.CompareOptions), "IgnoreExtraneous"))
	return []drift.Fix{
		f.cluster(drift.FixMarkIgnoreExtraneous, snippet.Lines(mark), "The object is kept on purpose; with the mark it no longer makes the Application OutOfSync."),
		f.cluster(drift.FixPruneAfterReview, snippet.Dumped(ref)+snippet.Lines(snippet.Kubectl(ref, "delete")), "Right when nothing needs the object any more: Argo CD itself does not delete what has Prune=false.", f.warnFinalizers()),
	}
}

func (f *Builder) hookLeftover() []drift.Fix {
	r := f.subject()
	policy := map[string]string{mark.HookDelete: "BeforeHookCreation,HookSucceeded"}
	why := "Deletes the run when it has succeeded, and the one before a new one; a failed run stays for its logs."
	if r != nil && object.Annotation(r.Live, mark.HelmHook) != "" && object.Annotation(r.Live, mark.Hook) == "" {
		policy = map[string]string{mark.HelmHookDelete: "before-hook-creation,hook-succeeded"}
	} else if r != nil && !state.IsHook(r.Live) {
		policy[mark.Hook] = "Sync"
		why = "Makes the run a hook, so that Argo CD neither compares nor prunes it. " + why
	}
	return []drift.Fix{
		f.annotated(drift.FixHookDeletePolicy, policy, why),
		f.cluster(drift.FixHookDeletePolicy, snippet.Dumped(f.about())+snippet.Lines(snippet.Kubectl(f.about(), "delete")), "Removes this run now; the next one comes back unless the policy changes."),
	}
}

// ttlDeleted makes a hook of what runs once: a hook that is gone is no drift. Its
// TTL has to go, or the sync waits for a run that has vanished.
func (f *Builder) ttlDeleted() []drift.Fix {
	changes := []snippet.Change{
		{Path: []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: mark.Hook}}, Value: "Sync"},
		{Path: []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: mark.HookDelete}}, Value: "BeforeHookCreation"},
	}
	changes = append(changes, ttlRemovals(f.R.Target)...)
	return []drift.Fix{f.gitFix(drift.FixConvertToHook, changes,
		"A run that deletes itself is missing ever after, and every sync runs it again; as a hook it runs with each sync on purpose, and its absence is no drift.",
		"Take PreSync or PostSync where it has to run before or after the rest.")}
}

func (f *Builder) repeated() []drift.Fix {
	return []drift.Fix{f.advice(drift.FixRemoveDuplicateInGit, snippet.Note(append([]string{"Keep one of the manifests of the same object:"}, f.Answer.Evidence...)...),
		"Argo CD applies the last one that it renders; the others are never in force.")}
}

func (f *Builder) excluded() []drift.Fix {
	ref := f.about()
	fixes := []drift.Fix{f.advice(drift.FixUnexcludeOrRemove, snippet.Note("Delete the manifest of "+ref.Words()+" from Git."),
		"Argo CD is told to leave this kind alone, so that the manifest is never applied: right unless it was meant to be.")}
	if left, changed := f.exclusionsWithout(ref); changed {
		fixes = append(fixes, f.argoCM(drift.FixUnexcludeOrRemove, map[string]any{"resource.exclusions": left},
			"Lets Argo CD manage the kind in every Application: the controller then watches all objects of it, which costs memory where there are many."))
	}
	return fixes
}

// exclusionsWithout is the setting without the kind, where it names the kind itself.
func (f *Builder) exclusionsWithout(ref drift.ResourceRef) (string, bool) {
	var exclusions []map[string]any
	if yaml.Unmarshal([]byte(f.Settings.ArgocdCM["resource.exclusions"]), &exclusions) != nil {
		return "", false
	}
	var kept []any
	changed := false
	for _, entry := range exclusions {
		kinds := object.List(entry, "kinds")
		left := slices.DeleteFunc(slices.Clone(kinds), func(kind any) bool { return kind == ref.Kind })
		if len(left) == len(kinds) || !slices.Contains(object.List(entry, "apiGroups"), any(ref.Group)) {
			kept = append(kept, entry)
			continue
		}
		changed = true
		if len(left) > 0 {
			entry["kinds"] = left
			kept = append(kept, entry)
		}
	}
	if len(kept) == 0 {
		return "[]\n", changed
	}
	return snippet.Block(kept), changed
}

// namespaceMetadata: a Namespace that Git renders wins over the Application's
// managedNamespaceMetadata, so that the labels have to go there.
func (f *Builder) namespaceMetadata() []drift.Fix {
	namespace := f.Object.Spec.Destination.Namespace
	ref := drift.ResourceRef{Kind: "Namespace", Name: namespace}
	label := []string{snippet.Kubectl(ref, "get", "--output=yaml")}
	if policy := f.Object.Spec.SyncPolicy; policy != nil && policy.ManagedNamespaceMetadata != nil {
		if pairs := assigned(policy.ManagedNamespaceMetadata.Labels); len(pairs) > 0 {
			label = append(label, snippet.KubectlPairs(ref, "label", pairs...))
		}
		if pairs := assigned(policy.ManagedNamespaceMetadata.Annotations); len(pairs) > 0 {
			label = append(label, snippet.KubectlPairs(ref, "annotate", pairs...))
		}
	}
	outside := f.cluster(drift.FixLabelOutOfBandOrFixChart, snippet.Lines(label...),
		"A Namespace that is rendered wins over managedNamespaceMetadata: put the labels into its manifest or the chart's values, or set them by hand and take the setting out.")
	sync := f.operation(drift.FixSync, snippet.Lines(Argocd(f.Application, "sync")), "Applies the changed managedNamespaceMetadata to the namespace.")
	for _, r := range f.Resources {
		if r.Ref.Group == "" && r.Ref.Kind == "Namespace" && r.Target != nil {
			return []drift.Fix{outside}
		}
	}
	if policy := f.Object.Spec.SyncPolicy; policy != nil && !policy.SyncOptions.HasOption("CreateNamespace=true") {
		sync.Snippet = application(f.Application, nil, nil, "CreateNamespace=true") + snippet.Note("after that:", Argocd(f.Application, "sync")) + "\n"
		sync.Why = "Without CreateNamespace=true a sync does not touch the namespace: add the option, then sync."
		sync.Where = drift.InApplication
	}
	return []drift.Fix{sync}
}

func assigned(pairs map[string]string) []string {
	words := make([]string, 0, len(pairs))
	for name, value := range pairs {
		words = append(words, name+"="+value)
	}
	slices.Sort(words)
	return words
}
