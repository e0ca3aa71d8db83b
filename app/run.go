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

// Timeouts of a stop, in addition to Config.Drain and Config.ShutdownTimeout.
const (
	countCalls = 5 * time.Second  // for calls that were cut off to be counted
	drainJobs  = 5 * time.Second  // for running jobs
	writeUsage = 10 * time.Second // for the counters to be written
	sendTraces = 3 * time.Second  // for the last spans to be sent
)

// ErrNoDrain makes Run stop without Config.Drain when it is the cause of the context's end.
var ErrNoDrain = errors.New("stopped by Ctrl-C")

// server is an http.Server or a gateway.Server.
type server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}

// follow attaches the database if New could not, starts the work that needs it, and watches
// its schema until ctx ends.
func (a *App) follow(ctx, current context.Context, running *sync.WaitGroup) error {
	if !a.attached.Load() {
		if err := a.attachLater(ctx); err != nil {
			return err
		}
	}
	a.startWork(current, running)
	if a.Config.Roles.Worker {
		running.Go(func() { a.startWorkers(ctx, current) })
	}
	return a.watchSchema(ctx)
}

// startWork starts the work that needs the database, except for the workers. It runs until
// current ends.
func (a *App) startWork(current context.Context, running *sync.WaitGroup) {
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.stopping.Load() {
		return
	}
	for _, work := range a.works() {
		running.Go(func() { work(current) })
	}
	a.attached.Store(true)
}

// works returns the work of the process's roles, without the workers.
func (a *App) works() (works []func(context.Context)) {
	roles := a.Config.Roles
	if roles.Serve() {
		works = append(works, a.feed.Run)
	}
	if roles.Control {
		works = append(works, a.removeUnfinishedImports)
	}
	if roles.Gateway || roles.Worker { // the worker removes old data
		works = append(works, a.usage.Run, a.owners.Run)
	}
	if roles.Gateway {
		works = append(works, a.keepCounts, a.keepState)
	}
	if a.tls.acme != nil {
		works = append(works, a.tls.acme.Run)
	}
	if roles.Worker {
		for _, stream := range a.streams {
			works = append(works, stream.Run)
		}
	}
	return works
}

// removeUnfinishedImports removes what imports of an earlier process have left behind, if it was killed.
func (a *App) removeUnfinishedImports(ctx context.Context) {
	if err := a.state.db.RemoveUnfinishedImports(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("could not remove an unfinished import yet; the next import will try again", "error", err)
	}
}

// startWorkers tries to start the workers until it succeeds or ctx ends: the database may
// stop answering between the attach and the start, and calls are served in the meantime.
func (a *App) startWorkers(ctx, current context.Context) {
	for attempt := 1; ; attempt++ {
		err := a.tryStartWorkers(current)
		switch {
		case err == nil && attempt > 1:
			a.log.Info("background jobs are now running")
			return
		case err == nil:
			return
		case attempt == 1 && ctx.Err() == nil:
			a.log.Error("background jobs aren't running yet; retrying", "every", attachEvery,
				"error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(attachEvery):
		}
	}
}

// tryStartWorkers starts the workers, which run until stopWork, unless the server stops.
func (a *App) tryStartWorkers(current context.Context) error {
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.stopping.Load() {
		return nil
	}
	return a.workers.Start(context.WithoutCancel(current))
}

// Run serves until ctx ends or a listener fails, and then stops in this order: it reports
// not ready while it still takes calls, takes no new calls, finishes running calls,
// releases jobs, writes the counters, and closes the database.
func (a *App) Run(ctx context.Context) error {
	a.running.Store(true)
	failing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// The feed and the certificates are followed until the last call has ended.
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
	if a.gateway != nil {
		serve("gateway", a.gateway, a.listeners.gateway)
	}
	if a.control != nil {
		serve("control plane", a.control, a.listeners.control)
	}
	if a.listeners.admin != nil {
		serve("admin address", a.admin, a.listeners.admin)
	}
	if a.accessLog != nil {
		running.Go(func() { a.accessLog.Run(current) })
	}
	for _, files := range a.tls.followed() {
		running.Go(func() { files.Follow(current) })
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
	err = errors.Join(err, a.closeTraces(context.WithoutCancel(ctx)))
	return errors.Join(err, a.closeAccessLog(), a.closeZips(), a.state.close())
}

// drain reports not ready for Config.Drain while calls are still taken, so that load
// balancers stop sending calls before the listeners close.
func (a *App) drain() {
	a.setStopping()
	if a.Config.Drain <= 0 {
		return
	}
	a.log.Info("stopping: no longer ready, but still accepting calls; a second signal stops immediately",
		"drain", a.Config.Drain)
	time.Sleep(a.Config.Drain)
}

// setStopping waits for a start of work in progress, so that stop ends all of it.
func (a *App) setStopping() {
	a.starting.Lock()
	defer a.starting.Unlock()
	a.stopping.Store(true)
}

// stop stops everything. ctx has not ended. end ends the work of startWork.
func (a *App) stop(ctx context.Context, end func()) error {
	calls, stopCalls := context.WithTimeout(ctx, a.Config.ShutdownTimeout)
	defer stopCalls()
	err := a.shutBoth(calls)
	err = errors.Join(err, a.admin.Close())
	a.plane.Close()
	count, stopCount := context.WithTimeout(ctx, countCalls)
	defer stopCount()
	err = errors.Join(err, a.plane.Wait(count))
	end()
	if a.attached.Load() {
		err = errors.Join(err, a.stopWork(ctx))
	} else {
		a.usage.EndFollowers()
		a.log.Warn("calls that were served without the database aren't counted in usage")
	}
	a.bearer.Close()
	return errors.Join(err, a.limiter.Close())
}

// stopWork stops the workers and writes the counters, both at once: with a database that
// does not answer, each takes its whole timeout.
func (a *App) stopWork(ctx context.Context) error {
	jobs := make(chan error)
	go func() {
		if !a.Config.Roles.Worker {
			jobs <- nil
			return
		}
		work, stopWork := context.WithTimeout(ctx, drainJobs)
		defer stopWork()
		jobs <- a.workers.Stop(work)
	}()
	write, stopWrite := context.WithTimeout(ctx, writeUsage)
	defer stopWrite()
	a.refusals.Flush(ctx) // has its own timeout
	err := errors.Join(a.usage.Close(write), a.saveCounts(write))
	return errors.Join(<-jobs, err)
}

// shutBoth shuts down both servers at once. In sequence, the second one would take new
// calls while the first one waits, and cut them off.
func (a *App) shutBoth(ctx context.Context) error {
	control := make(chan error, 1)
	if a.control == nil {
		control <- nil
	} else {
		go func() { control <- a.shut(ctx, "control plane", a.control) }()
	}
	var gateway error
	if a.gateway != nil {
		gateway = a.shut(ctx, "gateway", a.gateway)
	}
	return errors.Join(<-control, gateway)
}

// shut waits for running calls and cuts off those that take too long. That isn't an error: a
// stream may have no end.
func (a *App) shut(ctx context.Context, name string, s server) error {
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("interrupted calls and jobs that were still running", "server", name)
		return s.Close()
	}
	return err
}
