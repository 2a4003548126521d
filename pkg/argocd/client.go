package argocd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/moorpin/moorpin/pkg/weight"
)

// Limits of every call.
const (
	DefaultTimeout = time.Minute
	DefaultBytes   = 256 << 20
)

// Config says how to reach an Argo CD.
type Config struct {
	// URL is such as https://cd.example.com or http://127.0.0.1:8080/argo-cd.
	URL string
	// RootPath is joined to the URL's path, for servers with --rootpath.
	RootPath string
	// Token is sent as a bearer token, unless it is empty.
	Token string
	// Insecure accepts any certificate of the server.
	Insecure bool
	// CA are PEM certificates to trust beside the system's; may be nil.
	CA []byte
	// ClientCertificate and ClientKey are PEM, for a proxy that asks for them.
	ClientCertificate, ClientKey []byte
	// Timeout bounds one call, Bytes one answer; zero stands for the defaults.
	Timeout time.Duration
	Bytes   int64
}

// Client asks one Argo CD. It is safe for concurrent use.
type Client struct {
	base   string
	token  string
	bytes  int64
	http   *http.Client
	memory Memory
}

// Memory is asked for the bytes that an answer takes, before it takes them; the error
// ends the reading.
type Memory interface {
	Take(bytes int64) error
}

// Bounded is the client with all its answers bounded together: by their bytes as they
// arrive, and by what they weigh once decoded.
func (c *Client) Bounded(memory Memory) *Client {
	bounded := *c
	bounded.memory = memory
	return &bounded
}

// take asks for the memory of a decoded document.
func (c *Client) take(document []byte) error {
	if c.memory == nil {
		return nil
	}
	return c.memory.Take(weight.JSON(document) - int64(len(document))) //nolint:wrapcheck // it names what takes too much
}

// taking asks for the memory of what is read.
type taking struct {
	from   io.Reader
	memory Memory
}

// Read reads, and fails where the memory may not be taken.
func (t taking) Read(into []byte) (int, error) {
	n, err := t.from.Read(into)
	if full := t.memory.Take(int64(n)); full != nil {
		return n, full //nolint:wrapcheck // it names what takes too much
	}
	return n, err //nolint:wrapcheck // io.EOF must stay what it is
}

// New makes a client; it asks nothing yet.
func New(config Config) (*Client, error) {
	base, err := baseURL(config)
	if err != nil {
		return nil, err
	}
	secure, err := tlsConfig(config)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(config.Token, "\r\n\x00") {
		return nil, errors.New("the token holds a line break: it must be one line")
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}
	c := &Client{base: base, token: config.Token, bytes: config.Bytes, http: &http.Client{
		Transport: transport, Timeout: config.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.bytes <= 0 {
		c.bytes = DefaultBytes
	}
	if c.http.Timeout <= 0 {
		c.http.Timeout = DefaultTimeout
	}
	return c, nil
}

func baseURL(config Config) (string, error) {
	parsed, err := url.Parse(config.URL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", fmt.Errorf("server %q is no URL: write https://HOST, or http://HOST where Argo CD serves plain text", redacted(config.URL))
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", fmt.Errorf("server %s: a URL with a user, a query or a fragment is no server", redacted(config.URL))
	}
	return strings.TrimSuffix(parsed.JoinPath(config.RootPath).String(), "/"), nil
}

// redacted is the URL without what may be a password.
func redacted(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 {
		text = "..." + text[at:]
	}
	text, _, _ = strings.Cut(text, "?")
	return printable(text)
}

func tlsConfig(config Config) (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: config.Insecure} //nolint:gosec // G402: only where the user asks for it
	if len(config.CA) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(config.CA) {
			return nil, errors.New("the CA holds no PEM certificate")
		}
		secure.RootCAs = pool
	}
	if len(config.ClientCertificate) > 0 || len(config.ClientKey) > 0 {
		pair, err := tls.X509KeyPair(config.ClientCertificate, config.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("read client certificate: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	return secure, nil
}

// question is one GET.
type question struct {
	// path is below /api, each part escaped.
	path  string
	query url.Values
	// right is the line of argocd-rbac-cm that allows it, or "".
	right string
}

// ask returns the body of the answer.
func (c *Client) ask(ctx context.Context, q question) ([]byte, error) {
	answer, err := c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Close() }() // only read from
	var from io.Reader = answer
	if c.memory != nil {
		from = taking{answer, c.memory}
	}
	body, err := io.ReadAll(io.LimitReader(from, c.bytes+1))
	if err != nil {
		return nil, fmt.Errorf("read Argo CD's answer to GET %s: %w", q.path, err)
	}
	if int64(len(body)) > c.bytes {
		return nil, fmt.Errorf("Argo CD's answer to GET %s is larger than %d MiB", q.path, c.bytes>>20) //nolint:staticcheck // ST1005: a proper name
	}
	if err := c.take(body); err != nil {
		return nil, fmt.Errorf("read Argo CD's answer to GET %s: %w", q.path, err)
	}
	return body, nil
}

// open asks, and returns the body of an answer that is a success, to be closed.
func (c *Client) open(ctx context.Context, q question) (io.ReadCloser, error) {
	target := c.base + q.path
	if len(q.query) > 0 {
		target += "?" + q.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask Argo CD: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "moorpin")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, unreachable(err)
	}
	if err := c.refused(response, q); err != nil {
		_ = response.Body.Close() // only read from
		return nil, err
	}
	return response.Body, nil
}

// refused is the error of an answer that is no success.
func (c *Client) refused(response *http.Response, q question) error {
	if response.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(response.Body, c.bytes))
		if err != nil {
			return fmt.Errorf("read Argo CD's answer to GET %s: %w", q.path, err)
		}
		return refusal(response.StatusCode, q.path, q.right, body)
	}
	if strings.Contains(response.Header.Get("Content-Type"), "text/html") {
		// What is no API path gets the page of the UI, with 200.
		return &Error{Status: response.StatusCode, Path: q.path, Message: "a web page", Advice: "this is no API of Argo CD: check the URL and the root path"}
	}
	return nil
}

// unreachable says why no answer came. The URL in the cause holds no secret.
func unreachable(err error) error {
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return fmt.Errorf("ask Argo CD: %w; name its CA, or accept any certificate with --insecure", err)
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("ask Argo CD: %w; it serves plain text: use http:// or --plaintext", err)
	}
	return fmt.Errorf("ask Argo CD: %w", err)
}

// segment is a name as one part of a path.
func segment(name string) (string, error) {
	if name == "" || name == "." || name == ".." {
		return "", fmt.Errorf("%q is no name", name)
	}
	return url.PathEscape(name), nil
}
