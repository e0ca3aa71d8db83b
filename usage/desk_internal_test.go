package usage

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// paths are those of a project's calls in the log, oldest first.
func (r *Recorder) paths(project string) string {
	var out []string
	ring := r.ring(project)
	if ring == nil {
		return ""
	}
	for _, e := range ring.before(math.MaxUint64, maxOfProject) {
		out = append([]string{e.call.Path}, out...)
	}
	return strings.Join(out, " ")
}

func quietRecorder(desks int) *Recorder {
	r := NewRecorder(nil, slog.New(slog.DiscardHandler))
	r.desks = newDesks(desks)
	return r
}

// Whichever core a call ended on, the log has them in the order in which they ended.
func TestCallsOfAllDesksComeInOrder(t *testing.T) {
	r := quietRecorder(3)
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for n, at := range []int{2, 0, 0, 1, 2, 1, 0, 2} {
		// The later one begins, the shorter it takes: the order of beginnings is another.
		ends := begin.Add(time.Duration(n) * time.Second)
		took := time.Duration(n%3) * time.Minute
		r.desks.all[at].hold(&Call{ProjectID: "prj_1", Path: fmt.Sprint("/", n), Start: ends.Add(-took), Duration: took})
	}
	if got := r.paths("prj_1"); got != "/0 /1 /2 /3 /4 /5 /6 /7" {
		t.Errorf("got %s", got)
	}
	r.Observe(Call{ProjectID: "prj_1", Path: "/8", Start: begin})
	if got := r.paths("prj_1"); got != "/0 /1 /2 /3 /4 /5 /6 /7 /8" {
		t.Errorf("after one more: %s", got)
	}
}

// Nobody waits for the log. What it cannot take is counted, and in the sums all the same.
func TestAFullDeskCostsAnEntryAndNoTime(t *testing.T) {
	r := quietRecorder(1)
	r.Observe(Call{ProjectID: "prj_1"})
	if r.ring("prj_1") == nil {
		t.Fatal("the call is not in the log")
	}
	r.desks.gathering.Lock() // by a reader that the scheduler has put aside
	for range maxHeld + 5 {
		r.Observe(Call{ProjectID: "prj_1"})
	}
	r.Observe(Call{ProjectID: "prj_2"})
	r.desks.gathering.Unlock()
	if dropped := r.ring("prj_1").dropped.Load(); dropped != 5 || r.book.dropped.Load() != 1 {
		t.Errorf("%d and %d calls were dropped, want 5 and 1", dropped, r.book.dropped.Load())
	}
	if n := r.desks.counted(); n != maxHeld+7 {
		t.Errorf("%d calls were counted, want %d", n, maxHeld+7)
	}
}

// A desk that is not asked brings its calls to the book itself, before there are many.
func TestTheLogIsWrittenWithoutReaders(t *testing.T) {
	r := quietRecorder(2)
	var calling sync.WaitGroup
	for range 4 {
		calling.Go(func() {
			for range 10 * gatherAt {
				r.Observe(Call{ProjectID: "prj_1", Path: "/a", Start: time.Now()})
			}
		})
	}
	calling.Wait()
	ring := r.book.ring("prj_1")
	if ring == nil {
		t.Fatal("nothing is in the log")
	}
	const all = 4 * 10 * gatherAt
	if in := ring.newest(); in < all-2*maxHeld {
		t.Errorf("%d of %d calls are in the log", in, all)
	}
	if in := r.ring("prj_1").newest() + uint64(ring.dropped.Load()); in != all {
		t.Errorf("%d of %d calls are in the log or counted as dropped", in, all)
	}
}

func TestThereAreNoMoreDesksThanACallerCanKeep(t *testing.T) {
	d := newDesks(1000)
	if len(d.all) != maxDesks {
		t.Errorf("%d desks", len(d.all))
	}
	for i := range 3 * maxDesks {
		if at := d.near.New().(*desk); at.place < 0 || at.place >= maxDesks || at != &d.all[at.place] {
			t.Errorf("new hint %d: %d", i, at.place)
		}
	}
}
