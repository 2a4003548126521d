package health

import "maps"

// Class is what a name such as a phase or a reason means.
type Class int

// The classes, the gravest last: of a name's words, the gravest decides.
const (
	// NoClass: the name says nothing.
	NoClass Class = iota
	// Good: all is well.
	Good
	// Wait: something is under way.
	Wait
	// Pause: something was stopped on purpose.
	Pause
	// Bad: something went wrong, and waiting does not mend it.
	Bad
)

// Sense is what one word means. Senses are numbers in the Lua as well.
type Sense int

// The senses of words. The first ones are the classes.
const (
	// SenseRunning: good, but under way for an object that runs to an end.
	SenseRunning Sense = 5
	// SenseNeeded: good, and bad when denied: "valid", "not valid".
	SenseNeeded Sense = 6
	// SenseNot: denies the words that follow.
	SenseNot Sense = 7
	// SenseWarning: in a condition's type, it does not concern health.
	SenseWarning Sense = 9
	// SenseIgnored: keeps a word in -ing from being taken for something under way.
	SenseIgnored Sense = 8
)

// nameLimit is how many bytes of a name are read. It bounds the work of the Lua.
const nameLimit = 64

// vocabulary lists the words of each sense.
var vocabulary = map[Sense][]string{
	Sense(Good): {
		"ready", "active", "available", "healthy", "succeeded", "success", "successful", "complete", "completed",
		"finished", "done", "bound", "ok", "online", "deployed", "installed", "synced", "synchronized", "green", "exists",
		"exist", "created", "provisioned", "applied", "established", "stable", "resolved", "reconciled", "configured",
		"attached", "connected", "enabled", "registered", "issued", "approved", "programmed", "passed", "normal",
		"alive", "working", "operational", "serving", "listening", "updated", "initialized", "validated", "verified",
		"published", "bootstrapped",
	},
	Sense(Wait): {
		"pending", "wait", "waits", "progress", "unavailable", "unready", "queued", "init", "yellow", "unknown", "retry",
		"outdated", "stale", "out", "started", "submitted", "requested", "partial", "partially", "reconciliation",
		"inprogress", "drifted", "deleted", "released", "blocked", "throttled", "incomplete",
	},
	Sense(Pause): {"paused", "pause", "suspended", "suspend", "halted", "stopped", "disabled", "hibernated"},
	Sense(Bad): {
		"failed", "fail", "fails", "failure", "failures", "failing", "error", "errors", "err", "errored", "invalid", "degraded",
		"unhealthy", "crash", "crashed", "crashing", "backoff", "aborted", "rejected", "denied", "forbidden", "unauthorized",
		"exception", "timeout", "timed", "expired", "lost", "broken", "conflict", "conflicts", "conflicting", "conflicted",
		"stalled", "exceeded", "unsupported", "misconfigured", "missing", "incompatible", "fatal", "dead", "red", "malformed",
		"corrupt", "corrupted", "killed", "evicted", "illegal", "violation", "mismatch", "unable", "cannot", "bad", "fallback",
		"insufficient", "unrecoverable", "terminal", "orphan", "orphaned", "unresolved", "canceled",
		"cancelled", "unreachable", "disconnected", "offline", "refused", "revoked", "unsuccessful", "unstable", "unresponsive",
		"inconsistent", "wrong", "panic", "exhausted",
	},
	SenseRunning: {"running"},
	SenseNeeded:  {"valid", "found", "supported", "allowed", "authorized", "permitted", "accepted"},
	SenseNot:     {"not", "no", "non", "never", "without"},
	SenseWarning: {"warning", "warnings"},
	SenseIgnored: {
		"existing", "string", "binding", "routing", "setting", "monitoring", "networking", "logging", "tracing",
		"caching", "mapping", "peering", "thing", "nothing", "everything", "scaling", "autoscaling", "messaging", "eventing", "streaming", "billing", "pricing", "spring", "ring", "king", "sharding",
	},
}

// senses is the vocabulary by word.
var senses = func() map[string]Sense {
	result := map[string]Sense{}
	for _, sense := range []Sense{SenseIgnored, SenseWarning, SenseNot, SenseNeeded, SenseRunning, Sense(Good), Sense(Wait), Sense(Pause), Sense(Bad)} {
		for _, word := range vocabulary[sense] {
			result[word] = sense
		}
	}
	return result
}()

// Leads are the condition types that sum an object up, the most telling first. They
// are looked for when the schema does not say which types are needed. A type such as
// Complete is none of them: it does not say how it went.
func Leads() []string {
	return []string{"Ready", "Available", "Healthy", "Successful", "Succeeded"}
}

// Common returns names of many projects for phases, conditions and reasons, and what they
// mean: [SenseRunning] or a [Class]. They are not taken apart, which is slow in Lua.
func Common() map[string]Sense {
	return maps.Clone(common)
}

var common = func() map[string]Sense {
	result := map[string]Sense{"Running": SenseRunning}
	for _, name := range []string{
		"Ready", "Available", "Healthy", "Successful", "Succeeded", "Synced", "Initialized", "Accepted", "Active", "Completed",
		"Pending", "Waiting", "Creating", "Updating", "Progressing", "Reconciling", "Provisioning", "Deleting", "NotReady",
		"Paused", "Suspended", "Failed", "Error", "Degraded", "Stalled", "Unhealthy", "Invalid", "Rejected",
	} {
		result[name] = Sense(Classify(name))
	}
	return result
}()
