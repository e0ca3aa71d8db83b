package web

import (
	"context"
	"sync"
	"time"

	"postern/models"
	"postern/platform/fault"
)

// LogCause logs the cause of an error that the answer does not show. An outage of the
// database fails all requests alike, and is logged at most once a second.
func (s *Site) LogCause(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil: // the caller is gone
	case models.Unavailable(err):
		if failed := s.outage.add(time.Now()); failed > 0 {
			s.logOf(ctx).Error("the database does not answer", "requests", failed, "error", err)
		}
	case fault.KindOf(err) == fault.Internal:
		s.logOf(ctx).Error("a request failed", "error", err)
	}
}

// outageLog counts the requests that failed since the last log line.
type outageLog struct {
	mu     sync.Mutex
	logged time.Time
	failed int
}

// add counts a failed request. It returns how many requests a log line now stands for,
// or 0 if none is due.
func (o *outageLog) add(now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed++
	if now.Sub(o.logged) < time.Second {
		return 0
	}
	failed := o.failed
	o.logged, o.failed = now, 0
	return failed
}
