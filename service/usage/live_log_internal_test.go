package usage

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

func numbered(project string, n int, at time.Time) *slot {
	return packed(Call{
		ProjectID: project,
		Method:    "GET",
		Path:      fmt.Sprintf("/%d", n),
		RemoteIP:  "192.0.2.7",
		Status:    200,
		Start:     at,
	})
}

func packed(c Call) *slot {
	var s slot
	s.set(&c)
	return &s
}

func numbers(list []entry) (out []uint64) {
	for _, e := range list {
		out = append(out, e.number)
	}
	return out
}

// Entries are returned in order, whole and under their own number, however often the ring
// was overwritten.
func TestRing_latest(t *testing.T) {
	now := time.Now()
	for _, each := range []int{chunk, 3 * chunk, 10 * chunk} {
		b := newLiveLog(1<<20, each)
		for n := 1; n <= 4*each+5; n++ {
			b.write(numbered("prj_1", n, now))
			r := b.ring("prj_1")
			have := min(n, each)
			newest := r.before(math.MaxUint64, each+1)
			oldest, missed := r.after(0, each+1)
			if len(newest) != have || len(oldest) != have {
				t.Fatalf("after %d of %d: %v newest first, %v oldest first; want %d",
					n, each, numbers(newest), numbers(oldest), have)
			}
			if missed != uint64(n-have) {
				t.Fatalf("after %d of %d: %d missed, want %d", n, each, missed, n-have)
			}
			for i, e := range oldest {
				if mirror := newest[have-1-i]; e != mirror {
					t.Fatalf("after %d: entry %d is %+v oldest first and %+v newest first", n, i, e, mirror)
				}
				if e.number != uint64(n-have+1+i) {
					t.Fatalf("after %d: entry %d has number %d, want %d", n, i, e.number, n-have+1+i)
				}
				if want := fmt.Sprintf("/%d", e.number); e.call.Path != want {
					t.Fatalf("after %d: entry %d has path %s, want %s", n, i, e.call.Path, want)
				}
			}
		}
	}
}

func TestRing_parts(t *testing.T) {
	b := newLiveLog(1<<20, 10*chunk)
	for n := 1; n <= 100; n++ {
		b.write(numbered("prj_1", n, time.Now()))
	}
	r := b.ring("prj_1")
	if got := fmt.Sprint(numbers(r.before(21, 3))); got != "[20 19 18]" {
		t.Errorf("before 21: %s", got)
	}
	if got := r.before(1, 3); got != nil {
		t.Errorf("before the first: %v", numbers(got))
	}
	if got, missed := r.after(97, 10); fmt.Sprint(numbers(got)) != "[98 99 100]" || missed != 0 {
		t.Errorf("after 97: %v, %d missed", numbers(got), missed)
	}
	if got, _ := r.after(100, 10); got != nil {
		t.Errorf("after the last: %v", numbers(got))
	}
	for id, want := range map[string]bool{
		r.id(7):       true,
		"other-7":     false,
		"":            false,
		r.name + "-":  false,
		r.name + "-x": false,
		r.name:        false,
	} {
		if number, ok := r.number(id); ok != want || ok && number != 7 {
			t.Errorf("%q is %d, %v", id, number, ok)
		}
	}
}

func TestSlot_tries(t *testing.T) {
	s := packed(Call{Tries: 2, Target: "b.example.com"})
	if got := s.read(); got.Tries != 2 || got.Target != "b.example.com" {
		t.Errorf("%d tries, the last one at %q", got.Tries, got.Target)
	}
	s.set(&Call{Tries: 1})
	if got := s.read(); got.Tries != 1 || got.Target != "" {
		t.Errorf("a slot that is used again has %d tries, the last one at %q", got.Tries, got.Target)
	}
}

func TestRing_copies(t *testing.T) {
	b := newLiveLog(1<<20, chunk)
	c := Call{
		ProjectID: "prj_1",
		Method:    strings.Repeat("M", 100),
		Path:      "/" + strings.Repeat("p", 1000),
		RemoteIP:  "2001:db8::7",
		Code:      "invalid_key",
	}
	b.write(packed(c))
	got := b.ring("prj_1").before(2, 1)[0].call
	if len(got.Method) != maxMethod {
		t.Errorf("a method of %d bytes, want %d", len(got.Method), maxMethod)
	}
	if got.Path != c.Path[:maxPath]+"…" {
		t.Errorf("path %s, want %d bytes and an ellipsis", got.Path, maxPath)
	}
	if got.RemoteIP != c.RemoteIP || got.Code != c.Code {
		t.Errorf("got %+v", got)
	}
}

// A reader that is not scheduled must not delay calls.
func TestRing_busy(t *testing.T) {
	b := newLiveLog(1<<20, chunk)
	b.write(numbered("prj_1", 1, time.Now()))
	r := b.ring("prj_1")
	r.mu.Lock()
	b.write(numbered("prj_1", 2, time.Now())) // never returns if it waits
	r.mu.Unlock()
	b.write(numbered("prj_1", 3, time.Now()))
	if got := r.before(9, 9); len(got) != 2 || got[0].call.Path != "/3" || r.dropped.Load() != 1 {
		t.Errorf("got %+v, %d dropped", got, r.dropped.Load())
	}
}

func TestLiveLog_bounded(t *testing.T) {
	const projects = 4
	now := time.Now()
	b := newLiveLog(projects*chunk, 10*chunk)
	fill := func(project string, at time.Time) {
		for n := range 3 * chunk {
			b.write(numbered(project, n, at))
		}
	}
	size := func() (n int) {
		b.rings.Range(func(_ string, r *ring) bool { n += len(r.slots); return true })
		return n
	}
	fill("prj_1", now)
	fill("prj_2", now.Add(time.Second)) // prj_1 has three of the four parts, prj_2 gets the last
	if size() != projects*chunk || b.ring("prj_2") == nil {
		t.Fatalf("%d entries are kept", size())
	}
	fill("prj_3", now.Add(2*time.Second))
	if b.ring("prj_3") != nil || b.dropped.Load() != 3*chunk || size() != projects*chunk {
		t.Errorf("a project got room while all others were busy: %d entries, %d dropped", size(), b.dropped.Load())
	}
	fill("prj_3", now.Add(time.Minute))
	if b.ring("prj_1") != nil || b.ring("prj_2") == nil || b.ring("prj_3") == nil || size() > projects*chunk {
		t.Errorf("the project that was idle the longest did not make room: %d entries", size())
	}
}

func TestLiveLog_manyProjects(t *testing.T) {
	b := newLiveLog(20*chunk, 2*chunk)
	now := time.Now()
	var calling sync.WaitGroup
	for caller := range 8 {
		calling.Go(func() {
			for n := range 5000 {
				project := fmt.Sprintf("prj_%d", (n*7+caller)%50)
				b.write(numbered(project, n, now.Add(time.Duration(n)*20*time.Millisecond)))
			}
		})
	}
	for range 200 {
		b.rings.Range(func(_ string, r *ring) bool { r.after(0, 100); return true })
	}
	calling.Wait()
	total := 0
	b.rings.Range(func(_ string, r *ring) bool { total += len(r.slots); return true })
	if total > 20*chunk {
		t.Errorf("%d entries are kept, want at most %d", total, 20*chunk)
	}
}
