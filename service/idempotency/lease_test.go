package idempotency_test

import (
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/testkit"
)

// An attempt that runs keeps its lease for longer than it lasts; one whose process was killed is over with it.
func TestLease_renewed(t *testing.T) {
	each(t, func(t *testing.T, f fixture) {
		f.Lease = 400 * time.Millisecond
		attempt := f.begin(t)
		first, err := f.row(t)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "a lease that ends after the first would have", func() (time.Time, bool) {
			now, err := f.row(t)
			if err != nil {
				t.Fatal(err)
			}
			return now.LeaseUntil, now.LeaseUntil.After(first.LeaseUntil.Add(f.Lease))
		})
		attempt.Kill()
		testkit.Eventually(t, "the request of a killed process can be sent again", func() bool {
			next, _, err := f.Begin(t.Context(), request)
			if next != nil {
				next.Kill()
			} else if fault.CodeOf(err) != "idempotency_in_progress" {
				t.Fatal(err)
			}
			return next != nil
		})
	})
}

// An attempt that commits while another waits to take its place is not carried out twice.
func TestCommit_duringTakeover(t *testing.T) {
	each(t, func(t *testing.T, f fixture) {
		slow := f.begin(t)
		f.past(t, "lease_until")
		seen, err := f.row(t)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.commit(t.Context(), slow, "team_done"); err != nil {
			t.Fatal(err)
		}
		next := seen
		next.LeaseID = "try_next"
		err = f.DB.Write(t.Context(), func(tx *models.Tx) error {
			taken, err := tx.TakeOverIdempotent(next, seen, models.Now())
			if taken {
				t.Error("the attempt was taken over after it had committed")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		slow.Kill()
	})
}

// row returns the only request that is kept.
func (f fixture) row(t *testing.T) (row models.IdempotentRequest, err error) {
	t.Helper()
	var lookup []byte
	query := f.DB.SQL().QueryRowContext(t.Context(), "SELECT lookup FROM idempotent_requests")
	if err := query.Scan(&lookup); err != nil {
		return row, err
	}
	return f.DB.Read(t.Context()).IdempotentByLookup(lookup)
}
