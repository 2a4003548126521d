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

	"github.com/moorpin/moorpin/pkg/argocd"
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

	// progress is what must come of a body within patience, as long as it is not at its end.
	progress = 16 << 10
	patience = 2 * time.Second
)

// readBody reads a JSON document, unpacked, and gives back its bytes with what is
// held for them, which the caller has to give back.
func (a *api) readBody(w http.ResponseWriter, r *http.Request, caller argocd.Caller) (body []byte, held *holding, err error) {
	if kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" || !isUTF8(parameters["charset"]) {
		return nil, nil, refuse(http.StatusUnsupportedMediaType, "media type", "the body is not declared as JSON", "send Content-Type: application/json")
	}
	if r.ContentLength > a.options.MaxBody {
		return nil, nil, a.tooLarge()
	}
	// Two thirds of the time are for the body; the rest is for the answer.
	now, controller := a.options.Now, http.NewResponseController(w)
	defer func() {
		if err == nil {
			bodyIsRead(controller)
			return
		}
		_ = controller.SetReadDeadline(now().Add(a.options.Timeout + time.Second))
	}()
	coming := &patient{from: http.MaxBytesReader(w, r.Body, a.options.MaxBody), now: now, last: now().Add(a.options.Timeout * 2 / 3), until: controller.SetReadDeadline}
	reader, err := unpacked(r.Header, coming)
	if err != nil {
		return nil, nil, a.unread(err)
	}
	held = a.bodies.hold(caller)
	body, err = a.readAll(reader, held)
	if err == nil {
		err = scan(body, int(a.options.MaxBody/bytesPerValue))
	}
	if err == nil && !json.Valid(body) {
		err = refuse(http.StatusBadRequest, "json", "the body is not JSON", "send one JSON document")
	}
	if err != nil {
		held.release()
		return nil, nil, a.unread(err)
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

// patient reads as long as what it reads from goes on.
type patient struct {
	from io.Reader
	now  func() time.Time
	// last is when all must be there; until sets when the next byte must.
	last  time.Time
	until func(time.Time) error
	// came is what has come since the time was set.
	came int
	set  bool
}

// Read reads what comes in time.
func (p *patient) Read(into []byte) (int, error) {
	if !p.set || p.came >= progress {
		p.set, p.came = true, 0
		soon := p.now().Add(patience)
		if soon.After(p.last) {
			soon = p.last
		}
		_ = p.until(soon) // where none can be set, the server's holds
	}
	n, err := p.from.Read(into)
	p.came += n
	return n, err //nolint:wrapcheck // a reader's io.EOF is nobody's but its own
}

// readAll reads to the end, no further than MaxBody, and takes what it holds from
// the budget piece by piece.
func (a *api) readAll(reader io.Reader, held *holding) ([]byte, error) {
	var body []byte
	var further [1]byte
	for {
		if len(body) == cap(body) && int64(len(body)) < a.options.MaxBody {
			grown := min(int64(max(2*cap(body), chunk)), a.options.MaxBody)
			if err := held.grow(grown); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, grown), body...)
		}
		into := body[len(body):cap(body)]
		full := len(into) == 0
		if full {
			into = further[:]
		}
		n, err := reader.Read(into)
		switch {
		case full && n > 0:
			return nil, a.tooLarge()
		case errors.Is(err, io.EOF):
			return body[:len(body)+n], nil
		case err != nil:
			return nil, fmt.Errorf("read body: %w", err)
		}
		body = body[:len(body)+n]
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
