package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

func tree(o any, path ...string) object {
	for _, name := range path {
		o = o.(object)[name]
	}
	return o.(object)
}

func TestReportIsKeptWhileNothingChanges(t *testing.T) {
	rows := map[string]struct {
		reason string
		pass   time.Duration
		change func(*fake)
		want   map[string]int
		same   bool
	}{
		"within Fresh":              {"nobody is asked", 4 * time.Second, nil, map[string]int{"collect": 1, "cached": 1}, true},
		"after Fresh":               {"the versions are asked for, and are the same", 6 * time.Second, nil, map[string]int{"collect": 1, "revalidate": 1, "classify": 1}, true},
		"the Application changes":   {"Argo CD compared again", 6 * time.Second, func(f *fake) { tree(f.answers[appPath], "metadata")["resourceVersion"] = "2" }, map[string]int{"collect": 2, "revalidate": 1, "classify": 2}, false},
		"a live object changes":     {"it may differ now", 6 * time.Second, func(f *fake) { f.answers[appPath+"/managed-resources"] = managed("7", true) }, map[string]int{"collect": 2, "revalidate": 1, "classify": 2}, false},
		"Git has a resource more":   {"it is to be created", 6 * time.Second, func(f *fake) { f.answers[appPath+"/managed-resources"] = managed("1", false) }, map[string]int{"collect": 2, "revalidate": 1, "classify": 2}, false},
		"settings change":           {"they decide what differs", time.Minute, func(f *fake) { tree(f.answers["/api/v1/settings"])["trackingMethod"] = "label" }, map[string]int{"collect": 2, "revalidate": 1, "classify": 2}, false},
		"settings cannot be read":   {"they are taken for unchanged", time.Minute, func(f *fake) { delete(f.answers, "/api/v1/settings") }, map[string]int{"collect": 1, "revalidate": 1, "classify": 1}, true},
		"windows change":            {"they decide what a sync would do", 6 * time.Second, func(f *fake) { f.answers["/api/v1/projects/team"] = project("2") }, map[string]int{"collect": 2, "revalidate": 1, "classify": 2}, false},
		"much later":                {"rules about time see another time", 6 * time.Minute, nil, map[string]int{"collect": 2, "revalidate": 0, "classify": 2}, false},
		"the Application is gone":   {"an old report is not given", 6 * time.Second, func(f *fake) { f.answers[appPath] = http.StatusNotFound }, map[string]int{"collect": 1}, false},
		"the resources are refused": {"an old report is not given", 6 * time.Second, func(f *fake) { delete(f.answers, appPath+"/managed-resources") }, map[string]int{"collect": 1}, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			from := &plane{fake: shop(t)}
			from.fake.answers[appPath+"/managed-resources"] = managed("1", true)
			from.fake.answers["/api/v1/projects/team"] = project("1")
			at, seen := newClock(), &steps{}
			s := report.NewService(report.ServiceOptions{Client: from.client(t), Collect: report.Options{Now: at.now}, Observe: seen.observe, Timeout: time.Minute})
			first, err := s.Report(t.Context(), shopRef)
			if err != nil {
				t.Fatal(err)
			}
			at.pass(row.pass)
			if row.change != nil {
				from.change(row.change)
			}
			second, err := s.Report(t.Context(), shopRef)
			if fails := strings.Contains(row.reason, "is not given"); fails != (err != nil) {
				t.Fatalf("%s: %v", row.reason, err)
			}
			for step, want := range row.want {
				if got := seen.of(step); got != want {
					t.Errorf("%s: %s %d times, want %d", row.reason, step, got, want)
				}
			}
			if err == nil && (second.Version == first.Version && bytes.Equal(first.Encoded, second.Encoded)) != row.same {
				t.Errorf("%s: the version is the same: %v", row.reason, !row.same)
			}
		})
	}
}

// TestReportOfAClusterIsKeptShortly: no version tells of what changes there.
func TestReportOfAClusterIsKeptShortly(t *testing.T) {
	for name, row := range map[string]struct {
		collect report.Options
		want    int
	}{
		"Argo CD alone": {report.Options{}, 1},
		"a cluster too": {report.Options{Cluster: &cluster{}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			from, at, seen := &plane{fake: shop(t)}, newClock(), &steps{}
			row.collect.Now = at.now
			s := report.NewService(report.ServiceOptions{Client: from.client(t), Collect: row.collect, Observe: seen.observe, Timeout: time.Minute})
			for range 2 {
				if _, err := s.Report(t.Context(), shopRef); err != nil {
					t.Fatal(err)
				}
				at.pass(61 * time.Second)
			}
			if got := seen.of("collect"); got != row.want {
				t.Errorf("collected %d times, want %d", got, row.want)
			}
		})
	}
}

// project is the AppProject at a version.
func project(version string) object {
	return object{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": object{"name": "team", "uid": "p", "resourceVersion": version}}
}

// managed is a Deployment at a version, with what Git renders or without.
func managed(version string, both bool) object {
	live := object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "front", "namespace": "web", "uid": "u", "resourceVersion": version}}
	item := object{"group": "apps", "kind": "Deployment", "namespace": "web", "name": "front", "liveState": encode(live)}
	if both {
		item["targetState"] = encode(object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "front", "namespace": "web"}, "spec": object{"replicas": 2}})
	}
	return object{"items": []any{item}}
}

func encode(o any) string {
	data, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func TestAnswer(t *testing.T) {
	from := &plane{fake: shop(t)}
	from.fake.answers[appPath+"/managed-resources"] = managed("1", true)
	tree(from.fake.answers[appPath], "metadata")["uid"] = "uid-shop"
	tree(from.fake.answers[appPath], "status")["reconciledAt"] = "2026-05-04T03:00:00Z"
	at := newClock()
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Collect: report.Options{Now: at.now}})
	answer, err := s.Report(t.Context(), shopRef)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Project != "team" || answer.UID != "uid-shop" || strings.Contains(string(answer.Encoded), "uid-shop") {
		t.Errorf("the answer is about %s of project %s: %s", answer.UID, answer.Project, answer.Encoded)
	}
	if answer.ComparedAt != "2026-05-04T03:00:00Z" || answer.CollectedAt != "2026-05-04T03:02:01Z" || answer.Version == "" || len(answer.Warnings) == 0 {
		t.Errorf("compared %s, collected %s, version %s, warnings %q", answer.ComparedAt, answer.CollectedAt, answer.Version, answer.Warnings)
	}
	var again report.Answer
	if err := json.Unmarshal(answer.Encoded, &again); err != nil || again.Version != answer.Version || again.Report.Application != "argocd/shop" {
		t.Errorf("encoded: %v, %s", err, answer.Encoded)
	}
	snapshot, err := s.Snapshot(t.Context(), shopRef)
	if err != nil {
		t.Fatal(err)
	}
	if count := from.times(appPath + "/managed-resources"); count != 1 || len(snapshot.Resources) == 0 {
		t.Errorf("the snapshot has %d resources, asked for %d times", len(snapshot.Resources), count)
	}
}

// TestConcurrentAskersShareOneCollection also holds that one who stops waiting leaves
// the others alone.
func TestConcurrentAskersShareOneCollection(t *testing.T) {
	from := &plane{fake: shop(t), hold: make(chan struct{})}
	seen := &steps{}
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Observe: seen.observe, Timeout: time.Minute})
	impatient, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Report(impatient, shopRef)
		left <- err
	}()
	for from.waiting(s) == 0 {
		time.Sleep(time.Millisecond)
	}
	const askers = 50
	answers := make(chan *report.Answer, askers)
	failures := make(chan error, askers)
	var running sync.WaitGroup
	for range askers {
		running.Go(func() {
			answer, err := s.Report(t.Context(), shopRef)
			answers <- answer
			failures <- err
		})
	}
	for report.Waiting(s, shopRef) != askers+1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left has %v", err)
	}
	close(from.hold)
	running.Wait()
	first := <-answers
	for range askers - 1 {
		if answer := <-answers; answer != first {
			t.Fatal("the askers have different answers")
		}
	}
	for range askers {
		if err := <-failures; err != nil {
			t.Fatal(err)
		}
	}
	if seen.of("collect") != 1 || seen.of("classify") != 1 || from.times(appPath) != 1 {
		t.Errorf("collected %d times, classified %d times", seen.of("collect"), seen.of("classify"))
	}
}

func (p *plane) waiting(s *report.Service) int { return report.Waiting(s, shopRef) }

// TestNobodyWaitsAnyMore holds that work is given up with the last asker, and that who
// comes later gets a whole answer.
func TestNobodyWaitsAnyMore(t *testing.T) {
	from := &plane{fake: shop(t), hold: make(chan struct{})}
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Workers: 1, Queue: 1, Timeout: time.Minute})
	for range 10 { // more than may work and wait at once
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := s.Report(ctx, shopRef); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
	close(from.hold)
	for range 100 {
		_, err := s.Report(t.Context(), shopRef)
		if err == nil {
			return
		}
		if !errors.Is(err, report.ErrBusy) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the turns are never given back")
}

func TestTimeout(t *testing.T) {
	from := &plane{fake: shop(t), hold: make(chan struct{})}
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Timeout: 30 * time.Millisecond})
	if _, err := s.Report(t.Context(), shopRef); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("have %v", err)
	}
	close(from.hold)
}

func TestBusy(t *testing.T) {
	from := &plane{fake: shop(t), hold: make(chan struct{})}
	for _, name := range []string{"a", "b", "c", "d"} {
		from.fake.answers["/api/v1/applications/"+name] = from.fake.answers[appPath]
	}
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Workers: 1, Queue: 1, Timeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} { // two are collected, one waits
		running.Go(func() { _, _ = s.Report(ctx, argocd.Ref{Name: name}) })
	}
	for report.Waiting(s, argocd.Ref{Name: "a"})+report.Waiting(s, argocd.Ref{Name: "b"})+report.Waiting(s, argocd.Ref{Name: "c"}) != 3 || !report.Full(s) {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.Report(t.Context(), argocd.Ref{Name: "d"}); !errors.Is(err, report.ErrBusy) {
		t.Errorf("have %v", err)
	}
	cancel()
	running.Wait()
	close(from.hold)
}

func TestNoToken(t *testing.T) {
	s := report.NewService(report.ServiceOptions{})
	if _, err := s.Report(t.Context(), shopRef); !errors.Is(err, report.ErrNoToken) {
		t.Errorf("report: %v", err)
	}
	if _, err := s.Snapshot(t.Context(), shopRef); !errors.Is(err, report.ErrNoToken) {
		t.Errorf("snapshot: %v", err)
	}
}

func posted(t testing.TB, secret string) *drift.Snapshot {
	t.Helper()
	snapshot, err := drift.Parse(fmt.Appendf(nil, `
application: {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: shop, namespace: argocd}, spec: {destination: {namespace: web}}}
resources:
- target: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, stringData: {password: %[1]s}}
  live: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {password: b2xk}}
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}, data: {a: git}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, managedFields: [{manager: kubectl-edit, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: live}}
`, secret))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// sent is the snapshot as somebody sends it.
func sent(snapshot *drift.Snapshot) report.Posted {
	return report.Posted{Document: []byte(encode(snapshot))}
}

func TestClassify(t *testing.T) {
	s := report.NewService(report.ServiceOptions{})
	snapshot := posted(t, "hush")
	answer, err := s.Classify(t.Context(), sent(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"hush", encoded("hush"), "b2xk"} {
		if strings.Contains(string(answer.Encoded), word) {
			t.Errorf("%s got out: %s", word, answer.Encoded)
		}
	}
	proven := false
	for _, f := range answer.Report.Findings {
		for _, fix := range f.Fixes {
			proven = proven || fix.Proven
		}
	}
	if !proven {
		t.Error("no fix was tried")
	}
	again, err := s.Classify(t.Context(), sent(posted(t, "hush")))
	if err != nil {
		t.Fatal(err)
	}
	if again.Version != answer.Version || answer.CollectedAt != "" {
		t.Error("the same snapshot has another version")
	}
	snapshot.Settings = drift.Settings{"resource.customizations": "{"}
	if _, err := s.Classify(t.Context(), sent(snapshot)); !errors.Is(err, report.ErrSnapshot) {
		t.Errorf("an unreadable one: %v", err)
	}
}

// TestHostileRules holds that ignore rules which run for ever end in time, with a
// report that says what was left out.
func TestHostileRules(t *testing.T) {
	s := report.NewService(report.ServiceOptions{Timeout: time.Minute})
	snapshot := posted(t, "x")
	var slow []any
	for i := range 20 {
		slow = append(slow, fmt.Sprintf(`.. as $a | .. as $b | .. as $c | .. as $d | .. as $e | .. as $f | .. as $g | select($a == "never%d")`, i))
	}
	slow = append(slow, `select([range(1e12)] | length > 0)`)
	tree(snapshot.Application, "spec")["ignoreDifferences"] = []any{object{"kind": "ConfigMap", "jqPathExpressions": slow}}
	began := time.Now()
	answer, err := s.Classify(t.Context(), sent(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if len(answer.Warnings) != len(slow) {
		t.Errorf("warnings: %q", answer.Warnings)
	}
	rule := []v1alpha1.ResourceIgnoreDifferences{{Kind: "ConfigMap", JQPathExpressions: []string{slow[0].(string)}}}
	if _, err := s.Preview(t.Context(), snapshot, rule); err == nil || errors.Is(err, report.ErrSnapshot) {
		t.Errorf("preview: %v", err)
	}
	rule[0].JQPathExpressions = []string{".data.a"}
	preview, err := s.Preview(t.Context(), snapshot, rule)
	if err != nil {
		t.Fatal(err)
	}
	if len(preview.Hides) != 1 || preview.Remaining != 1 || len(preview.Unheeded) != len(slow) {
		t.Errorf("preview: %+v", preview)
	}
}
