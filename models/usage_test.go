package models_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

func addUsage(t *testing.T, db *models.DB, rows ...models.UsageHour) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddUsage(rows) }); err != nil {
		t.Error(err)
	}
}

func TestUsage_severalReplicas(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const replicas, flushes, keys = 4, 5, 1200 // more rows than one statement takes
		var rows []models.UsageHour
		for i := range int64(keys) {
			rows = append(rows, models.UsageHour{
				ProjectID:   "prj_1",
				Hour:        100 + i%2,
				KeyID:       models.NewID("key"),
				StatusClass: 2,
				Calls:       1,
				BytesIn:     2,
				BytesOut:    3,
			})
		}
		var wg sync.WaitGroup
		for replica := range replicas {
			mine := slices.Clone(rows)
			if replica%2 == 1 {
				slices.Reverse(mine) // in the order in which two would wait for each other
			}
			wg.Go(func() {
				for range flushes {
					addUsage(t, db, mine...)
				}
			})
		}
		wg.Wait()
		sums, err := db.Read(t.Context()).UsageOf("prj_1", 0, 1000, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		const calls = replicas * flushes * keys
		if len(sums) != 1 || sums[0].Calls != calls || sums[0].BytesIn != 2*calls || sums[0].BytesOut != 3*calls {
			t.Errorf("got %+v, want %d calls", sums, calls)
		}
	})
}

func TestUsage_grouped(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		first := models.UsageHour{
			ProjectID:     "prj_1",
			Hour:          47,
			EnvironmentID: "env_1",
			Owner:         "ana",
			KeyID:         "key_1",
			Route:         "/*",
			StatusClass:   2,
			Calls:         1,
			BytesIn:       1,
		}
		other := models.UsageHour{
			ProjectID:     "prj_1",
			Hour:          48,
			EnvironmentID: "env_2",
			Owner:         "bo",
			KeyID:         "key_2",
			Route:         "/a",
			StatusClass:   4,
			Calls:         1,
			BytesOut:      1,
		}
		elsewhere, later := first, first
		elsewhere.ProjectID, later.Hour = "prj_2", 72
		addUsage(t, db, first, other, elsewhere, later)
		tx := db.Read(t.Context())
		for _, by := range []string{
			models.UsageByHour,
			models.UsageByDay,
			models.UsageByEnvironment,
			models.UsageByOwner,
			models.UsageByKey,
			models.UsageByRoute,
			models.UsageByStatusClass,
		} {
			sums, err := tx.UsageOf("prj_1", 47, 72, []string{by}, 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(sums) != 2 || sums[0].Calls != 1 || sums[1].Calls != 1 ||
				sums[0].UsageHour == sums[1].UsageHour && sums[0].Day == sums[1].Day {
				t.Errorf("by %s: %+v", by, sums)
			}
		}
		sums, err := tx.UsageOf("prj_1", 0, 1000, []string{models.UsageByDay, models.UsageByOwner}, 10)
		if err != nil || len(sums) != 3 ||
			!slices.ContainsFunc(
				sums,
				func(s models.UsageSum) bool { return s.Day == 2 && s.Owner == "bo" && s.BytesOut == 1 },
			) {
			t.Errorf("by day and owner: %+v, %v", sums, err)
		}
		if sums, err := tx.UsageOf("prj_1", 0, 1000, []string{models.UsageByHour}, 2); err != nil || len(sums) != 2 {
			t.Errorf("limited to 2: %+v, %v", sums, err)
		}
		if sums, err := tx.UsageOf("prj_none", 0, 1000, nil, 2); err != nil || len(sums) != 1 || sums[0].Calls != 0 {
			t.Errorf("nothing counted: %+v, %v", sums, err)
		}
	})
}

func TestTouchKeys_otherColumns(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, now := seed(t, db), models.Now()
		tenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now}
		kind := models.KeyType{ID: models.NewID("kty"), ProjectID: project.ID, Name: "full", Scopes: []string{"*"}}
		key := models.APIKey{
			ID:         models.NewID("key"),
			ProjectID:  project.ID,
			TenantID:   tenant.ID,
			KeyTypeID:  kind.ID,
			Hash:       []byte{1},
			UpdatedAt:  now,
			KeyDetails: contract.KeyDetails{CreatedAt: now},
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&tenant, &kind, &key) })
		if err != nil {
			t.Fatal(err)
		}
		noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		for _, at := range []time.Time{noon, noon.Add(-time.Hour), noon.Add(time.Minute), noon} {
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				return tx.TouchKeys([]string{key.ID, "key_gone"}, at)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := db.Read(t.Context()).KeyByID(key.ID)
		if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(noon.Add(time.Minute)) ||
			!got.UpdatedAt.Equal(now) {
			t.Errorf("got %+v, %v", got, err)
		}
		if last, err := db.Read(t.Context()).LastRevision(); err != nil || last.ID != 0 {
			t.Errorf("revision %d, %v: a key that is used has not been changed", last.ID, err)
		}
	})
}
