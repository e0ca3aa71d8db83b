package login

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/testkit/state"
)

// fixture is the service with one team, whose tenant has one client.
type fixture struct {
	*Service
	owner  access.Principal
	tenant string
	client models.AppClient
}

func newFixture(t *testing.T, db *models.DB, algorithm string) *fixture {
	t.Helper()
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &fixture{Service: New(&appclients.Service{
		DB:        db,
		Vault:     vault,
		Targets:   guard,
		PublicURL: "https://postern.example",
		Changed:   func(context.Context) {},
		Log:       slog.New(slog.NewTextHandler(t.Output(), nil)),
	})}
	team := models.Team{ID: models.NewID("team"), Name: "Shop", CreatedAt: models.Now()}
	tenant := models.Tenant{
		ID:        models.NewID("tnt"),
		TeamID:    &team.ID,
		Name:      "default",
		CreatedAt: team.CreatedAt,
		UpdatedAt: team.CreatedAt,
	}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &tenant) }); err != nil {
		t.Fatal(err)
	}
	r.tenant, r.owner = tenant.ID, access.Principal{
		Account: "acc_1",
		Roles:   map[string]access.Role{team.ID: access.Owner},
	}
	made, err := r.Clients.CreateClient(t.Context(), r.owner, contract.NewAppClient{
		Name: "web", AppClientSettings: contract.AppClientSettings{Algorithm: &algorithm},
	}.In(tenant.ID))
	if err != nil {
		t.Fatal(err)
	}
	r.client = r.row(t, made.ID)
	return r
}

func (r *fixture) row(t *testing.T, id string) models.AppClient {
	t.Helper()
	row, err := r.DB.Read(t.Context()).AppClientByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func (r *fixture) signs(t *testing.T) signingKey {
	t.Helper()
	key, err := r.signer(t.Context(), r.client)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// published lists the key ids of the set that others fetch.
func (r *fixture) published(t *testing.T) []string {
	t.Helper()
	set, err := r.JWKS(t.Context(), r.client.ID)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, key := range set.Keys {
		if !key.IsPublic() || !key.Valid() {
			t.Errorf("the set has a key that is not public: %s", key.KeyID)
		}
		ids = append(ids, key.KeyID)
	}
	return ids
}

// pass lets time go by for a key.
func (r *fixture) pass(t *testing.T, column, id string, at time.Time) {
	t.Helper()
	statement := "UPDATE signing_keys SET " + column + " = $1 WHERE id = $2"
	if _, err := r.DB.SQL().ExecContext(t.Context(), statement, at, id); err != nil {
		t.Fatal(err)
	}
}

// A key that has grown old is followed by one that is published before it signs,
// and stays published until the last token it signed has ended.
func TestSigningKeys_rotation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.ES256)
		first := r.signs(t)
		if err := r.Upkeep(t.Context()); err != nil || len(r.published(t)) != 1 {
			t.Fatalf("a young key is replaced: %v, %v", r.published(t), err)
		}
		now := models.Now()
		r.pass(t, "created_at", first.id, now.Add(-keyAge-time.Hour))
		r.pass(t, "active_at", first.id, now.Add(-keyAge-time.Hour))
		if err := r.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		ids := r.published(t)
		if len(ids) != 2 || r.signs(t).id != first.id {
			t.Fatalf("published are %v, and %s signs; want two, and the first to sign", ids, r.signs(t).id)
		}
		second := ids[1]
		r.pass(t, "active_at", second, now.Add(-time.Second))
		if got := r.signs(t).id; got != second || len(r.published(t)) != 2 {
			t.Errorf("when its time has come, %s signs and %v are published", got, r.published(t))
		}
		rows, err := db.Read(t.Context()).SigningKeysOf(r.client.ID, now)
		if err != nil || rows[0].ExpiresAt == nil || rows[0].ExpiresAt.Before(now.Add(keyLead+snapshot.MaxAccess)) {
			t.Errorf("the first of %d ends too early: %v, %v", len(rows), rows[0].ExpiresAt, err)
		}
		r.pass(t, "expires_at", first.id, now.Add(-time.Second))
		if err := r.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ids := r.published(t); len(ids) != 1 || ids[0] != second {
			t.Errorf("after its end %v are published", ids)
		}
	})
}

// A rotated key is published at once and signs later, and another rotation has to wait for it.
func TestRotateSigningKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.ES256)
		first := r.rotates(t)
		if len(first) != 1 || first[0].SignsFrom.After(models.Now()) || r.signs(t).id != first[0].ID {
			t.Fatalf("the first key does not sign at once: %+v", first)
		}
		both := r.rotates(t)
		if len(both) != 2 || both[0].ID != first[0].ID || r.signs(t).id != first[0].ID || len(r.published(t)) != 2 {
			t.Fatalf("%s signs, and %v are published; keys: %+v", r.signs(t).id, r.published(t), both)
		}
		former, next := both[0], both[1]
		if wait := next.SignsFrom.Sub(models.Now()); wait <= keyLead-time.Minute || wait > keyLead {
			t.Errorf("the new key signs in %s", wait)
		}
		if former.PublishedUntil == nil || former.PublishedUntil.Before(next.SignsFrom.Add(snapshot.MaxAccess)) {
			t.Errorf("the former key ends before its last token: %v", former.PublishedUntil)
		}
		_, err := r.RotateSigningKey(t.Context(), r.owner, contract.AppClientPath{Client: r.client.ID})
		if fault.CodeOf(err) != "rotation_pending" || !strings.Contains(err.Error(), next.ID) {
			t.Errorf("while a key waits, got %v", err)
		}
		r.pass(t, "active_at", former.ID, models.Now().Add(-time.Hour))
		r.pass(t, "active_at", next.ID, models.Now().Add(-time.Second))
		if all := r.rotates(t); len(all) != 3 || r.signs(t).id != next.ID {
			t.Errorf("after its time, %s signs, and the keys are %+v", r.signs(t).id, all)
		}
		stranger := access.Principal{Account: "acc_2"}
		_, err = r.RotateSigningKey(t.Context(), stranger, contract.AppClientPath{Client: r.client.ID})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("a stranger got %v", err)
		}
	})
}

func (r *fixture) rotates(t *testing.T) []contract.AppClientKey {
	t.Helper()
	keys, err := r.RotateSigningKey(t.Context(), r.owner, contract.AppClientPath{Client: r.client.ID})
	if err != nil {
		t.Fatal(err)
	}
	return keys.Keys
}

func TestSigningKeys_concurrentReplicas(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.EdDSA)
		ids := make([]string, 8)
		var group sync.WaitGroup
		for i := range ids {
			group.Go(func() {
				key, err := r.signer(context.Background(), r.client)
				if err != nil {
					t.Error(err)
				}
				ids[i] = key.id
			})
		}
		group.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Fatalf("there are several keys: %v", ids)
			}
		}
	})
}

// A private key is sealed to its row: it does not open in another one.
func TestSigningKeys_sealed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.ES256)
		r.signs(t)
		rows, err := db.Read(t.Context()).SigningKeysOf(r.client.ID, models.Now())
		if err != nil || len(rows) != 1 {
			t.Fatalf("%v, %v", rows, err)
		}
		rows[0].ID = "sig_other"
		if _, err := r.open(t.Context(), rows[0]); err == nil {
			t.Error("it opens in another row")
		}
	})
}

// A change of the algorithm holds from the next token on; what was signed before
// goes on verifying.
func TestSigningKeys_changedAlgorithm(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.ES256)
		first, other := r.signs(t), contract.EdDSA
		change := contract.AppClientSettings{Algorithm: &other}.Of(r.client.ID)
		if _, err := r.Clients.UpdateClient(t.Context(), r.owner, change); err != nil {
			t.Fatal(err)
		}
		r.client = r.row(t, r.client.ID)
		got := r.signs(t)
		if got.id == first.id || string(got.algorithm) != other || len(r.published(t)) != 2 {
			t.Errorf("%s signs with %s, published are %v", got.id, got.algorithm, r.published(t))
		}
	})
}
