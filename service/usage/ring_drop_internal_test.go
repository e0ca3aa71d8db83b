package usage

import (
	"testing"
	"time"
)

// Calls whose time is over leave a ring, whether it is full or not, and it goes on.
func TestDrop(t *testing.T) {
	for _, calls := range []int{3, 20, 40} { // of at most 32
		began := time.Now()
		live := newLiveLog(32, 32)
		add := func(n int) {
			var s slot
			s.set(&Call{ProjectID: "prj", Path: "/orders", Start: began.Add(time.Duration(n) * time.Second)})
			live.write(&s)
		}
		for n := 1; n <= calls; n++ {
			add(n)
		}
		live.drop(began.Add(time.Duration(calls-1) * time.Second))
		r := live.ring("prj")
		left := r.before(1<<62, 100)
		if len(left) != 2 || left[0].number != uint64(calls) {
			t.Fatalf("of %d calls %d are left, the newest %+v", calls, len(left), left)
		}
		for n := calls + 1; n <= calls+40; n++ {
			add(n)
		}
		if left = r.before(1<<62, 100); len(left) != min(len(r.slots), 42) || left[0].number != uint64(calls+40) ||
			left[len(left)-1].number != uint64(calls+41-len(left)) {
			t.Errorf("after %d calls and 40 more there are %d in %d slots", calls, len(left), len(r.slots))
		}
		live.drop(began.Add(time.Hour))
		if left = r.before(1<<62, 100); len(left) != 0 {
			t.Errorf("%d are left when the time of all is over", len(left))
		}
		add(0)
		if left = r.before(1<<62, 100); len(left) != 1 {
			t.Errorf("one more makes %d", len(left))
		}
	}
}
