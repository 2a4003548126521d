package drift

import (
	"slices"
	"strings"
)

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

// rendered are the mechanisms that put another value in the place of one in use,
// which nobody changed live.
var rendered = []Mechanism{RandomRender, TimestampRender, ChecksumChurn}

// Effect says in words what a sync does about the finding, without "a sync".
func (f *Finding) Effect() string {
	switch {
	case f.Mechanism == TTLDeleted && f.Sync == OverwritesLive:
		return "runs it again"
	case f.Mechanism == RolloutRestart && f.Sync == OverwritesLive:
		return "restarts the Pods again"
	case slices.Contains(rendered, f.Mechanism) && f.Sync.Severity() >= OverwritesLive.Severity():
		return "replaces the value in use"
	case f.Sync == Noop && f.staysOutOfSync():
		return "succeeds and changes nothing, so it stays OutOfSync"
	}
	if words, known := effects[f.Sync]; known {
		return words
	}
	return string(f.Sync)
}

// withoutTrace are the mechanisms about what only one side has: a difference though
// no field is named.
var withoutTrace = append([]Mechanism{
	ResourceMissing, PendingPrune, PruneProtected, HookLeftover, TTLDeleted, TrackingLabelCopied, ExcludedResource, GitAhead,
}, slices.DeleteFunc(slices.Clone(failures), func(m Mechanism) bool { return m == DeletionStuck })...)

// differs reports whether the finding is about a difference that Argo CD flags; other
// findings are about what keeps it from comparing, syncing or getting healthy.
func (f *Finding) differs() bool {
	return f.Flagged && (len(f.Fields) > 0 || slices.Contains(withoutTrace, f.Mechanism))
}

// staysOutOfSync reports whether a sync that changes nothing leaves the difference.
func (f *Finding) staysOutOfSync() bool {
	return f.differs() && f.Mechanism != ExcludedResource && f.Mechanism != HookLeftover
}

// outlook is what a sync of the whole Application does: the worst of the findings,
// and where it fails although something else of it is worse.
func outlook(report *Report) string {
	said := strings.TrimSuffix(report.Sync.Summary(), ".")
	var worst []*Finding
	var failing []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Sync == report.Sync {
			worst = append(worst, f)
		}
		if f.Sync == WillFail && f.Resource.Kind != "Application" {
			failing = append(failing, f.Resource.Kind+" "+f.Resource.Name)
		}
	}
	if len(worst) > 0 && !slices.ContainsFunc(worst, func(f *Finding) bool { return f.Effect() != worst[0].Effect() }) && worst[0].Effect() != effects[report.Sync] {
		said = "A sync " + worst[0].Effect()
	}
	switch failing = unique(failing); {
	case len(failing) == 0:
	case report.Sync == WillFail:
		said = "A sync fails at " + some(failing)
	default:
		said += "; it fails at " + some(failing) + ", of which it then writes nothing"
	}
	return said + "."
}
