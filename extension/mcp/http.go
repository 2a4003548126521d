package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the tools are served over HTTP.
const Path = "/mcp"

// maxBody bounds a request: calls are short.
const maxBody = 1 << 20

// HTTPOptions say who may call over HTTP.
type HTTPOptions struct {
	// Token returns the bearer token that is accepted now. While it returns an error,
	// nobody is let in.
	Token func() ([]byte, error)
	// Hosts are names under which clients may reach the server, beside those of the
	// loopback and the address that a connection came in on.
	Hosts []string
	// Log is told of refusals; nil for none.
	Log *slog.Logger
}

// Handler serves the tools as streamable HTTP, without sessions: each request stands
// alone, so that nothing is kept for callers that went away.
func Handler(server *sdk.Server, options HTTPOptions) http.Handler {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	streamable := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		// The guard below is stricter, and knows the names that the operator allows.
		DisableLocalhostProtection: true,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, streamable)
	return &guard{options: options, next: mux}
}

// guard lets through who has the token and asks this server.
type guard struct {
	options HTTPOptions
	next    http.Handler
}

// ServeHTTP answers or refuses one request.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	refuse := func(status int, reason string) {
		g.options.Log.Warn("refused", "reason", reason, "from", r.RemoteAddr)
		http.Error(w, reason, status)
	}
	switch {
	case !g.host(r):
		refuse(http.StatusForbidden, "the Host header names another server; whoever runs this one may add the name with --http-host")
	case !origin(r):
		refuse(http.StatusForbidden, "web pages of another origin may not ask")
	case !g.token(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="moorpin"`)
		refuse(http.StatusUnauthorized, "send the token of the server's --token-file as Authorization: Bearer TOKEN")
	default:
		g.next.ServeHTTP(w, r)
	}
}

// host reports whether the request names this server. A page that makes its own name
// resolve to this machine sends that name; it cannot send an address, nor localhost.
func (g *guard) host(r *http.Request) bool {
	name := hostname(r.Host)
	if name == "localhost" || slices.ContainsFunc(g.options.Hosts, func(known string) bool { return strings.EqualFold(known, name) }) {
		return name != ""
	}
	address, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if address.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && hostname(local.String()) == name
}

// hostname is HOST of HOST:PORT, in lower case.
func hostname(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.Trim(address, "[]"))
}

// origin reports whether no web page of elsewhere asks. Only browsers send the header.
func origin(r *http.Request) bool {
	values, given := r.Header["Origin"]
	if !given {
		return true
	}
	if len(values) != 1 {
		return false
	}
	from, err := url.Parse(values[0])
	return err == nil && (from.Scheme == "http" || from.Scheme == "https") && strings.EqualFold(from.Host, r.Host)
}

// token reports whether the request has the token. Comparing the hashes takes as long
// for every token, whatever its length.
func (g *guard) token(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	wanted, err := g.options.Token()
	if err != nil || len(wanted) == 0 || len(values) != 1 {
		return false
	}
	scheme, given, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	a, b := sha256.Sum256(wanted), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
