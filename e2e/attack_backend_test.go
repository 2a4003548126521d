package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/e2e/attack"
)

// besieged is how long each wave of attacks lasts.
const besieged = 8 * time.Second

// crowds are the attackers that all ask about one Application, slow those who send or
// read slowly beside everything else, slowReaders those who do nothing but that.
const crowds, slow, slowReaders = 8, 8, 250

// hostileProject is that of the attackers, who have several users and many Applications.
const hostileProject, hostileUsers = "mallory", 4

// shippedBackend is the container of manifests/components/extension, without what says
// where things are.
func shippedBackend(t *testing.T) (args, env []string, memory int64) {
	t.Helper()
	text, err := os.ReadFile("../manifests/components/extension/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var deployment appsv1.Deployment
		if err := yaml.Unmarshal([]byte(document), &deployment); err != nil || deployment.Kind != "Deployment" {
			continue
		}
		container := deployment.Spec.Template.Spec.Containers[0]
		args = slices.DeleteFunc(container.Args, func(arg string) bool { return strings.Contains(arg, "/") || strings.Contains(arg, "$") })
		for _, variable := range container.Env {
			if variable.ValueFrom == nil {
				env = append(env, variable.Name+"="+variable.Value)
			}
		}
		memory = container.Resources.Limits.Memory().Value()
	}
	if memory == 0 || !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--worker-memory=") }) || len(env) != 1 {
		t.Fatalf("the component's bounds are not found: %v %v %d", args, env, memory)
	}
	return args, env, memory
}

// siege is a backend with those who ask it.
type siege struct {
	*backend

	guard sync.Mutex
	// answers counts what came of each attack, and peace of the honest.
	answers map[string]map[string]int
	honest  map[string]int
}

// TestAttackBackend: with the limits of the component, in a control group of its size,
// neither everything at once that takes memory and time, nor what takes most of it over and
// over, nor hundreds who do not take their answers end the backend or have the kernel kill
// a process of it. Meanwhile all honest requests of other projects are answered, at once and
// rightly, and each attack is told which bound it has passed.
func TestAttackBackend(t *testing.T) {
	args, env, memory := shippedBackend(t)
	group := newControlGroup(t, memory)
	token, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, "--secret-file", secretFile(t, proxySecret), "--server", heavyArgoCD(t), "--auth-token-file", secretFile(t, token), "--log-level", "error")
	s := &siege{
		backend: startBackendIn(t, surroundings{wrapper: group.enter(), env: env}, args...),
		answers: map[string]map[string]int{}, honest: map[string]int{},
	}
	before := s.peace(t)
	armed := s.arm(t)
	s.wave(t, before, besieged, func(ctx context.Context, again func(func())) { s.everything(ctx, t, armed, again) })
	s.wave(t, before, besieged, func(ctx context.Context, again func(func())) { s.heaviest(ctx, t, armed, again) })
	s.warm(t)
	s.wave(t, before, besieged, func(ctx context.Context, again func(func())) { s.readers(ctx, t, again) })
	select {
	case <-s.done:
		t.Errorf("the backend has ended: %v", s.err)
	default:
	}
	killed, peak := group.read(t)
	if killed > 0 {
		t.Errorf("the kernel killed %d processes for memory", killed)
	}
	s.tell(t)
	t.Logf("at most %d MiB of %d were in use, %.0f by the backend itself at the end", peak>>20, memory>>20, s.memory(t))
}

// armed are attacks that are ready to be sent: each about an Application of its own, and
// some about one.
type armed struct{ own, crowd []weapon }

type weapon struct {
	attack.Post
	asking

	name string
}

func (s *siege) arm(t *testing.T) armed {
	t.Helper()
	posts := attack.Posts()
	names := slices.Sorted(maps.Keys(posts))
	found := armed{make([]weapon, len(names)), make([]weapon, crowds)}
	one := func(i int, name, app string) weapon {
		return weapon{posts[name], asking{http.MethodPost, posts[name].Route, fmt.Sprint("mallory-", i%hostileUsers), app, hostileProject, packed(t, posts[name].Body(app, hostileProject))}, name}
	}
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { found.own[i] = one(i, name, fmt.Sprint("hostile-", i)) })
	}
	for i := range crowds {
		all.Go(func() { found.crowd[i] = one(i, names[i*len(names)/crowds], "crowded") })
	}
	all.Wait()
	for name, post := range attack.Collected() {
		found.own = append(found.own, weapon{post, asking{http.MethodGet, post.Route, "mallory-0", name, hostileProject, nil}, name})
	}
	return found
}

// wave lets attackers and the honest ask for a while.
func (s *siege) wave(t *testing.T, before map[string]string, lasts time.Duration, attackers func(ctx context.Context, again func(func()))) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var all sync.WaitGroup
	s.honest = map[string]int{}
	attackers(ctx, func(do func()) {
		all.Go(func() {
			for ctx.Err() == nil {
				do()
			}
		})
	})
	s.honests(ctx, t, &all, before)
	all.Wait()
	t.Logf("the honest: %v; the backend itself has %.0f MiB", s.honest, s.memory(t))
}

// everything sends all that is armed, over and over, and some of it slowly.
func (s *siege) everything(ctx context.Context, t *testing.T, armed armed, again func(func())) {
	t.Helper()
	for _, each := range slices.Concat(armed.own, armed.crowd) {
		again(func() { s.attack(ctx, t, each) })
	}
	for i := range slow {
		again(func() { s.slowBody(ctx, t, i) })
		again(func() { s.slowReader(ctx, t, armed.named("large answer").asking) })
	}
}

// heaviest sends a few that take all the time and memory that they may, and have turns all
// the time.
func (s *siege) heaviest(ctx context.Context, t *testing.T, armed armed, again func(func())) {
	t.Helper()
	for _, name := range []string{"jq that walks", "pointers", "most differences", "YAML in a text", "Secrets", "full body"} {
		again(func() { s.attack(ctx, t, armed.named(name)) })
	}
}

// warm has the backend make the large report, which it keeps.
func (s *siege) warm(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		answer, err := s.call(asking{http.MethodGet, "/api/v1/report", "mallory-0", attack.Large, hostileProject, nil}).do(t.Context())
		if err == nil && answer.status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is no large report: %v %d %.300s", err, answer.status, answer.body)
		}
	}
}

// readers asks for large answers on many connections, and reads little of each.
func (s *siege) readers(ctx context.Context, t *testing.T, again func(func())) {
	t.Helper()
	for i := range slowReaders {
		again(func() {
			s.slowReader(ctx, t, asking{http.MethodGet, "/api/v1/report/resource?kind=ConfigMap&namespace=web&name=c0", fmt.Sprint("mallory-", i%hostileUsers), attack.Large, hostileProject, nil})
		})
	}
}

func (a armed) named(name string) weapon {
	return a.own[slices.IndexFunc(a.own, func(w weapon) bool { return w.name == name })]
}
