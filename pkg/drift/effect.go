package drift

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
