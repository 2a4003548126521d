package report

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// Answer is a report with what tells it from another.
type Answer struct {
	Report *drift.Report `json:"report"`
	// Version is the same for the same answer, byte for byte.
	Version string `json:"version"`
	// ComparedAt is when Argo CD compared, CollectedAt when the snapshot was made; RFC 3339.
	ComparedAt  string `json:"comparedAt,omitempty"`
	CollectedAt string `json:"collectedAt,omitempty"`
	// Warnings say what could not be had or was not heeded, one sentence each.
	Warnings []string `json:"warnings,omitempty"`
	// Project and UID are those of the collected Application that the report is about,
	// for whoever decides who may read it; "" where a snapshot was sent.
	Project string `json:"-"`
	UID     string `json:"-"`
	// Encoded is the answer in JSON. It is shared, as the report is: do not change it.
	Encoded []byte `json:"-"`
}

// renew makes the report, or finds that the last one still holds.
func (s *Service) renew(ctx context.Context, ref argocd.Ref) (*known, error) {
	last, has := s.answers.get(ref.String())
	if has && s.since(last.checked) < s.options.Fresh {
		return last, nil // made while this asker came
	}
	if has && s.since(last.made) < s.maxAge() {
		versions, err := detached(ctx, s, s.collecting, func(ctx context.Context) (string, error) { return s.versions(ctx, ref) })
		if err != nil {
			return nil, err
		}
		if versions == last.versions {
			return s.keep(ref, &known{answer: last.answer, versions: versions, checked: s.options.Collect.Now(), made: last.made}), nil
		}
	}
	made, err := detached(ctx, s, s.collecting, func(ctx context.Context) (*collected, error) { return s.gather(ctx, ref) })
	if err != nil {
		return nil, err
	}
	answer, err := detached(ctx, s, s.classifying, func(ctx context.Context) (*Answer, error) {
		about := Answer{CollectedAt: made.at.UTC().Format(time.RFC3339), Warnings: made.warnings, Project: projectOf(made.snapshot.Application), UID: uidOf(made.snapshot.Application)}
		return s.explain(ctx, made.snapshot, about, made.versions)
	})
	if err != nil {
		return nil, err
	}
	found := s.keep(ref, &known{answer: answer, versions: made.versions, checked: made.at, made: made.at})
	s.snapshots.put(snapshotKey(ref, found), made.snapshot, sizeOf(made.snapshot))
	return found, nil
}

// keep keeps an answer. Report and encoding hold about the same.
func (s *Service) keep(ref argocd.Ref, found *known) *known {
	s.answers.put(ref.String(), found, int64(3*len(found.answer.Encoded)+len(found.versions)))
	return found
}

// collected is a snapshot with what the service notes of it.
type collected struct {
	snapshot *drift.Snapshot
	warnings []string
	versions string
	at       time.Time
}

func (s *Service) gather(ctx context.Context, ref argocd.Ref) (*collected, error) {
	at := s.options.Collect.Now()
	settings := s.world.read(ctx, at)
	snapshot, warnings, err := s.collect(ctx, ref)
	if err != nil {
		return nil, err
	}
	versions := []string{versionOfApp(snapshot.Application)}
	if project, ok := collectedProject(snapshot); ok {
		versions = append(versions, versionOfProject(project))
	}
	for _, r := range snapshot.Resources {
		if !r.Hook {
			versions = append(versions, versionOf(r.ResourceRef, r.Target, r.Live))
		}
	}
	return &collected{snapshot: snapshot, warnings: warnings, versions: digest(append(versions, settings)), at: at}, nil
}

func (s *Service) collect(ctx context.Context, ref argocd.Ref) (*drift.Snapshot, []string, error) {
	defer s.observed("collect")()
	return Collect(ctx, s.options.Client, ref, s.options.Collect)
}

// versions asks for what a report rests on, and for nothing else.
func (s *Service) versions(ctx context.Context, ref argocd.Ref) (string, error) {
	defer s.observed("revalidate")()
	app, err := s.options.Client.Application(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("read the application again: %w", err)
	}
	managed, err := s.options.Client.ManagedResources(ctx, ref)
	if err != nil && !(&collector{app: app}).incomparable(err) {
		return "", fmt.Errorf("read the resources again: %w", err)
	}
	versions := []string{versionOfApp(app)}
	// Its windows and lists decide what a sync would do. Who may not read it never has it.
	if project, err := s.options.Client.Project(ctx, projectOf(app)); err == nil {
		versions = append(versions, versionOfProject(project))
	}
	for _, m := range managed {
		versions = append(versions, versionOf(drift.ResourceRef{Group: m.Group, Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}, m.Target, m.Live))
	}
	return digest(append(versions, s.world.read(ctx, s.options.Collect.Now()))), nil
}

func versionOfApp(app map[string]any) string {
	metadata, _ := app["metadata"].(map[string]any)
	return "Application " + str(metadata, "uid") + " " + str(metadata, "resourceVersion")
}

func versionOfProject(project map[string]any) string {
	metadata, _ := project["metadata"].(map[string]any)
	return "AppProject " + str(metadata, "uid") + " " + str(metadata, "resourceVersion")
}

// collectedProject is the Application's AppProject, which may be one of its resources.
func collectedProject(s *drift.Snapshot) (map[string]any, bool) {
	name := projectOf(s.Application)
	its := func(o map[string]any) bool {
		ref := refOf(o)
		return ref.Group == argocd.Group && ref.Kind == "AppProject" && ref.Name == name
	}
	if i := slices.IndexFunc(s.Related, its); i >= 0 {
		return s.Related[i], true
	}
	if i := slices.IndexFunc(s.Resources, func(r drift.Resource) bool { return its(r.Live) }); i >= 0 {
		return s.Resources[i].Live, true
	}
	return nil, false
}

// projectOf is the project of an Application; one that names none is in the default one.
func projectOf(app map[string]any) string {
	spec, _ := app["spec"].(map[string]any)
	return cmp.Or(str(spec, "project"), argocd.DefaultProject)
}

func versionOf(ref drift.ResourceRef, target, live map[string]any) string {
	metadata, _ := live["metadata"].(map[string]any)
	return fmt.Sprintf("%s/%s/%s/%s %t %s %s", ref.Group, ref.Kind, ref.Namespace, ref.Name, target != nil, str(metadata, "uid"), str(metadata, "resourceVersion"))
}

func digest(lines []string) string {
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// explain classifies a masked snapshot and writes the answer.
func (s *Service) explain(ctx context.Context, snapshot *drift.Snapshot, answer Answer, versions string) (*Answer, error) {
	defer s.observed("classify")()
	report, err := classify.Classify(ctx, snapshot, classify.Options{Prove: true, Guard: true})
	if err != nil {
		return nil, unreadable(ctx, err)
	}
	answer.Report = report
	answer.Warnings = append(slices.Clone(answer.Warnings), report.Unheeded...)
	status, _ := snapshot.Application["status"].(map[string]any)
	answer.ComparedAt = str(status, "reconciledAt")
	plain, err := json.Marshal(&answer)
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	answer.Version = digest([]string{string(plain), versions})
	if answer.Encoded, err = json.Marshal(&answer); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return &answer, nil
}

// world is what all reports rest on: Argo CD's version and settings.
type world struct {
	client *argocd.Client

	guard  sync.Mutex
	last   string
	readAt time.Time
}

// read is a digest of it. What cannot be had leaves the last one in force.
func (w *world) read(ctx context.Context, now time.Time) string {
	w.guard.Lock()
	last, at := w.last, w.readAt
	w.guard.Unlock()
	if !at.IsZero() && now.Sub(at) < settled {
		return last
	}
	version, errVersion := w.client.Version(ctx)
	settings, errSettings := w.client.Settings(ctx)
	data, err := json.Marshal(settings)
	if cmp.Or(errVersion, errSettings, err) != nil {
		return last
	}
	read := digest([]string{version, string(data)})
	w.guard.Lock()
	defer w.guard.Unlock()
	w.last, w.readAt = read, now
	return read
}
