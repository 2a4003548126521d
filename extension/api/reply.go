package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Media types of answers.
const (
	jsonText  = "application/json"
	yamlText  = "text/yaml; charset=utf-8"
	plainText = "text/plain; charset=utf-8"
)

// gzipSuffix tells the ETag of a compressed answer from that of the plain one.
const gzipSuffix = "-gzip"

// reply is an answer.
type reply struct {
	kind string
	body []byte
	// version makes the ETag; "" where the answer is not to be kept.
	version string
	// kept tells that the reporter keeps the body, whoever reads it.
	kept bool
	// file is the name to save it under, or "".
	file string
}

// replyJSON is the value as an answer.
func replyJSON(value any, version string) (*reply, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return &reply{kind: jsonText, body: body, version: version}, nil
}

// write sends the answer, or says that the caller has it already.
func (p *reply) write(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", p.kind)
	header.Set("Cache-Control", "no-store")
	if p.file != "" {
		header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", p.file))
	}
	if r.Method == http.MethodGet && p.version != "" {
		header.Set("Cache-Control", "private, no-cache")
		// The same URL is asked about every Application.
		header.Add("Vary", "Argocd-Application-Name, Argocd-Project-Name")
		header.Set("ETag", tag(p.version))
		if known, ok := p.known(r.Header); ok {
			header.Set("ETag", known)
			header.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	_, _ = w.Write(p.body) // a caller that has gone needs no answer
}

func tag(version string) string { return `"` + version + `"` }

// known is the ETag under which the caller has the answer.
func (p *reply) known(header http.Header) (string, bool) {
	for _, line := range header.Values("If-None-Match") {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
			switch candidate {
			case tag(p.version), tag(p.version + gzipSuffix):
				return candidate, true
			case "*":
				return tag(p.version), true
			}
		}
	}
	return "", false
}
