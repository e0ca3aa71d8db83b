package engine

import (
	"net"
	"testing"
	"time"
)

// patient are timeouts that no test reaches.
var patient = Timeouts{
	Connect: patience, Response: patience, Idle: patience, StreamIdle: patience, ReuseIdle: patience,
}

func TestPool_reuse(t *testing.T) {
	for name, tc := range map[string]struct {
		reuse, age, announced, idle time.Duration
		want                        bool
	}{
		"at once":                            {4 * time.Second, 0, 0, 0, true},
		"just before the end of ReuseIdle":   {4 * time.Second, 0, 0, 4*time.Second - 1, true},
		"at the end of ReuseIdle":            {4 * time.Second, 0, 0, 4 * time.Second, false},
		"just before it is too old":          {time.Hour, 50 * time.Second, 0, 10*time.Second - 1, true},
		"too old":                            {time.Hour, 50 * time.Second, 0, 10 * time.Second, false},
		"too old when the call ended":        {time.Hour, time.Minute, 0, 0, false},
		"before the upstream's announcement": {time.Hour, 0, 5 * time.Second, 4*time.Second - 1, true},
		"a second before the announced end":  {time.Hour, 0, 5 * time.Second, 4 * time.Second, false},
		"the announced end is near":          {time.Hour, 0, time.Second, 0, false},
		"ReuseIdle ends before":              {time.Second, 0, 5 * time.Second, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			t.Cleanup(func() { _ = far.Close() })
			now := time.Now()
			b := &backend{born: now.Add(-tc.age)}
			b.open(near)
			timeouts := patient
			timeouts.ReuseIdle = tc.reuse
			pool := NewBudget(8).NewPool()
			up := pool.NewUpstream(nil, timeouts)
			t.Cleanup(up.Close)
			up.put(b, now, tc.announced)
			if got := up.take(now.Add(tc.idle)) == b; got != tc.want {
				t.Errorf("used again: %t, want %t", got, tc.want)
			}
			if n := pool.waiting(); n != 0 {
				t.Errorf("%d connections are left", n)
			}
			if tc.want {
				b.close()
			}
		})
	}
}

// The reaper closes connections that aren't used again, whichever of the idle ones they are.
func TestPool_reaped(t *testing.T) {
	pool := NewBudget(8).NewPool()
	up := pool.NewUpstream(nil, patient)
	t.Cleanup(up.Close)
	now := time.Now()
	for _, age := range []time.Duration{0, 59 * time.Second, 0} {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		b := &backend{born: now.Add(-age)}
		b.open(near)
		up.put(b, now, 0)
	}
	up.idle[1].until = now
	up.reap()
	if n := pool.waiting(); n != 2 || len(up.idle) != 2 || !up.reaping {
		t.Errorf("%d connections wait, want 2, and the reaper to run again (%t)", n, up.reaping)
	}
}

func TestResponseHead_keepAlive(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"timeout=5":                    5 * time.Second,
		"timeout=5, max=100":           5 * time.Second,
		"max=100,Timeout = 5":          5 * time.Second,
		"timeout=0":                    closingMargin, // nothing is left of it
		"max=100":                      0,
		"timeout":                      0,
		"timeout=-1":                   0,
		"timeout=5s":                   0,
		"":                             0,
		"timeout=999999999999999999":   mostKept * time.Second,
		"timeout=9999999999999999999x": 0,
	} {
		var r Response
		err := r.parse("HTTP/1.1 200 OK\r\nKeep-Alive: "+value+"\r\n\r\n", "GET")
		if err != nil || r.keepAlive != want {
			t.Errorf("%q: %v, %v; want %v", value, r.keepAlive, err, want)
		}
	}
}

func TestIsEventStream(t *testing.T) {
	for value, want := range map[string]bool{
		"text/event-stream": true, "Text/Event-Stream ; charset=utf-8": true, "": false, "text/event-streams": false,
		"text/plain": false, "x; text/event-stream": false,
	} {
		if got := IsEventStream(value); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
}
