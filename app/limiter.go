package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"postern/gateway"
	"postern/models"
	"postern/platform/config"
	"postern/service/ratelimit"
)

type limiter interface {
	gateway.Limiter
	io.Closer
}

// newLimiter returns a limiter that counts in Redis, for all replicas together, if Redis
// is configured. Otherwise it counts in memory, and the keeper saves the counts in the
// database for the next start.
func newLimiter(c config.Config, db *models.DB, log *slog.Logger) (limiter, *ratelimit.Keeper, error) {
	if url := c.RedisURL.Reveal(); url != "" {
		shared, err := ratelimit.NewRedis(ratelimit.RedisOptions{
			URL:   url,
			Open:  c.RedisFailsOpen,
			Log:   log,
			Trace: c.Traces.On(),
		})
		if err != nil {
			return nil, nil, fmt.Errorf("--redis-url: %w", err)
		}
		return shared, nil, nil
	}
	local := ratelimit.NewLocal()
	return local, &ratelimit.Keeper{DB: db, Local: local, Log: log}, nil
}

// keepCounts saves the counts until ctx ends. Counts in Redis need no saving.
func (a *App) keepCounts(ctx context.Context) {
	if a.keeper != nil {
		a.keeper.Run(ctx)
	}
}

func (a *App) saveCounts(ctx context.Context) error {
	if a.keeper == nil || !a.Config.Roles.Gateway {
		return nil
	}
	return a.keeper.Save(ctx)
}

func (a *App) loadCounts(ctx context.Context) error {
	if a.keeper == nil || !a.Config.Roles.Gateway {
		return nil
	}
	return a.keeper.Load(ctx, time.Now())
}
