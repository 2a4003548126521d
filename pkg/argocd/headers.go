package argocd

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Headers that Argo CD's API server sends to the backend of a proxy extension. It
// checks the first two before it forwards a request; the others it sets.
const (
	HeaderApplication = "Argocd-Application-Name"
	HeaderProject     = "Argocd-Project-Name"
	HeaderNamespace   = "Argocd-Namespace"
	HeaderUsername    = "Argocd-Username"
	HeaderUserID      = "Argocd-User-Id"
	HeaderGroups      = "Argocd-User-Groups"
	HeaderClusterName = "Argocd-Target-Cluster-Name"
	HeaderClusterURL  = "Argocd-Target-Cluster-Url"
)

// DefaultProject is the project of an Application that names none.
const DefaultProject = "default"

// Limits of what a header may hold.
const (
	maxIdentity = 1 << 10
	maxGroups   = 16 << 10
)

// callerHeader is a header of a [Caller], with the bytes that it may have.
type callerHeader struct {
	name  string
	limit int
	// told tells that it is for the log alone: it may be empty, and what is too long of
	// it is cut off, at the last of the given bytes if there is one.
	told bool
	cut  string
}

var callerHeaders = []callerHeader{
	{name: HeaderApplication, limit: maxIdentity},
	{name: HeaderProject, limit: maxIdentity},
	{name: HeaderNamespace, limit: maxIdentity, told: true},
	{name: HeaderUsername, limit: maxIdentity, told: true},
	{name: HeaderUserID, limit: maxIdentity, told: true},
	{name: HeaderGroups, limit: maxGroups, told: true, cut: ","},
	{name: HeaderClusterName, limit: maxIdentity, told: true},
	{name: HeaderClusterURL, limit: 2 * maxIdentity, told: true, cut: "/"},
}

// Caller is who asks the backend of a proxy extension, and about what.
//
// Only Application and Project were checked by Argo CD's API server. It sets the
// others where it has something to say, and lets the browser's own through where it
// has not: they are for the log, and no decision about access may rest on them.
type Caller struct {
	// Application is the one that the user may get.
	Application Ref
	// Project is the Application's.
	Project string

	Username, UserID string
	// Groups are as Argo CD joins them; a group whose name has a comma is two.
	Groups []string
	// ClusterName and ClusterURL are the Application's destination.
	ClusterName, ClusterURL string
}

// HeaderError says which header of a request cannot be trusted, and why. It does not
// repeat the value, which may be anything.
type HeaderError struct {
	Header, Reason string
}

// Error is the header and the reason.
func (e *HeaderError) Error() string { return "header " + e.Header + " " + e.Reason }

// ParseCaller reads the headers that Argo CD's API server adds. It refuses, with a
// [*HeaderError], a header that is there twice, because the server checks only the
// first, names that no Application, no namespace and no project could have, and what
// does not belong into a log. Of the headers that are only for the log one may be empty,
// as the server sends the groups of a user who has none, and one that is too long is
// shortened: neither is the user's fault.
func ParseCaller(header http.Header) (Caller, error) {
	values := map[string]string{}
	for _, known := range callerHeaders {
		value, err := single(header, known)
		if err != nil {
			return Caller{}, err
		}
		values[known.name] = value
	}
	ref, err := parseApplicationHeader(values[HeaderApplication])
	if err != nil {
		return Caller{}, err
	}
	project := values[HeaderProject]
	if problems := validation.IsDNS1123Subdomain(project); len(problems) > 0 {
		return Caller{}, &HeaderError{Header: HeaderProject, Reason: "must hold the name of a project; an Application without one is in " + DefaultProject}
	}
	if _, err := url.Parse(values[HeaderClusterURL]); err != nil {
		return Caller{}, &HeaderError{Header: HeaderClusterURL, Reason: "must hold a URL"}
	}
	caller := Caller{
		Application: ref, Project: project,
		Username: values[HeaderUsername], UserID: values[HeaderUserID],
		ClusterName: values[HeaderClusterName], ClusterURL: values[HeaderClusterURL],
	}
	for group := range strings.SplitSeq(values[HeaderGroups], ",") {
		if group = strings.TrimSpace(group); group != "" {
			caller.Groups = append(caller.Groups, group)
		}
	}
	return caller, nil
}

// single is the header's only value, or "" where it is not there.
func single(header http.Header, known callerHeader) (string, error) {
	values := header.Values(known.name)
	if len(values) == 0 {
		return "", nil
	}
	refuse := func(format string, args ...any) (string, error) {
		return "", &HeaderError{Header: known.name, Reason: fmt.Sprintf(format, args...)}
	}
	value := values[0]
	switch {
	case len(values) > 1:
		return refuse("is there %d times: Argo CD checks the first only", len(values))
	case value == "" && !known.told:
		return refuse("is empty")
	case len(value) > known.limit && !known.told:
		return refuse("has %d bytes: at most %d are read", len(value), known.limit)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return refuse("holds control characters or is not UTF-8")
	}
	return known.shorten(value), nil
}

// shorten cuts off what is too much, at a place where the rest still means something.
func (h callerHeader) shorten(value string) string {
	if len(value) <= h.limit {
		return value
	}
	value = value[:h.limit]
	if i := strings.LastIndex(value, h.cut); h.cut != "" && i >= 0 {
		return value[:i]
	}
	return strings.ToValidUTF8(value, "")
}

// parseApplicationHeader reads "namespace:name".
func parseApplicationHeader(value string) (Ref, error) {
	if value == "" {
		return Ref{}, &HeaderError{Header: HeaderApplication, Reason: "is missing: Argo CD sends NAMESPACE:NAME"}
	}
	namespace, name, found := strings.Cut(value, ":")
	if !found || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return Ref{}, &HeaderError{Header: HeaderApplication, Reason: "must be NAMESPACE:NAME, both as Kubernetes allows them"}
	}
	return Ref{Namespace: namespace, Name: name}, nil
}
