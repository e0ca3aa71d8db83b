package gateway

import (
	"bytes"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"postern/gateway/engine"
)

type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// Writes in quick succession share a deadline, and a later one has at least 15/16 of its time.
func TestWriting_deadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		began, at := time.Now(), writing{w: to, idle: 16 * time.Second}
		for range 100 {
			at.begin(0)
			if left := time.Until(to.set[len(to.set)-1]); left <= 15*time.Second {
				t.Fatalf("a write has %s left", left)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n, most := len(to.set), int(time.Since(began)/time.Second); n > most {
			t.Errorf("%d deadlines for 100 writes, want at most %d", n, most)
		}
	})
}

// A call that is over before its watch looks sets no deadline. The watch sets that of a write
// which began before, and later writes set their own.
func TestWriting_firstDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 16 * time.Second
		to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		at := writing{w: to, idle: idle}
		at.leaveToWatch()
		want := time.Now().Add(idle)
		at.begin(0)
		time.Sleep(recheckEvery)
		if len(to.set) > 0 {
			t.Fatalf("%d deadlines before the watch looked", len(to.set))
		}
		at.arm()
		at.arm()
		if len(to.set) != 1 || !to.set[0].Equal(want) {
			t.Fatalf("the watch set %v, want %v once", to.set, want)
		}
		time.Sleep(2 * time.Second)
		if at.begin(0); len(to.set) != 2 || time.Until(to.set[1]) != idle {
			t.Errorf("a later write has %v", to.set)
		}
		none := writing{w: to, idle: idle}
		none.leaveToWatch()
		if none.arm(); len(to.set) != 2 {
			t.Error("the watch set the deadline of a response that has not begun")
		}
		if none.begin(0); len(to.set) != 3 {
			t.Error("a write that begins after the watch looked has no deadline")
		}
		soon := writing{w: to, idle: recheckEvery}
		soon.leaveToWatch()
		if soon.begin(0); len(to.set) != 4 {
			t.Error("a deadline before the watch looks is left to it")
		}
	})
}

// A caller of net/http's that reads an answer too slowly is cut off, and one that reads 64 KiB within the limit is not.
func TestCopyBody_slowReader(t *testing.T) {
	const limit, body = time.Minute, 20 * 32 << 10
	for name, tc := range map[string]struct {
		every time.Duration // in which 32 KiB are read
		stays bool
	}{
		"slow":    {45 * time.Second, false},
		"in time": {28 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := &slowCaller{deadlines: deadlines{ResponseRecorder: httptest.NewRecorder()}, every: tc.every}
				at := writing{w: to, idle: limit, pace: new(engine.Pace)}
				sent, err := copyBody(&at, bytes.NewReader(make([]byte, body)), false)
				if stays := err == nil && sent == body; stays != tc.stays {
					t.Errorf("%d bytes were sent, then %v", sent, err)
				}
			})
		})
	}
}

// slowCaller takes a write only after a while.
type slowCaller struct {
	deadlines
	every time.Duration
}

func (s *slowCaller) Write(p []byte) (int, error) {
	left := time.Until(s.set[len(s.set)-1])
	if left < s.every {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(s.every)
	return len(p), nil
}
