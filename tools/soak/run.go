package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// settings are the flags.
type settings struct {
	duration time.Duration
	rate     float64 // operations a second: calls and changes
	changes  float64 // of these, the part that are changes
	keys     int
	drain    time.Duration // POSTERN_DRAIN
	check    time.Duration // between HAProxy's health checks
	probe    time.Duration // how long capacity is measured
	rest     time.Duration // at least, between faults
	outage   time.Duration // of what is frozen, killed or down
	logs     string        // directory to keep logs in

	ending, enduring []fault // of the first and of the second half
}

const (
	callers  = 256
	changers = 48

	// callWithin is where a caller gives up: beyond the longest freeze.
	callWithin = 20 * time.Second

	// ofCapacity is the part of what the machine carries that a run asks for at most.
	ofCapacity = 0.7
)

// run is one run of the soak against an installation.
type run struct {
	settings settings
	in       *installation
	api      *api
	caller   *caller
	changer  *changer
	model    *model
	usage    *usage
	phases   phases
	memory   memory
	began    time.Time

	half time.Time

	// probing: the machine is overloaded to measure its capacity, and answers are not judged.
	probing  atomic.Bool
	capacity float64 // operations a second
	rate     float64 // those that are asked for

	mu       sync.Mutex
	wrong    []error // decisions
	lost     []string
	compared int
	exports  int
	inUsage  int64 // calls
	other    []error
}

func newRun(s settings, in *installation) *run {
	r := &run{settings: s, in: in, model: newModel(), usage: newUsage(), began: time.Now()}
	r.memory.samples = map[string][]sample{}
	r.api = &api{http: in.client(30 * time.Second), base: "http://" + controlName, phases: &r.phases}
	return r
}

// prepare creates the project and its first keys, and measures what the machine carries
// when it is asked for more. Decisions within a second are promised below that.
func (r *run) prepare(ctx context.Context) error {
	made, err := r.in.create(ctx, r.api)
	if err != nil {
		return err
	}
	r.changer = &changer{api: r.api, project: made.ID, model: r.model, target: r.settings.keys}
	r.caller = &caller{http: r.in.client(callWithin), url: "http://" + gatewayName + "/shop/1.0.0/prod/orders"}
	for r.liveKeys() < r.settings.keys {
		flatOut(ctx, time.Second, changers, func() {
			if r.liveKeys() < r.settings.keys {
				r.note(r.changer.create(ctx))
			}
		})
		if err := errors.Join(append(r.other, ctx.Err())...); err != nil {
			return err
		}
	}
	r.probing.Store(true)
	r.capacity = flatOut(ctx, r.settings.probe, callers, func() { r.operate(ctx) })
	r.rate = min(r.settings.rate, ofCapacity*r.capacity)
	err = sleep(ctx, 2*window) // for what is still queued
	r.probing.Store(false)
	return err
}

func (r *run) liveKeys() int {
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	return len(r.model.live)
}

// soak keeps the load up while one fault after the other happens, and then compares what
// is left with what was acknowledged.
func (r *run) soak(ctx context.Context) error {
	r.half = time.Now().Add(r.settings.duration / 2)
	load, stop := context.WithCancel(ctx)
	defer stop()
	r.phases.enter(calm)
	var running sync.WaitGroup
	running.Go(func() { pace(load, r.rate*(1-r.settings.changes), callers, func() { r.callOnce(ctx) }) })
	running.Go(func() { pace(load, r.rate*r.settings.changes, changers, func() { r.note(r.changer.once(ctx)) }) })
	running.Go(func() { r.export(ctx, load) })
	running.Go(func() { r.memory.follow(load, r.in.replicas()) })
	err := r.happen(ctx)
	stop()
	r.phases.enter(atEnd)
	defer r.phases.end()
	running.Wait()
	if err != nil {
		return err
	}
	r.finish(ctx)
	return ctx.Err()
}

// happen has the faults that end replicas happen in the first half of the run, and the
// others in the second one: each in turn, at least once, with calm in between.
func (r *run) happen(ctx context.Context) error {
	var longest time.Duration
	for _, part := range []struct {
		faults []fault
		until  time.Time
	}{{r.settings.ending, r.half}, {r.settings.enduring, r.half.Add(r.settings.duration / 2)}} {
		for i := 0; i < len(part.faults) || len(part.faults) > 0 && time.Until(part.until) > longest; i++ {
			began := time.Now()
			if err := r.one(ctx, part.faults[i%len(part.faults)]); err != nil {
				return err
			}
			longest = max(longest, time.Since(began))
		}
		if err := sleep(ctx, time.Until(part.until)); err != nil {
			return err
		}
	}
	return nil
}

// settlesWithin is how long what a fault has begun still counts as its own.
const settlesWithin = 3 * time.Second

// one has a fault happen after a rest, and reads back what was acknowledged until then.
func (r *run) one(ctx context.Context, f fault) error {
	if err := sleep(ctx, r.settings.rest); err != nil {
		return err
	}
	progress("%s", f.name)
	r.phases.enter(f)
	if err := f.happens(ctx, r); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if err := sleep(ctx, settlesWithin); err != nil {
		return err
	}
	r.phases.enter(calm)
	return r.compare(ctx)
}

// finish compares everything with the model while nothing changes any more.
func (r *run) finish(ctx context.Context) {
	progress("reading back")
	r.note(sleep(ctx, window+r.settings.check))
	r.note(r.compare(ctx))
	r.callAll(ctx)
	calls, err := r.counted(ctx)
	r.note(err)
	r.inUsage = calls
	r.note(r.in.auditIntact(ctx))
}

// compare reads back every acknowledged change.
func (r *run) compare(ctx context.Context) error {
	compared, lost, err := r.readBack(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compared += compared
	r.lost = append(r.lost, lost...)
	return err
}

// operate carries out one call or one change.
func (r *run) operate(ctx context.Context) {
	if rand.Float64() < r.settings.changes {
		r.note(r.changer.once(ctx))
		return
	}
	r.callOnce(ctx)
}

// callOnce calls with some secret and judges the answer.
func (r *run) callOnce(ctx context.Context) {
	s, in := r.model.pick(), r.phases.current()
	r.judge(s, r.caller.call(ctx, s), in)
}

func (r *run) judge(s *secret, a answer, in *phase) {
	r.usage.count(a)
	r.phases.called(in, a)
	if a.failed != nil || r.probing.Load() {
		return
	}
	if err := r.model.wrong(s, a); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrong = append(r.wrong, err)
	}
}

// callAll calls with every secret there ever was, or with mostSecrets of them.
func (r *run) callAll(ctx context.Context) {
	r.model.mu.Lock()
	all := slices.Clone(r.model.dead)
	for _, k := range r.model.live {
		if k.current != nil {
			all = append(all, k.current)
		}
	}
	r.model.mu.Unlock()
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), mostSecrets)]
	var next atomic.Int64
	var running sync.WaitGroup
	for range changers {
		running.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(all) && ctx.Err() == nil; i = next.Add(1) - 1 {
				in := r.phases.current()
				r.judge(all[i], r.caller.call(ctx, all[i]), in)
			}
		})
	}
	running.Wait()
}

const mostSecrets = 20_000

// note keeps an error that fails the run.
func (r *run) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.other = append(r.other, err)
}
