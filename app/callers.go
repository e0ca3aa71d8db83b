package app

import (
	"log/slog"

	"postern/config"
	"postern/gateway"
)

// callers bounds the connections to the gateway so that a quarter of the
// descriptors, 0 when their number is not known, is left for upstreams and the
// database: a flood of callers must not keep calls from being answered.
func callers(c config.Config, descriptors uint64, log *slog.Logger) gateway.Limits {
	limits := gateway.Limits{Conns: c.MaxConns, ConnsFromOne: c.MaxConnsFrom}
	if most := descriptors / 4 * 3; descriptors > 0 && uint64(limits.Conns) > most {
		limits.Conns = int(most)
		log.Warn("fewer connections of callers than configured: this process may open few files; raise its limit (ulimit -n)",
			"connections", limits.Conns, "configured", c.MaxConns, "files", descriptors)
	}
	return limits
}
