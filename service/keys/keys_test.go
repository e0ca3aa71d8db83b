package keys_test

import (
	"context"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	"postern/testkit/state"
)

type world struct {
	*keys.Service
	table   *keys.Table
	owner   access.Principal
	project models.Project
}

func newWorld(t testing.TB, db *models.DB) *world {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
	w := &world{
		table: keys.NewTable(),
		owner: access.Principal{Account: "acc_1", Roles: map[string]access.Role{team.ID: access.Owner}},
	}
	w.project = models.Project{
		ID:            models.NewID("prj"),
		TeamID:        team.ID,
		Name:          "shop",
		FallbackOwner: "shop",
		CreatedAt:     now,
		UpdatedAt:     now,
	}
	version := models.Version{
		ID:           models.NewID("ver"),
		ProjectID:    w.project.ID,
		Name:         "1.0.0",
		RequestsAuth: contract.RequestsAuth{Methods: []string{"api_key"}},
		CreatedAt:    now,
		UpdatedAt:    now,
	}
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.Insert(&team, &w.project, &version,
			&models.Environment{
				ID:        models.NewID("env"),
				VersionID: version.ID,
				Name:      "prod",
				CreatedAt: now,
				UpdatedAt: now,
			},
			&models.Tenant{ID: models.NewID("tnt"), ProjectID: &w.project.ID, Name: "default", CreatedAt: now},
			&models.KeyType{ID: models.NewID("kty"), ProjectID: w.project.ID, Name: "full", Scopes: []string{"*"}},
			&models.KeyType{
				ID:        models.NewID("kty"),
				ProjectID: w.project.ID,
				Name:      "trial",
				Scopes:    []string{"read"},
				ExpiresIn: 3600,
			})
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Service = &keys.Service{DB: db, Prefix: "pst", Changed: func(ctx context.Context) {
		if err := w.table.LoadAll(db.Read(ctx)); err != nil {
			t.Error(err)
		}
	}}
	return w
}

func (w *world) create(t *testing.T, in contract.NewKey) contract.KeyWithSecret {
	t.Helper()
	minted, err := w.Create(t.Context(), w.owner, in.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	return minted
}

func rotation(key contract.KeyWithSecret, grace time.Duration) contract.KeyRotation {
	seconds := int64(grace / time.Second)
	return contract.KeyRotation{KeyPath: key.Path(), Body: &contract.Grace{GraceSeconds: &seconds}}
}

func (w *world) state(plaintext string) (state snapshot.KeyState, old bool) {
	var key snapshot.Key
	_, old = w.table.Lookup(w.project.TeamID, policy.HashKey(plaintext), &key)
	return key.State, old
}

func TestKey_lifeCycle(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		key := w.create(t, contract.NewKey{Owner: "billing", Environment: "prod"})
		if !policy.WellFormedKey(key.Secret.Reveal()) || key.Prefix != "pst_prod_" ||
			key.Last4 != key.Secret.Reveal()[len(key.Secret.Reveal())-4:] {
			t.Errorf("got %+v", key)
		}
		steps := []struct {
			do   func(context.Context, access.Principal, contract.KeyPath) (contract.Key, error)
			want string
			kind fault.Kind
		}{
			{w.Freeze, "frozen", 0}, {w.Freeze, "frozen", 0}, {w.Unfreeze, "active", 0}, {w.Unfreeze, "active", 0},
			{w.Freeze, "frozen", 0}, {w.Revoke, "revoked", 0}, {w.Revoke, "revoked", 0},
			{w.Unfreeze, "revoked", fault.Conflict}, {w.Freeze, "revoked", fault.Conflict},
		}
		for i, step := range steps {
			_, err := step.do(t.Context(), w.owner, key.Path())
			if fault.KindOf(err) != step.kind && err != nil || (err == nil) != (step.kind == 0) {
				t.Errorf("step %d: got %v", i, err)
			}
			if got, _ := w.state(key.Secret.Reveal()); string(got) != step.want {
				t.Errorf("step %d: the gateway sees %q, want %q", i, got, step.want)
			}
		}
	})
}

func TestRotate_gracePeriod(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		first := w.create(t, contract.NewKey{Owner: "billing"})
		second, err := w.Rotate(t.Context(), w.owner, rotation(first, time.Hour))
		if err != nil || second.ID != first.ID || second.Secret == first.Secret || second.GraceEndsAt == nil {
			t.Fatalf("got %+v, %v", second, err)
		}
		if got, old := w.state(first.Secret.Reveal()); got != snapshot.KeyActive || !old {
			t.Errorf("the old secret is %q, old %v", got, old)
		}
		third, err := w.Rotate(t.Context(), w.owner, rotation(first, 0))
		if err != nil || third.GraceEndsAt != nil {
			t.Fatalf("got %+v, %v", third, err)
		}
		for _, gone := range []string{first.Secret.Reveal(), second.Secret.Reveal()} {
			if got, _ := w.state(gone); got != "" {
				t.Errorf("a secret without grace is still %q", got)
			}
		}
		if got, old := w.state(third.Secret.Reveal()); got != snapshot.KeyActive || old {
			t.Errorf("the new secret is %q, old %v", got, old)
		}
	})
}

func TestRotate_inactive(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		key := w.create(t, contract.NewKey{Owner: "billing"})
		if _, err := w.Freeze(t.Context(), w.owner, key.Path()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Rotate(t.Context(), w.owner, rotation(key, 0)); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a frozen key: %v", err)
		}
		for _, grace := range []time.Duration{-time.Second, keys.MaxGrace + time.Second} {
			if _, err := w.Rotate(t.Context(), w.owner, rotation(key, grace)); fault.KindOf(err) != fault.Invalid {
				t.Errorf("grace %s: %v", grace, err)
			}
		}
	})
}

func TestCreate_lifetimeOfType(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		key := w.create(t, contract.NewKey{Owner: "billing", KeyType: "trial"})
		if key.ExpiresAt == nil || key.ExpiresAt.Sub(key.CreatedAt) != time.Hour {
			t.Errorf("got %v", key.ExpiresAt)
		}
	})
}

func TestCreate_invalidFields(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		past := models.Now().Add(-time.Minute)
		for code, in := range map[string]contract.NewKey{
			"invalid_owner":       {Owner: " billing"},
			"unknown_key_type":    {Owner: "o", KeyType: "gold"},
			"unknown_environment": {Owner: "o", Environment: "staging"},
			"invalid_expiry":      {Owner: "o", ExpiresAt: &past},
			"invalid_description": {Owner: "o", Description: "\xff"},
		} {
			if _, err := w.Create(t.Context(), w.owner, in.In("shop")); fault.KindOf(err) != fault.Invalid ||
				fault.CodeOf(err) != code {
				t.Errorf("%s: got %v", code, err)
			}
		}
		for _, owner := range []string{"", "a\nb", "ana\u00e9", " x", "x ", string(make([]byte, 129))} {
			if keys.ValidOwner(owner) {
				t.Errorf("%q is taken as an owner", owner)
			}
		}
	})
}

func TestList_pages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		made := map[string]bool{}
		for range 7 {
			made[w.create(t, contract.NewKey{Owner: "billing"}).ID] = true
		}
		cursor, pages := "", 0
		for {
			page, err := w.List(t.Context(), w.owner, contract.KeyList{
				ProjectPath: contract.ProjectPath{Project: "shop"},
				Page:        contract.Page{Cursor: cursor, Limit: 3},
			})
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, key := range page.Items {
				if !made[key.ID] {
					t.Errorf("%s comes twice or from nowhere", key.ID)
				}
				delete(made, key.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(made) != 0 || pages != 3 {
			t.Errorf("%d keys are missing after %d pages", len(made), pages)
		}
	})
}
