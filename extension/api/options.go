package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Explainer answers from a snapshot that was posted, which it reads itself: it must be
// of the Application that it names.
type Explainer interface {
	// Classify explains a snapshot.
	Classify(ctx context.Context, posted report.Posted) (*report.Answer, error)
	// Try says what further ignore rules would do to it.
	Try(ctx context.Context, posted report.Posted, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error)
	// Rollback writes what brings back what the plan deletes; of a collected snapshot too,
	// where the question has that instead.
	Rollback(ctx context.Context, about report.Question) ([]byte, error)
}

// Collector answers from what a token of Argo CD may read.
type Collector interface {
	// Report explains an Application.
	Report(ctx context.Context, ref argocd.Ref) (*report.Answer, error)
	// Snapshot is what Report explains. It is shared, nobody changes it.
	Snapshot(ctx context.Context, ref argocd.Ref) (*drift.Snapshot, error)
	// Preview says what further ignore rules would do to that.
	Preview(ctx context.Context, snapshot *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error)
}

// Reporter answers; [report.Service] is one.
type Reporter interface {
	Explainer
	Collector
}

// Rate is how often something may happen: PerSecond in the long run, Burst at once.
// The zero Rate stands for a default, a negative PerSecond for no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Options say what is served and to whom. Zero values stand for the defaults, where
// there are any.
type Options struct {
	// Reporter answers; it must be given.
	Reporter Reporter
	// Secrets are the ones accepted now, two while they are being changed. None, or
	// no function, refuses everything.
	Secrets func() [][]byte
	// Namespaces are those of the Applications served, as globs or /regular
	// expressions/ like Argo CD's own application.namespaces; default Argo CD's
	// namespace alone.
	Namespaces []string
	// ArgoCDNamespace is where Argo CD lives; default "argocd".
	ArgoCDNamespace string
	// ArgoCDVersion is told by capabilities; "" where it is not known.
	ArgoCDVersion string
	// TokenMode tells that the Reporter can collect, so that capabilities say so.
	TokenMode bool
	// Version is Moorpin's.
	Version string
	// Ready is asked by /readyz; nil is always ready.
	Ready func() bool

	// MaxBody bounds one body, unpacked, and MaxHeld all that are held at once, in
	// bytes; default 32 MiB and twice MaxBody.
	MaxBody, MaxHeld int64
	// Timeout bounds one request; default 9s, because Argo CD's page gives up at 10s.
	Timeout time.Duration
	// PerUser and Global are how often it may be asked; default 50 a second with 500
	// at once for a user, 1000 with 2000 at once for all.
	PerUser, Global Rate

	// Logger gets one line a request; default none.
	Logger *slog.Logger
	// Registry gets the metrics; default a new one that nobody reads.
	Registry *prometheus.Registry
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Defaults of [Options].
const (
	DefaultMaxBody = 32 << 20
	DefaultTimeout = 9 * time.Second

	defaultNamespace = "argocd"
)

// withDefaults fills in what is not given and refuses what cannot be meant.
func (o Options) withDefaults() (Options, error) {
	if o.Reporter == nil {
		return Options{}, errors.New("extension API: there is no reporter to answer")
	}
	if o.Secrets == nil {
		o.Secrets = func() [][]byte { return nil }
	}
	if o.ArgoCDNamespace == "" {
		o.ArgoCDNamespace = defaultNamespace
	}
	o.Namespaces = slices.Clone(o.Namespaces)
	if len(o.Namespaces) == 0 {
		o.Namespaces = []string{o.ArgoCDNamespace}
	}
	for _, pattern := range o.Namespaces {
		if err := CheckPattern(pattern); err != nil {
			return Options{}, fmt.Errorf("extension API: application namespaces: %w", err)
		}
	}
	if o.Ready == nil {
		o.Ready = func() bool { return true }
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.MaxHeld <= 0 {
		o.MaxHeld = 2 * o.MaxBody
	}
	if o.MaxHeld < o.MaxBody {
		return Options{}, fmt.Errorf("extension API: %d bytes of bodies at once are less than the %d of one: raise the former or lower the latter", o.MaxHeld, o.MaxBody)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.PerUser = o.PerUser.orDefault(Rate{PerSecond: 50, Burst: 500})
	o.Global = o.Global.orDefault(Rate{PerSecond: 1000, Burst: 2000})
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

func (r Rate) orDefault(fallback Rate) Rate {
	if r == (Rate{}) {
		return fallback
	}
	if r.PerSecond > 0 && r.Burst < 1 {
		r.Burst = 1 // else nothing would ever be allowed
	}
	return r
}

// CheckPattern refuses a pattern that Argo CD's matching would take for one that
// matches nothing.
func CheckPattern(pattern string) error {
	if pattern == "" {
		return errors.New("an empty pattern matches nothing: leave it out")
	}
	if len(pattern) > 1 && strings.HasPrefix(pattern, "/") && strings.HasSuffix(pattern, "/") {
		// Argo CD's dialect knows more, such as looking ahead; what is refused here
		// is what Go's cannot read either way, apart from that.
		if _, err := regexp.Compile(pattern[1 : len(pattern)-1]); err != nil && !strings.Contains(pattern, "(?") {
			return fmt.Errorf("%q is no regular expression: %w", pattern, err)
		}
		return nil
	}
	if _, err := glob.MatchWithError(pattern, "x"); err != nil {
		return fmt.Errorf("%q is no glob: %w", pattern, err)
	}
	return nil
}

// serves reports whether Applications of the namespace may be asked about.
func (o Options) serves(namespace string) bool {
	return glob.MatchStringInList(o.Namespaces, namespace, glob.REGEXP)
}
