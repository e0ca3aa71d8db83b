package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"postern/gateway"
	"postern/service/ratelimit"
)

type limiter interface {
	gateway.Limiter
	io.Closer
}

// newLimiter counts in Redis where there is one, for all replicas together, and
// otherwise in memory, from where the database keeps it over a restart.
func (a *App) newLimiter() (limiter, error) {
	if url := a.Config.RedisURL.Reveal(); url != "" {
		shared, err := ratelimit.NewRedis(ratelimit.RedisOptions{URL: url, Open: a.Config.RedisFailsOpen, Log: a.log})
		if err != nil {
			return nil, fmt.Errorf("--redis-url: %w", err)
		}
		return shared, nil
	}
	local := ratelimit.NewLocal()
	a.keeper = &ratelimit.Keeper{DB: a.state.db, Local: local, Log: a.log}
	return local, nil
}

// keepCounts is nothing to do where Redis keeps them.
func (a *App) keepCounts(ctx context.Context) {
	if a.keeper != nil {
		a.keeper.Run(ctx)
	}
}

func (a *App) saveCounts(ctx context.Context) error {
	if a.keeper == nil {
		return nil
	}
	return a.keeper.Save(ctx)
}

func (a *App) loadCounts(ctx context.Context) error {
	if a.keeper == nil {
		return nil
	}
	return a.keeper.Load(ctx, time.Now())
}
