package argocd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// Error is an answer of Argo CD's API server other than success.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Path is what was asked for.
	Path string
	// Message is what the server said, shortened, without control characters.
	Message string
	// Advice says what to do.
	Advice string
}

// Error says what was asked, what came back and what to do.
func (e *Error) Error() string {
	text := fmt.Sprintf("GET %s: Argo CD answers %d", e.Path, e.Status)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

const messageBytes = 1 << 10

// refusal makes an error of an answer. The right is the line of argocd-rbac-cm that
// would allow the call, or "".
func refusal(status int, path, right string, body []byte) *Error {
	return &Error{Status: status, Path: path, Message: message(body), Advice: advice(status, right)}
}

// message is what the server says in its body: the text in gRPC gateway's JSON, else
// the body itself.
func message(body []byte) string {
	var answer struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	body = body[:min(len(body), 16*messageBytes)]
	text := string(body)
	if json.Unmarshal(body, &answer) == nil && answer.Message+answer.Error != "" {
		text = answer.Message
		if text == "" {
			text = answer.Error
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return "a web page" // of a proxy; its HTML helps nobody
	}
	return printable(text)
}

// printable is the text on one line, shortened, without control characters: it comes
// from a server and goes to a terminal.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.TrimSpace(text))
	if len(text) > messageBytes {
		text = strings.ToValidUTF8(text[:messageBytes], "") + "..."
	}
	return text
}

func advice(status int, right string) string {
	switch status {
	case http.StatusUnauthorized:
		return "the token is missing, expired or revoked: log in again with `argocd login`, or make a new token"
	case http.StatusForbidden:
		if right == "" {
			return "the token lacks a right; see `argocd account can-i`"
		}
		return "there is no such object, or the token lacks this line in argocd-rbac-cm: " + right
	case http.StatusNotFound:
		return "check the name, the namespace of the Application, and the server's root path"
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "Argo CD is busy or restarting: try again"
	}
	if status >= http.StatusMultipleChoices && status < http.StatusBadRequest {
		return "redirects are not followed, because the token would go along: name the right URL, with https and the root path"
	}
	return ""
}
