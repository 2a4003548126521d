// Command prepare builds every program of the control plane that the cache
// lacks, so that the tests which need one do not spend their time limit on it.
// It takes minutes once, and a moment after that:
//
//	go run ./e2e/controlplane/prepare
//	MOORPIN_ARGOCD=v3.1 go run ./e2e/controlplane/prepare
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	release, err := controlplane.FindRelease(os.Getenv(controlplane.ReleaseEnv))
	if err == nil {
		err = controlplane.Build(ctx, release, os.Stderr)
	}
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err) // nothing is left to tell it to
		os.Exit(1)
	}
}
