package recorder

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"time"
)

// admissionPause is longer than the API server takes to see a new webhook configuration.
const admissionPause = 1500 * time.Millisecond

// Webhook is a mutating admission webhook that sees the stage's namespace alone.
type Webhook struct {
	// Name is that of the MutatingWebhookConfiguration, unique on the plane; its one
	// webhook is called mutate.NAME.example.com.
	Name string
	// Rules are webhooks[].rules as YAML flow, such as
	// `[{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]`.
	Rules string
	// Mutate changes the object that is being admitted.
	Mutate func(object map[string]any)
	// ReinvocationPolicy is Never when empty.
	ReinvocationPolicy string
	// Labels are those of the configuration.
	Labels string
	// ClusterScoped drops the namespace selector, for kinds without a namespace; Mutate
	// must then look whom it has before it.
	ClusterScoped bool
}

// AddWebhook serves the webhook from this process, and registers it.
func (s *Stage) AddWebhook(ctx context.Context, webhook Webhook) error {
	server := httptest.NewTLSServer(admission(webhook.Mutate))
	s.onClose(func(context.Context) error {
		server.Close()
		return nil
	})
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	policy := webhook.ReinvocationPolicy
	if policy == "" {
		policy = "Never"
	}
	// In its namespace a webhook ends with the stage, elsewhere it must not outlive it.
	failure := "Fail"
	selector := "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: " + s.Namespace + "}}"
	if webhook.ClusterScoped {
		selector, failure = "", "Ignore"
	}
	labels := webhook.Labels
	if labels == "" {
		labels = "{}"
	}
	configuration := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: %[1]s, labels: %[2]s}
webhooks:
- name: mutate.%[1]s.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  reinvocationPolicy: %[3]s
  clientConfig: {url: "%[4]s/mutate", caBundle: %[5]s}
  rules: %[6]s
  failurePolicy: %[8]s
  %[7]s
`, webhook.Name, labels, policy, server.URL, base64.StdEncoding.EncodeToString(authority), webhook.Rules, selector, failure)
	s.Scrub(server.URL, "https://"+webhook.Name+".example.com")
	s.onClose(func(ctx context.Context) error { return s.Delete(ctx, WebhookRef(webhook.Name)) })
	if err := s.Create(ctx, "helm", configuration); err != nil {
		return fmt.Errorf("register webhook %s: %w", webhook.Name, err)
	}
	return s.awaitAdmission(ctx)
}

// WebhookRef refers to the configuration of that name.
func WebhookRef(name string) string {
	return "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration/" + name
}

// review is the part of an AdmissionReview that is needed.
type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID    string         `json:"uid"`
	Object map[string]any `json:"object"`
}

type response struct {
	UID       string `json:"uid"`
	Allowed   bool   `json:"allowed"`
	PatchType string `json:"patchType,omitempty"`
	Patch     []byte `json:"patch,omitempty"`
}

func admission(mutate func(map[string]any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked review
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Request == nil {
			http.Error(w, "no admission review", http.StatusBadRequest)
			return
		}
		patch, err := patchOf(asked.Request.Object, mutate)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer := review{
			APIVersion: asked.APIVersion, Kind: asked.Kind,
			Response: &response{UID: asked.Request.UID, Allowed: true, PatchType: "JSONPatch", Patch: patch},
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // the API server reports what it did not get
	})
}

// patchOf replaces every top-level field that the mutation changed: the API server
// works out by itself what that means.
func patchOf(object map[string]any, mutate func(map[string]any)) ([]byte, error) {
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var original map[string]any
	if err := json.Unmarshal(before, &original); err != nil {
		return nil, err
	}
	mutate(object)
	patch := []map[string]any{}
	for key, value := range object {
		if !reflect.DeepEqual(value, original[key]) {
			path := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			patch = append(patch, map[string]any{"op": "add", "path": path, "value": value})
		}
	}
	return json.Marshal(patch)
}

// awaitAdmission gives the API server the moment in which it reads its webhooks.
func (s *Stage) awaitAdmission(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for the webhook: %w", context.Cause(ctx))
	case <-time.After(admissionPause):
		return nil
	}
}
