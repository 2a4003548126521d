package drift

import "slices"

// Sync is what `argocd app sync` would do now, with the Application's own sync
// options and prune policy and no further flags.
type Sync string

// The effects of a sync, in the order of their severity.
const (
	NothingToDo      Sync = "nothing-to-do"
	Noop             Sync = "noop"              // succeeds and changes nothing
	HarmlessFlap     Sync = "harmless-flap"     // rewrites an equivalent spelling, and is rewritten back
	Safe             Sync = "safe"              // does what Git says, and nobody loses anything
	Waits            Sync = "wait"              // an operation is in flight or stuck
	Blocked          Sync = "blocked"           // cannot start
	WillFail         Sync = "will-fail"         // starts and ends in an error
	FightsController Sync = "fights-controller" // a controller writes its value again
	OverwritesLive   Sync = "overwrites-live"   // reverts a change that somebody may want
	Destructive      Sync = "destructive"       // deletes or blanks data
)

// Effects are all effects, the most harmless first.
var Effects = []Sync{NothingToDo, Noop, HarmlessFlap, Safe, Waits, Blocked, WillFail, FightsController, OverwritesLive, Destructive}

// Severity orders effects; a greater one is worse. An unknown effect is worst.
func (s Sync) Severity() int {
	i := slices.Index(Effects, s)
	if i < 0 {
		return len(Effects)
	}
	return i
}

// Worse returns the worse of two effects.
func Worse(a, b Sync) Sync {
	if b.Severity() > a.Severity() {
		return b
	}
	return a
}

// Summary says what the effect means to the person who would press the button.
func (s Sync) Summary() string {
	return map[Sync]string{
		NothingToDo:      "There is nothing to sync.",
		Noop:             "A sync succeeds and changes nothing.",
		HarmlessFlap:     "A sync rewrites an equivalent value, which is rewritten back.",
		Safe:             "A sync does what Git says, and nothing is lost.",
		Waits:            "An operation is running or stuck; a sync has to wait for its end.",
		Blocked:          "A sync cannot start.",
		WillFail:         "A sync will fail.",
		FightsController: "A sync overwrites what a controller wrote, and the controller writes it again.",
		OverwritesLive:   "A sync overwrites a live change that somebody may want.",
		Destructive:      "A sync deletes or blanks data.",
	}[s]
}

// effects say in words what a sync does, after "a sync" or "it".
var effects = map[Sync]string{
	NothingToDo:      "there is nothing to do",
	Noop:             "succeeds and changes nothing",
	HarmlessFlap:     "rewrites an equal spelling, which is rewritten back",
	Safe:             "does what Git says, and nobody loses anything",
	Waits:            "an operation is running or stuck, and has to end first",
	Blocked:          "cannot start",
	WillFail:         "starts and ends in an error",
	FightsController: "writes what a controller writes back",
	OverwritesLive:   "reverts a change that somebody may want",
	Destructive:      "deletes or blanks data",
}

// Effect says in words what a sync does, after "a sync" or "it".
func (s Sync) Effect() string {
	if words, known := effects[s]; known {
		return words
	}
	return string(s)
}

// Effect says in words what a sync does about the finding, without "a sync".
func (f *Finding) Effect() string {
	switch {
	case f.Mechanism == SyncWindowBlocked && f.Sync == Blocked && f.Summary != f.Mechanism.Summary():
		return "cannot start by itself, but goes through by hand"
	case f.Mechanism == TTLDeleted && f.Sync == OverwritesLive:
		return "runs it again"
	case f.Mechanism == RolloutRestart && f.Sync == OverwritesLive:
		return "restarts the Pods again"
	case f.Mechanism.has(rendered) && f.Sync.Severity() >= OverwritesLive.Severity():
		return "replaces the value in use"
	case f.Sync == Noop && f.staysOutOfSync():
		return "succeeds and changes nothing, so it stays OutOfSync"
	}
	return f.Sync.Effect()
}

// Differs reports whether the finding is about a difference that Argo CD flags; other
// findings are about what keeps it from comparing, syncing or getting healthy.
func (f *Finding) Differs() bool {
	return f.Flagged && (len(f.Fields) > 0 || f.Mechanism.has(traceless))
}

// staysOutOfSync reports whether a sync that changes nothing leaves the difference.
func (f *Finding) staysOutOfSync() bool {
	return f.Differs() && f.Mechanism != ExcludedResource && f.Mechanism != HookLeftover
}
