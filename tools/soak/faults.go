package main

import (
	"context"
	"fmt"
	"net/http"
	"syscall"
	"time"
)

// fault is something that happens to the installation under load. docs/faults.md has the promises for it.
type fault struct {
	name string
	// cutsCalls: calls that are under way at the replica that is killed fail.
	cutsCalls bool
	// holdsCalls: calls at the replica that is frozen wait, and those at the other one go on.
	holdsCalls bool
	// cutsChanges: requests to the control plane may fail, and are sent again.
	cutsChanges bool
	happens     func(ctx context.Context, r *run) error
}

// The phases without a fault: under load, as many calls as the machine carries, and without load, when
// everything is read back.
var (
	calm      = fault{name: "calm"}
	saturated = fault{name: "measuring capacity"}
	atEnd     = fault{name: "reading back"}
)

const clockOffName = "gateway's clock off"

// ending are the faults that end replicas, and enduring those that do not: memory is
// compared while replicas live on.
var (
	ending = []fault{
		{name: "rolling restart", happens: rollingRestart},
		{name: "gateway killed", cutsCalls: true, happens: func(ctx context.Context, r *run) error {
			return r.kill(ctx, r.in.gateways[1])
		}},
		{name: "control replica killed", cutsChanges: true, happens: func(ctx context.Context, r *run) error {
			return r.kill(ctx, r.in.control[1])
		}},
		{name: "Redis killed, closed", happens: redisFailsClosed},
		{name: clockOffName, happens: gatewayClockOff},
	}
	enduring = []fault{
		{name: "gateway frozen", holdsCalls: true, happens: gatewayFrozen},
		{name: "control replica frozen", cutsChanges: true, happens: controlFrozen},
		{name: "Redis killed", happens: redisRestarted(syscall.SIGKILL, true)},
		{name: "Redis restarted", happens: redisRestarted(syscall.SIGTERM, false)},
		{name: "Redis frozen", happens: redisFrozen},
		{name: "database restarted", cutsChanges: true, happens: func(ctx context.Context, r *run) error {
			return r.restartDatabase(ctx, syscall.SIGINT)
		}},
		{name: "database crashed", cutsChanges: true, happens: func(ctx context.Context, r *run) error {
			return r.restartDatabase(ctx, syscall.SIGQUIT)
		}},
	}
)

const (
	// thawedWithin is how long a gateway that goes on may decide by what it had: its feed
	// has to ask first.
	thawedWithin = window

	// reconnectedWithin is the same once the database answers again: connecting is tried
	// once a second, and the feed then has its window.
	reconnectedWithin = time.Second + window
)

func rollingRestart(ctx context.Context, r *run) error { return r.replace(ctx, r.in.replicas()...) }

// replace restarts one replica after the other.
func (r *run) replace(ctx context.Context, replicas ...*replica) error {
	for _, replica := range replicas {
		if err := replica.restart(ctx); err != nil {
			return err
		}
		if err := r.back(ctx, replica); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) kill(ctx context.Context, replica *replica) error {
	since := time.Now().Add(-killLoses)
	if err := replica.process.end(syscall.SIGKILL); err != nil {
		return err
	}
	r.usage.killed(replica.name, since)
	if err := sleep(ctx, r.settings.outage); err != nil {
		return err
	}
	if err := replica.start(ctx); err != nil {
		return err
	}
	return r.back(ctx, replica)
}

// heldUpFor is how long a change of the same team may take at the other replica while one is frozen: two seconds until
// the server ends a transaction of the frozen one, and the rest for the changes that have waited until then.
const heldUpFor = 2*time.Second + 1500*time.Millisecond

// controlFrozen freezes a replica in the middle of its changes, and changes the project at the other one.
func controlFrozen(ctx context.Context, r *run) error {
	thawed := make(chan error, 1)
	go func() { thawed <- r.in.control[0].freeze(r.settings.outage) }()
	other := *r.api
	other.http = r.in.clientOf(30*time.Second, r.in.control[1].address)
	for n := 0; ; n++ {
		select {
		case err := <-thawed:
			return err
		case <-time.After(100 * time.Millisecond):
		}
		began := time.Now()
		in := map[string]string{"display_name": fmt.Sprint("Shop ", n)}
		err := other.do(ctx, http.MethodPatch, "/api/v1/projects/"+r.changer.project, in, nil)
		took, most := time.Since(began), r.settings.heldUp
		if err == nil && most > 0 && took > most {
			err = fmt.Errorf("a change took %s while another replica was frozen", took.Round(time.Millisecond))
		}
		r.note(err)
	}
}

func gatewayFrozen(_ context.Context, r *run) error {
	g := r.in.gateways[0]
	ends := r.model.lags(g.name)
	err := g.freeze(r.settings.outage)
	ends(thawedWithin)
	return err
}

func (r *run) restartDatabase(ctx context.Context, signal syscall.Signal) error {
	var names []string
	for _, g := range r.in.gateways {
		names = append(names, g.name)
	}
	ends := r.model.lags(names...)
	if err := r.in.database.Down(signal); err != nil {
		return err
	}
	if err := sleep(ctx, r.settings.outage); err != nil {
		return err
	}
	if err := r.in.database.Up(); err != nil {
		return err
	}
	ends(reconnectedWithin)
	return nil
}

// back waits until HAProxy has taken a replica back, which takes two good checks.
func (r *run) back(ctx context.Context, replica *replica) error {
	if !replica.process.running() {
		return fmt.Errorf("replica %s has ended:\n%s", replica.name, replica.process.tail())
	}
	return sleep(ctx, 3*r.settings.check+500*time.Millisecond)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
