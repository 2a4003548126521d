package argocd_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// TestExtension: the call carries what Argo CD's proxy asks for, and every status is an
// answer.
func TestExtension(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("argocd.token")
		if err != nil || cookie.Value != token {
			t.Errorf("the token is not in the cookie: %v", err)
		}
		sent := []string{r.URL.Path, r.Header.Get("Argocd-Application-Name"), r.Header.Get("Argocd-Project-Name"), r.Header.Get("Authorization")}
		if diff := cmp.Diff([]string{"/extensions/moorpin/api/v1/capabilities", "team:shop", "web", ""}, sent); diff != "" {
			t.Errorf("-want +sent:\n%s", diff)
		}
		answer(http.StatusUnauthorized, "Unauthorized extension request")(w, r)
	})
	got, err := client.Extension(t.Context(), "moorpin/api/v1/capabilities", shop, "web")
	if err != nil {
		t.Fatal(err)
	}
	want := argocd.Answer{Status: http.StatusUnauthorized, Kind: "application/json", Body: []byte("Unauthorized extension request")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := client.Extension(t.Context(), "moorpin/x", argocd.Ref{Name: "../a"}, "web"); err == nil {
		t.Error("a name that no Application has became part of a header")
	}
}

func TestScripts(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/extensions.js" || r.Header.Get("Cookie") != "" {
			t.Errorf("asked for %s with cookie %q: the scripts are for everybody", r.URL.Path, r.Header.Get("Cookie"))
		}
		answer(http.StatusOK, "scripts")(w, r)
	})
	got, err := client.Scripts(t.Context())
	if err != nil || string(got.Body) != "scripts" {
		t.Errorf("%s, %v", got.Body, err)
	}
}
