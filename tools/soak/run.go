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
	share    float64 // part of the calls that the machine carries that are made
	rate     float64 // most calls a second; 0: no bound
	changes  float64 // changes a second
	keys     int
	drain    time.Duration // POSTERN_DRAIN
	check    time.Duration // between HAProxy's health checks
	probe    time.Duration // how long capacity is measured
	rest     time.Duration // at least, between faults
	outage   time.Duration // of what is frozen, killed or down
	heldUp   time.Duration // at most, for a change while another replica is frozen; 0: no bound, as in tests
	clock    time.Duration // by which a gateway's clock is off
	logs     string        // directory to keep logs in

	ending, enduring []fault // of the first and of the second half
}

const (
	callers  = 4096 // enough for what arrives while a gateway is frozen
	changers = 48

	// saturating callers find out what the machine carries. Twice as many calls under way mean that it no longer
	// carries the requested load.
	saturating = 256

	// unreached is more calls a second than any machine carries: their limits are never reached.
	unreached = 10_000_000

	// callWithin is where a caller gives up: beyond the longest freeze.
	callWithin = 20 * time.Second
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
	limits   limits
	memory   memory
	began    time.Time

	half time.Time // when the faults had happened that end replicas, and these were warm

	heapAtHalf, heapAtEnd map[string]liveHeap // by replica

	// probing: the machine is overloaded to measure its capacity, and answers are not judged.
	probing    atomic.Bool
	capacity   [2]float64 // calls a second next to the changes, before and after the load
	rate       float64    // calls a second that are asked for
	inProgress atomic.Int64
	cutOff     atomic.Int64 // calls, since their key was refused in between
	loaded     time.Duration
	others     float64 // part of the CPU that other programs used during the load
	changed    int64   // changes during the load

	mu       sync.Mutex
	wrong    []error  // decisions
	missing  []string // changes that the database lacks
	compared int
	exports  int
	counted  counted
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
	if r.limits.free, err = r.createLimited(ctx, unreached); err != nil {
		return err
	}
	if r.capacity[0], err = r.measure(ctx); err != nil {
		return err
	}
	if r.rate = r.settings.share * r.capacity[0]; r.settings.rate > 0 {
		r.rate = min(r.rate, r.settings.rate)
	}
	r.limits.keys, err = r.createLimited(ctx, limitedPart*r.rate)
	return err
}

// measure returns how many calls a second the machine carries, behind HAProxy and with both gateways,
// next to the changes and exports of the load and with its part of calls that Redis counts.
func (r *run) measure(ctx context.Context) (float64, error) {
	r.probing.Store(true)
	defer r.probing.Store(false)
	r.phases.enter(saturated)
	defer r.phases.end()
	changing, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { r.change(ctx, changing) })
	running.Go(func() { r.export(ctx, changing) })
	calls := flatOut(ctx, r.settings.probe, saturating, func() {
		if rand.Float64() < limitedPart {
			r.callFree(ctx, time.Now())
			return
		}
		r.callOnce(ctx, time.Now())
	})
	stop()
	running.Wait()
	return calls, sleep(ctx, 2*window) // for what is still queued
}

// change has keys changed at the rate of the settings while load lasts.
func (r *run) change(ctx, load context.Context) {
	arrive(load, r.settings.changes, changers, func(time.Time) { r.note(r.changer.once(ctx)) }, r.changer.missed)
}

func (r *run) liveKeys() int {
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	return len(r.model.live)
}

// soak keeps the load up while one fault after the other happens, and then compares what
// is left with what was acknowledged.
func (r *run) soak(ctx context.Context) error {
	if err := r.underLoad(ctx); err != nil {
		return err
	}
	progress("measuring what the machine carries now")
	var err error
	if r.capacity[1], err = r.measure(ctx); err != nil {
		return err
	}
	r.phases.enter(atEnd)
	defer r.phases.end()
	r.finish(ctx)
	return ctx.Err()
}

func (r *run) underLoad(ctx context.Context) error {
	began, changed := time.Now(), r.changer.done.Load()
	others, err := othersSince()
	if err != nil {
		return err
	}
	load, stop := context.WithCancel(ctx)
	defer stop()
	r.phases.enter(calm)
	defer r.phases.end()
	var running sync.WaitGroup
	running.Go(func() {
		arrive(load, r.rate, callers, func(due time.Time) { r.operate(ctx, due) }, r.phases.missed)
	})
	running.Go(func() { r.change(ctx, load) })
	running.Go(func() { r.export(ctx, load) })
	running.Go(func() { r.memory.follow(load, r.in.replicas()) })
	err = r.happen(ctx)
	stop()
	r.loaded, r.changed = time.Since(began), r.changer.done.Load()-changed
	running.Wait()
	if err == nil {
		r.others, err = others()
	}
	return err
}

// happen has the faults that end replicas happen in the first half of the run, and the
// others in the second one: each in turn, at least once, with calm in between.
func (r *run) happen(ctx context.Context) error {
	half := r.settings.duration / 2
	part := func(faults []fault, length time.Duration) error {
		until := time.Now().Add(length)
		var longest time.Duration
		for i := 0; i < len(faults) || len(faults) > 0 && time.Until(until) > longest; i++ {
			began := time.Now()
			if err := r.one(ctx, faults[i%len(faults)]); err != nil {
				return err
			}
			longest = max(longest, time.Since(began))
		}
		return sleep(ctx, time.Until(until))
	}
	if err := part(r.settings.ending, half); err != nil {
		return err
	}
	warm := half / 10 // for replicas that have just been started
	if err := sleep(ctx, warm); err != nil {
		return err
	}
	r.half = time.Now()
	var err error
	if r.heapAtHalf, err = r.liveHeaps(ctx); err != nil {
		return err
	}
	if err := part(r.settings.enduring, half-warm); err != nil {
		return err
	}
	r.heapAtEnd, err = r.liveHeaps(ctx)
	return err
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
	calls, err := r.settledUsage(ctx)
	r.note(err)
	r.inUsage = calls
	r.note(r.in.auditIntact(ctx))
	r.counted = r.limits.judge(len(r.in.gateways))
	r.decidedWrongly(r.counted.wrong...)
}

// compare reads back every acknowledged change.
func (r *run) compare(ctx context.Context) error {
	compared, missing, err := r.readBack(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compared += compared
	r.missing = append(r.missing, missing...)
	return err
}

// operate sends one call, which was due at a time. It leaves the call out if the machine carries no more:
// others have taken it, and beyond its capacity health checks fail and nothing is judged but that.
func (r *run) operate(ctx context.Context, due time.Time) {
	defer r.inProgress.Add(-1)
	if in := r.phases.current(); r.inProgress.Add(1) > 2*saturating && !in.fault.holdsCalls {
		r.phases.missed()
		return
	}
	if rand.Float64() < limitedPart {
		r.callLimited(ctx, due)
		return
	}
	r.callOnce(ctx, due)
}

// callOnce calls with some secret and judges the answer.
func (r *run) callOnce(ctx context.Context, due time.Time) {
	s, in := r.model.pick(), r.phases.current()
	r.judge(s, r.caller.call(ctx, s), in, due)
}

func (r *run) judge(s *secret, a answer, in *phase, due time.Time) {
	r.usage.count(a)
	if r.model.cutOff(s, a) {
		r.cutOff.Add(1)
		a.failed = nil
		r.phases.called(in, due, a)
		return
	}
	r.phases.called(in, due, a)
	if a.failed != nil || r.probing.Load() {
		return
	}
	if err := r.model.wrong(s, a); err != nil {
		r.decidedWrongly(err)
	}
}

func (r *run) decidedWrongly(why ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, why...)
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
				in, due := r.phases.current(), time.Now()
				r.judge(all[i], r.caller.call(ctx, all[i]), in, due)
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
