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
