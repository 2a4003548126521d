package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/klauspost/compress/gzhttp"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// api serves the routes.
type api struct {
	options Options
	limits  *limits
	// bodies are those being read and answered, answers those being sent.
	bodies, answers *bodies
	metrics         *metrics
	document        []byte
}

// question is a request that was admitted.
type question struct {
	caller argocd.Caller
	query  map[string][]string
	// body is a JSON document, or nil where the route takes none.
	body []byte
	// sent is what the answer holds until its reader has it.
	sent *holding
}

// route is one row of the table that is served and documented.
type route struct {
	method, path string
	// posted tells that there is a JSON body.
	posted bool
	answer func(a *api, ctx context.Context, q *question) (*reply, error)
	doc    operation
}

// New makes the handler of the application port. /healthz, /readyz and /openapi.json
// need no secret and tell nothing about any Application.
func New(options Options) (http.Handler, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &api{
		options: options, limits: newLimits(options.PerUser, options.Global, options.Now),
		bodies: newBodies("bodies being read", options.MaxHeld), answers: newBodies("answers being sent", options.MaxHeld),
	}
	if a.metrics, err = newMetrics(options.Registry); err != nil {
		return nil, err
	}
	if a.document, err = document(); err != nil {
		return nil, err
	}
	compress, err := gzhttp.NewWrapper(gzhttp.SuffixETag(gzipSuffix))
	if err != nil {
		return nil, fmt.Errorf("compress answers: %w", err)
	}
	return a.observed(a.timed(compress(a.rescued(a.router())))), nil
}

// router is the table of routes. It cleans no path and redirects nowhere: what is not
// in the table is not there.
func (a *api) router() http.Handler {
	router := mux.NewRouter().SkipClean(true)
	allowed := map[string][]string{}
	for _, row := range routes {
		router.Handle(row.path, a.guarded(&row)).Methods(row.method)
		allowed[row.path] = append(allowed[row.path], row.method)
	}
	for path, open := range map[string]http.HandlerFunc{"/healthz": a.healthy, "/readyz": a.ready, "/openapi.json": a.documented} {
		router.Handle(path, open).Methods(http.MethodGet)
		allowed[path] = []string{http.MethodGet}
	}
	router.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, refuse(http.StatusNotFound, "route", "there is nothing here", "see /openapi.json for what there is"))
	})
	router.MethodNotAllowedHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods := strings.Join(allowed[r.URL.Path], ", ")
		w.Header().Set("Allow", methods)
		a.fail(w, r, refuse(http.StatusMethodNotAllowed, "method", "the method is not allowed here", "use "+methods))
	})
	router.Use(named)
	return router
}

// named notes the route for the log and the metrics.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if current := mux.CurrentRoute(r); current != nil {
			if path, err := current.GetPathTemplate(); err == nil {
				recordOf(r.Context()).route = path
			}
		}
		next.ServeHTTP(w, r)
	})
}

// guarded answers the route's questions of those who may ask them.
func (a *api) guarded(row *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := a.admit(r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		q := &question{caller: caller, query: r.URL.Query(), sent: a.answers.hold(caller)}
		defer q.sent.release()
		if row.posted {
			body, held, err := a.readBody(w, r, caller)
			if err != nil {
				a.fail(w, r, err)
				return
			}
			defer held.release()
			q.body = body
		}
		answer, err := row.answer(a, r.Context(), q)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		if err := q.sent.holdAnswer(answer); err != nil {
			a.fail(w, r, err)
			return
		}
		answer.write(w, r)
	})
}

// timed bounds the time of every request, and says what browsers may do with answers.
// Who does not show the secret gets an answer, and no connection to keep.
func (a *api) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		controller := http.NewResponseController(w)
		if r.ContentLength == 0 {
			bodyIsRead(controller)
		} else {
			// A body that nobody reads is drained by the server, which must end as well.
			_ = controller.SetReadDeadline(time.Now().Add(a.options.Timeout + time.Second)) // without one, the server's holds
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.options.Timeout)
		defer cancel()
		header := w.Header()
		if a.knowsSecret(r.Header) != nil {
			// Connections are few; strangers must not keep them.
			header.Set("Connection", "close")
		}
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// bodyIsRead takes the deadline of reading away. One that passes while a slow reader takes
// the answer would end the context of the connection, and so all later requests on it;
// how long an answer takes is bounded by itself.
func bodyIsRead(controller *http.ResponseController) {
	_ = controller.SetReadDeadline(time.Time{}) // where none can be set, there is none
}

// fail answers with a problem and notes why.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	refused := translate(err)
	if refused.reason == reasonTimeout {
		refused.Problem.Error = fmt.Sprintf("the answer would take longer than the %s that one may take", a.options.Timeout)
	}
	record := recordOf(r.Context())
	record.reason, record.cause = refused.reason, refused.cause
	a.metrics.refused.WithLabelValues(refused.reason).Inc()
	writeProblem(w, refused)
}

func (a *api) healthy(w http.ResponseWriter, r *http.Request) {
	(&reply{kind: plainText, body: []byte("ok\n")}).write(w, r)
}

func (a *api) ready(w http.ResponseWriter, r *http.Request) {
	if !a.options.Ready() {
		a.fail(w, r, busy(http.StatusServiceUnavailable, "not ready", "the backend is starting or stopping"))
		return
	}
	(&reply{kind: plainText, body: []byte("ok\n")}).write(w, r)
}

func (a *api) documented(w http.ResponseWriter, r *http.Request) {
	(&reply{kind: jsonText, body: a.document}).write(w, r)
}
