package manifests

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

var update = flag.Bool("update", false, "write the table of rights in the documentation anew")

const (
	rightsPage  = "../docs/installation.md"
	rightsBegin = "<!-- rights: go test ./manifests -run TestRights -update -->\n"
	rightsEnd   = "<!-- end of rights -->\n"
)

// TestRights: the documentation lists every right that the components give.
func TestRights(t *testing.T) {
	page, err := os.ReadFile(rightsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := bytes.Cut(page, []byte(rightsBegin))
	listed, tail, ends := bytes.Cut(rest, []byte(rightsEnd))
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", rightsPage)
	}
	want := rights(t)
	if *update {
		page = slices.Concat(head, []byte(rightsBegin), []byte(want), []byte(rightsEnd), tail)
		if err := os.WriteFile(rightsPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(listed)); diff != "" {
		t.Errorf("%s lists other rights (go test ./manifests -run TestRights -update): -manifests +page\n%s", rightsPage, diff)
	}
}

// rights is the table: a line for each rule of each component.
func rights(t *testing.T) string {
	t.Helper()
	text := "| component | account | where | what | verbs |\n|---|---|---|---|---|\n"
	before := map[string]bool{}
	components := []string{}
	for _, component := range Everything() {
		components = append(components, component)
		objects := made(t, Overlay{Release: "v3.1", Base: "namespace-install", Namespace: "argocd", Components: components})
		rules := map[string][]rbacv1.PolicyRule{}
		for _, object := range objects {
			switch object.GetKind() {
			case "ClusterRole":
				rules["ClusterRole/"+object.GetName()] = typed[rbacv1.ClusterRole](t, object).Rules
			case "Role":
				rules["Role/"+object.GetName()] = typed[rbacv1.Role](t, object).Rules
			}
		}
		count := 0
		for _, object := range objects {
			if !strings.HasSuffix(object.GetKind(), "RoleBinding") || !isOurs(object) || before[id(object)] {
				continue
			}
			before[id(object)] = true
			count++
			// The fields that matter are the same in both kinds.
			binding := typed[rbacv1.ClusterRoleBinding](t, object)
			where := "cluster"
			if object.GetKind() == "RoleBinding" {
				where = "its namespace"
			}
			for _, rule := range rules[binding.RoleRef.Kind+"/"+binding.RoleRef.Name] {
				text += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", component, binding.Subjects[0].Name, where, what(rule), strings.Join(rule.Verbs, ", "))
			}
		}
		if count == 0 {
			text += fmt.Sprintf("| %s | | | none | |\n", component)
		}
	}
	return text
}

func what(rule rbacv1.PolicyRule) string {
	var names []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			if group != "" {
				resource += "." + group
			}
			names = append(names, resource)
		}
	}
	text := strings.Join(names, ", ")
	if len(rule.ResourceNames) > 0 {
		text += " " + strings.Join(rule.ResourceNames, ", ")
	}
	return text
}

// TestRightsAreNarrow: nobody may write but the Job that installs health checks, nobody
// reads Secrets, and no rule has a wildcard.
func TestRightsAreNarrow(t *testing.T) {
	table := rights(t)
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		if strings.ContainsAny(line, "*") || strings.Contains(line, "secrets") {
			t.Errorf("too much: %s", line)
		}
		for _, verb := range []string{"create", "update", "patch", "delete", "escalate", "bind", "impersonate"} {
			allowed := line == "| lua | moorpin-lua | its namespace | configmaps argocd-cm | get, patch |"
			if strings.Contains(line, verb) && !allowed {
				t.Errorf("writes: %s", line)
			}
		}
	}
	if !strings.Contains(table, "| cmp | argocd-repo-server | cluster | customresourcedefinitions.apiextensions.k8s.io | get, list, watch |\n") {
		t.Errorf("the table says nothing of the sidecar:\n%s", table)
	}
}
