package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"github.com/moorpin/moorpin/extension/mcp"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/cli"
)

const mcpHelp = `Serve the classifier's answers as tools of the Model Context Protocol, for assistants
that diagnose Applications: which ones drift, why one does, resource by resource, what
an ignore rule would hide, and what a mechanism is. The tools only read.

By default the server speaks over standard input and output, as assistants start it.
With --http it serves streamable HTTP at /mcp. A bare port listens on 127.0.0.1. Every
request over HTTP needs the token that --token-file holds; the file may change while the
server runs. Requests under a foreign Host or from a web page of another origin are
refused. There is no TLS: beyond this machine, put something before it that has.

Only Applications of the namespaces in --application-namespaces are answered about, by
default those of Argo CD's own namespace. What the token of Argo CD may not read, the
tools cannot, either: one with "applications, get" is enough, and ought to have no more.
The values of Secrets are masked.

--kubeconfig names the cluster that Argo CD itself runs in. Of what lives there the
answers tell only what has to do with the Application, and only of Applications whose
destination it is.`

const mcpExample = `  # in the configuration of an assistant
  {"mcpServers": {"moorpin": {"command": "moorpin", "args": ["extension", "mcp", "--server", "cd.example.com"]}}}

  # over HTTP
  openssl rand -hex 32 > token
  moorpin extension mcp --http 8765 --token-file token --application-namespaces 'argocd,team-*'`

// Limits of the HTTP server; the tools have their own.
const (
	mcpConnections = 64
	mcpReadTimeout = 15 * time.Second
	mcpGrace       = 5 * time.Second
)

// assisting holds the flags of mcp.
type assisting struct {
	connection            connection
	namespaces, hosts     []string
	home, kubeconfig      string
	address, tokenFile    string
	logFormat, logLevel   string
	collectFor, answerFor time.Duration
}

func mcpCommand() *cobra.Command {
	var a assisting
	command := &cobra.Command{
		Use: "mcp", Short: "Serve the answers to assistants, as tools of the Model Context Protocol",
		Long: mcpHelp, Example: mcpExample, Args: cobra.NoArgs,
		RunE: coded(func(command *cobra.Command, _ []string) error { return a.run(command) }),
	}
	flags := command.Flags()
	a.connection.flags(flags)
	flags.StringSliceVar(&a.namespaces, "application-namespaces", nil, "`NAMESPACES` whose Applications may be asked about: names, globs, or regular expressions between slashes (default that of Argo CD)")
	flags.StringVar(&a.home, "argocd-namespace", "argocd", "`NAMESPACE` of Argo CD, that of an Application named without one")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster that Argo CD runs in, for objects of Applications that go there which Argo CD's API does not give")
	flags.StringVar(&a.address, "http", "", "`[HOST:]PORT` to serve streamable HTTP at, instead of standard input and output")
	flags.StringVar(&a.tokenFile, "token-file", "", "`FILE` with the bearer token that callers over HTTP must send")
	flags.StringSliceVar(&a.hosts, "http-host", nil, "further `NAME` of this server in the Host header, beside localhost and its address")
	flags.DurationVar(&a.collectFor, "collect-timeout", 20*time.Second, "give up collecting an Application after this time, and explaining it after the same")
	flags.DurationVar(&a.answerFor, "timeout", time.Minute, "give up a call after this time")
	flags.StringVar(&a.logFormat, "log-format", "text", "`FORMAT` of the log on standard error: text or json")
	flags.StringVar(&a.logLevel, "log-level", "info", "least `LEVEL` that is logged: debug, info, warn or error")
	return command
}

func (a *assisting) run(command *cobra.Command) error {
	log, err := cli.Logger(command.ErrOrStderr(), a.logFormat, a.logLevel)
	if err != nil {
		return err
	}
	if err := a.validate(); err != nil {
		return cli.Mistake(err)
	}
	server, err := a.server(log)
	if err != nil {
		return err
	}
	if a.address != "" {
		return a.overHTTP(command.Context(), server, log)
	}
	err = server.Run(command.Context(), &sdk.IOTransport{Reader: io.NopCloser(command.InOrStdin()), Writer: unclosed{command.OutOrStdout()}})
	if err != nil && !errors.Is(err, io.EOF) && command.Context().Err() == nil {
		return fmt.Errorf("serve over standard input: %w", err)
	}
	return nil
}

func (a *assisting) validate() error {
	if a.collectFor <= 0 || a.answerFor <= 0 {
		return errors.New("--collect-timeout and --timeout must be greater than 0")
	}
	if a.address == "" {
		if a.tokenFile != "" || len(a.hosts) > 0 {
			return errors.New("--token-file and --http-host are for --http: over standard input, whoever started the server asks")
		}
		return nil
	}
	if a.tokenFile == "" {
		return errors.New("--http: name the file of the token that callers must send with --token-file; make one with `openssl rand -hex 32`")
	}
	if _, err := readSecret(a.tokenFile); err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	return nil
}

// server makes the tools on a service that asks Argo CD.
func (a *assisting) server(log *slog.Logger) (*sdk.Server, error) {
	client, err := a.connection.client()
	if err != nil {
		return nil, err
	}
	collect, err := a.collecting()
	if err != nil {
		return nil, err
	}
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	server, err := mcp.New(mcp.Options{
		Reporter:     report.NewService(report.ServiceOptions{Client: client, Collect: collect, Timeout: a.collectFor}),
		Applications: client.AllApplications, Home: a.home, Namespaces: a.namespaces,
		Version: version, Timeout: a.answerFor, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("make the tools: %w", err)
	}
	return server, nil
}

// collecting says what snapshots are made of. Applications go to many clusters; the one
// that is named is Argo CD's own.
func (a *assisting) collecting() (report.Options, error) {
	options := report.Options{Now: time.Now, Home: true}
	if a.kubeconfig == "" {
		return options, nil
	}
	objects, err := cluster(a.kubeconfig)
	if err != nil {
		return report.Options{}, err
	}
	options.Cluster = objects
	return options, nil
}

// overHTTP serves until ctx ends, and gives calls that run some time to end.
func (a *assisting) overHTTP(ctx context.Context, server *sdk.Server, log *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", loopback(a.address))
	if err != nil {
		return cli.Mistake(fmt.Errorf("--http: %w", err))
	}
	if address, ok := listener.Addr().(*net.TCPAddr); ok && !address.IP.IsLoopback() {
		log.Warn("callers beyond this machine send the token over plain HTTP: put something with TLS before this port", "address", address.String())
	}
	handler := mcp.Handler(server, mcp.HTTPOptions{Token: func() ([]byte, error) { return readSecret(a.tokenFile) }, Hosts: a.hosts, Log: log})
	web := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: mcpReadTimeout, WriteTimeout: mcpReadTimeout + a.answerFor + replyMargin,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	log.Info("serving", "what", "Model Context Protocol", "url", "http://"+listener.Addr().String()+mcp.Path)
	failed := make(chan error, 1)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { failed <- web.Serve(netutil.LimitListener(listener, mcpConnections)) })
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), mcpGrace)
	defer cancel()
	if err := web.Shutdown(patience); err != nil {
		return errors.Join(web.Close()) // calls that outlive the grace are cut off
	}
	return nil
}

// loopback is the address to listen at: a bare port is for this machine alone.
func loopback(address string) string {
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		return net.JoinHostPort("127.0.0.1", address)
	}
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// unclosed is standard output, which others close.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
