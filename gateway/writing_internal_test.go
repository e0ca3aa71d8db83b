package gateway

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// Writes in quick succession share a deadline, and a later one has at least 15/16 of its time.
func TestWritingSetsFewDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		began, at := time.Now(), writing{w: to, idle: 16 * time.Second}
		for range 100 {
			at.begin()
			if left := time.Until(to.set[len(to.set)-1]); left <= 15*time.Second {
				t.Fatalf("a write has %s left", left)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n, most := len(to.set), int(time.Since(began)/time.Second); n > most {
			t.Errorf("%d deadlines for 100 writes, want at most %d", n, most)
		}
	})
}
