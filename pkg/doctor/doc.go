// Package doctor checks a live installation of Moorpin: what [Gather] reads of it, a
// table of checks judges. Each check answers with a [Status], one sentence, and for what
// is not well the exact remedy, a command or a line of YAML.
//
//	facts := doctor.Gather(ctx, doctor.Sources{Cluster: objects, Namespace: "argocd"})
//	report := doctor.Examine(facts)
//
// It only reads, through the interfaces of [Sources], each of which may be missing. What
// cannot be read is no error: the checks that need it answer [Unknown] and name the right
// that is missing. The value of a Secret is measured and thrown away; no sentence, remedy
// or report holds one.
package doctor
