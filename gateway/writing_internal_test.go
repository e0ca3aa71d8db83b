package gateway

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
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
func TestWritingSetsFewDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		began, at := time.Now(), writing{w: to, idle: 16 * time.Second}
		for range 100 {
			at.begin()
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
func TestTheWatchSetsTheFirstDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 16 * time.Second
		to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		at := writing{w: to, idle: idle}
		at.leaveToWatch()
		want := time.Now().Add(idle)
		at.begin()
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
		if at.begin(); len(to.set) != 2 || time.Until(to.set[1]) != idle {
			t.Errorf("a later write has %v", to.set)
		}
		none := writing{w: to, idle: idle}
		none.leaveToWatch()
		if none.arm(); len(to.set) != 2 {
			t.Error("the watch set the deadline of a response that has not begun")
		}
		if none.begin(); len(to.set) != 3 {
			t.Error("a write that begins after the watch looked has no deadline")
		}
		soon := writing{w: to, idle: recheckEvery}
		soon.leaveToWatch()
		if soon.begin(); len(to.set) != 4 {
			t.Error("a deadline before the watch looks is left to it")
		}
	})
}
