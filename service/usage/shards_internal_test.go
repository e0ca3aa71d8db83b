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

// paths returns the paths of a project's calls in the live log, oldest first.
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

func quietRecorder(shards int) *Recorder {
	r := NewRecorder(nil, slog.New(slog.DiscardHandler))
	r.shards = newShards(shards)
	return r
}

// The live log has calls in the order in which they ended, on whichever core.
func TestShards_order(t *testing.T) {
	r := quietRecorder(3)
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for n, at := range []int{2, 0, 0, 1, 2, 1, 0, 2} {
		// The durations differ, so that the order of starts is another one.
		ends := begin.Add(time.Duration(n) * time.Second)
		took := time.Duration(n%3) * time.Minute
		r.shards.all[at].keep(&Call{
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

// A call never waits for the live log. One that finds a shard full of another project's
// calls goes to its own project's ring.
func TestShards_full(t *testing.T) {
	r := quietRecorder(1)
	r.shards.gathering.Lock() // as by a goroutine that is not scheduled
	for range maxHeld {
		r.Observe(Call{ProjectID: "prj_1"})
	}
	r.Observe(Call{ProjectID: "prj_2", Path: "/only"})
	if got := r.live.ring("prj_2"); got == nil || got.newest() != 1 {
		t.Error("a project's only call is not in the live log because of another's many")
	}
	r.shards.gathering.Unlock()
	if n, dropped := r.ring("prj_1").newest(), r.live.dropped.Load(); n != maxHeld || dropped != 0 {
		t.Errorf("%d entries of %d, %d dropped", n, maxHeld, dropped)
	}
	if n := r.shards.counted(); n != maxHeld+1 {
		t.Errorf("%d calls were counted, want %d", n, maxHeld+1)
	}
}

// Slots and their buffers move from shard to ring and back. A slot in the live log must
// not be written to.
func TestSlot_text(t *testing.T) {
	r := quietRecorder(1)
	r.live = newLiveLog(1<<20, chunk)
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

func TestSlot_everyField(t *testing.T) {
	c := Call{
		ProjectID:     "prj_1",
		VersionID:     "ver_1",
		EnvironmentID: "env_1",
		Owner:         "billing",
		CredentialID:  "key_1",
		RemoteIP:      "192.0.2.7",
		Method:        "GET",
		Path:          "/a",
		Host:          "api.example.com",
		Route:         "/*",
		Status:        403,
		Code:          "key_frozen",
		Step:          "access",
		Forwarded:     true,
		Tries:         2,
		Target:        "b.example.com",
		ShadowRule:    "rul_1",
		ShadowCode:    "not_in_group",
		TrackedRule:   "rul_2",
		Tracked:       "missed",
		TrackedThing:  "order:7",
		MissReason:    "not_json",
		InvalidAt:     "GET /a",
		InvalidWhy:    "query parameter x",
		BytesIn:       3,
		BytesOut:      7,
		TraceID:       "0af7651916cd43dd8448eb211c80319c",
		Start:         time.Unix(1_900_000_000, 123_456_789),
		FirstByte:     500 * time.Microsecond,
		Duration:      1500 * time.Microsecond,
	}
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Name; fields.Field(i).IsZero() {
			t.Errorf("%s is not set in this test", name)
		}
	}
	c.TraceID = "" // for the access log alone
	if got := packed(c).read(); got != c {
		t.Errorf("got %+v, want %+v", got, c)
	}
}

// Without readers, a call is in the live log after the next Flush.
func TestFlush_liveLog(t *testing.T) {
	r := quietRecorder(2)
	r.shards.all[1].keep(&Call{ProjectID: "prj_1"})
	if err := r.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if r.live.ring("prj_1") == nil {
		t.Error("the call is not in the live log")
	}
}

// Without readers, a shard moves its calls to the live log before it is full.
func TestLiveLog_withoutReaders(t *testing.T) {
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
	ring := r.live.ring("prj_1")
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

func TestShards_bounded(t *testing.T) {
	d := newShards(1000)
	if len(d.all) != maxShards {
		t.Errorf("%d shards, want %d", len(d.all), maxShards)
	}
	for i := range 3 * maxShards {
		if at := d.near.New().(*shard); at.place < 0 || at.place >= maxShards || at != &d.all[at.place] {
			t.Errorf("new shard %d: %d", i, at.place)
		}
	}
}
