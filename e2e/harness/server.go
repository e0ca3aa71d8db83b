// Package harness has the parts that end-to-end tests share. It starts Postern inside the test's process or as a
// program, opens a browser for a person who uses the dashboard, and sends calls to the servers under test.
//
// It owns nothing that only one package of tests needs, and no assertion about a page or a fault. Databases,
// browsers, identity providers and upstreams are testkit's.
package harness

import (
	"context"
	"log/slog"
	"testing"

	"postern/app"
	"postern/platform/config"
	"postern/testkit/state"
)

// Start starts a server in the process of the test.
func Start(t *testing.T) *app.App {
	t.Helper()
	return StartWith(t, func(*config.Config) {})
}

// StartWith starts a server whose configuration the test has changed.
func StartWith(t *testing.T, change func(*config.Config)) *app.App {
	t.Helper()
	settings := config.Default()
	settings.ControlAddr, settings.GatewayAddr, settings.DataDir = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	settings.Drain = 0
	state.Wait(&settings)
	if _, err := state.SQLiteIn(settings.DataDir); err != nil {
		t.Fatal(err)
	}
	change(&settings)
	a, err := app.New(t.Context(), settings, "test", slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return a
}
