package argocd_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// forwarded are the headers of a request that Argo CD's API server forwards.
func forwarded() http.Header {
	header := http.Header{}
	header.Set(argocd.HeaderApplication, "team-a:shop.v2")
	header.Set(argocd.HeaderProject, "team")
	header.Set(argocd.HeaderNamespace, "argocd")
	header.Set(argocd.HeaderUsername, "zoë@example.com")
	header.Set(argocd.HeaderUserID, "CgR6b2U")
	header.Set(argocd.HeaderGroups, "org:dev, org:ops,,")
	header.Set(argocd.HeaderClusterName, "in-cluster")
	header.Set(argocd.HeaderClusterURL, "https://kubernetes.default.svc")
	return header
}

func TestParseCaller(t *testing.T) {
	got, err := argocd.ParseCaller(forwarded())
	if err != nil {
		t.Fatal(err)
	}
	want := argocd.Caller{
		Application: argocd.Ref{Namespace: "team-a", Name: "shop.v2"}, Project: "team",
		Username: "zoë@example.com", UserID: "CgR6b2U", Groups: []string{"org:dev", "org:ops"},
		ClusterName: "in-cluster", ClusterURL: "https://kubernetes.default.svc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseCallerNeedsOnlyWhatWasChecked(t *testing.T) {
	header := http.Header{}
	header.Set(argocd.HeaderApplication, "argocd:shop")
	header.Set(argocd.HeaderProject, "default")
	got, err := argocd.ParseCaller(header)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(argocd.Caller{Application: argocd.Ref{Namespace: "argocd", Name: "shop"}, Project: "default"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseCallerRefuses(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, row := range map[string]struct {
		header string
		values []string
		reason string
	}{
		"application missing":         {argocd.HeaderApplication, nil, "nothing was authorised"},
		"application empty":           {argocd.HeaderApplication, []string{""}, "nothing was authorised"},
		"application doubled":         {argocd.HeaderApplication, []string{"team-a:shop", "team-a:bank"}, "Argo CD checked the first only"},
		"application doubled, equal":  {argocd.HeaderApplication, []string{"team-a:shop", "team-a:shop"}, "no honest proxy sends it twice"},
		"application joined":          {argocd.HeaderApplication, []string{"team-a:shop, team-a:bank"}, "a proxy on the way may join doubled headers"},
		"application without ns":      {argocd.HeaderApplication, []string{"shop"}, "Argo CD requires both"},
		"application with empty ns":   {argocd.HeaderApplication, []string{":shop"}, "Argo CD's own namespace is not guessed"},
		"application with empty name": {argocd.HeaderApplication, []string{"team-a:"}, "an empty name would list"},
		"application with two colons": {argocd.HeaderApplication, []string{"team-a:shop:x"}, "not a name"},
		"application with a slash":    {argocd.HeaderApplication, []string{"team-a:../shop"}, "would leave the URL's path"},
		"application with a space":    {argocd.HeaderApplication, []string{"team-a:shop "}, "not a name"},
		"application in upper case":   {argocd.HeaderApplication, []string{"team-a:Shop"}, "not a name"},
		"namespace with a dot":        {argocd.HeaderApplication, []string{"team.a:shop"}, "namespaces are labels"},
		"namespace too long":          {argocd.HeaderApplication, []string{long + ":shop"}, "namespaces have 63 characters"},
		"name too long":               {argocd.HeaderApplication, []string{"team-a:" + strings.Repeat("a", 254)}, "names have 253 characters"},
		"control characters":          {argocd.HeaderUsername, []string{"zoe\x1b[31m"}, "would reach the log"},
		"not UTF-8":                   {argocd.HeaderUsername, []string{"\xff"}, "would reach the log"},
		"username doubled":            {argocd.HeaderUsername, []string{"zoe", "admin"}, "one of them is forged"},
		"project missing":             {argocd.HeaderProject, nil, "Argo CD requires it"},
		"project doubled":             {argocd.HeaderProject, []string{"team", "other"}, "Argo CD checked the first only"},
		"project malformed":           {argocd.HeaderProject, []string{"team/../x"}, "not a name"},
		"groups doubled":              {argocd.HeaderGroups, []string{"a", "b"}, "one of them is forged"},
		"cluster doubled":             {argocd.HeaderClusterName, []string{"a", "b"}, "one of them is forged"},
		"cluster URL malformed":       {argocd.HeaderClusterURL, []string{"http://[::1"}, "not a URL"},
		"Argo CD's namespace doubled": {argocd.HeaderNamespace, []string{"argocd", "argocd"}, "one of them is forged"},
	} {
		t.Run(name, func(t *testing.T) {
			header := forwarded()
			header[http.CanonicalHeaderKey(row.header)] = row.values
			got, err := argocd.ParseCaller(header)
			var refused *argocd.HeaderError
			if !errors.As(err, &refused) {
				t.Fatalf("ParseCaller = %+v, %v; want a HeaderError: %s", got, err, row.reason)
			}
			if refused.Header != row.header {
				t.Errorf("the error is about %s, want %s", refused.Header, row.header)
			}
			if diff := cmp.Diff(argocd.Caller{}, got); diff != "" {
				t.Errorf("a refused caller has content: %s", diff)
			}
		})
	}
}

// TestParseCallerShortens: what is only told does not keep anybody out.
func TestParseCallerShortens(t *testing.T) {
	group := strings.Repeat("g", 100)
	tests := map[string]struct {
		reason, header, value string
		change                func(*argocd.Caller)
	}{
		"no groups":         {"Argo CD joins the groups of a user who has none", argocd.HeaderGroups, "", func(c *argocd.Caller) { c.Groups = nil }},
		"many groups":       {"large organisations have them", argocd.HeaderGroups, strings.Repeat(group+",", 1000), func(c *argocd.Caller) { c.Groups = slices.Repeat([]string{group}, 16<<10/101) }},
		"one endless group": {"it would fill the log", argocd.HeaderGroups, strings.Repeat("g", 17<<10), func(c *argocd.Caller) { c.Groups = []string{strings.Repeat("g", 16<<10)} }},
		"no user":           {"an account without a name", argocd.HeaderUsername, "", func(c *argocd.Caller) { c.Username = "" }},
		"a long user":       {"a character is not cut in two", argocd.HeaderUsername, "a" + strings.Repeat("ë", 600), func(c *argocd.Caller) { c.Username = "a" + strings.Repeat("ë", 511) }},
		"a long id":         {"it is told alone", argocd.HeaderUserID, strings.Repeat("i", 2000), func(c *argocd.Caller) { c.UserID = strings.Repeat("i", 1024) }},
		"no cluster":        {"an Application whose destination is gone", argocd.HeaderClusterURL, "", func(c *argocd.Caller) { c.ClusterURL = "" }},
		"a long cluster":    {"half of an escape is no URL", argocd.HeaderClusterURL, "https://x/a" + strings.Repeat("%20", 1000), func(c *argocd.Caller) { c.ClusterURL = "https://x" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			header := forwarded()
			want, err := argocd.ParseCaller(header)
			if err != nil {
				t.Fatal(err)
			}
			test.change(&want)
			header.Set(test.header, test.value)
			got, err := argocd.ParseCaller(header)
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.reason, diff)
			}
		})
	}
}

func FuzzParseCaller(f *testing.F) {
	f.Add("team-a:shop", "team", "zoe", "a,b")
	f.Add("a:b:c", "..", "\x00", ",")
	f.Fuzz(func(t *testing.T, application, project, user, groups string) {
		header := http.Header{
			argocd.HeaderApplication: {application}, argocd.HeaderProject: {project},
			argocd.HeaderUsername: {user}, argocd.HeaderGroups: {groups},
		}
		caller, err := argocd.ParseCaller(header)
		if err != nil {
			return
		}
		if got := caller.Application.Namespace + ":" + caller.Application.Name; got != application {
			t.Errorf("authorised %q, parsed %q", application, got)
		}
		if caller.Project != project || !strings.HasPrefix(user, caller.Username) {
			t.Errorf("parsed %+v from %q and %q", caller, project, user)
		}
	})
}
