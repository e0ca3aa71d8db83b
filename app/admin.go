package app

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"

	"postern/handlers"
)

// newAdmin creates the server of the admin address, which requires no credential: profiles of the Go runtime, and the
// metrics and probes of the control plane.
func (a *App) newAdmin(control *handlers.Server) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.Handle("GET /metrics", control.Metrics)
	probes := control.Probes()
	all := http.NewServeMux()
	all.Handle("GET /healthz", probes) // for any Host, as on the other listeners
	all.Handle("GET /readyz", probes)
	all.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if err := control.CheckHost(r, a.adminName()); err != nil {
			control.WriteProblem(w, r, err)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return &http.Server{
		Handler:           all,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}

// adminName returns the host of the admin address, as it is configured.
func (a *App) adminName() string {
	host, _, _ := net.SplitHostPort(a.Config.AdminAddr)
	return host
}

// warnOfAdmin logs that other machines may reach the admin address: a profile can hold
// parts of secrets, and taking one costs time.
func (a *App) warnOfAdmin() {
	if a.listeners.admin == nil {
		return
	}
	address, err := netip.ParseAddrPort(a.listeners.admin.Addr().String())
	if err != nil || !address.Addr().IsLoopback() {
		a.log.Warn("the admin address doesn't require a credential: make it available only to your monitoring system",
			"address", a.listeners.admin.Addr())
	}
}

// closeListener closes a listener that may be nil.
func closeListener(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}
