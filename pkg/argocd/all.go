package argocd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
)

// fleetBytes bounds the answer about all Applications, of which one at a time is kept.
const fleetBytes = 4 << 30

// AllApplications returns all Applications that the token may see, of one project or,
// when it is "", of all, each with metadata, spec and status. Argo CD knows no pages:
// the answer is decoded while it comes, so that one Application is in memory at a
// time, however large the fleet. An error ends it.
func (c *Client) AllApplications(ctx context.Context, project string) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		query := url.Values{}
		if project != "" {
			query.Set("projects", project)
		}
		body, err := c.open(ctx, question{path: "/api/v1/applications", query: query})
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = body.Close() }() // only read from
		limited := &io.LimitedReader{R: body, N: fleetBytes}
		err = eachItem(limited, func(item map[string]any) bool { return yield(item, nil) })
		if err != nil && limited.N == 0 {
			err = fmt.Errorf("the answer is larger than %d GiB; ask for one project", fleetBytes>>30)
		}
		if err != nil {
			yield(nil, fmt.Errorf("read applications: %w", err))
		}
	}
}

// eachItem decodes the items of a list one by one, until visit wants no more.
func eachItem(from io.Reader, visit func(map[string]any) bool) error {
	decoder := json.NewDecoder(from)
	if err := expect(decoder, '{'); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return cut(err)
		}
		if name != "items" {
			var skipped json.RawMessage
			if err := decoder.Decode(&skipped); err != nil {
				return cut(err)
			}
			continue
		}
		if goOn, err := eachOf(decoder, visit); err != nil || !goOn {
			return err
		}
	}
	return expect(decoder, '}')
}

// eachOf decodes a list, and reports whether visit wanted all of it.
func eachOf(decoder *json.Decoder, visit func(map[string]any) bool) (bool, error) {
	open, err := decoder.Token()
	if err != nil {
		return false, cut(err)
	}
	if open == nil {
		return true, nil // Argo CD's word for an empty list
	}
	if open != json.Delim('[') {
		return false, fmt.Errorf("items are %v, and no list", open)
	}
	for i := 0; decoder.More(); i++ {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return false, cut(err)
		}
		item, err := object(bytes.TrimSpace(raw))
		if err != nil {
			return false, fmt.Errorf("item %d: %w", i, err)
		}
		// The API leaves out what every Application says of itself.
		item["apiVersion"], item["kind"] = Group+"/v1alpha1", ApplicationKind
		if !visit(item) {
			return false, nil
		}
	}
	return true, expect(decoder, ']')
}

func expect(decoder *json.Decoder, wanted json.Delim) error {
	found, err := decoder.Token()
	if err != nil {
		return cut(err)
	}
	if found != wanted {
		return fmt.Errorf("%v stands where %v should", found, wanted)
	}
	return nil
}

// cut says of an end of the data that it came too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
