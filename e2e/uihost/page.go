package main

import (
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// assets is what the page is made of.
type assets struct {
	template *template.Template
	files    fs.FS
	// bundle is the file that is tested. It is read anew for every page, so that it can be
	// built while this runs.
	bundle string
}

// bundleName is what argocd-server finds.
const bundleName = "extension-moorpin.js"

func readAssets(dir string) (*assets, error) {
	text, err := os.ReadFile(filepath.Join(dir, "host", "host.html"))
	if err != nil {
		return nil, fmt.Errorf("read the host page: %w", err)
	}
	page, err := template.New("host.html").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the host page: %w", err)
	}
	bundle := filepath.Join(dir, "dist", bundleName)
	if _, err := os.Stat(bundle); err != nil {
		return nil, fmt.Errorf("find the bundle: %w; run make ui", err)
	}
	built := filepath.Join(dir, "host", "out")
	if _, err := os.Stat(filepath.Join(built, "argo-16.js")); err != nil {
		return nil, fmt.Errorf("find the host page's script: %w; run node host/build.mjs in %s", err, dir)
	}
	return &assets{template: page, files: os.DirFS(built), bundle: bundle}, nil
}

// flavour is the release of Argo CD whose part the page plays.
type flavour struct {
	Base, API, React string
}

// flavours are the releases by the root path below which they are served.
var flavours = map[string]flavour{
	"":      {Base: "/", API: "2.14", React: "16"},
	"v2.14": {Base: "/v2.14/", API: "2.14", React: "16"},
	"v3.5":  {Base: "/v3.5/", API: "3.5", React: "19"},
}

// security is stricter than Argo CD's own: nothing of another origin, and no text that
// becomes markup.
const security = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; require-trusted-types-for 'script'; frame-ancestors 'self'"

// faultCookie says which of the extensions that answer badly takes Moorpin's place.
const faultCookie = "moorpin-host-fault"

// page is the handler of everything that the browser asks for.
type page struct {
	assets *assets
	tokens map[string]string
	proxy  *httputil.ReverseProxy
}

func newPage(assets *assets, argoCD string, tokens map[string]string) (*page, error) {
	target, err := url.Parse(argoCD)
	if err != nil {
		return nil, fmt.Errorf("parse address of argocd-server: %w", err)
	}
	return &page{assets: assets, tokens: tokens, proxy: &httputil.ReverseProxy{
		FlushInterval: -1, // watches are streams
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}}, nil
}

// ServeHTTP answers below each root path alike.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	root, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	argo, ok := flavours[root]
	if !ok {
		argo = flavours[""]
	}
	path := strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(argo.Base, "/"))
	switch first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); first {
	case "api", "extensions":
		p.pass(w, r, path)
	case "extensions.js":
		p.extensions(w)
	case "assets":
		http.ServeFileFS(w, r, p.assets.files, rest)
	case "login-as":
		p.logIn(w, r, argo, rest)
	default:
		p.show(w, argo)
	}
}

func (p *page) show(w http.ResponseWriter, argo flavour) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", security)
	_ = p.assets.template.Execute(w, argo) // a browser that has gone needs no page
}

// pass hands on to argocd-server, as a proxy does that takes the root path away.
func (p *page) pass(w http.ResponseWriter, r *http.Request, path string) {
	const ours = "/extensions/moorpin/"
	if fault, err := r.Cookie(faultCookie); err == nil && fault.Value != "" && strings.HasPrefix(path, ours) {
		switch fault.Value {
		case "off": // the feature is: argocd-server answers with its page
			p.show(w, flavours[""])
			return
		case "absent":
			path = "/extensions/absent/" + strings.TrimPrefix(path, ours)
		default:
			path = "/extensions/moorpin-" + fault.Value + "/" + strings.TrimPrefix(path, ours)
		}
	}
	r.URL.Path, r.URL.RawPath = path, ""
	p.proxy.ServeHTTP(w, r)
}

// Extensions of others, which share the file: one ends without a semicolon and without
// a line break, the other begins where ours ends.
const (
	neighbourBefore = `(function (window) { window.extensionsAPI.registerResourceExtension(function () { return window.React.createElement("p", null, "another extension"); }, "apps", "Deployment", "Another", {icon: "fa-star"}); })(window)`
	neighbourAfter  = `(function (window) { window.neighbourAfter = true; })(window)`
)

// extensions writes what argocd-server makes of the files in /tmp/extensions.
func (p *page) extensions(w http.ResponseWriter) {
	bundle, err := os.ReadFile(p.assets.bundle)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/javascript")
	for _, file := range []struct{ name, text string }{
		{"extension-a.js", neighbourBefore}, {bundleName, string(bundle)}, {"extension-z.js", neighbourAfter},
	} {
		_, _ = fmt.Fprintf(w, "// source: /tmp/extensions/%s/%s \n%s", file.name, file.name, file.text)
	}
}

// logIn sets the cookie of one of the people, and shows what the address asks for.
func (p *page) logIn(w http.ResponseWriter, r *http.Request, argo flavour, name string) {
	token, known := p.tokens[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "argocd.token", Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, argo.Base+"applications", http.StatusSeeOther)
}
