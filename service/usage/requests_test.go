package usage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/usage"
	"postern/testkit"
	"postern/testkit/state"
)

func (w *world) observe(n int) {
	for i := range n {
		c := w.call(time.Now())
		c.Path = fmt.Sprintf("/%d", i)
		w.Recorder.Observe(c)
	}
}

func TestLiveLog_newestFirst(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		none, err := w.Requests(t.Context(), w.owner, w.list(contract.Page{}))
		if got := none; err != nil || len(got.Items) != 0 {
			t.Errorf("before the first call: %+v, %v", got, err)
		}
		w.observe(7)
		w.Recorder.Observe(usage.Call{ProjectID: "prj_other", Path: "/secret"})
		cursor, seen := "", ""
		for page := range 3 {
			got, err := w.Requests(t.Context(), w.owner, w.list(contract.Page{Cursor: cursor, Limit: 3}))
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range got.Items {
				seen += item.Path
				if item.Environment != "prod" || item.Version != "1.0.0" || item.ID == "" ||
					item.RemoteIP != "192.0.2.7" {
					t.Errorf("got %+v", item)
				}
			}
			if (got.NextCursor == nil) != (page == 2) {
				t.Errorf("page %d ends with cursor %v", page, got.NextCursor)
			}
			if got.NextCursor != nil {
				cursor = *got.NextCursor
			}
		}
		if seen != "/6/5/4/3/2/1/0" {
			t.Errorf("seen %s", seen)
		}
	})
}

// reader follows and hands out what it gets.
type reader struct {
	batches chan usage.Batch
	ended   chan error
	stop    context.CancelFunc
}

func (w *world) follow(after string) *reader {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	r := &reader{batches: make(chan usage.Batch, 100), ended: make(chan error, 1), stop: stop}
	go func() {
		send := func(b usage.Batch) error { r.batches <- b; return nil }
		r.ended <- w.Follow(ctx, w.owner, w.list(contract.Page{}), after, send)
	}()
	if first := r.next(w.t); len(first.Requests) != 0 {
		w.t.Errorf("the first batch has %d requests, want none", len(first.Requests))
	}
	return r
}

func (r *reader) next(t testing.TB) usage.Batch {
	t.Helper()
	select {
	case b := <-r.batches:
		return b
	case err := <-r.ended:
		t.Fatalf("following ended: %v", err)
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return usage.Batch{}
}

// take waits for n requests and returns their paths.
func (r *reader) take(t *testing.T, n int) (paths string, last contract.Request, missed uint64) {
	t.Helper()
	for got := 0; got < n; {
		b := r.next(t)
		for _, request := range b.Requests {
			paths, last = paths+request.Path, request
			got++
		}
		missed += b.Missed
	}
	return paths, last, missed
}

func TestLiveLog_followed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		early := w.follow("") // before there is anything
		w.observe(3)
		if paths, _, _ := early.take(t, 3); paths != "/0/1/2" {
			t.Errorf("followed %s", paths)
		}
		later := w.follow("")
		w.observe(2)
		paths, last, _ := later.take(t, 2)
		if paths != "/0/1" {
			t.Errorf("who comes later gets %s", paths)
		}
		later.stop()
		if err := <-later.ended; err != nil {
			t.Errorf("a reader who leaves: %v", err)
		}
		w.observe(4)
		if paths, _, missed := w.follow(last.ID).take(t, 4); paths != "/0/1/2/3" || missed != 0 {
			t.Errorf("resumed with %s, %d missed", paths, missed)
		}
		if paths, _, missed := w.follow("another-process-7").take(t, 9); paths != "/0/1/2/0/1/0/1/2/3" || missed != 0 {
			t.Errorf("resumed from an unknown id with %s, %d missed", paths, missed)
		}
	})
}

// A reader who does not read learns that he missed something; calls and other readers do not wait for
// him. A call that meets a busy log is dropped and counted, so that the three add up.
func TestLiveLog_slowReader(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		follows, reads, release := make(chan bool, 1), make(chan bool, 1), make(chan struct{})
		var got, missed atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() {
			err := w.Follow(ctx, w.owner, w.list(contract.Page{}), "", func(b usage.Batch) error {
				if got.Load() == 0 && len(b.Requests) == 0 {
					select {
					case follows <- true:
					default: // a heartbeat
					}
					return nil
				}
				if got.Add(int64(len(b.Requests))) == 1 {
					reads <- true
					<-release
				}
				missed.Add(int64(b.Missed))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-follows
		w.observe(1)
		<-reads
		quick := w.follow("")
		w.observe(5000)
		quick.take(t, 1000)
		close(release)
		testkit.Eventually(t, "5001 calls to be read, missed or dropped", func() bool {
			log, err := w.Requests(t.Context(), w.owner, w.list(contract.Page{}))
			return err == nil && got.Load()+missed.Load()+log.Dropped == 5001
		})
		stop()
		following.Wait()
		if missed.Load() == 0 {
			t.Error("the slow reader missed nothing")
		}
	})
}

func TestLiveLog_boundedReaders(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		var readers []*reader
		for range 20 {
			readers = append(readers, w.follow(""))
		}
		refused := func(usage.Batch) error { t.Error("one too many follows"); return nil }
		err := w.Follow(t.Context(), w.owner, w.list(contract.Page{}), "", refused)
		if fault.CodeOf(err) != "too_many_followers" {
			t.Errorf("got %v", err)
		}
		readers[0].stop()
		if err := <-readers[0].ended; err != nil {
			t.Error(err)
		}
		readers[0] = w.follow("")
		w.Recorder.EndFollowers()
		w.Recorder.EndFollowers()
		for _, r := range readers {
			if err := <-r.ended; err != nil {
				t.Error(err)
			}
		}
		gone := errors.New("gone")
		err = w.Follow(t.Context(), w.owner, w.list(contract.Page{}), "", func(usage.Batch) error { return gone })
		if !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}
