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
