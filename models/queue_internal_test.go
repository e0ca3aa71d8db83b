package models

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"postern/platform/fault"
)

// While one change writes, others wait for their turn until a deadline, and are then told to come back.
func TestWrite_queue(t *testing.T) {
	db, err := Open(t.Context(), "", filepath.Join(t.TempDir(), "postern.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	nothing := func(*Tx) error { return nil }
	began, end, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- db.Write(t.Context(), func(*Tx) error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	db.queue.wait = time.Millisecond
	err = db.Write(t.Context(), nothing)
	if !isBusy(err) {
		t.Errorf("a change that has waited too long: %v", err)
	}
	if !Unavailable(err) {
		t.Errorf("it is not taken for an outage that passes: %v", err)
	}
	db.queue.wait = time.Hour
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := db.Write(gone, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("a change whose caller is gone: %v", err)
	}
	waiting := make(chan error)
	go func() { waiting <- db.Write(t.Context(), nothing) }()
	close(end)
	if err := errors.Join(<-done, <-waiting); err != nil {
		t.Errorf("after the first change: %v", err)
	}
}

// While one import writes, another one waits until a deadline, or until its caller goes away.
func TestImport_turn(t *testing.T) {
	db, err := Open(t.Context(), "", filepath.Join(t.TempDir(), "postern.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, _, err := db.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	into := func(ctx context.Context, write func()) error {
		var stage Stage
		return db.Import(ctx, func(s Stage) error {
			stage = s
			write()
			return nil
		}, func(tx *Tx) error { return tx.DeleteTeam(stage.Team) })
	}
	for name, tt := range map[string]struct {
		wait   time.Duration
		leaves bool // its caller goes away
		want   func(error) bool
	}{
		"its turn comes":             {time.Hour, false, func(err error) bool { return err == nil }},
		"its caller goes away":       {time.Hour, true, isCanceled},
		"it has waited for too long": {time.Millisecond, false, isBusy},
	} {
		t.Run(name, func(t *testing.T) {
			db.importing.wait = tt.wait
			began, end, first, second := make(chan bool), make(chan bool), make(chan error), make(chan error)
			go func() {
				first <- into(t.Context(), func() {
					close(began)
					<-end
				})
			}()
			<-began
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			wrote := false
			go func() { second <- into(ctx, func() { wrote = true }) }()
			if tt.leaves {
				leave()
			}
			if tt.want(nil) {
				close(end)
			}
			err := <-second
			if !tt.want(err) || wrote != (err == nil) {
				t.Errorf("it wrote: %t, %v", wrote, err)
			}
			if !tt.want(nil) {
				close(end)
			}
			if err := <-first; err != nil {
				t.Errorf("the first import: %v", err)
			}
		})
	}
	t.Run("the next start", func(t *testing.T) {
		leave, err := db.importing.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := db.RemoveUnfinishedImports(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a server that stops waits for an import: %v", err)
		}
	})
}

func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

func isBusy(err error) bool {
	return fault.KindOf(err) == fault.Unavailable && fault.CodeOf(err) == "database_busy" && fault.RetryAfter(err) > 0
}
