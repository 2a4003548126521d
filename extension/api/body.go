package api

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
)

// Limits of JSON in a body.
const (
	maxDepth = 200
	// bytesPerValue is how short the values of a document may be on average, at
	// MaxBody: each takes far more in memory than "{}," does on the wire.
	bytesPerValue = 16
	// maxLiteral bounds a number; the longest that a double can need has 309 digits.
	maxLiteral = 400

	chunk = 64 << 10
)

// readBody reads a JSON document, unpacked, and gives back its bytes with what is
// held for them, which the caller has to give back.
func (a *api) readBody(w http.ResponseWriter, r *http.Request) (body []byte, held int64, err error) {
	if kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" || !isUTF8(parameters["charset"]) {
		return nil, 0, refuse(http.StatusUnsupportedMediaType, "media type", "the body is not declared as JSON", "send Content-Type: application/json")
	}
	if r.ContentLength > a.options.MaxBody {
		return nil, 0, a.tooLarge()
	}
	// Two thirds of the time are for the body; the rest is for the answer.
	controller := http.NewResponseController(w)
	_ = controller.SetReadDeadline(a.options.Now().Add(a.options.Timeout * 2 / 3)) // without one, the server's holds
	defer func() { _ = controller.SetReadDeadline(a.options.Now().Add(a.options.Timeout + time.Second)) }()
	reader, err := unpacked(r.Header, http.MaxBytesReader(w, r.Body, a.options.MaxBody))
	if err != nil {
		return nil, 0, a.unread(err)
	}
	body, held, err = a.readAll(reader)
	if err == nil {
		err = scan(body, int(a.options.MaxBody/bytesPerValue))
	}
	if err == nil && !json.Valid(body) {
		err = refuse(http.StatusBadRequest, "json", "the body is not JSON", "send one JSON document")
	}
	if err != nil {
		a.held.Give(held)
		return nil, 0, a.unread(err)
	}
	return body, held, nil
}

func isUTF8(charset string) bool { return charset == "" || strings.EqualFold(charset, "utf-8") }

// unpacked reads the body as its Content-Encoding says.
func unpacked(header http.Header, body io.Reader) (io.Reader, error) {
	switch encoding := strings.Join(header.Values("Content-Encoding"), ","); strings.ToLower(encoding) {
	case "", "identity":
		return body, nil
	case "gzip":
		reader, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("unpack body: %w", err)
		}
		return reader, nil
	}
	return nil, refuse(http.StatusUnsupportedMediaType, "media type", "the body's Content-Encoding is unknown", "send it as it is, or with gzip")
}

// readAll reads to the end, no further than MaxBody, and takes what it holds from
// the budget piece by piece.
func (a *api) readAll(reader io.Reader) (body []byte, held int64, err error) {
	for {
		if cap(body)-len(body) < chunk {
			grown := int64(max(2*cap(body), 2*chunk))
			if a.held.Take(grown-held) != nil {
				return nil, held, busy(http.StatusTooManyRequests, "memory", fmt.Sprintf("the bodies being read already take the %d bytes that all may take together", a.options.MaxHeld))
			}
			held = grown
			body = append(make([]byte, 0, grown), body...)
		}
		n, err := reader.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > a.options.MaxBody:
			return nil, held, a.tooLarge()
		case errors.Is(err, io.EOF):
			return body, held, nil
		case err != nil:
			return nil, held, fmt.Errorf("read body: %w", err)
		}
	}
}

func (a *api) tooLarge() error {
	return refuse(http.StatusRequestEntityTooLarge, "too large", fmt.Sprintf("the body has more than %d bytes, unpacked", a.options.MaxBody),
		"leave out the resources that are Synced, or let the backend collect")
}

// unread is the refusal for a body that could not be read.
func (a *api) unread(err error) error {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return a.tooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refuse(http.StatusRequestTimeout, "slow", "the body came too slowly", "send less, or compress it with gzip")
	}
	r := refuse(http.StatusBadRequest, "body", "the body broke off, or is not compressed as it says", "send it again")
	r.cause = err
	return r
}

// scan refuses a document that would take far more memory than it has bytes, before
// anything is made of it. It does not check that the document is JSON.
func scan(body []byte, maxValues int) error {
	var depth, values, literal int
	inside, escaped := false, false
	for _, c := range body {
		if inside {
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"':
				inside = false
			}
			continue
		}
		literal++
		switch c {
		case '"':
			inside = true
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',':
			values++
		}
		if strings.IndexByte("\"{}[],: \t\r\n", c) >= 0 {
			literal = 0
		}
		switch {
		case depth > maxDepth:
			return refuse(http.StatusBadRequest, "depth", fmt.Sprintf("the body is nested deeper than %d levels", maxDepth), "no Kubernetes object is")
		case values > maxValues:
			return refuse(http.StatusRequestEntityTooLarge, "values", fmt.Sprintf("the body holds more than %d values", maxValues), "leave out the resources that are Synced")
		case literal > maxLiteral:
			return refuse(http.StatusBadRequest, "literal", fmt.Sprintf("the body holds a number of more than %d digits", maxLiteral), "no Kubernetes object does")
		}
	}
	return nil
}
