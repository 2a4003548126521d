// Package argocd is Argo CD's vocabulary as the parts of Moorpin need it, and a
// small client of its HTTP API.
//
// A [Client] only reads. Every call is one GET with a bearer token, is bounded in
// time and size, and follows no redirect, so that the token reaches the named server
// and no other. A token with the right `applications, get` is enough for all methods
// but [Client.Project]. What the server refuses comes back as an [*Error], which says
// what to do about it; the token never appears in one.
//
// [Session] reads what `argocd login` left behind:
//
//	config, err := argocd.Session(data, "")   // the current context
//	client, err := argocd.New(config)
//	app, err := client.Application(ctx, argocd.Ref{Name: "shop"})
//
// A session with --core has no API server to ask and is refused, as is one through
// a port-forward of the CLI's own, which ended with it.
package argocd
