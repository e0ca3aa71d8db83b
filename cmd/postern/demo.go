package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/app"
	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/config"
	"postern/platform/scratch"
)

func newDemo(t terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Run a short tour that creates, calls and exports a proxy",
		Long: `Run a tour with a temporary database on free local ports. The tour starts an API, puts a
proxy in front of it, calls it with and without a key, exports the project as a zip and
verifies the zip. Everything is removed afterward.`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			terminal.Sweep(t.Err, "")
			dir, remove, err := scratch.Dir("")
			if err != nil {
				return fmt.Errorf("cannot create a temporary directory: %w", err)
			}
			return errors.Join(demonstrate(c.Context(), t, dir), remove())
		},
	}
}

// demonstrate runs a server and an upstream, and the tour against them.
func demonstrate(ctx context.Context, t terminal.Terminal, dir string) (err error) {
	upstream, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot start the demo's API: %w", err)
	}
	api := &http.Server{Handler: http.HandlerFunc(echoLine), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() { defer close(served); _ = api.Serve(upstream) }() // returns after Close
	defer func() { err = errors.Join(err, api.Close()); <-served }()

	server, err := newDemoServer(ctx, dir)
	if err != nil {
		return fmt.Errorf("cannot start the server: %w", err)
	}
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(running) }()
	defer func() { stop(); err = errors.Join(err, <-stopped) }()

	d := &demo{
		out:      t.Out,
		server:   server.Config.PublicURL,
		upstream: "http://" + upstream.Addr().String(),
		zip:      filepath.Join(dir, "shop-kong.zip"),
	}
	return d.tour(ctx)
}

func newDemoServer(ctx context.Context, dir string) (*app.App, error) {
	flags := pflag.NewFlagSet("demo", pflag.ContinueOnError)
	config.AddFlags(flags)
	err := flags.Parse(
		[]string{
			"--data-dir",
			filepath.Join(dir, "data"),
			"--control-addr",
			"127.0.0.1:0",
			"--gateway-addr",
			"127.0.0.1:0",
			"--drain",
			"0s",
		},
	)
	if err != nil {
		return nil, err
	}
	// No variables: the settings of a server on this machine do not change the demo.
	settings, err := config.Load(flags, nil)
	if err != nil {
		return nil, err
	}
	return app.New(ctx, settings, version(), slog.New(slog.DiscardHandler))
}

// demo is the tour, with the results that later steps use.
type demo struct {
	out      io.Writer
	server   string
	upstream string
	zip      string

	proxy contract.Proxy
	api   *client.Client
	step  int
}

// environment returns the proxy's only environment.
func (d *demo) environment() contract.ProxyEnvironment { return d.proxy.Project.Environments[0] }

func (d *demo) key() contract.ProxyKey { return d.proxy.APIKeys[d.environment().Name] }

func (d *demo) tell(format string, args ...any) { fmt.Fprintf(d.out, "   "+format+"\n", args...) }
