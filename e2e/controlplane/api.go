package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	corev1 "k8s.io/api/core/v1"
)

// session keeps the token of the admin, once there is one.
type session struct {
	guard sync.Mutex
	token string
}

// APIError is an answer of argocd-server other than 200.
type APIError struct {
	Status  int    // of HTTP
	Message string // as the server wrote it
}

func (e *APIError) Error() string {
	return fmt.Sprintf("argocd-server answers %d: %s", e.Status, e.Message)
}

// GetAPI asks argocd-server, and decodes the answer into the value unless it
// is nil. The path is such as "/api/v1/applications/demo/managed-resources",
// which holds the target and live objects that Argo CD compared.
func (p *Plane) GetAPI(ctx context.Context, path string, into any) error {
	return p.callAPI(ctx, request{method: http.MethodGet, path: path, into: into})
}

// PostAPI sends the body as JSON to argocd-server and drops the answer.
func (p *Plane) PostAPI(ctx context.Context, path string, body any) error {
	return p.callAPI(ctx, request{method: http.MethodPost, path: path, body: body})
}

// Token is that of Argo CD's admin, who is logged in once. It is empty when
// the plane runs without Options.Auth: nobody asks for it then.
func (p *Plane) Token(ctx context.Context) (string, error) {
	p.session.guard.Lock()
	defer p.session.guard.Unlock()
	if !p.options.Auth || p.session.token != "" {
		return p.session.token, nil
	}
	secrets, err := p.Resource(ctx, secretKind(), Namespace)
	if err != nil {
		return "", err
	}
	object, err := secrets.Get(ctx, "argocd-initial-admin-secret", metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read password of admin: %w", err)
	}
	var secret corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &secret); err != nil {
		return "", fmt.Errorf("read password of admin: %w", err)
	}
	var answer struct {
		Token string `json:"token"`
	}
	login := map[string]string{"username": "admin", "password": string(secret.Data["password"])}
	err = p.sendAPI(ctx, "", request{method: http.MethodPost, path: "/api/v1/session", body: login, into: &answer})
	if err != nil {
		return "", fmt.Errorf("log in: %w", err)
	}
	p.session.token = answer.Token
	return answer.Token, nil
}

// request is one call of the API. Nil is no body, and an answer not asked for.
type request struct {
	method, path string
	body, into   any
}

func (p *Plane) callAPI(ctx context.Context, r request) error {
	token, err := p.Token(ctx)
	if err != nil {
		return err
	}
	return p.sendAPI(ctx, token, r)
}

func (p *Plane) sendAPI(ctx context.Context, token string, r request) error {
	body := io.Reader(http.NoBody)
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	call, err := http.NewRequestWithContext(ctx, r.method, p.server+r.path, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	call.Header.Set("Content-Type", "application/json")
	if token != "" {
		call.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(call)
	if err != nil {
		return fmt.Errorf("call argocd-server: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // only read from
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read answer of argocd-server: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		problem := &APIError{Status: response.StatusCode, Message: string(answer)}
		return fmt.Errorf("%s %s: %w", r.method, r.path, problem)
	}
	if r.into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, r.into); err != nil {
		return fmt.Errorf("decode answer to %s: %w", r.path, err)
	}
	return nil
}
