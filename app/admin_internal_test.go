package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"postern/handlers"
	"postern/handlers/web"
	"postern/platform/config"
)

// The admin address requires no credential, so a page whose name resolves to it (DNS rebinding) gets nothing but
// probes.
func TestNewAdmin_hosts(t *testing.T) {
	c := config.Default().Derived()
	c.AdminAddr, c.PublicURL = "postern-admin:8085", "https://postern.example"
	log := slog.New(slog.DiscardHandler)
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") })
	admin := (&App{Config: c, log: log}).newAdmin(&handlers.Server{
		Site:    &web.Site{Config: c, Log: log},
		Metrics: answers,
	})
	for host, want := range map[string]int{
		"127.0.0.1:8085":     200,
		"[::1]:8085":         200,
		"192.0.2.7:8085":     200,
		"localhost:8085":     200,
		"postern.example":    200,
		"postern-admin:8085": 200,
		"evil.example:8085":  421,
		"":                   421,
	} {
		for path, want := range map[string]int{"/metrics": want, "/debug/pprof/cmdline": want, "/healthz": 200} {
			r := httptest.NewRequest("GET", path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			admin.Handler.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s at %q: %d, want %d", path, host, w.Code, want)
			}
		}
	}
}
