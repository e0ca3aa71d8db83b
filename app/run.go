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

// follow attaches the database where New could not, starts what works with it, and
// watches its schema until ctx ends.
func (a *App) follow(ctx, current context.Context, running *sync.WaitGroup) error {
	if !a.attached.Load() {
		if err := a.attachLater(ctx); err != nil {
			return err
		}
	}
	if err := a.startWork(current, running); err != nil {
		return err
	}
	return a.watchSchema(ctx)
}

// startWork starts what works with the database, to go on until current ends.
func (a *App) startWork(current context.Context, running *sync.WaitGroup) error {
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.stopping.Load() {
		return nil
	}
	for _, work := range []func(context.Context){a.feed.Run, a.usage.Run, a.keepCounts, a.keepState} {
		running.Go(func() { work(current) })
	}
	a.attached.Store(true)
	return a.workers.Start(context.WithoutCancel(current)) // stopWork ends it
}

// Run serves until ctx ends or a listener fails, then stops in order: not ready while
// calls are still taken, no new calls, calls under way finished, jobs given back,
// everything counted written, database closed.
func (a *App) Run(ctx context.Context) error {
	a.running.Store(true)
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
	running.Go(func() {
		if err := a.follow(failing, current, &running); err != nil && failing.Err() == nil {
			fail(err)
		}
	})
	<-failing.Done()
	var failed error
	if ctx.Err() == nil {
		failed = context.Cause(failing)
	} else if !errors.Is(context.Cause(ctx), ErrNoDrain) {
		a.drain()
	}
	a.setStopping()
	err := errors.Join(failed, a.stop(context.WithoutCancel(ctx), end))
	running.Wait()
	return errors.Join(err, a.state.close())
}

// drain lets load balancers notice that this replica is about to go, while calls are
// still taken: with the listeners closed first, theirs would be refused.
func (a *App) drain() {
	a.setStopping()
	if a.Config.Drain <= 0 {
		return
	}
	a.log.Info(
		"stopping: not ready any more, calls are still taken; a second signal ends at once",
		"drain", a.Config.Drain,
	)
	time.Sleep(a.Config.Drain)
}

// setStopping waits for a start of what works with the database: stop ends all of it.
func (a *App) setStopping() {
	a.starting.Lock()
	defer a.starting.Unlock()
	a.stopping.Store(true)
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
	if a.attached.Load() {
		err = errors.Join(err, a.stopWork(ctx))
	} else {
		a.usage.EndFollowers()
		a.log.Warn("calls that were served without the database are not in the usage")
	}
	a.bearer.Close()
	return errors.Join(err, a.limiter.Close())
}

// stopWork ends the jobs and writes what was counted, both at once: a database that
// does not answer takes all the time that each has.
func (a *App) stopWork(ctx context.Context) error {
	jobs := make(chan error)
	go func() {
		work, stopWork := context.WithTimeout(ctx, drainJobs)
		defer stopWork()
		jobs <- a.workers.Stop(work)
	}()
	write, stopWrite := context.WithTimeout(ctx, writeUsage)
	defer stopWrite()
	a.refusals.Flush(ctx) // within a time of its own
	err := errors.Join(a.usage.Close(write), a.saveCounts(write))
	return errors.Join(<-jobs, err)
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
// error: a stream may have no end.
func (a *App) shut(ctx context.Context, name string, s server) error {
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("cut off what was still running", "server", name)
		return s.Close()
	}
	return err
}
