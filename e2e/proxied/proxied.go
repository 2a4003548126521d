// Package proxied puts Moorpin's backend behind the argocd-server of a control plane, the
// way an administrator does: accounts and their rights, the shared secret, the settings
// of the proxy extension, and `moorpin extension serve` as a process of its own.
//
// It changes the settings of the plane that it is given, and takes nothing back: it is
// for planes that live no longer than what is shown on them.
package proxied

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

const (
	// Secret is what argocd-server and the backends share.
	Secret = "a-secret-that-only-argocd-server-and-the-backend-know"
	// NextSecret takes its place when it is rotated.
	NextSecret = "the-secret-that-takes-its-place-when-it-is-rotated"
	// Password is that of every account that [Admin.AddAccounts] makes.
	Password = "correct horse battery staple"
	// Robot is the account of a backend that collects by itself.
	Robot = "moorpin"
)

// Admin is who sets up Argo CD on a plane.
type Admin struct{ Plane *controlplane.Plane }

// Service is where argocd-server sends the calls of one proxy extension.
type Service struct {
	URL string
	// Next sends [NextSecret] instead of [Secret].
	Next bool
	// Headers are added to every call, beside the one with the secret.
	Headers map[string]string
}

// AddAccounts gives Argo CD people who log in with [Password], the account [Robot], and
// the policy that says what they may do.
func (a Admin) AddAccounts(ctx context.Context, policy string, names ...string) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	accounts, passwords := map[string]string{"accounts." + Robot: "apiKey"}, map[string]string{}
	for _, name := range names {
		accounts["accounts."+name] = "login"
		passwords["accounts."+name+".password"] = string(hash)
		passwords["accounts."+name+".passwordMtime"] = "2026-01-01T00:00:00Z"
	}
	for _, change := range []struct {
		kind, name string
		patch      map[string]any
	}{
		{"Secret", "argocd-secret", map[string]any{"stringData": passwords}},
		{"ConfigMap", "argocd-rbac-cm", map[string]any{"data": map[string]string{"policy.moorpin.csv": policy}}},
		{"ConfigMap", "argocd-cm", map[string]any{"data": accounts}},
	} {
		if err := a.Patch(ctx, change.kind, change.name, change.patch); err != nil {
			return fmt.Errorf("add accounts: %w", err)
		}
	}
	return nil
}

// AddExtensions tells Argo CD where the backend of each extension is.
func (a Admin) AddExtensions(ctx context.Context, services map[string]Service) error {
	secret := fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: moorpin-proxy, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {current: %q, next: %q}
`, Secret, NextSecret)
	if err := a.Plane.ApplyYAML(ctx, controlplane.Namespace, []byte(secret)); err != nil {
		return fmt.Errorf("add the shared secret: %w", err)
	}
	data := map[string]string{}
	for name, service := range services {
		key := "current"
		if service.Next {
			key = "next"
		}
		var config strings.Builder
		fmt.Fprintf(&config, "services:\n- url: %s\n  headers:\n  - name: Moorpin-Secret\n    value: '$moorpin-proxy:%s'\n", service.URL, key)
		for header, value := range service.Headers {
			fmt.Fprintf(&config, "  - name: %s\n    value: %q\n", header, value)
		}
		data["extension.config."+name] = config.String()
	}
	if err := a.Patch(ctx, "ConfigMap", "argocd-cm", map[string]any{"data": data}); err != nil {
		return fmt.Errorf("add extensions: %w", err)
	}
	return nil
}

// Patch merges into a core object in Argo CD's namespace.
func (a Admin) Patch(ctx context.Context, kind, name string, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode patch of %s: %w", name, err)
	}
	place, err := a.Plane.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: kind}, controlplane.Namespace)
	if err != nil {
		return fmt.Errorf("patch %s: %w", name, err)
	}
	if _, err := place.Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: controlplane.FieldManager}); err != nil {
		return fmt.Errorf("patch %s: %w", name, err)
	}
	return nil
}

// LogIn is the token that the browser of a user keeps in its cookie.
func (a Admin) LogIn(ctx context.Context, user string) (string, error) {
	if err := a.awaitAccount(ctx, user); err != nil {
		return "", err
	}
	return a.token(ctx, "", "/api/v1/session", map[string]string{"username": user, "password": Password})
}

// RobotToken is one of the account [Robot], made by the admin.
func (a Admin) RobotToken(ctx context.Context) (string, error) {
	if err := a.awaitAccount(ctx, Robot); err != nil {
		return "", err
	}
	admin, err := a.Plane.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("log in as admin: %w", err)
	}
	return a.token(ctx, admin, "/api/v1/account/"+Robot+"/token", map[string]string{"name": Robot})
}

// awaitAccount waits until Argo CD knows a new account: it locks out who tries too often before.
func (a Admin) awaitAccount(ctx context.Context, name string) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		var account struct {
			Enabled bool `json:"enabled"`
		}
		err := a.Plane.GetAPI(ctx, "/api/v1/account/"+name, &account)
		if err == nil && account.Enabled {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("wait until Argo CD knows the account %s: %w", name, err)
		}
	}
}

func (a Admin) token(ctx context.Context, bearer, path string, body any) (string, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("encode request for a token: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Plane.ServerURL()+path, bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("make request for a token: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask for a token: %w", err)
	}
	defer func() { _ = reply.Body.Close() }() // only read from
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	var answer struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("ask for a token: argocd-server answers %d: %s", reply.StatusCode, text)
	}
	return answer.Token, nil
}
