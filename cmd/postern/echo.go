package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/terminal"
)

func newEcho(t terminal.Terminal) *cobra.Command {
	var addr string
	command := &cobra.Command{
		Use:     "echo",
		Short:   "Run a test upstream that echoes requests",
		Example: "  postern echo --addr 127.0.0.1:9001",
		Args:    terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
				return terminal.UsageError(fmt.Sprintf("--addr must be host:port, such as 127.0.0.1:9000, not %q",
					addr))
			}
			listener, err := app.Listen(c.Context(), addr, "--addr")
			if err != nil {
				return err
			}
			fmt.Fprintf(t.Out, "Listening at http://%s. Press Ctrl-C to stop.\n", listener.Addr())
			return serveUntilDone(c.Context(), &http.Server{
				Handler:           http.HandlerFunc(echo),
				ReadHeaderTimeout: 10 * time.Second,
			}, listener)
		},
	}
	command.Flags().StringVar(&addr, "addr", "127.0.0.1:9000", "address to listen on")
	return command
}

func serveUntilDone(ctx context.Context, server *http.Server, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// echo answers with the request line and header that the upstream received.
func echo(w http.ResponseWriter, r *http.Request) {
	var seen strings.Builder
	fmt.Fprintf(&seen, "%s %s\nHost: %s\n", r.Method, r.RequestURI, r.Host)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			fmt.Fprintf(&seen, "%s: %s\n", name, value)
		}
	}
	answerText(w, seen.String())
}

// echoLine answers with one line: the request, and the consumer the gateway named.
func echoLine(w http.ResponseWriter, r *http.Request) {
	answerText(w, fmt.Sprintf("%s %s for %s", r.Method, r.URL.Path, r.Header.Get("X-Consumer-Username")))
}

func answerText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text)) // fails if the caller has disconnected
}
