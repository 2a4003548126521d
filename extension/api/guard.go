package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
)

// SecretHeader carries the secret that argocd-cm makes Argo CD's API server send.
const SecretHeader = "Moorpin-Secret"

// unresolved is how a reference to a Secret starts in argocd-cm. One that Argo CD
// cannot resolve is sent as it stands, where everybody may have read it.
const unresolved = '$'

// admit finds out who asks about what, and refuses whoever may not.
func (a *api) admit(r *http.Request) (argocd.Caller, error) {
	if err := a.knowsSecret(r.Header); err != nil {
		return argocd.Caller{}, err
	}
	caller, err := argocd.ParseCaller(r.Header)
	if malformed, ok := errors.AsType[*argocd.HeaderError](err); ok {
		return argocd.Caller{}, refuse(http.StatusBadRequest, "headers", malformed.Error(), "call through Argo CD, with one header Argocd-Application-Name: NAMESPACE:NAME and one Argocd-Project-Name")
	}
	if err != nil {
		return argocd.Caller{}, fmt.Errorf("read headers: %w", err)
	}
	record := recordOf(r.Context())
	record.user, record.application = caller.Username, caller.Application.String()
	if !a.options.serves(caller.Application.Namespace) {
		return argocd.Caller{}, refuse(http.StatusForbidden, "namespace",
			fmt.Sprintf("Applications of the namespace %s are not served", caller.Application.Namespace), "add it to --application-namespaces of the backend")
	}
	if !a.limits.allow(caller.Username) {
		return argocd.Caller{}, busy(http.StatusTooManyRequests, "rate", "too many requests")
	}
	return caller, nil
}

// knowsSecret refuses who does not know a secret that is accepted now. How long it
// takes does not depend on what the secrets have in common with what was sent.
func (a *api) knowsSecret(header http.Header) error {
	values := header.Values(SecretHeader)
	hint := "let argocd-cm send the header " + SecretHeader + " with the backend's secret, see the documentation of extension.config.moorpin"
	switch {
	case len(values) == 0 || values[0] == "":
		return refuse(http.StatusForbidden, "secret missing", "the header "+SecretHeader+" is missing", hint)
	case len(values) > 1:
		return refuse(http.StatusForbidden, "secret doubled", "the header "+SecretHeader+" is there more than once", hint)
	case values[0][0] == unresolved:
		return refuse(http.StatusForbidden, "secret unresolved", "the header "+SecretHeader+" holds a reference that Argo CD could not resolve",
			"create the Secret that it names, with the label app.kubernetes.io/part-of: argocd")
	}
	sent := sha256.Sum256([]byte(values[0]))
	known := 0
	for _, secret := range a.options.Secrets() {
		if len(secret) == 0 || secret[0] == unresolved {
			continue
		}
		accepted := sha256.Sum256(secret)
		known |= subtle.ConstantTimeCompare(sent[:], accepted[:])
	}
	if known != 1 {
		return refuse(http.StatusForbidden, "secret wrong", "the header "+SecretHeader+" holds no secret that is accepted", hint)
	}
	return nil
}

// identity is the Application that the caller may get.
func identity(caller argocd.Caller) report.Identity {
	return report.Identity{Application: caller.Application, Project: caller.Project}
}

// foreign is the refusal of an Application whose field is not what Argo CD has checked.
func foreign(err *report.ForeignError) *refusal {
	return refuse(http.StatusForbidden, "application", err.Error(), "ask about one Application, the one that the headers name")
}
