package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// maxUsers is how many users are counted one by one; who has not asked for longest
// is forgotten, and starts anew.
const maxUsers = 10_000

// limits count how often is asked.
type limits struct {
	now     func() time.Time
	perUser Rate
	global  *rate.Limiter
	// adding keeps two first requests of a user from getting a limiter each.
	adding sync.Mutex
	users  *lru.Cache
}

func newLimits(perUser, global Rate, now func() time.Time) *limits {
	return &limits{now: now, perUser: perUser, global: global.limiter(), users: lru.New(maxUsers)}
}

func (r Rate) limiter() *rate.Limiter {
	if r.PerSecond < 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)
}

// allow reports whether the user may ask now. The user is counted first, so that one
// who asks too often takes nothing from the others.
func (l *limits) allow(user string) bool {
	now := l.now()
	return l.of(user).AllowN(now, 1) && l.global.AllowN(now, 1)
}

func (l *limits) of(user string) *rate.Limiter {
	l.adding.Lock()
	defer l.adding.Unlock()
	if found, ok := l.users.Get(user); ok {
		if limiter, ok := found.(*rate.Limiter); ok {
			return limiter
		}
	}
	limiter := l.perUser.limiter()
	l.users.Add(user, limiter)
	return limiter
}
