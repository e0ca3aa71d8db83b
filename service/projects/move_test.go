package projects_test

import (
	"cmp"
	"strings"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/migrations"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

const otherTeam = "team_2"

// newOwnedTwice is newOwned with an owner of a second, claimed team.
func newOwnedTwice(t *testing.T, db *models.DB) *owned {
	t.Helper()
	o := newOwned(t, db)
	now := models.Now()
	team := models.Team{ID: otherTeam, Name: "Second", ClaimedAt: &now, CreatedAt: now}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
		t.Fatal(err)
	}
	o.owner.Roles[otherTeam] = access.Owner
	return o
}

// moving is a request to move a project to a team.
func moving(project, team string) contract.ProjectMove {
	return contract.ProjectMove{
		ProjectPath: contract.ProjectPath{Project: project}, Body: contract.ProjectTeam{Team: team},
	}
}

// free removes what ties shop to its team.
func (o *owned) free(t *testing.T) {
	t.Helper()
	leave := contract.ProjectChange{Product: contract.Null[string]()}
	if _, err := o.Update(t.Context(), o.owner, leave.Of(o.shop)); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Detach(t.Context(), o.owner, contract.Attachment(o.shop, "acme")); err != nil {
		t.Fatal(err)
	}
}

func TestMove(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwnedTwice(t, db)
		key := o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner"})
		both := o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner", Product: "store"})
		tenants := o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner", Tenant: "acme"})
		_, err := o.Move(t.Context(), o.owner, moving(o.shop, otherTeam))
		if fault.CodeOf(err) != "project_in_use" {
			t.Fatalf("with a product, a tenant and keys of them: %v", err)
		}
		for _, part := range []string{"product store", "tenant acme", "2 of its API keys belong"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the refusal does not name %q: %v", part, err)
			}
		}
		o.free(t)
		if _, err := o.Move(t.Context(), o.owner, moving(o.shop, otherTeam)); fault.CodeOf(err) != "project_in_use" {
			t.Errorf("with keys of the product and of a tenant: %v", err)
		}
		for _, id := range []string{both.ID, tenants.ID} {
			if _, err := o.keys.Revoke(t.Context(), o.owner, contract.KeyPath{Key: id}); err != nil {
				t.Fatal(err)
			}
		}
		home := o.owner.HomeTeam
		for range 2 { // the second changes nothing
			moved, err := o.Move(t.Context(), o.owner, moving(o.shop, otherTeam))
			if err != nil || moved.Team != otherTeam {
				t.Fatalf("moved to %q, %v", moved.Team, err)
			}
		}
		if got, _ := o.answer(t, o.shop, key.Secret.Reveal()); got != "" {
			t.Errorf("its key is answered %q", got)
		}
		for _, revoked := range []string{both.ID, tenants.ID} {
			row, err := o.keys.Get(t.Context(), o.owner, contract.KeyPath{Key: revoked})
			if err != nil || row.Tenant != "default" || row.Product != nil {
				t.Errorf("a revoked key is of tenant %q and product %v, %v", row.Tenant, row.Product, err)
			}
		}
		if _, err := o.Get(t.Context(), o.member, o.shop); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a member of the team before reads it: %v", err)
		}
		for _, team := range []string{home, otherTeam} {
			entries, err := db.Read(t.Context()).AuditEntries(
				models.AuditFilter{TeamID: team, Action: string(access.ProjectMove)}, 10)
			if err != nil || len(entries) != 1 {
				t.Errorf("%s has %d entries, %v, want 1", team, len(entries), err)
			}
		}
		_, err = o.Attach(t.Context(), o.owner, contract.Attachment(o.shop, o.acme))
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("a tenant of the team before is attached: %v", err)
		}
		if _, err := o.Move(t.Context(), o.owner, moving(o.shop, home)); err != nil {
			t.Errorf("moved back: %v", err)
		}
	})
}

func TestMove_permission(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwnedTwice(t, db)
		o.free(t)
		with := func(here, there access.Role) access.Principal {
			p := o.member
			p.Roles = map[string]access.Role{p.HomeTeam: here}
			if there != "" {
				p.Roles[otherTeam] = there
			}
			return p
		}
		for name, c := range map[string]struct {
			who  access.Principal
			code string
		}{
			"a member of the project's team": {with(access.Member, access.Owner), "not_allowed"},
			"a member of the other team":     {with(access.Owner, access.Member), "not_allowed"},
			"an outsider of the other team":  {with(access.Owner, ""), "unknown_team"},
			"a workspace key":                {with(access.Workspace, access.Owner), "not_allowed"},
			"an outsider": {
				access.Principal{Account: "acc_9", Roles: map[string]access.Role{otherTeam: access.Owner}}, "not_found",
			},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := o.Move(t.Context(), c.who, moving(o.shop, otherTeam)); fault.CodeOf(err) != c.code {
					t.Errorf("%v, want %s", err, c.code)
				}
			})
		}
		if _, err := o.Delete(t.Context(), o.owner, binned(o.shop)); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Move(t.Context(), o.owner, moving(o.shop, otherTeam)); fault.CodeOf(err) != "project_deleted" {
			t.Errorf("from the trash: %v", err)
		}
	})
}

// However a move and an attachment of a tenant interleave, no project serves a tenant of
// another team.
func TestMove_duringTenantAttachment(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwnedTwice(t, db)
		o.free(t)
		var both sync.WaitGroup
		both.Go(func() { _, _ = o.Move(t.Context(), o.owner, moving(o.shop, otherTeam)) })
		both.Go(func() { _, _ = o.Attach(t.Context(), o.owner, contract.Attachment(o.shop, o.acme)) })
		both.Wait()
		p, err := o.Get(t.Context(), o.owner, o.shop)
		if err != nil {
			t.Fatal(err)
		}
		if attached := len(p.Tenants) == 2; attached == (p.Team == otherTeam) {
			t.Errorf("it is in %s and serves %v", p.Team, p.Tenants)
		}
	})
}

// A key of a tenant that is created while its project moves is refused: it read the tenant
// before the move and is inserted after it.
func TestMove_duringKeyCreation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwnedTwice(t, db)
		var created error
		done := make(chan struct{})
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.LockProject(o.shop); err != nil {
				return err
			}
			go func() {
				defer close(done)
				in := contract.NewKey{Owner: "late", Tenant: "acme"}.In(o.shop)
				_, created = o.keys.Create(t.Context(), o.owner, in)
			}()
			awaitLockWaiter(t, db, done)
			if _, err := tx.DetachTenant(o.shop, o.acme); err != nil {
				return err
			}
			return tx.MoveProject(o.shop, otherTeam, models.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		want := "changed_concurrently"
		if db.Dialect() == migrations.SQLite {
			want = "unknown_tenant" // it has waited before it read the tenant
		}
		if fault.CodeOf(created) != want {
			t.Errorf("the key: %v, want %s", created, want)
		}
		if n, err := db.Read(t.Context()).CountKeysOfTeam(o.shop); err != nil || n != 0 {
			t.Errorf("%d keys of the team before are left, %v", n, err)
		}
	})
}

// TestMove_removedKeys: a secret that was revoked stays so in the team that a project is moved to, even if its key has
// been removed in the meantime.
func TestMove_removedKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwnedTwice(t, db)
		hash := []byte(strings.Repeat("h", 32))
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			moved, err := tx.ProjectByID(o.shop)
			if err != nil {
				return err
			}
			if err := tx.Insert(&models.RevokedHash{TeamID: moved.TeamID, Hash: hash}); err != nil {
				return err
			}
			return tx.MoveProject(o.shop, otherTeam, models.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := db.Read(t.Context()).RevokedHashes(otherTeam, [][]byte{hash}); err != nil || len(found) != 1 {
			t.Errorf("the other team knows %d of the secrets, %v; want 1", len(found), err)
		}
	})
}

// TestMove_secretsOfTheOtherTeam: a project doesn't move with a key whose secret a key of the other team has or had.
func TestMove_secretsOfTheOtherTeam(t *testing.T) {
	hash, old := []byte(strings.Repeat("h", 32)), []byte(strings.Repeat("o", 32))
	for _, tc := range []struct {
		name             string
		ours, theirs     models.APIKey
		gone             []byte // a secret that the other team had
		taken, remaining int64
	}{
		{name: "other secrets", ours: models.APIKey{Hash: hash}, theirs: models.APIKey{Hash: old}, remaining: 1},
		{name: "the same one", taken: 1, remaining: 1,
			ours: models.APIKey{Hash: hash}, theirs: models.APIKey{Hash: hash}},
		{name: "theirs before a rotation", ours: models.APIKey{Hash: hash}, taken: 1, remaining: 1,
			theirs: models.APIKey{Hash: []byte(strings.Repeat("n", 32)), OldHash: hash}},
		{name: "ours before a rotation", taken: 1, remaining: 1,
			ours: models.APIKey{Hash: hash, OldHash: old}, theirs: models.APIKey{Hash: old}},
		{name: "both before", ours: models.APIKey{Hash: hash, OldHash: old}, taken: 1, remaining: 1,
			theirs: models.APIKey{Hash: []byte(strings.Repeat("n", 32)), OldHash: old}},
		{name: "one that they revoked", ours: models.APIKey{Hash: hash}, theirs: models.APIKey{Hash: old}, gone: hash,
			taken: 1, remaining: 1},
		{name: "ours is revoked", theirs: models.APIKey{Hash: hash},
			ours: models.APIKey{Hash: hash, State: contract.KeyRevoked}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				o := newOwnedTwice(t, db)
				err := db.Write(t.Context(), func(tx *models.Tx) error {
					if tc.gone != nil {
						if err := tx.Insert(&models.RevokedHash{TeamID: "team_into", Hash: tc.gone}); err != nil {
							return err
						}
					}
					like, err := tx.KeyTypesOf(o.shop)
					if err != nil {
						return err
					}
					for team, key := range map[string]models.APIKey{"team_from": tc.ours, "team_into": tc.theirs} {
						key.ID, key.TeamID, key.ProjectID, key.TenantID = models.NewID("key"), team, o.shop, o.acme
						key.KeyTypeID, key.Owner, key.State = like[0].ID, "ana", cmp.Or(key.State, contract.KeyActive)
						if key.OldHash != nil {
							key.GraceEndsAt = new(models.Now())
						}
						if err := tx.Insert(&key); err != nil {
							return err
						}
					}
					taken, err := tx.FreeHashes("team_from", o.shop, "team_into")
					if taken != tc.taken {
						t.Errorf("%d keys are in the way, want %d", taken, tc.taken)
					}
					if err != nil {
						return err
					}
					left, err := tx.KeysByHash("team_from", [][]byte{tc.ours.Hash})
					if int64(len(left)) != tc.remaining {
						t.Errorf("%d keys are left, want %d", len(left), tc.remaining)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// awaitLockWaiter returns once a statement waits for a lock or done is closed, on
// PostgreSQL. On SQLite a second write waits for the whole first one.
func awaitLockWaiter(t *testing.T, db *models.DB, done <-chan struct{}) {
	t.Helper()
	if db.Dialect() == migrations.SQLite {
		return
	}
	const waiting = "SELECT count(*) FROM pg_stat_activity " +
		"WHERE datname = current_database() AND wait_event_type = 'Lock'"
	for n := 0; n == 0; {
		select {
		case <-done:
			t.Error("nothing has waited for the move")
			return
		default:
		}
		if err := db.SQL().QueryRowContext(t.Context(), waiting).Scan(&n); err != nil {
			t.Error(err)
			return
		}
	}
}

func TestMove_audienceTaken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwnedTwice(t, db)
		o.free(t)
		in := authenticated
		in.Name = "theirs"
		there := access.Principal{Account: "acc_1", Roles: o.owner.Roles, HomeTeam: otherTeam}
		theirs, err := o.Create(t.Context(), there, in)
		if err != nil {
			t.Fatal(err)
		}
		set := func(project, audience string) {
			t.Helper()
			if _, err := o.SetAPIScopes(t.Context(), there, contract.APIUpdate{
				ProjectPath: contract.ProjectPath{Project: project}, Body: contract.API{Audience: audience},
			}); err != nil {
				t.Fatal(err)
			}
		}
		set(theirs.Project.ID, "https://api.example.com")
		set(o.shop, "https://api.example.com")
		if _, err := o.Move(t.Context(), o.owner, moving(o.shop, otherTeam)); fault.CodeOf(err) != "audience_taken" {
			t.Errorf("with the same audience: %v", err)
		}
		set(o.shop, "https://shop.example.com")
		if _, err := o.Move(t.Context(), o.owner, moving(o.shop, otherTeam)); err != nil {
			t.Errorf("with another audience: %v", err)
		}
	})
}

// Values that were sealed before a move open after it, and so do those that are sealed afterward.
func TestMove_sealed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		now := models.Now()
		team := models.Team{ID: otherTeam, Name: "Second", ClaimedAt: &now, CreatedAt: now}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
			t.Fatal(err)
		}
		w.owner.Account = "acc_1"
		w.owner.Roles = map[string]access.Role{w.owner.HomeTeam: access.Owner, otherTeam: access.Owner}
		if err := w.set(t, "X-Before", "sealed-before"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Move(t.Context(), w.owner, moving(w.id, otherTeam)); err != nil {
			t.Fatal(err)
		}
		if err := w.set(t, "X-After", "sealed-after"); err != nil {
			t.Fatal(err)
		}
		got := w.headersOf(t, w.id, w.environment)
		if got["X-Before"] != "sealed-before" || got["X-After"] != "sealed-after" {
			t.Errorf("opened %v", got)
		}
		if keys := w.project(t, w.id).DataKeys; len(keys) != 2 {
			t.Errorf("served with %d data keys, want one of each team", len(keys))
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.EraseTeam(w.owner.HomeTeam, 1000) })
		if err != nil {
			t.Fatal(err)
		}
		if got := w.headersOf(t, w.id, w.environment); got["X-Before"] != "sealed-before" {
			t.Errorf("after the deletion of the first team, opened %v", got)
		}
	})
}
