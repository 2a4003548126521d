package plan

import (
	"regexp"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/object"
)

// plainName is a name that needs no quoting in any language of queries.
var plainName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// everywhere are the objects that use a class or a kind in the whole cluster: the
// field that names it, and the list of kinds to look through.
var everywhere = map[string][2]string{
	"IngressClass":  {"ingresses.networking.k8s.io", "spec.ingressClassName"},
	"StorageClass":  {"persistentvolumeclaims", "spec.storageClassName"},
	"PriorityClass": {"pods", "spec.priorityClassName"},
	"RuntimeClass":  {"pods", "spec.runtimeClassName"},
	"GatewayClass":  {"gateways.gateway.networking.k8s.io", "spec.gatewayClassName"},
	"ClusterRole":   {"clusterrolebindings,rolebindings", "roleRef.name"},
}

// guardFor is a command that prints what in the whole cluster still uses the object;
// nil when kubectl alone cannot tell.
func guardFor(ref drift.ResourceRef, live object.Object) []string {
	if ref.Kind == "CustomResourceDefinition" {
		plural, group := object.Text(live, "spec", "names", "plural"), object.Text(live, "spec", "group")
		if !plainName.MatchString(plural) || !plainName.MatchString(group) {
			return nil
		}
		return []string{"get", plural + "." + group, "--all-namespaces", "--ignore-not-found", "--output=name"}
	}
	where, found := everywhere[ref.Kind]
	if !found || !plainName.MatchString(ref.Name) {
		return nil
	}
	query := `{range .items[?(@.` + where[1] + `=="` + ref.Name + `")]}{.kind}{" "}{.metadata.namespace}/{.metadata.name}{"\n"}{end}`
	return []string{"get", where[0], "--all-namespaces", "--output=jsonpath=" + query}
}

// readers are the kinds whose pods read what lies in their namespace.
const readers = "pods,deployments,statefulsets,daemonsets,jobs,cronjobs"

// checksFor are the questions about an object that its snapshot leaves open: it
// holds one Application, and others may use the object too.
func checksFor(ref drift.ResourceRef, live object.Object) []Check {
	if guard := guardFor(ref, live); guard != nil {
		return []Check{{Resource: ref, Question: "Does anything in the cluster still use it? The command must print nothing.", Command: snippet.Command(append([]string{"kubectl"}, guard...)...)}}
	}
	look := func(question, kinds, namespace string) []Check {
		words := []string{"get", kinds, "--output=yaml"}
		if namespace == "" {
			words = append(words, "--all-namespaces")
		} else {
			words = append(words, "--namespace="+namespace)
		}
		shown := snippet.Command(append([]string{"kubectl"}, words...)...) + " | " + snippet.Command("grep", "--line-number", "--fixed-strings", "-e", ref.Name)
		return []Check{{Resource: ref, Question: question, Command: shown, look: words}}
	}
	switch ref.Kind {
	case "ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim":
		return look("Do pods of other Applications in the namespace read it?", readers+",ingresses,rolebindings", ref.Namespace)
	case "Service":
		return look("Does anything else send requests to it, from another namespace too?", "ingresses,validatingwebhookconfigurations,mutatingwebhookconfigurations,apiservices", "")
	case "Role":
		return look("Do bindings of other Applications refer to it?", "rolebindings", ref.Namespace)
	case "PersistentVolume":
		return look("Is it bound to a claim?", "persistentvolumeclaims", "")
	case "Namespace":
		command := "kubectl api-resources --verbs=list --namespaced --output=name | xargs --no-run-if-empty --max-args=1 " + snippet.Command("kubectl", "get", "--ignore-not-found", "--show-kind", "--namespace="+ref.Name)
		return []Check{{Resource: ref, Question: "What else is in it? All of that would be deleted.", Command: command}}
	}
	return nil
}
