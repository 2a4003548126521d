// Package api is the HTTP API of Moorpin's backend: what Argo CD's API server calls
// through its proxy for extensions, and the Drift page through it.
//
// [New] makes the handler. Whatever is below /api answers one question about one
// Application, the one that Argo CD's API server has checked the user's rights on. A
// request is refused, and nothing is read or computed for it, unless all of this holds:
//
//   - the header [SecretHeader] carries a secret that is accepted now, which only Argo
//     CD's API server knows;
//   - the headers that name the Application, its project and the user are there once
//     and well-formed (see [argocd.ParseCaller]);
//   - the Application's namespace is on the list of those served;
//   - what is asked about, a posted snapshot included, is that very Application, in
//     that very project;
//   - the user, and all users together, have asked no more than they may.
//
// User and groups decide nothing: they are for the log and for counting. Bodies are
// bounded in size (unpacked), depth, number of values and time, and all that are held
// at once in size together. Nothing from a body and no secret reaches the log.
//
// A valid question, as the backend sees it:
//
//	GET /api/v1/report
//	Moorpin-Secret: ...
//	Argocd-Application-Name: argocd:shop
//	Argocd-Project-Name: default
//
// An invalid one has the first header twice, or a body that says `"name": "bank"` of
// its Application. Every refusal is a [Problem] in JSON with a hint what to do, none
// is 401, so that Argo CD's own refusals can be told apart.
package api
