package models

import (
	"context"
	"errors"
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
	if fault.KindOf(err) != fault.Unavailable || fault.CodeOf(err) != "database_busy" || fault.RetryAfter(err) <= 0 {
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
