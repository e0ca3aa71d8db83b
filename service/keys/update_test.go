package keys_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/keys"
	"postern/testkit/state"
)

// lookup is the key as the gateway finds it.
func (w *world) lookup(t *testing.T, plaintext string) snapshot.Key {
	t.Helper()
	var key snapshot.Key
	if found, _ := w.table.Lookup(w.project.TeamID, policy.HashKey(plaintext), &key); !found {
		t.Fatal("the gateway does not know the key")
	}
	return key
}

func TestUpdate_limitsAtOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		key := w.create(t, contract.NewKey{Owner: "billing", Limits: contract.Limits{"minute": 100, "day": 5000},
			AllowedCIDRs: []string{"203.0.113.7", "2001:db8::/32", "203.0.113.7/32"}})
		if diff := cmp.Diff([]string{"203.0.113.7/32", "2001:db8::/32"}, key.AllowedCIDRs); diff != "" {
			t.Errorf("canonical ranges (-want +got):\n%s", diff)
		}
		served := w.lookup(t, key.Secret.Reveal())
		if served.Limits == nil || served.Limits[snapshot.Minute] != 100 || served.Limits[snapshot.Day] != 5000 ||
			len(served.AllowedIPs) != 2 {
			t.Errorf("served %+v", served)
		}
		ends, text := models.Now().Add(time.Hour), "For invoices"
		update := func(etag string, change contract.KeyChange) (contract.Key, error) {
			return w.Update(t.Context(), w.owner, contract.KeyUpdate{
				KeyPath:   key.Path(),
				Condition: contract.Condition{IfMatch: etag},
				Body:      change,
			})
		}
		changed, err := update(key.ETag, contract.KeyChange{
			Limits:       contract.Sent(contract.Limits{}),
			AllowedCIDRs: &[]string{},
			Description:  &text,
			ExpiresAt:    contract.Sent(ends),
		})
		if err != nil {
			t.Fatal(err)
		}
		if changed.LimitsFrom != contract.LimitsOfKey || len(changed.EffectiveLimits) != 0 {
			t.Errorf("limits from %s are %v, want none of the key's own", changed.LimitsFrom, changed.EffectiveLimits)
		}
		if changed.Description != text || !changed.ExpiresAt.Equal(ends) {
			t.Errorf("changed to %q until %s, want %q until %s", changed.Description, changed.ExpiresAt, text, ends)
		}
		if served = w.lookup(t, key.Secret.Reveal()); served.Limits == nil || !served.Limits.None() ||
			len(served.AllowedIPs) != 0 ||
			!served.ExpiresAt.Equal(ends) {
			t.Errorf("served %+v", served)
		}
		_, err = update(key.ETag, contract.KeyChange{ExpiresAt: contract.Null[time.Time]()})
		if fault.KindOf(err) != fault.Stale {
			t.Errorf("with the ETag from before: %v", err)
		}
		if changed, err = update(changed.ETag, contract.KeyChange{
			Limits:    contract.Null[contract.Limits](),
			ExpiresAt: contract.Null[time.Time](),
		}); err != nil || changed.LimitsFrom != contract.LimitsOfNothing || changed.ExpiresAt != nil {
			t.Errorf("changed to %+v, %v", changed, err)
		}
		if _, err := w.Revoke(t.Context(), w.owner, key.Path()); err != nil {
			t.Fatal(err)
		}
		_, err = update("", contract.KeyChange{Description: &text})
		if fault.CodeOf(err) != "key_revoked" {
			t.Errorf("a revoked key: %v", err)
		}
	})
}

func TestKey_sourceOfLimits(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			seen := w.project.UpdatedAt
			w.project.Limits.Key = models.Limits{"hour": 7}
			if _, err := tx.UpdateProject(w.project, seen); err != nil {
				return err
			}
			return tx.Insert(&models.KeyType{
				ID:        models.NewID("kty"),
				ProjectID: w.project.ID,
				Name:      "gold",
				Scopes:    []string{"*"},
				Limits:    models.Limits{"hour": 70},
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for want, in := range map[string]contract.NewKey{
			contract.LimitsOfProject: {Owner: "o"},
			contract.LimitsOfType:    {Owner: "o", KeyType: "gold"},
			contract.LimitsOfKey:     {Owner: "o", KeyType: "gold", Limits: contract.Limits{"hour": 700}},
		} {
			key := w.create(t, in)
			held := map[string]int64{
				contract.LimitsOfProject: 7, contract.LimitsOfType: 70, contract.LimitsOfKey: 700,
			}[want]
			if key.LimitsFrom != want || key.EffectiveLimits["hour"] != held {
				t.Errorf("%s: %v from %s", want, key.EffectiveLimits, key.LimitsFrom)
			}
		}
	})
}

func TestList_search(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		billing := w.create(t, contract.NewKey{Owner: "billing", Environment: "prod", Description: "Invoices at 100%"})
		trial := w.create(t, contract.NewKey{Owner: "ana", KeyType: "trial", Description: `A\B`})
		frozen := w.create(t, contract.NewKey{Owner: "ana"})
		if _, err := w.Freeze(t.Context(), w.owner, frozen.Path()); err != nil {
			t.Fatal(err)
		}
		past := w.create(t, contract.NewKey{Owner: "past"})
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			row, err := tx.KeyByID(past.ID)
			if err != nil {
				return err
			}
			over, seen := models.Now().Add(-time.Hour), row.UpdatedAt
			row.ExpiresAt = &over
			_, err = tx.UpdateKey(row, seen)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			filter contract.KeyList
			want   []string
		}{
			{contract.KeyList{}, []string{past.ID, frozen.ID, trial.ID, billing.ID}},
			{contract.KeyList{Owner: "ana"}, []string{frozen.ID, trial.ID}},
			{contract.KeyList{Owner: "ana", State: "active"}, []string{trial.ID}},
			{contract.KeyList{State: "frozen"}, []string{frozen.ID}},
			{contract.KeyList{State: "expired"}, []string{past.ID}},
			{contract.KeyList{State: "revoked"}, nil},
			{contract.KeyList{Tenant: "default", KeyType: "trial"}, []string{trial.ID}},
			{contract.KeyList{Tenant: "acme"}, nil},
			{contract.KeyList{Environment: "prod"}, []string{billing.ID}},
			{contract.KeyList{Environment: "all", KeyType: "full"}, []string{past.ID, frozen.ID}},
			{contract.KeyList{Text: "INVOICES"}, []string{billing.ID}},
			{contract.KeyList{Text: "100%"}, []string{billing.ID}},
			{contract.KeyList{Text: "1_0"}, nil},
			{contract.KeyList{Text: `a\b`}, []string{trial.ID}},
			{contract.KeyList{Text: trial.Prefix + "…" + trial.Last4}, []string{trial.ID}},
		} {
			tt.filter.Project, tt.filter.Count = "shop", true
			page, err := w.List(t.Context(), w.owner, tt.filter)
			var got []string
			for _, k := range page.Items {
				got = append(got, k.ID)
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%+v: %v (-want +got):\n%s", tt.filter, err, diff)
			}
			if page.Total != int64(len(tt.want)) {
				t.Errorf("%+v counts %d", tt.filter, page.Total)
			}
		}
		shop := contract.ProjectPath{Project: "shop"}
		first, err := w.List(t.Context(), w.owner, contract.KeyList{
			ProjectPath: shop, Page: contract.Page{Limit: 1}, Owner: "ana",
		})
		if err != nil || first.Next == "" {
			t.Fatalf("%+v, %v", first, err)
		}
		second, err := w.List(t.Context(), w.owner, contract.KeyList{
			ProjectPath: shop, Page: contract.Page{Cursor: first.Next, Limit: 1}, Owner: "ana",
		})
		if err != nil || len(second.Items) != 1 || second.Items[0].ID != trial.ID || second.Next != "" {
			t.Errorf("%+v, %v", second, err)
		}
		_, err = w.List(t.Context(), w.owner, contract.KeyList{ProjectPath: shop, State: "tired"})
		if fault.CodeOf(err) != "invalid_state" {
			t.Errorf("an unknown state: %v", err)
		}
	})
}

func TestCreate_invalidLimits(t *testing.T) {
	for _, tt := range []struct {
		limits map[string]int64
		want   string // pointers
	}{
		{nil, ""},
		{map[string]int64{"second": 1, "year": 1}, ""},
		{map[string]int64{"year": 1 << 53}, "/limits/year"},
		{map[string]int64{"minute": 10, "month": 9, "year": 9}, "/limits/month /limits/year"},
		{map[string]int64{"week/2": 1, "day": 0}, "/limits/week~12 /limits/day"},
	} {
		if got := pointersOf(keys.CheckLimits("/limits", tt.limits)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.limits, got, tt.want)
		}
	}
	many := make([]string, keys.MaxRanges+1)
	for _, tt := range []struct {
		ranges []string
		want   string // pointers
	}{
		{[]string{"10.0.0.0/8", "::/0", "0.0.0.0/0", "::1", "::ffff:192.0.2.1"}, ""},
		{
			[]string{"10.0.0.1/8", "fe80::1%eth0", "10.0.0.0/33", "::ffff:10.0.0.0/104", "10.1", ""},
			"/c/0 /c/1 /c/2 /c/3 /c/4 /c/5",
		},
		{many, "/c"},
	} {
		networks, wrong := keys.ReadRanges("/c", tt.ranges, keys.MaxRanges)
		if got := pointersOf(wrong); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.ranges, got, tt.want)
		}
		if tt.want == "" && keys.Texts(networks)[4] != "192.0.2.1/32" {
			t.Errorf("%v became %v", tt.ranges, networks)
		}
	}
}

func pointersOf(wrong []fault.Field) (text string) {
	for i, field := range wrong {
		if i > 0 {
			text += " "
		}
		text += field.Pointer
	}
	return text
}
