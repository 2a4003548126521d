package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"time"

	"github.com/moorpin/moorpin/cmp/receive"
)

// The variables of the caller that say for whom a render is.
const (
	envProject = "ARGOCD_APP_PROJECT_NAME" // from Argo CD v3 on
	envRepo    = "ARGOCD_APP_SOURCE_REPO_URL"
)

// tenant is whom a turn is for: an Application, and what it shares with others.
type tenant struct {
	// project is the AppProject or, where Argo CD does not say it, the repository.
	project string
	// application is the Application or, without one, the folder that is rendered;
	// it is empty for the project as a whole.
	application string
}

// tenantOf reads the tenant of a request. Repositories choose neither variable.
func tenantOf(metadata receive.Metadata) tenant {
	env := metadata.Env
	return tenant{
		project:     short(cmp.Or(env[envProject], env[envRepo])),
		application: short(cmp.Or(env[envName], path.Clean(metadata.AppRelPath))),
	}
}

// short bounds what is remembered of a name; Kubernetes' own have up to 253 bytes,
// and a namespace in front.
func short(name string) string {
	const most = 512
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// whole is the tenant's project.
func (t tenant) whole() tenant { return tenant{project: t.project} }

// effort is how much of its time a turn took.
type effort int

const (
	light effort = iota
	long         // more than half of what the request had
	whole        // all of it, or all the processor time of a render
)

// lateFor is how long an Application that used up a whole deadline comes after the
// others. One that takes more than half of it comes after them from the second time
// within as long: renders of a large repository take long once, after each commit. Neither renders that end in time nor names that are new shorten it:
// whoever owns several Applications would take turns with them.
const lateFor = 5 * time.Minute

// record is what is remembered of a tenant.
type record struct {
	lastTurn  int       // number of the last turn that it got, 0 for none
	lateUntil time.Time // zero when no render used up its deadline
	inTime    bool      // some render ended in time
	longUntil time.Time // until when another long render makes late; zero before the first
}

// maxRemembered bounds the tenants of a generation.
const maxRemembered = 10_000

// history remembers tenants in two generations, so that those that come no more are
// forgotten. Its zero value is empty.
type history struct {
	young, old map[tenant]record
}

func (h *history) of(who tenant) record {
	if found, ok := h.young[who]; ok {
		return found
	}
	return h.old[who]
}

func (h *history) put(who tenant, what record) {
	if len(h.young) >= maxRemembered {
		h.old, h.young = h.young, nil
	}
	if h.young == nil {
		h.young = map[tenant]record{}
	}
	h.young[who] = what
}

// late says whether the tenant comes after the others: it used up a deadline lately,
// or is new in a project where another has. That an Application without a past is
// trusted ends there, or a project of many would use up a deadline with each.
func (h *history) late(who tenant, now time.Time) bool {
	own := h.of(who)
	if now.Before(own.lateUntil) {
		return true
	}
	return !own.inTime && now.Before(h.of(who.whole()).lateUntil)
}

// served notes the number of a turn.
func (h *history) served(who tenant, turn int) {
	for _, each := range []tenant{who, who.whole()} {
		found := h.of(each)
		found.lastTurn = turn
		h.put(each, found)
	}
}

// ended notes how a turn ended.
func (h *history) ended(who tenant, took effort, now time.Time) {
	own, project := h.of(who), h.of(who.whole())
	again := now.Before(own.longUntil)
	if took == long {
		own.longUntil = now.Add(lateFor)
	}
	if took == light || took == long && !again {
		own.inTime = true
		h.put(who, own)
		return
	}
	own.lateUntil, project.lateUntil = now.Add(lateFor), now.Add(lateFor)
	h.put(who, own)
	h.put(who.whole(), project)
}

// heardFor is how long a project counts that has asked for something: Argo CD renders
// every Application once a day, whatever happens.
const heardFor = 24 * time.Hour

// neighbours are the two projects that asked last. That is all it takes to know whether
// a project is alone. Its zero value has heard of none.
type neighbours [2]struct {
	project string
	until   time.Time
}

func (n *neighbours) hear(project string, now time.Time) {
	if n[0].project != project {
		n[1] = n[0]
	}
	n[0].project, n[0].until = project, now.Add(heardFor)
}

// heardOf reports whether there are others than this project.
func (n *neighbours) heardOf(project string, now time.Time) bool {
	for _, each := range n {
		if each.project != project && now.Before(each.until) {
			return true
		}
	}
	return false
}
