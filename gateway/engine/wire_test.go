package engine

import (
	"errors"
	"net"
	"os"
	"slices"
	"testing"
	"time"
)

// timedOut is a connection whose first reads time out.
type timedOut struct {
	net.Conn
	reads     int // that time out
	deadlines []time.Time
}

func (c *timedOut) Read(p []byte) (int, error) {
	if c.reads--; c.reads >= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(p, "x"), nil
}

func (c *timedOut) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

func (c *timedOut) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// readWait is the requested wait before a read, and the deadlines that its connection then gets.
type readWait struct {
	name  string
	waits func(*wire)
	reads int // that time out
	want  []time.Time
	fails bool
}

func readWaits(now time.Time) []readWait {
	return []readWait{
		{
			name:  "one wait",
			waits: func(w *wire) { w.readWithin(now, time.Hour) },
			want:  []time.Time{now.Add(time.Hour)},
		},
		{
			name: "a later one sets nothing",
			waits: func(w *wire) {
				w.readWithin(now, time.Hour)
				w.readWithin(now.Add(time.Minute), time.Hour)
			},
			want: []time.Time{now.Add(time.Hour)},
		},
		{
			name: "a later one is not over with the one before",
			waits: func(w *wire) {
				w.readWithin(now, time.Hour)
				w.readWithin(now.Add(time.Minute), time.Hour)
			},
			reads: 1,
			want:  []time.Time{now.Add(time.Hour), now.Add(time.Hour + time.Minute)},
		},
		{
			name: "a shorter one sets an earlier deadline",
			waits: func(w *wire) {
				w.readWithin(now, time.Hour)
				w.readWithin(now, time.Minute)
			},
			want: []time.Time{now.Add(time.Hour), now.Add(time.Minute)},
		},
		{
			name:  "over",
			waits: func(w *wire) { w.readWithin(now.Add(-time.Hour), time.Minute) },
			reads: 1,
			want:  []time.Time{now.Add(time.Minute - time.Hour)},
			fails: true,
		},
		{
			name: "interrupted",
			waits: func(w *wire) {
				w.readWithin(now, time.Hour)
				w.interrupt()
			},
			reads: 1,
			want:  []time.Time{now.Add(time.Hour), longAgo},
			fails: true,
		},
		{
			name: "woken",
			waits: func(w *wire) {
				w.readWithin(now, time.Hour)
				w.wake()
			},
			reads: 1,
			want:  []time.Time{now.Add(time.Hour), longAgo},
			fails: true,
		},
		{
			name: "extended while it waits",
			waits: func(w *wire) {
				w.readWithin(now, time.Minute)
				w.extend = func() time.Time { return now.Add(time.Hour) }
			},
			reads: 1,
			want:  []time.Time{now.Add(time.Minute), now.Add(time.Hour)},
		},
	}
}

// A wait ends exactly when its time is over, whatever
// deadline the wait before it has left behind.
func TestReadWithin(t *testing.T) {
	for _, tc := range readWaits(time.Now()) {
		t.Run(tc.name, func(t *testing.T) {
			conn := &timedOut{reads: tc.reads}
			var w wire
			w.open(conn)
			tc.waits(&w)
			err := w.fill()
			if tc.fails != errors.Is(err, os.ErrDeadlineExceeded) || !tc.fails && err != nil {
				t.Errorf("the read ends with %v", err)
			}
			if !slices.EqualFunc(conn.deadlines, tc.want, time.Time.Equal) {
				t.Errorf("deadlines %v, want %v", conn.deadlines, tc.want)
			}
		})
	}
}

func TestBodyWait(t *testing.T) {
	limits := Limits{Idle: time.Minute, BodyRate: 100, BodyGrace: 10 * time.Second}
	for _, tc := range []struct {
		name         string
		rate, got    int64
		waited, want time.Duration
	}{
		{"at the beginning", 100, 0, 0, 10 * time.Second},
		{"as fast as it has to be", 100, 2000, 20 * time.Second, 10 * time.Second},
		{"at the end of the grace", 100, 0, 10 * time.Second, time.Nanosecond},
		{"too slow", 100, 1000, time.Minute, time.Nanosecond},
		{"fast", 100, 1 << 50, time.Hour, time.Minute},
		{"any rate", 0, 0, time.Hour, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			limits.BodyRate = tc.rate
			if got := limits.BodyWait(tc.got, tc.waited); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// The connections of one pool do not crowd out those of others.
func TestBudget(t *testing.T) {
	budget := NewBudget(8)
	busy, calm := budget.NewPool(), budget.NewPool()
	upstreams := []*Upstream{
		busy.NewUpstream(nil, patient), busy.NewUpstream(nil, patient), calm.NewUpstream(nil, patient),
	}
	idle := func(up *Upstream) *backend {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		b := &backend{born: time.Now()}
		b.open(near)
		up.put(b, time.Now(), 0)
		return b
	}
	calms := idle(upstreams[2])
	for range 20 {
		idle(upstreams[0])
		idle(upstreams[1])
	}
	if n := budget.idle.Load(); n != 8 || busy.waiting() != 7 || calm.waiting() != 1 {
		t.Errorf("%d connections wait, %d and %d; want 8, 7 and 1", n, busy.waiting(), calm.waiting())
	}
	if upstreams[2].take(time.Now()) != calms {
		t.Error("the only connection of a pool was closed for another's")
	}
	for _, up := range upstreams {
		up.Close()
	}
	if n := budget.idle.Load(); n != 0 || busy.waiting() != 0 || len(budget.pools) != 0 {
		t.Errorf("after the end %d connections wait, and %d pools are kept", n, len(budget.pools))
	}
	for range 2 * maxIdle {
		idle(calm.NewUpstream(nil, patient))
	}
	if n := calm.waiting(); n > 8 {
		t.Errorf("%d connections of one pool wait, want 8 at most", n)
	}
}

func TestPool_bounded(t *testing.T) {
	pool := NewBudget(10 * maxIdle).NewPool()
	for range maxIdle + 10 {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		b := &backend{born: time.Now()}
		b.open(near)
		up := pool.NewUpstream(nil, patient)
		up.put(b, time.Now(), 0)
		t.Cleanup(up.Close)
	}
	if n := pool.waiting(); n != maxIdle {
		t.Errorf("%d connections wait, want %d", n, maxIdle)
	}
}

// stuckClose is a connection that takes long to close, as TLS does while its goodbye
// cannot be written.
type stuckClose struct {
	net.Conn
	closing chan struct{}
	let     chan struct{}
}

func (c *stuckClose) Close() error {
	c.closing <- struct{}{}
	<-c.let
	return c.Conn.Close()
}

func TestPool_close(t *testing.T) {
	near, far := net.Pipe()
	defer func() { _ = far.Close() }()
	stuck := &stuckClose{near, make(chan struct{}, 1), make(chan struct{})}
	pool := NewBudget(8).NewPool()
	up := pool.NewUpstream(nil, patient)
	b := &backend{born: time.Now()}
	b.open(stuck)
	up.put(b, time.Now(), 0)
	closed := make(chan struct{})
	go func() { up.Close(); close(closed) }()
	<-stuck.closing
	select {
	case <-closed:
	case <-time.After(patience):
		t.Error("Close waits for a connection that takes long to close")
	}
	close(stuck.let)
	<-closed
}

// Transports for a table that doesn't compile are never closed.
func TestPool_unusedUpstream(t *testing.T) {
	pool := NewBudget(8).NewPool()
	for range 3 {
		pool.NewUpstream(nil, patient)
	}
	if n := len(pool.upstreams); n != 0 {
		t.Errorf("the pool keeps %d upstreams", n)
	}
}
