package usage

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
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
		r.desks.all[at].hold(&Call{
			ProjectID: "prj_1",
			Path:      fmt.Sprint("/", n),
			Start:     ends.Add(-took),
			Duration:  took,
		})
	}
	if got := r.paths("prj_1"); got != "/0 /1 /2 /3 /4 /5 /6 /7" {
		t.Errorf("got %s", got)
	}
	r.Observe(Call{ProjectID: "prj_1", Path: "/8", Start: begin})
	if got := r.paths("prj_1"); got != "/0 /1 /2 /3 /4 /5 /6 /7 /8" {
		t.Errorf("after one more: %s", got)
	}
}

// Nobody waits for the log, and nobody's calls are lost to it for another's: what finds
// no room at a full desk goes to its own project's ring.
func TestAFullDeskCostsNoTimeAndNobodyElse(t *testing.T) {
	r := quietRecorder(1)
	r.desks.gathering.Lock() // by somebody that the scheduler has put aside
	for range maxHeld {
		r.Observe(Call{ProjectID: "prj_1"})
	}
	r.Observe(Call{ProjectID: "prj_2", Path: "/only"})
	if got := r.book.ring("prj_2"); got == nil || got.newest() != 1 {
		t.Error("a project's only call is not in the log because of another's many")
	}
	r.desks.gathering.Unlock()
	if n, dropped := r.ring("prj_1").newest(), r.book.dropped.Load(); n != maxHeld || dropped != 0 {
		t.Errorf("%d entries of %d, %d dropped", n, maxHeld, dropped)
	}
	if n := r.desks.counted(); n != maxHeld+1 {
		t.Errorf("%d calls were counted, want %d", n, maxHeld+1)
	}
}

// Slots and their buffers go from desk to ring and back; nobody else may write to one
// that is in the log.
func TestTheTextOfAnEntryIsItsOwn(t *testing.T) {
	r := quietRecorder(1)
	r.book = newBook(1<<20, chunk)
	for i := range 10 * chunk {
		r.Observe(Call{ProjectID: "prj_1", Path: fmt.Sprintf("/%04d", i), Start: time.Now()})
		if i%5 > 0 {
			continue
		}
		for _, e := range r.ring("prj_1").before(math.MaxUint64, chunk) {
			if want := fmt.Sprintf("/%04d", e.number-1); e.call.Path != want {
				t.Fatalf("entry %d says %s, want %s", e.number, e.call.Path, want)
			}
		}
	}
}

func TestNothingOfACallIsLostInTheLog(t *testing.T) {
	c := Call{
		ProjectID:     "prj_1",
		VersionID:     "ver_1",
		EnvironmentID: "env_1",
		Owner:         "billing",
		CredentialID:  "key_1",
		RemoteIP:      "192.0.2.7",
		Method:        "GET",
		Path:          "/a",
		Route:         "/*",
		Status:        403,
		Code:          "key_frozen",
		Step:          "access",
		BytesIn:       3,
		BytesOut:      7,
		Start:         time.Unix(1_900_000_000, 123_456_789),
		Duration:      1500 * time.Microsecond,
	}
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Name; fields.Field(i).IsZero() && name != "Kept" {
			t.Errorf("%s says nothing in this test", name)
		}
	}
	if got := packed(c).read(); got != c {
		t.Errorf("got %+v, want %+v", got, c)
	}
}

// A call that nobody asks for is in the log a second later all the same.
func TestFlushingBringsTheLogUpToDate(t *testing.T) {
	r := quietRecorder(2)
	r.desks.all[1].hold(&Call{ProjectID: "prj_1"})
	if err := r.Flush(t.Context()); err != nil || r.book.ring("prj_1") == nil {
		t.Errorf("%v, and the call is in the log: %v", err, r.book.ring("prj_1") != nil)
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
