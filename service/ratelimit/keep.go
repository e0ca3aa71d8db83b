package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
)

// KeepEvery is how often a Keeper writes. A process that is killed loses the counts since.
const KeepEvery = 5 * time.Second

// keepTimeout bounds one write.
const keepTimeout = 10 * time.Second

// Keeper saves Local's counts in the database, so that a restart does not reset quotas: the
// windows of an hour and longer, of keys, owners and projects. Counts of addresses are not
// saved: there can be very many, and they are personal data.
type Keeper struct {
	DB    *models.DB
	Local *Local
	Log   *slog.Logger

	failing bool
}

// Load adds the saved counts to those since the start. Call it once, before Run.
func (k *Keeper) Load(ctx context.Context, now time.Time) error {
	err := k.DB.Read(ctx).ScanLimitCounts(now.Unix(), func(row models.LimitCount) error {
		by, known := policy.ParseDimension(row.Dimension)
		window, alsoKnown := snapshot.ParseWindow(row.Period)
		if !known || !alsoKnown {
			return nil // from a newer version of this program
		}
		c := k.Local.lock(policy.Bucket{Project: row.ProjectID, By: by, Subject: row.Subject}, now)
		// Calls were counted already if the database was unreachable at the start.
		if have := &c.windows[window]; have.start <= row.StartsAt {
			if have.start < row.StartsAt {
				*have = counted{start: row.StartsAt}
			}
			have.calls += row.Calls
		}
		c.mu.Unlock()
		return nil
	})
	if err != nil {
		return fmt.Errorf("ratelimit: read the counters: %w", err)
	}
	return nil
}

// Run saves the counts until ctx ends. Call Save after it, once no more calls are counted.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(KeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.logFailure(k.Save(context.WithoutCancel(ctx)))
		}
	}
}

// logFailure logs when saving begins to fail and when it works again.
func (k *Keeper) logFailure(err error) {
	switch {
	case err != nil && !k.failing:
		k.Log.Error("could not write rate limit counters; keeping them in memory", "error", err)
	case err == nil && k.failing:
		k.Log.Info("rate limit counters are being written again")
	}
	k.failing = err != nil
}

// Save writes the counts that have changed since the last Save. After an error they are
// written the next time.
func (k *Keeper) Save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	rows, taken := k.Local.changed()
	err := k.DB.Write(ctx, func(tx *models.Tx) error { return tx.KeepLimitCounts(rows, models.Now().Unix()) })
	if err != nil {
		for _, c := range taken {
			c.mu.Lock()
			c.changed = true
			c.mu.Unlock()
		}
		return fmt.Errorf("ratelimit: store %d counters: %w", len(rows), err)
	}
	return nil
}

// changed returns the counts that were not written yet, with their counters.
func (l *Local) changed() (rows []models.LimitCount, taken []*counter) {
	for i := range l.shards {
		for b, c := range l.shards[i].lasting() {
			c.mu.Lock()
			if c.changed {
				c.changed = false
				rows, taken = c.rows(b, rows), append(taken, c)
			}
			c.mu.Unlock()
		}
	}
	return rows, taken
}

// lasting copies the counters that are saved. A call that holds a counter looks up the next
// one in a shard, so a counter must not be locked while the shard is locked (deadlock).
func (s *shard) lasting() map[policy.Bucket]*counter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make(map[policy.Bucket]*counter, len(s.counters)-s.byIP)
	for b, c := range s.counters {
		if b.By != policy.ByIP {
			out[b] = c
		}
	}
	return out
}

func (c *counter) rows(b policy.Bucket, rows []models.LimitCount) []models.LimitCount {
	for w := snapshot.Hour; int(w) < snapshot.Windows; w++ {
		if c.windows[w].calls == 0 {
			continue
		}
		_, end := policy.WindowBounds(w, time.Unix(c.windows[w].start, 0))
		rows = append(rows, models.LimitCount{
			ProjectID: b.Project,
			Dimension: b.By.String(),
			Subject:   b.Subject,
			Period:    w.String(),
			StartsAt:  c.windows[w].start,
			EndsAt:    end,
			Calls:     c.windows[w].calls,
		})
	}
	return rows
}
