package outcome

import (
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// Right is what the API server's authorisation refused somebody.
type Right struct{ User, Verb, Group, Resource, Namespace, Name string }

// noRight finds who may not do what, in the words of the API server: before admission,
// and whatever the manifest says.
var noRight = regexp.MustCompile(`(?:"([^"]+)" )?is forbidden: User "([^"]+)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// escalates finds who would give a right away that it does not have.
var escalates = regexp.MustCompile(`((?:cluster)?roles)\.rbac\.authorization\.k8s\.io "([^"]+)" is forbidden: user "([^"]+)" .{0,400}is attempting to grant RBAC permissions not currently held`)

// MissingRight reads which right a refusal says is missing, and whether it is about one.
func MissingRight(message string) (Right, bool) {
	if found := escalates.FindStringSubmatch(message); found != nil {
		return Right{User: found[3], Verb: "escalate", Group: rbacGroup, Resource: found[1], Name: found[2]}, true
	}
	found := noRight.FindStringSubmatch(message)
	if found == nil {
		return Right{}, false
	}
	return Right{Name: found[1], User: found[2], Verb: found[3], Resource: found[4], Group: found[5], Namespace: found[6]}, true
}

const rbacGroup = "rbac.authorization.k8s.io"

// granted reports whether a role that the snapshot holds gives the right by now. RBAC only
// adds rights, so that one binding is enough.
func granted(s *state.Application, right Right) bool {
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding"} {
		for _, binding := range lives(s, kind) {
			namespace := object.Text(binding, "metadata", "namespace")
			if kind == "RoleBinding" && (right.Namespace == "" || namespace != right.Namespace) || !binds(binding, right.User) {
				continue
			}
			for _, role := range lives(s, object.Text(binding, "roleRef", "kind")) {
				sameName := object.Text(role, "metadata", "name") == object.Text(binding, "roleRef", "name")
				if there := object.Text(role, "metadata", "namespace"); sameName && (there == "" || there == namespace) && slices.ContainsFunc(object.List(role, "rules"), right.inRule) {
					return true
				}
			}
		}
	}
	return false
}

// lives are the live objects of a kind of RBAC, the Application's own included.
func lives(s *state.Application, kind string) []object.Object {
	found := slices.Clone(s.Related.Of(rbacGroup, kind))
	for _, r := range s.ByKind(rbacGroup, kind) {
		if r.Live != nil {
			found = append(found, r.Live)
		}
	}
	return found
}

// binds reports whether a binding names the user, or a group that every such account is in.
func binds(binding object.Object, user string) bool {
	namespace, account, isAccount := strings.Cut(strings.TrimPrefix(user, "system:serviceaccount:"), ":")
	isAccount = isAccount && strings.HasPrefix(user, "system:serviceaccount:")
	groups := []string{"system:authenticated"}
	if isAccount {
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return slices.ContainsFunc(object.List(binding, "subjects"), func(subject any) bool {
		name := object.Text(subject, "name")
		switch object.Text(subject, "kind") {
		case "User":
			return name == user
		case "Group":
			return slices.Contains(groups, name)
		case "ServiceAccount":
			return isAccount && name == account && object.Text(subject, "namespace") == namespace
		}
		return false
	})
}

// inRule reports whether a rule of a role gives the right.
func (r Right) inRule(rule any) bool {
	has := func(list, value string) bool {
		return slices.ContainsFunc(object.List(rule, list), func(entry any) bool { return entry == "*" || entry == value })
	}
	names := object.List(rule, "resourceNames")
	return has("verbs", r.Verb) && has("apiGroups", r.Group) && has("resources", r.Resource) && (len(names) == 0 || r.Name != "" && slices.Contains(names, any(r.Name)))
}

// withoutRight says of an answer about a missing right whose it is; the manifest is fine.
func withoutRight(message string) (summary string, found bool) {
	right, found := MissingRight(message)
	if !found {
		return "", false
	}
	return "The API server refuses the object because " + right.User + " may not " + right.Verb + " it; the manifest has no part in that.", true
}

// NamedRight finds the missing right in what an answer tells.
func NamedRight(evidence []string) (Right, bool) {
	for _, said := range evidence {
		if right, found := MissingRight(said); found {
			return right, true
		}
	}
	return Right{}, false
}
