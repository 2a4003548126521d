package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/plan"
)

const rollbackHead = `What the plan for Application %s deletes, as the snapshot shows it.
Keep this file before you delete. To bring the objects back:

  kubectl create --filename=FILE

They stand in the order in which they are needed, without what only the API server
sets (uid, resourceVersion, status and the like), and without addresses that it gave.
An object that carries Argo CD's tracking mark belongs to the Application again: with
automated pruning it is deleted again, so take the mark off, or put it back into Git.
`

// Rollback writes what [plan.For] would delete as YAML for kubectl create. The
// head of the file says what it is, and what is not in it: Secrets, whose values
// nobody here knows, and what holds more than a manifest brings back.
func Rollback(snapshot *drift.Snapshot, report *drift.Report) ([]byte, error) {
	if snapshot == nil || report == nil {
		return nil, errors.New("rollback: there is no snapshot or no report to plan from")
	}
	snapshot = copied(snapshot)
	if _, err := mask(snapshot, nil); err != nil { // one that was posted may hold Secrets inside of other objects
		return nil, err
	}
	plan := plan.For(snapshot, report)
	lives := livesOf(snapshot)
	var head, documents bytes.Buffer
	head.WriteString(comment(fmt.Sprintf(rollbackHead, line(plan.Application))))
	written := 0
	for _, d := range slices.Backward(plan.Delete) {
		live, there := lives[unversioned(d.Resource)]
		if why := withheld(d.Resource, live, there); why != "" {
			leaveOut(&head, d, why)
			continue
		}
		text, err := yaml.Marshal(creatable(live))
		if err != nil {
			leaveOut(&head, d, "it cannot be written as YAML: "+err.Error())
			continue
		}
		documents.WriteString("---\n")
		for _, note := range notesFor(live) {
			documents.WriteString(comment(note))
		}
		documents.Write(text)
		written++
	}
	for _, d := range plan.Manual {
		leaveOut(&head, d, "the plan does not delete it: what it holds is more than a manifest brings back; make a backup of that")
	}
	if len(plan.Keep) > 0 {
		head.WriteString(comment(fmt.Sprintf("\nStill in use, or kept on purpose, so that nothing deletes them: %d objects.", len(plan.Keep))))
	}
	if written == 0 {
		head.WriteString(comment("\nThere is nothing to bring back here."))
	}
	return append(head.Bytes(), documents.Bytes()...), nil
}

// leaveOut says that an object is not in the file, and how to keep it all the same.
func leaveOut(head *bytes.Buffer, d plan.Deletion, why string) {
	name := d.Resource.Kind + " " + d.Resource.Name
	if d.Resource.Namespace != "" {
		name = d.Resource.Kind + " " + d.Resource.Namespace + "/" + d.Resource.Name
	}
	head.WriteString(comment(fmt.Sprintf("\nNot in this file: %s, as %s.\n  %s", line(name), why, line(d.Dump()))))
}

// withheld says why an object cannot be brought back from the snapshot, or "".
func withheld(ref drift.ResourceRef, live map[string]any, there bool) string {
	switch {
	case isSecret(ref) || isSecret(unversioned(refOf(live))):
		return "the values of Secrets are never read here; dump it before you delete it"
	case !there:
		return "the snapshot does not hold it"
	case holdsMask(live):
		return "a value inside of it is masked, as those of Secrets are; dump it before you delete it"
	}
	return ""
}

// holdsMask reports whether a value was replaced by a mask.
func holdsMask(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, firstMask)
	case map[string]any:
		for _, child := range value {
			if holdsMask(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, holdsMask)
	}
	return false
}

// livesOf are the live objects by name.
func livesOf(snapshot *drift.Snapshot) map[drift.ResourceRef]map[string]any {
	lives := map[drift.ResourceRef]map[string]any{}
	for _, r := range snapshot.Resources {
		if r.Live == nil {
			continue
		}
		ref := r.ResourceRef
		if ref.Kind == "" || ref.Name == "" {
			ref = refOf(r.Live)
		}
		lives[unversioned(ref)] = r.Live
	}
	return lives
}

func unversioned(ref drift.ResourceRef) drift.ResourceRef {
	ref.Version = ""
	return ref
}

// serverSet are the fields of metadata that a created object must not have, or that
// the API server sets anew.
var serverSet = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
}

// creatable is a copy of the object that the API server takes as a new one.
func creatable(live map[string]any) map[string]any {
	o := copyOf(live)
	delete(o, "status")
	metadata, _ := o["metadata"].(map[string]any)
	for _, name := range serverSet {
		delete(metadata, name)
	}
	if finalizers, ok := metadata["finalizers"].([]any); ok {
		// These two only say how the object was being deleted.
		metadata["finalizers"] = slices.DeleteFunc(finalizers, func(f any) bool { return f == "foregroundDeletion" || f == "orphan" })
	}
	spec, _ := o["spec"].(map[string]any)
	ref := refOf(o)
	switch {
	case ref.Group == "" && ref.Kind == "Service" && spec["clusterIP"] != "None":
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	case ref.Group == "" && ref.Kind == "Pod":
		delete(spec, "nodeName") // the scheduler's choice of then
	case ref.Group == "batch" && ref.Kind == "Job" && spec["manualSelector"] != true:
		delete(spec, "selector")
		withoutGenerated(metadata)
		template, _ := spec["template"].(map[string]any)
		inner, _ := template["metadata"].(map[string]any)
		withoutGenerated(inner)
	}
	return o
}

// withoutGenerated takes off the labels by which the Job controller knew the Job's
// Pods: a new Job has its own, and refuses others.
func withoutGenerated(metadata map[string]any) {
	labels, _ := metadata["labels"].(map[string]any)
	for _, name := range []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"} {
		delete(labels, name)
	}
}

// notesFor say what to know before an object is brought back.
func notesFor(live map[string]any) []string {
	metadata, _ := live["metadata"].(map[string]any)
	if owners, _ := metadata["ownerReferences"].([]any); len(owners) > 0 {
		return []string{"It has ownerReferences: where the owner is gone, the garbage collector deletes it again; take them off first."}
	}
	return nil
}

// comment is a text as lines of a YAML comment. No character of it ends a line but
// those that are meant to.
func comment(text string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out.WriteString(strings.TrimRight("# "+line(part), " ") + "\n")
	}
	return out.String()
}

// line is a text on one line, without control characters.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
