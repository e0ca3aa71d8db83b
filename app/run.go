package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// How long a stop waits besides Config.Drain and Config.ShutdownTimeout: for calls
// that were cut off to be counted, for jobs, for what was counted to be written.
const (
	countCalls = 5 * time.Second
	drainJobs  = 5 * time.Second
	writeUsage = 10 * time.Second
)

// ErrNoDrain as the cause of the context's end lets Run stop without Config.Drain.
var ErrNoDrain = errors.New("stopped by hand")

// server is what http.Server and the gateway's have in common.
type server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}

// Run serves until ctx ends or a listener fails, then stops in order: not ready while
// calls are still taken, no new calls, calls under way finished, jobs given back,
// everything counted written, database closed.
func (a *App) Run(ctx context.Context) error {
	failing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// What keeps the state current goes on until the last call is over.
	current, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var running sync.WaitGroup
	serve := func(name string, s server, listener net.Listener) {
		running.Go(func() {
			if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				fail(fmt.Errorf("the %s stopped: %w", name, err))
			}
		})
	}
	serve("gateway", a.gateway, a.listeners.gateway)
	serve("control plane", a.control, a.listeners.control)
	for _, pair := range a.pairs {
		running.Go(func() { pair.Follow(current) })
	}
	running.Go(func() { a.feed.Run(current) })
	running.Go(func() {
		if err := a.watchSchema(failing); err != nil {
			fail(err)
		}
	})
	running.Go(func() { a.usage.Run(current) })
	running.Go(func() { a.keepCounts(current) })
	if err := a.queue.Start(context.WithoutCancel(ctx)); err != nil {
		fail(err)
	}
	<-failing.Done()
	var failed error
	if ctx.Err() == nil {
		failed = context.Cause(failing)
	} else if !errors.Is(context.Cause(ctx), ErrNoDrain) {
		a.drain(failing)
	}
	a.stopping.Store(true)
	err := errors.Join(failed, a.stop(context.WithoutCancel(ctx), end))
	running.Wait()
	return errors.Join(err, a.state.close())
}

// drain lets load balancers notice that this replica is about to go, while calls are
// still taken: with the listeners closed first, theirs would be refused.
func (a *App) drain(ctx context.Context) {
	a.stopping.Store(true)
	if a.Config.Drain <= 0 {
		return
	}
	a.log.Info("stopping: not ready any more, calls are still taken; a second signal ends at once", "drain", a.Config.Drain)
	time.Sleep(a.Config.Drain)
}

// stop takes a context that is not over yet. end ends what keeps the state current.
func (a *App) stop(ctx context.Context, end func()) error {
	calls, stopCalls := context.WithTimeout(ctx, a.Config.ShutdownTimeout)
	defer stopCalls()
	err := a.shutBoth(calls)
	a.plane.Close()
	count, stopCount := context.WithTimeout(ctx, countCalls)
	defer stopCount()
	err = errors.Join(err, a.plane.Wait(count))
	end()
	work, stopWork := context.WithTimeout(ctx, drainJobs)
	defer stopWork()
	err = errors.Join(err, a.queue.Stop(work))
	a.refusals.Flush(ctx)
	a.bearer.Close()
	write, stopWrite := context.WithTimeout(ctx, writeUsage)
	defer stopWrite()
	return errors.Join(err, a.usage.Close(write), a.saveCounts(write), a.limiter.Close())
}

// shutBoth closes both listeners at once: of one that stayed open while the other's
// calls end, new calls would be cut off.
func (a *App) shutBoth(ctx context.Context) error {
	control := make(chan error)
	go func() { control <- a.shut(ctx, "control plane", a.control) }()
	gateway := a.shut(ctx, "gateway", a.gateway)
	return errors.Join(<-control, gateway)
}

// shut waits for calls under way and cuts off those that take too long, which is no
// error: a stream may be meant to last for ever.
func (a *App) shut(ctx context.Context, name string, s server) error {
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("cut off what was still running", "server", name)
		return s.Close()
	}
	return err
}
