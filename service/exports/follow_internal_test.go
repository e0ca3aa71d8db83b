package exports

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
)

// readings is an export whose reads are counted and answered by the test.
type readings struct {
	started chan context.Context
	answer  chan position
	running atomic.Int32 // reads at the same time
}

func newReadings() *readings {
	return &readings{started: make(chan context.Context), answer: make(chan position)}
}

func (r *readings) read(ctx context.Context) position {
	if r.running.Add(1) > 1 {
		panic("two reads at once")
	}
	defer r.running.Add(-1)
	select {
	case r.started <- ctx:
	case <-ctx.Done():
		return position{err: ctx.Err()}
	}
	select {
	case now := <-r.answer:
		return now
	case <-ctx.Done():
		return position{err: ctx.Err()}
	}
}

// next lets one read be answered and returns its context.
func (r *readings) next(now position) context.Context {
	ctx := <-r.started
	r.answer <- now
	return ctx
}

func at(state string, done int64) position {
	return position{row: models.Export{ID: "exp_1", State: state, RowsDone: done}}
}

func TestFollowers_sharedPoller(t *testing.T) {
	f, r := NewFollowers(), newReadings()
	type follower struct {
		from *poller
		next <-chan struct{}
	}
	var all []follower
	for range maxFollowers {
		from, next, ok := f.join("exp_1", time.Millisecond, r.read)
		if !ok {
			t.Fatalf("follower %d is refused", len(all))
		}
		all = append(all, follower{from, next})
	}
	if _, _, ok := f.join("exp_2", time.Millisecond, r.read); ok {
		t.Error("one follower too many is let in")
	}
	for done := int64(1); done <= 3; done++ {
		r.next(at(contract.ExportBuilding, done))
		for i := range all {
			<-all[i].next
			var now position
			if now, all[i].next = f.at(all[i].from); now.row.RowsDone != done {
				t.Fatalf("follower %d reads %d rows, want %d", i, now.row.RowsDone, done)
			}
		}
	}
	for _, one := range all[1:] {
		f.leave("exp_1", one.from)
	}
	ctx := r.next(at(contract.ExportBuilding, 4))
	f.leave("exp_1", all[0].from)
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the poller goes on without followers")
	}
	if len(f.pollers) != 0 || f.count != 0 {
		t.Errorf("%d pollers and %d followers are left", len(f.pollers), f.count)
	}
}

// The end of an export, and an error, reach every follower. One that comes afterward gets its own poller.
func TestFollowers_lastRead(t *testing.T) {
	for name, last := range map[string]position{
		"finished": at(contract.ExportReady, 9),
		"error":    {err: errors.New("no database")},
	} {
		t.Run(name, func(t *testing.T) {
			f, r := NewFollowers(), newReadings()
			slow, _, _ := f.join("exp_1", time.Millisecond, r.read)
			quick, next, _ := f.join("exp_1", time.Millisecond, r.read)
			r.next(last)
			<-next
			for who, from := range map[string]*poller{"quick": quick, "slow": slow} {
				if now, _ := f.at(from); now.row.State != last.row.State || !errors.Is(now.err, last.err) {
					t.Errorf("the %s one reads %+v", who, now)
				}
			}
			later, next, _ := f.join("exp_1", time.Millisecond, r.read)
			r.next(at(contract.ExportBuilding, 1))
			<-next
			if now, _ := f.at(later); now.row.RowsDone != 1 {
				t.Errorf("a later one reads %+v", now)
			}
			f.leave("exp_1", quick)
			f.leave("exp_1", slow)
			if len(f.pollers) != 1 {
				t.Error("the earlier ones took the later one's poller along")
			}
			f.leave("exp_1", later)
		})
	}
}
