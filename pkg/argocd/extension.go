package argocd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// extensionBytes bounds what an extension answers and the scripts of the UI.
const extensionBytes = 16 << 20

// sessionCookie is where Argo CD's proxy for extensions looks for the token: it takes no
// Authorization header.
const sessionCookie = "argocd.token"

// Answer is what came back from behind Argo CD's proxy for extensions, whatever its
// status: which one it is tells how far the call came.
type Answer struct {
	Status int
	// Kind is the media type, with its parameters.
	Kind string
	Body []byte
}

// Extension asks the backend of a proxy extension for a path, about an Application of a
// project. The reference names its namespace, too.
func (c *Client) Extension(ctx context.Context, path string, ref Ref, project string) (Answer, error) {
	if err := ref.validate(); err != nil {
		return Answer{}, err
	}
	return c.get(ctx, "/extensions/"+path, http.Header{
		HeaderApplication: {ref.Namespace + ":" + ref.Name}, HeaderProject: {project},
		"Cookie": {sessionCookie + "=" + url.QueryEscape(c.token)},
	})
}

// Scripts returns the UI extensions that Argo CD's API server serves to every browser,
// one after the other.
func (c *Client) Scripts(ctx context.Context) (Answer, error) {
	return c.get(ctx, "/extensions.js", http.Header{})
}

// get asks for what is no API, and takes every status for an answer.
func (c *Client) get(ctx context.Context, path string, header http.Header) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		return Answer{}, fmt.Errorf("ask Argo CD: %w", err)
	}
	request.Header = header
	request.Header.Set("User-Agent", "moorpin")
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{}, unreachable(err)
	}
	defer func() { _ = response.Body.Close() }() // only read from
	body, err := io.ReadAll(io.LimitReader(response.Body, extensionBytes+1))
	if err != nil {
		return Answer{}, fmt.Errorf("read Argo CD's answer to GET %s: %w", path, err)
	}
	if len(body) > extensionBytes {
		return Answer{}, fmt.Errorf("Argo CD's answer to GET %s is larger than %d MiB", path, extensionBytes>>20) //nolint:staticcheck // ST1005: a proper name
	}
	return Answer{Status: response.StatusCode, Kind: response.Header.Get("Content-Type"), Body: body}, nil
}
