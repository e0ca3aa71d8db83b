package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

// TestKeysListed_orders pages through keys of which some were never used, in each order.
func TestKeysListed_orders(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, now := seed(t, db), models.Now()
		tenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now}
		kind := models.KeyType{ID: models.NewID("kty"), ProjectID: project.ID, Name: "full", Scopes: []string{"*"}}
		noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.Insert(&tenant, &kind); err != nil {
				return err
			}
			for i, owner := range []string{"d", "a", "c", "a", "b"} {
				key := models.APIKey{
					ID:         fmt.Sprintf("key_%d", i),
					ProjectID:  project.ID,
					TenantID:   tenant.ID,
					KeyTypeID:  kind.ID,
					Owner:      owner,
					Hash:       []byte{byte(i)},
					UpdatedAt:  now,
					KeyDetails: contract.KeyDetails{CreatedAt: now},
				}
				if err := tx.Insert(&key); err != nil {
					return err
				}
			}
			if err := tx.TouchKeys([]string{"key_3"}, noon); err != nil {
				return err
			}
			return tx.TouchKeys([]string{"key_1", "key_4"}, noon.Add(time.Hour))
		})
		if err != nil {
			t.Fatal(err)
		}
		for order, want := range map[string]string{
			"owner":      "1 3 4 2 0",
			"-owner":     "0 2 4 3 1",
			"last_used":  "0 2 3 1 4",
			"-last_used": "4 1 3 2 0",
			"created":    "0 1 2 3 4",
			"-created":   "4 3 2 1 0",
		} {
			t.Run(order, func(t *testing.T) {
				var got []string
				page := models.Page{Limit: 1, Sort: models.ParseSort(order), Count: true}
				for range 6 {
					list, err := db.Read(t.Context()).KeysListed(project, models.KeyFilter{}, page)
					if err != nil || list.Total != 5 {
						t.Fatalf("%d keys in all, %v; want 5", list.Total, err)
					}
					got = append(got, strings.TrimPrefix(list.Items[0].ID, "key_"))
					if page.Cursor = list.Next; page.Cursor == "" {
						break
					}
				}
				if strings.Join(got, " ") != want {
					t.Errorf("got %v, want %s", got, want)
				}
			})
		}
	})
}

// TestLists_states filters by states that rows have at a time, or by several columns.
func TestLists_states(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, now := seed(t, db), models.Now()
		later, before := now.Add(time.Hour), now.Add(-time.Hour)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			for id, hook := range map[string]models.Webhook{
				"on": {Enabled: true}, "off": {}, "failing": {Enabled: true, FailingSince: &before},
				"off too": {FailingSince: &before},
			} {
				hook.ID, hook.TeamID, hook.Events = id, project.TeamID, []string{}
				if err := tx.Insert(&hook); err != nil {
					return err
				}
			}
			for id, export := range map[string]models.Export{
				"ready":       {State: "ready", ExpiresAt: &later},
				"ended":       {State: "ready", ExpiresAt: &before},
				"expired":     {State: "expired", ExpiresAt: &before},
				"failed":      {State: "failed", Format: "data"},
				"failed zips": {State: "failed", Format: "gateway"},
			} {
				export.ID, export.ProjectID = id, project.ID
				if err := tx.Insert(&export); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := db.Read(t.Context())
		for state, want := range map[string]string{"": "failing off off too on", "on": "on", "off": "off off too",
			"failing": "failing"} {
			list, err := tx.WebhooksOfTeams([]string{project.TeamID}, state, models.Page{})
			if got := sortedIDs(list, func(w models.Webhook) string { return w.ID }); err != nil || got != want {
				t.Errorf("webhooks that are %q: %q, %v; want %q", state, got, err, want)
			}
		}
		for filter, want := range map[models.ExportFilter]string{
			{}:                                  "ended expired failed failed zips ready",
			{State: "ready"}:                    "ready",
			{State: "expired"}:                  "ended expired",
			{State: "failed"}:                   "failed failed zips",
			{State: "failed", Format: "data"}:   "failed",
			{State: "ready", Format: "gateway"}: "",
		} {
			filter.Now = now
			list, err := tx.ExportsOf(project.ID, filter, models.Page{})
			if got := sortedIDs(list, func(e models.Export) string { return e.ID }); err != nil || got != want {
				t.Errorf("exports %+v: %q, %v; want %q", filter, got, err, want)
			}
		}
	})
}

func sortedIDs[T any](list models.List[T], id func(T) string) string {
	var ids []string
	for _, item := range list.Items {
		ids = append(ids, id(item))
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}
