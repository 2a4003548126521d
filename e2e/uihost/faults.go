package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// faultHeader is what argocd-server adds to the calls of an extension that answers badly,
// because it drops the path of a service's URL.
const faultHeader = "Moorpin-Fault"

// badAnswers are the ways in which a backend disappoints, by the name that follows
// "moorpin-" in the extension's.
var badAnswers = map[string]func(next http.Handler) http.Handler{
	// slow answers, but late.
	"slow": func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(3 * time.Second):
				next.ServeHTTP(w, r)
			}
		})
	},
	// stuck never answers.
	"stuck": func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	},
	"busy": problem(http.StatusTooManyRequests, `{"error":"too many questions","hint":"ask again in some seconds"}`),
	"crash": problem(http.StatusInternalServerError,
		`{"error":"the backend could not answer","hint":"its log says more"}`),
	// skew is of a release whose answers the page cannot read.
	"skew": func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/capabilities") {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"version":"v99.0.0","sources":{"page":true}}`)
		})
	},
	// garbage is no JSON at all.
	"garbage": problem(http.StatusOK, `<html>a proxy in between has something to say</html>`),
}

func problem(status int, body string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // a caller that has gone needs no answer
		})
	}
}

// faults is a server of bad answers.
type faults struct {
	url    string
	server *httptest.Server
}

// newFaults serves them in front of a good backend.
func newFaults(backend string) *faults {
	target, err := url.Parse(backend)
	good := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, fmt.Sprint(err), http.StatusBadGateway)
	}))
	if err == nil {
		good = httputil.NewSingleHostReverseProxy(target)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bad, known := badAnswers[r.Header.Get(faultHeader)]
		if !known {
			http.NotFound(w, r)
			return
		}
		bad(good).ServeHTTP(w, r)
	}))
	return &faults{url: server.URL, server: server}
}

func (f *faults) close() {
	f.server.CloseClientConnections()
	f.server.Close()
}
