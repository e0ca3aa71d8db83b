package exports

import (
	"context"
	"fmt"
	"sync"
	"time"

	"postern/platform/fault"
	"postern/service/access"
)

const (
	// Heartbeat is how often Follow sends an export that has not changed.
	Heartbeat = 15 * time.Second

	followEvery  = 500 * time.Millisecond // workers write the progress once a second
	followFor    = time.Minute            // after which the client has to authenticate again
	maxFollowers = 200
)

// Followers counts the readers of Follow in this process, and ends them when it stops. It is
// safe for concurrent use.
type Followers struct {
	mu    sync.Mutex
	count int
	once  sync.Once
	ended chan struct{}
}

// NewFollowers returns an empty count.
func NewFollowers() *Followers { return &Followers{ended: make(chan struct{})} }

// End ends all readers, also those that come later.
func (f *Followers) End() { f.once.Do(func() { close(f.ended) }) }

func (f *Followers) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count >= maxFollowers {
		return false
	}
	f.count++
	return true
}

func (f *Followers) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count--
}

// Follow calls send with the export as it is, after each change, and once in a Heartbeat. It
// returns nil once it has sent the export in a state that it cannot leave by being built, and
// ends with ctx, with the process, after a minute, or with the error of send. Whether the
// principal may still read the export is checked with the rights that it began with. Too
// many readers are refused as TooMany.
//
// A worker of any replica may build the export, so that the database is asked.
func (s *Service) Follow(ctx context.Context, p access.Principal, id string, send func(Export) error) error {
	if !s.Followers.join() {
		return fault.New(fault.TooMany, "too_many_followers", "%d readers follow exports already.", maxFollowers)
	}
	defer s.Followers.leave()
	ctx, stop := context.WithTimeout(ctx, followFor)
	defer stop()
	poll := time.NewTicker(followEvery)
	defer poll.Stop()
	var last Export
	var sentAt time.Time
	for {
		e, err := s.Get(ctx, p, id)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("exports: follow %s: %w", id, err)
		}
		if e.moved(last) || time.Since(sentAt) >= Heartbeat {
			if err := send(e); err != nil {
				return err
			}
			last, sentAt = e, time.Now()
		}
		if e.State != Queued && e.State != Building {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Followers.ended:
			return nil
		case <-poll.C:
		}
	}
}

// moved reports whether an export is at another point than before.
func (e Export) moved(before Export) bool {
	return e.State != before.State || e.Part != before.Part || e.RowsDone != before.RowsDone ||
		e.RowsTotal != before.RowsTotal
}
