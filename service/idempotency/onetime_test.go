package idempotency_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/models"
	"postern/service/idempotency"
	"postern/testkit/state"
)

func TestTakeOneTime(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &idempotency.Service{DB: db}
		slot := idempotency.Request{Credential: "session", Key: "disclosure", Method: "GET", Path: "/keys/key_1/secret"}
		put := func(t *testing.T, content string) {
			t.Helper()
			if err := s.PutOneTime(t.Context(), slot, []byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		take := func(t *testing.T, slot idempotency.Request) string {
			t.Helper()
			content, err := s.TakeOneTime(t.Context(), slot)
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
		t.Run("once, the newest", func(t *testing.T) {
			put(t, "old")
			put(t, "new")
			if first, second := take(t, slot), take(t, slot); first != "new" || second != "" {
				t.Errorf("took %q, then %q", first, second)
			}
		})
		t.Run("by another session", func(t *testing.T) {
			put(t, "x")
			other := slot
			other.Credential = "another session"
			if got := take(t, other); got != "" {
				t.Errorf("another session took %q", got)
			}
			if got := take(t, slot); got != "x" {
				t.Errorf("its own took %q", got)
			}
		})
		t.Run("by many at once", func(t *testing.T) {
			put(t, "x")
			var wait sync.WaitGroup
			var took atomic.Int32
			for range 8 {
				wait.Go(func() {
					if content, err := s.TakeOneTime(t.Context(), slot); err == nil && content != nil {
						took.Add(1)
					}
				})
			}
			wait.Wait()
			if took.Load() != 1 {
				t.Errorf("%d took it", took.Load())
			}
		})
		t.Run("too late", func(t *testing.T) {
			put(t, "x")
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				return tx.DeleteExpiredIdempotent(models.Now().Add(idempotency.OneTimeTTL + time.Second))
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := take(t, slot); got != "" {
				t.Errorf("took %q after its time", got)
			}
		})
	})
}
