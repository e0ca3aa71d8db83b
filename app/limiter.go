package app

import (
	"fmt"
	"io"

	"postern/gateway"
	"postern/ratelimit"
)

type limiter interface {
	gateway.Limiter
	io.Closer
}

// newLimiter counts in Redis where there is one, for all replicas together, and
// otherwise in memory.
func (a *App) newLimiter() (limiter, error) {
	url := a.Config.RedisURL.Reveal()
	if url == "" {
		return ratelimit.NewLocal(), nil
	}
	shared, err := ratelimit.NewRedis(url, a.Config.RedisFailsOpen, a.log)
	if err != nil {
		return nil, fmt.Errorf("--redis-url: %w", err)
	}
	return shared, nil
}
