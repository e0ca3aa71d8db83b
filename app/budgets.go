package app

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"postern/core/policy"
	"postern/gateway"
	"postern/gateway/admission"
	"postern/platform/config"
)

// Shares of the file descriptors, in eighths. Each connection to the gateway may need
// another one to an upstream; the rest is for the database and files.
const (
	gatewayEighths = 3
	controlEighths = 1
)

// share bounds a configured number of connections by its share of the descriptors, so
// that a flood on one listener leaves some for the other one, upstreams and the
// database. descriptors is 0 if their number is unknown.
func share(configured, eighths int, descriptors uint64) int {
	if descriptors == 0 {
		return configured
	}
	return min(configured, max(1, int(descriptors/8)*eighths))
}

// warnOfShares warns about each listener that takes fewer connections than configured. A server
// that only its own machine can reach does not need that many.
func warnOfShares(c config.Config, descriptors uint64, log *slog.Logger) {
	if c.LoopbackOnly() {
		return
	}
	for _, listener := range []struct {
		name                string
		open                bool
		configured, eighths int
	}{
		{"gateway", c.Roles.Gateway, c.MaxConns, gatewayEighths},
		{"control", c.Roles.Control, c.ControlMaxConns, controlEighths},
	} {
		if !listener.open {
			continue
		}
		most := share(listener.configured, listener.eighths, descriptors)
		if most < listener.configured {
			log.Warn("allowing fewer connections than configured, because this process can't open enough files; "+
				"raise the limit with ulimit -n",
				"listener", listener.name, "connections", most, "configured", listener.configured, "files", descriptors)
		}
	}
}

// callLimits returns the bounds on connections to the gateway, and on calls.
func callLimits(c config.Config, descriptors uint64) gateway.Limits {
	return gateway.Limits{
		Conns:        share(c.MaxConns, gatewayEighths, descriptors),
		ConnsFromOne: c.MaxConnsFrom,

		InProgress:        int64(c.MaxCalls),
		InProgressFromOne: int64(c.MaxCallsFrom),
		BodyRate:          int64(c.MinBodyRate),

		Bodies:      int64(c.BodyMemory) << 20,
		BodiesOfOne: int64(c.BodyMemoryOfOne) << 20,
	}
}

// boundControl returns the control plane's listener with bounds on its connections.
func boundControl(
	l net.Listener, c config.Config, descriptors uint64, waiting *waiting, log *slog.Logger,
) *admission.Listener {
	most := share(c.ControlMaxConns, controlEighths, descriptors)
	fromOne := c.ControlMaxConnsFrom
	if fromOne == 0 {
		fromOne = max(1, most/2)
	}
	return &admission.Listener{
		Listener:   l,
		Name:       "control",
		Max:        most,
		PerAddress: fromOne,
		Exempt:     func(a netip.Addr) bool { return policy.Contains(c.Trusted, a) },
		MakeRoom:   waiting.endOne,
		Log:        log,
	}
}

// waiting are the connections of an http.Server that wait for a request.
type waiting struct {
	mu    sync.Mutex
	since map[net.Conn]time.Time
}

// note records a connection's state. It is the server's ConnState.
func (w *waiting) note(conn net.Conn, state http.ConnState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch state {
	case http.StateNew, http.StateIdle:
		if w.since == nil {
			w.since = map[net.Conn]time.Time{}
		}
		w.since[conn] = time.Now()
	default:
		delete(w.since, conn)
	}
}

// candidates is how many connections endOne chooses from.
const candidates = 16

// endOne ends a waiting connection, if there is one: of some random candidates the one
// that has waited longest. The server closes the connection when its read fails.
func (w *waiting) endOne() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var oldest net.Conn
	seen := 0
	for conn, since := range w.since {
		if oldest == nil || since.Before(w.since[oldest]) {
			oldest = conn
		}
		if seen++; seen == candidates {
			break
		}
	}
	if oldest != nil {
		_ = oldest.SetReadDeadline(time.Unix(1, 0))
	}
}
