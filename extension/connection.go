package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/cli"
)

// Environment variables of the argocd CLI.
const (
	serverVariable = "ARGOCD_SERVER"
	tokenVariable  = "ARGOCD_AUTH_TOKEN" //nolint:gosec // G101: a name, no token
	configVariable = "ARGOCD_CONFIG_DIR"
)

// connection holds the flags that say how to reach Argo CD. Their names are those of
// the argocd CLI; a token is no flag, because everybody on the machine sees those.
type connection struct {
	server, rootPath, context string
	config, tokenFile, caFile string
	insecure, plainText       bool
}

func (c *connection) flags(flags *pflag.FlagSet) {
	c.flagsElse(flags, ", else the argocd CLI's session")
}

// flagsElse adds the flags; otherwise says where address and token come from where
// neither a flag nor the environment has them.
func (c *connection) flagsElse(flags *pflag.FlagSet, otherwise string) {
	flags.StringVar(&c.server, "server", "", "`ADDRESS` of Argo CD, HOST:PORT or a URL (default $"+serverVariable+otherwise+")")
	flags.StringVar(&c.tokenFile, "auth-token-file", "", "`FILE` that holds the token (default $"+tokenVariable+otherwise+")")
	flags.StringVar(&c.context, "argocd-context", "", "`NAME` of the argocd CLI's context (default the current one)")
	flags.StringVar(&c.config, "config", "", "`FILE` with the argocd CLI's configuration (default the CLI's own)")
	flags.StringVar(&c.rootPath, "grpc-web-root-path", "", "`PATH` below which Argo CD serves")
	flags.StringVar(&c.caFile, "server-crt", "", "`FILE` with PEM certificates to trust")
	flags.BoolVar(&c.insecure, "insecure", false, "accept any certificate of the server")
	flags.BoolVar(&c.plainText, "plaintext", false, "speak plain HTTP")
}

// client connects as flags say, else the environment, else the argocd CLI's session.
func (c *connection) client() (*argocd.Client, error) {
	config, err := c.resolve()
	if err != nil {
		return nil, cli.Mistake(err)
	}
	client, err := argocd.New(config)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("connect to Argo CD: %w", err))
	}
	return client, nil
}

// explained says what to try where the address is not that of an Argo CD, which is the
// user's mistake.
func explained(err error) error {
	var notJSON *json.SyntaxError
	var noHost *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &noHost):
		return cli.Mistake(fmt.Errorf("%w; is --server right? try --plaintext where it serves plain HTTP", err))
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"), strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return cli.Mistake(fmt.Errorf("%w; is --server right? try --plaintext", err))
	case errors.As(err, &notJSON), strings.Contains(err.Error(), "invalid character '<'"):
		return cli.Mistake(fmt.Errorf("%w; that is not Argo CD's API: check --server and --grpc-web-root-path", err))
	case strings.Contains(err.Error(), "no API of Argo CD"):
		return cli.Mistake(fmt.Errorf("%w (--server, --grpc-web-root-path)", err))
	}
	return err
}

func (c *connection) resolve() (argocd.Config, error) {
	server := c.server
	if server == "" && c.context == "" {
		server = os.Getenv(serverVariable)
	}
	config, err := c.session(server)
	if err != nil {
		return argocd.Config{}, err
	}
	if token, given, err := c.token(); err != nil {
		return argocd.Config{}, err
	} else if given {
		config.Token = token
	}
	if c.rootPath != "" {
		config.RootPath = c.rootPath
	}
	config.Insecure = config.Insecure || c.insecure
	if c.caFile != "" {
		if config.CA, err = os.ReadFile(c.caFile); err != nil {
			return argocd.Config{}, fmt.Errorf("--server-crt: %w", err)
		}
	}
	return config, nil
}

// session is the argocd CLI's: of the named context, else of the named server, whose
// token goes to no other, else the current one. A server without a session is asked
// without a token.
func (c *connection) session(server string) (argocd.Config, error) {
	bare := argocd.Config{URL: argocd.Address(server, c.plainText)}
	data, path, err := c.readConfig()
	if errors.Is(err, fs.ErrNotExist) && c.config == "" && server != "" {
		return bare, nil
	}
	if errors.Is(err, fs.ErrNotExist) && c.config == "" {
		return argocd.Config{}, fmt.Errorf("no Argo CD is named: use --server and --auth-token-file, set %s and %s, or log in with `argocd login`", serverVariable, tokenVariable)
	}
	if err != nil {
		return argocd.Config{}, fmt.Errorf("read the argocd CLI's configuration: %w", err)
	}
	name := c.context
	if name == "" {
		name = host(server) // how `argocd login` names a context
	}
	found, err := argocd.Session(data, name)
	same := server == "" || server == found.URL || server == host(found.URL)
	switch {
	case err == nil && same:
		return found, nil
	case c.context == "" && server != "":
		return bare, nil
	case err == nil:
		return argocd.Config{}, fmt.Errorf("--argocd-context %s is a session with %s, not with %s: its token goes nowhere else", c.context, found.URL, server)
	}
	return argocd.Config{}, fmt.Errorf("%s: %w", path, err)
}

// host is an address without the scheme.
func host(address string) string {
	if _, rest, found := strings.Cut(address, "://"); found {
		return rest
	}
	return address
}

// readConfig reads the argocd CLI's configuration from where it keeps it.
func (c *connection) readConfig() (data []byte, path string, err error) {
	path = c.config
	if path == "" {
		if path, err = defaultConfig(); err != nil {
			return nil, "", err
		}
	}
	data, err = os.ReadFile(path)
	return data, path, err //nolint:wrapcheck // the error names the file
}

func defaultConfig() (string, error) {
	if folder := os.Getenv(configVariable); folder != "" {
		return filepath.Join(folder, "config"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.Join(fs.ErrNotExist, err)
	}
	old := filepath.Join(home, ".argocd")
	if _, err := os.Stat(old); err == nil {
		return filepath.Join(old, "config"), nil
	}
	if folder := os.Getenv("XDG_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, "argocd", "config"), nil
	}
	return filepath.Join(home, ".config", "argocd", "config"), nil
}

// token is the one that a flag or the environment gives, and whether one does.
func (c *connection) token() (string, bool, error) {
	if c.tokenFile == "" {
		token := os.Getenv(tokenVariable)
		return token, token != "", nil
	}
	data, err := os.ReadFile(c.tokenFile)
	if err != nil {
		return "", false, fmt.Errorf("--auth-token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", false, fmt.Errorf("--auth-token-file: %s is empty", c.tokenFile)
	}
	return token, true, nil
}
