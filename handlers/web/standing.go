package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/service/access"
)

// An answer that lasts (a stream of events, a download) ends within 5 s of the loss of the right to read it. These add
// up to less, also while checks fail.
const (
	askEvery   = 1500 * time.Millisecond // how often the right is checked
	askFor     = time.Second             // after which a check has failed
	unknownFor = 3 * time.Second         // how long the last check counts while checks fail
	wrapUp     = 500 * time.Millisecond  // in which the answer may end by itself, before its connection is cut
)

// errRightLost is the cause of the context of an answer that its caller may no longer read.
var errRightLost = errors.New("web: the caller can no longer read this response")

// WhileAllowed calls serve, which sends an answer that lasts. It authenticates the request's credential again every
// other second, and asks may whether its principal may still read the answer. Once it may not, the context ends and,
// unless serve returns, the connection is cut. A right that cannot be checked for a few seconds is lost too.
func (s *Site) WhileAllowed(
	c *gin.Context, may func(context.Context, access.Principal) error, serve func(context.Context),
) {
	ctx, end := context.WithCancelCause(c.Request.Context())
	connection := http.NewResponseController(c.Writer)
	check := func(ctx context.Context) error {
		p, err := s.Authenticate(c.Request.WithContext(ctx))
		if err != nil {
			return err
		}
		return may(ctx, p)
	}
	served, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		if !waitForRefusal(ctx, check) {
			return
		}
		end(errRightLost)
		select {
		case <-served:
		case <-time.After(wrapUp):
			_ = connection.SetWriteDeadline(time.Unix(1, 0)) // permanently: see stallWriter
		}
	}()
	defer func() {
		close(served)
		end(nil)
		<-watched
	}()
	serve(ctx)
}

// waitForRefusal waits until a check fails, and returns false once ctx ends.
func waitForRefusal(ctx context.Context, check func(context.Context) error) bool {
	ticks := time.NewTicker(askEvery)
	defer ticks.Stop()
	for known := time.Now(); ; {
		select {
		case <-ctx.Done():
			return false
		case <-ticks.C:
		}
		within, stop := context.WithTimeout(ctx, askFor)
		err := check(within)
		stop()
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			known = time.Now()
		case isRefusal(err) || time.Since(known) >= unknownFor:
			return true
		}
	}
}

// isRefusal reports whether a check failed because of its result, rather than because it couldn't run.
func isRefusal(err error) bool {
	kind := fault.KindOf(err)
	return kind != fault.Internal && kind != fault.Unavailable
}
