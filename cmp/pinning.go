package cmp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/pkg/catalog"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/kube"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// pinning holds the flags that say what is pinned and where the schemas come
// from, the same for every command.
type pinning struct {
	mode       string
	crds       []string
	rules      string
	kubeconfig string
}

const annotationsHelp = `An object says itself what is left alone:

  metadata:
    annotations:
      moorpin.dev/pin: atomic         # or all, or none, for this object
      moorpin.dev/skip: /spec/target, /spec/data/*/remoteRef

atomic pins only the defaults inside lists and maps that have one owner as a whole,
which are the ones that Argo CD flags under ServerSideApply=true. Never pinned are
status, the field behind a scale subresource's specReplicasPath, and objects whose
schema is not known, not served by the destination, or converted by a webhook.

`

const rulesHelp = annotationsHelp + `A --rules file adds to the built-in table of what is dropped and left alone:

  drop:                         # values that their controller removes
    - group: argoproj.io
      kind: Application
      pointers: [/spec/x/*/y]   # RFC 6901; * stands for any item or key
      value: ""                 # the value that is dropped, as JSON
      by: what drops it         # for the explanation
      source: where that can be read    # optional
  skip:                         # fields that are never changed
    - group: apps.example.com
      kind: Web
      pointers: [/spec/replicas]`

func (p *pinning) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&p.mode, "pin", string(pin.ModeAll), "`MODE` of pinning: all defaults; atomic, only those inside atomic lists and maps that Git sets; none, change nothing")
	flags.StringArrayVar(&p.crds, "crds", nil, "`PATH` of a file, or of a folder with its sub-folders, that holds CRDs (YAML or JSON, may be gzipped); repeatable, the first that has a kind counts")
	flags.StringVar(&p.rules, "rules", "", "`FILE` with what else is dropped or left alone, see above")
}

func (p *pinning) kubeconfigFlag(command *cobra.Command, help string) {
	command.Flags().StringVar(&p.kubeconfig, "kubeconfig", "", help)
}

// options reads what the flags name, the live cluster aside. warn is told what
// was passed over.
func (p *pinning) options(warn func(string)) (pin.Options, error) {
	mode, err := pin.ParseMode(p.mode)
	if err != nil {
		return pin.Options{}, cli.Mistake(fmt.Errorf("--pin: %w", err))
	}
	options := pin.Options{Mode: mode}
	if p.rules != "" {
		options.Rules, err = readRules(p.rules)
		if err != nil {
			return pin.Options{}, err
		}
	}
	set, warnings, err := catalog.Load(p.crds...)
	if err != nil {
		return pin.Options{}, cli.Mistake(fmt.Errorf("--crds: %w", err))
	}
	for _, warning := range warnings {
		warn(string(warning))
	}
	options.Schemas = set
	return options, nil
}

// rulesText is the file of --rules as it stands, which [pinning.options] has found good.
func (p *pinning) rulesText() (rulesFile, error) {
	if p.rules == "" {
		return rulesFile{}, nil
	}
	text, err := os.ReadFile(p.rules)
	if err != nil {
		return rulesFile{}, cli.Mistake(fmt.Errorf("--rules: %w", err))
	}
	return rulesFile{name: p.rules, text: text}, nil
}

func readRules(file string) (*pin.Rules, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--rules: %w", err))
	}
	rules, err := pin.ParseRules(file, data)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--rules: %w", err))
	}
	return pin.DefaultRules().With(rules), nil
}

// clusterPatience is how long a command that runs once waits for the cluster.
const clusterPatience = 15 * time.Second

// withCluster puts the CRDs of the kubeconfig's cluster above those of
// options, read once.
func (p *pinning) withCluster(ctx context.Context, options pin.Options, log *slog.Logger) (pin.Options, error) {
	if p.kubeconfig == "" {
		return options, nil
	}
	config, err := kube.Config(p.kubeconfig)
	if err != nil {
		return options, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
	}
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	live, err := kube.WatchCRDs(ctx, config, log)
	if err != nil {
		return options, fmt.Errorf("--kubeconfig: %w", err)
	}
	err = live.WaitSynced(ctx)
	if err != nil {
		return options, cli.Mistake(fmt.Errorf("--kubeconfig: the cluster's CRDs could not be read within %s: %w", clusterPatience, err))
	}
	options.Schemas = schema.Layer(live.Current(), options.Schemas)
	return options, nil
}

// liveMode says whether a cluster's CRDs are watched.
type liveMode string

const (
	liveAuto liveMode = "auto"
	liveOn   liveMode = "on"
	liveOff  liveMode = "off"
)

// watch starts the live source, if there is to be one.
func (p *pinning) watch(ctx context.Context, mode liveMode, log *slog.Logger) (*kube.CRDs, bool, error) {
	if mode == liveOff {
		log.Info("no cluster is watched for CRDs: --live=off")
		return nil, false, nil
	}
	config, err := kube.Config(p.kubeconfig)
	if errors.Is(err, kube.ErrNoCluster) && mode == liveAuto {
		log.Info("no cluster is watched for CRDs: name one with --kubeconfig, or give the pod a service account that may get, list and watch CRDs, with automountServiceAccountToken")
		return nil, false, nil
	}
	if err != nil {
		return nil, false, cli.Mistake(fmt.Errorf("--live=%s: %w", mode, err))
	}
	live, err := kube.WatchCRDs(ctx, config, log)
	if err != nil {
		return nil, false, fmt.Errorf("watch CRDs: %w", err)
	}
	return live, true, nil
}
