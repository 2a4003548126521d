package extension

import (
	"cmp"
	"os"

	"github.com/spf13/pflag"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// Connection holds the flags that say how to reach Argo CD, for the commands that belong
// to no part. Without flag or environment there is no Argo CD to ask.
type Connection struct{ connection connection }

// Flags adds the flags, under the names that the argocd CLI gives them.
func (c *Connection) Flags(flags *pflag.FlagSet) {
	c.connection.flagsElse(flags, "; the argocd CLI's session only with --config or --argocd-context")
}

// Named reports whether an Argo CD is named.
func (c *Connection) Named() bool {
	return cmp.Or(c.connection.server, c.connection.context, c.connection.config, os.Getenv(serverVariable)) != ""
}

// Client connects; a mistake in the flags carries its exit code.
func (c *Connection) Client() (*argocd.Client, error) {
	if c.connection.context == "" && c.connection.config == "" {
		c.connection.config = os.DevNull // nobody's session
	}
	return c.connection.client()
}
