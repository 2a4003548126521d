package argocd_test

import (
	"errors"
	"net/http"
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
		"username too long":           {argocd.HeaderUsername, []string{strings.Repeat("u", 1025)}, "would fill the log"},
		"project missing":             {argocd.HeaderProject, nil, "Argo CD requires it"},
		"project doubled":             {argocd.HeaderProject, []string{"team", "other"}, "Argo CD checked the first only"},
		"project malformed":           {argocd.HeaderProject, []string{"team/../x"}, "not a name"},
		"groups doubled":              {argocd.HeaderGroups, []string{"a", "b"}, "one of them is forged"},
		"groups too long":             {argocd.HeaderGroups, []string{strings.Repeat("g", 16<<10+1)}, "would fill the log"},
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
		if caller.Project != project || caller.Username != user {
			t.Errorf("parsed %+v from %q and %q", caller, project, user)
		}
	})
}
