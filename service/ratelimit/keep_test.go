package ratelimit

import (
	"log/slog"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/testkit/state"
)

func newKeeper(db *models.DB) *Keeper {
	return &Keeper{DB: db, Local: NewLocal(), Log: slog.New(slog.DiscardHandler)}
}

func TestQuotas_stored(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := time.Now().UTC()
		if _, end := policy.WindowBounds(snapshot.Hour, now); end-now.Unix() < 60 {
			now = now.Add(-2 * time.Minute) // the hour must not end while the test runs
		}
		r := policy.NewRealm(&snapshot.Project{
			ID: "prj_1",
			Limits: snapshot.ProjectLimits{
				Key:     snapshot.Limits{snapshot.Minute: 100, snapshot.Hour: 5},
				IP:      snapshot.Limits{snapshot.Year: 100},
				Project: snapshot.Limits{snapshot.Month: 100},
			},
		})
		before := newKeeper(db)
		for range 3 {
			take(t, before.Local, r, "key_1", now)
		}
		if err := before.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		take(t, before.Local, r, "key_1", now)
		for range 2 { // the second finds nothing to write
			if err := before.Save(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		after := newKeeper(db)
		if err := after.Load(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		tally := take(t, after.Local, r, "key_1", now)
		got := [4]int64{
			tally.Shares()[0].Left[snapshot.Hour],
			tally.Shares()[0].Left[snapshot.Minute],
			tally.Shares()[1].Left[snapshot.Year],
			tally.Shares()[2].Left[snapshot.Month],
		}
		if want := [4]int64{0, 99, 99, 95}; got != want { // four calls before, one after
			t.Errorf("left of hour, minute, address and project: %v, want %v", got, want)
		}
		if !take(t, after.Local, r, "key_1", now).Refused {
			t.Error("a sixth call in the hour is admitted")
		}

		next := newKeeper(db)
		_, end := policy.WindowBounds(snapshot.Hour, now)
		if err := next.Load(t.Context(), time.Unix(end, 0)); err != nil {
			t.Fatal(err)
		}
		if left := take(t, next.Local, r, "key_1", time.Unix(end, 0)).Shares()[0].Left[snapshot.Hour]; left != 4 {
			t.Errorf("the next hour begins with %d left", left)
		}
	})
}

// If replicas write the same row, the higher count wins; a window that has begun since replaces the one before.
func TestQuotas_higherCount(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now().Unix()
		row := func(start, calls int64) models.LimitCount {
			return models.LimitCount{
				ProjectID: "prj_1",
				Dimension: "key",
				Subject:   "key_1",
				Period:    "day",
				StartsAt:  start,
				EndsAt:    start + 86400,
				Calls:     calls,
			}
		}
		for _, step := range []struct{ start, calls, want int64 }{
			{now, 5, 5},
			{now, 3, 5},
			{now, 8, 8},
			{now + 10, 1, 1},
		} {
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				return tx.KeepLimitCounts([]models.LimitCount{row(step.start, step.calls)}, now)
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := counts(t, db, now); len(got) != 1 || got[0].Calls != step.want || got[0].StartsAt != step.start {
				t.Fatalf("after %+v: %+v", step, got)
			}
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.KeepLimitCounts(nil, now+10+86400) })
		if err != nil {
			t.Fatal(err)
		}
		if got := counts(t, db, 0); len(got) != 0 {
			t.Errorf("a window that is over is kept: %+v", got)
		}
	})
}

func counts(t *testing.T, db *models.DB, now int64) (all []models.LimitCount) {
	t.Helper()
	err := db.Read(t.Context()).ScanLimitCounts(now, func(one models.LimitCount) error {
		all = append(all, one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
