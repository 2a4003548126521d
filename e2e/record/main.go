// Record records cases of the drift classifier's corpus on a real control plane.
//
// It plays the scenarios of package scenarios whose names match -run, and writes one
// file a case below -out, where the label stands already. A scenario whose label is not what Argo CD saw writes nothing
// and fails the run; with -show it prints the two states that Argo CD compared.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/e2e/record/scenarios"
)

func main() {
	pattern := flag.String("run", ".", "regular expression of the names of the scenarios to play")
	out := flag.String("out", "pkg/drift/testdata/cases", "folder of the corpus")
	show := flag.String("show", "", "folder for the cases whose label is wrong, to look at")
	check := flag.Bool("sync", false, "sync for real after recording, and report where the label says otherwise")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *pattern, player{out: *out, show: *show, sync: *check})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, pattern string, play player) (err error) {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("read -run: %w", err)
	}
	var chosen []recorder.Scenario
	for _, scenario := range scenarios.All() {
		if wanted.MatchString(scenario.Name) {
			chosen = append(chosen, scenario)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no scenario matches %q", pattern)
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{ArgoCD: true, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	return recorder.Run(ctx, plane, chosen, func(ctx context.Context, scenario recorder.Scenario) error {
		err := play.scenario(ctx, plane, scenario)
		fmt.Fprintln(os.Stderr, verdict(err), scenario.Name)
		return err
	})
}

// player plays scenarios.
type player struct {
	out, show string
	sync      bool
}

func (p player) scenario(ctx context.Context, plane *controlplane.Plane, scenario recorder.Scenario) (err error) {
	label, err := cases.Label(p.out, scenario.Name)
	if err != nil {
		return err
	}
	stage, err := recorder.Open(ctx, plane, scenario)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close(ctx)) }()
	if err := stage.Inject(ctx); err != nil {
		return err
	}
	recorded, err := stage.Case(ctx, label)
	if err != nil {
		return errors.Join(err, dump(p.show, recorded))
	}
	if err := cases.Write(p.out, *recorded); err != nil || !p.sync {
		return err
	}
	return stage.CheckSync(ctx, recorded)
}

func verdict(err error) string {
	if err != nil {
		return "not ok"
	}
	return "ok    "
}

// dump writes what has a wrong label to the folder, if there is one.
func dump(folder string, recorded *cases.Case) error {
	if folder == "" || recorded == nil {
		return nil
	}
	data, err := json.MarshalIndent(recorded, "", " ")
	if err != nil {
		return fmt.Errorf("encode case: %w", err)
	}
	path := filepath.Join(folder, filepath.FromSlash(recorded.Name)+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("show case: %w", err)
	}
	return os.WriteFile(path, data, 0o644)
}
