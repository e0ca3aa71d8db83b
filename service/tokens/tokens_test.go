package tokens_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/tokens"
	"postern/testkit/state"
)

// world is an account, ana, who owns a team.
type world struct {
	t   *testing.T
	db  *models.DB
	s   *tokens.Service
	ana access.Principal
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	return &world{t: t, db: db, s: &tokens.Service{DB: db}, ana: newOwner(t, db, "ana")}
}

func newOwner(t *testing.T, db *models.DB, name string) access.Principal {
	t.Helper()
	now := models.Now()
	account := models.Account{
		ID:           models.NewID("acc"),
		Email:        name + "@example.com",
		Name:         name,
		PasswordHash: "none",
		CreatedAt:    now,
	}
	team := models.Team{ID: models.NewID("team"), Name: name, ClaimedAt: &now, CreatedAt: now}
	seat := models.Membership{TeamID: team.ID, AccountID: account.ID, Role: string(access.Owner), CreatedAt: now}
	err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&account, &team, &seat) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := accounts.PrincipalOf(db.Read(t.Context()), account.ID)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) create(scopes ...string) contract.TokenWithSecret {
	w.t.Helper()
	minted, err := w.creates(w.ana, contract.NewToken{Name: "ci", Scopes: scopes})
	if err != nil {
		w.t.Fatal(err)
	}
	return minted
}

func (w *world) creates(p access.Principal, in contract.NewToken) (contract.TokenWithSecret, error) {
	return w.s.Create(w.t.Context(), p, contract.TokenCreation{Body: in})
}

func (w *world) revoke(p access.Principal, id string) error {
	_, err := w.s.Revoke(w.t.Context(), p, contract.TokenPath{Token: id})
	return err
}

func (w *world) by(plaintext string) access.Principal {
	w.t.Helper()
	p, err := w.s.ByToken(w.t.Context(), plaintext, "192.0.2.7:5000")
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) list(p access.Principal) []contract.Token {
	w.t.Helper()
	page, err := w.s.List(w.t.Context(), p, contract.TokenList{})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

func TestToken_scopes(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		minted := w.create("keys", "read", "keys")
		secret := minted.Secret.Reveal()
		if !strings.HasPrefix(secret, "postern_pat_") || len(secret) != len("postern_pat_")+38 ||
			!tokens.IsToken(secret) {
			t.Errorf("the token is %q", secret)
		}
		p := w.by(secret)
		if p.Account != w.ana.Account || !p.Scoped || !slices.Equal(p.Scopes, []access.Scope{"read", "keys"}) {
			t.Errorf("it stands for %+v", p)
		}
		if !p.May(w.ana.HomeTeam, access.KeyCreate) || p.May(w.ana.HomeTeam, access.ProjectUpdate) {
			t.Error("its scopes do not decide")
		}
		ends := minted.ExpiresAt.Sub(minted.CreatedAt)
		if ends != tokens.DefaultTTL {
			t.Errorf("it lives for %s", ends)
		}
	})
}

func TestToken_lostRole(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		minted := w.create("read")
		if _, err := db.SQL().ExecContext(t.Context(), "DELETE FROM memberships"); err != nil {
			t.Fatal(err)
		}
		err := access.Check(w.by(minted.Secret.Reveal()), w.ana.HomeTeam, access.ProjectRead)
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("without a membership: %v", err)
		}
	})
}

func TestToken_invalid(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		revoked, expired, good := w.create("read"), w.create("read"), w.create("read")
		if err := w.revoke(w.ana, revoked.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE access_tokens SET expires_at = '2001-01-01 "+
			"00:00:00+00:00' WHERE name = 'ci' AND last4 = '"+expired.Last4+"'"); err != nil {
			t.Fatal(err)
		}
		tampered := []byte(good.Secret.Reveal())
		tampered[20] ^= 1
		for name, text := range map[string]string{
			"nothing":           "",
			"revoked":           revoked.Secret.Reveal(),
			"expired":           expired.Secret.Reveal(),
			"tampered":          string(tampered),
			"cut":               good.Secret.Reveal()[:len(good.Secret.Reveal())-1],
			"of the other kind": strings.Replace(good.Secret.Reveal(), "_pat_", "_cli_", 1),
		} {
			if _, err := w.s.ByToken(t.Context(), text, ""); fault.CodeOf(err) != "invalid_token" {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.by(good.Secret.Reveal())
	})
}

func TestToken_hash(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		minted := w.create("read")
		sum := sha256.Sum256([]byte(minted.Secret.Reveal()))
		row, err := db.Read(t.Context()).AccessTokenByID(minted.ID)
		if err != nil || string(row.Hash) != string(sum[:]) {
			t.Errorf("kept as %x, %v", row.Hash, err)
		}
		entries, err := db.Read(t.Context()).AuditOf(w.ana.HomeTeam, 10)
		if err != nil || len(entries) != 1 || entries[0].Action != "token.create" || entries[0].Object != minted.ID {
			t.Fatalf("%+v, %v", entries, err)
		}
		for _, change := range entries[0].Changes {
			if strings.Contains(fmt.Sprint(change.After), minted.Secret.Reveal()[12:44]) {
				t.Errorf("the audit log holds the token: %+v", entries[0])
			}
		}
	})
}

func TestToken_lastUse(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		minted := w.create("read")
		if used := w.list(w.ana)[0].LastUsedAt; used != nil {
			t.Errorf("used at %s, before it was", used)
		}
		before := models.Now().Truncate(time.Minute)
		w.by(minted.Secret.Reveal())
		used := w.list(w.ana)[0].LastUsedAt
		if used == nil || used.Before(before) || used.After(models.Now()) || !used.Equal(used.Truncate(time.Minute)) {
			t.Errorf("used at %v", used)
		}
		if from := w.list(w.ana)[0].LastUsedFrom; from != "192.0.2.7" {
			t.Errorf("used from %q", from)
		}
	})
}

func TestCreate_withinScopes(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		soon := models.Now().Add(time.Hour)
		minted, err := w.creates(w.ana, contract.NewToken{
			Name:      "admin",
			Scopes:    []string{"admin", "read"},
			ExpiresAt: &soon,
		})
		if err != nil {
			t.Fatal(err)
		}
		p, later := w.by(minted.Secret.Reveal()), soon.Add(time.Second)
		child, err := w.creates(p, contract.NewToken{Name: "child", Scopes: []string{"read"}})
		if err != nil || !child.ExpiresAt.Equal(soon) {
			t.Errorf("a child lives until %v, %v", child.ExpiresAt, err)
		}
		for name, in := range map[string]contract.NewToken{
			"/scopes/1":   {Name: "x", Scopes: []string{"read", "export"}},
			"/expires_at": {Name: "x", Scopes: []string{"read"}, ExpiresAt: &later},
		} {
			_, err := w.creates(p, in)
			wantField(t, err, name)
		}
		if _, err := w.creates(w.by(w.create("read").Secret.Reveal()), contract.NewToken{
			Name:   "x",
			Scopes: []string{"read"},
		}); fault.CodeOf(err) != "insufficient_scope" {
			t.Errorf("a token without admin made one: %v", err)
		}
	})
}

func wantField(t *testing.T, err error, pointer string) {
	t.Helper()
	if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Fields) != 1 || f.Fields[0].Pointer != pointer {
		t.Errorf("%s: got %v", pointer, err)
	}
}

func TestCreate_invalidFields(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		past, far := models.Now().Add(-time.Second), models.Now().Add(tokens.MaxTTL+time.Minute)
		for _, tt := range []struct {
			in      contract.NewToken
			pointer string
		}{
			{contract.NewToken{Name: " ", Scopes: []string{"read"}}, "/name"},
			{contract.NewToken{Name: strings.Repeat("x", 81), Scopes: []string{"read"}}, "/name"},
			{contract.NewToken{Name: "a\u202eb", Scopes: []string{"read"}}, "/name"},
			{contract.NewToken{Name: "x"}, "/scopes"},
			{contract.NewToken{Name: "x", Scopes: []string{"root"}}, "/scopes/0"},
			{contract.NewToken{Name: "x", Scopes: []string{"read"}, ExpiresAt: &past}, "/expires_at"},
			{contract.NewToken{Name: "x", Scopes: []string{"read"}, ExpiresAt: &far}, "/expires_at"},
		} {
			_, err := w.creates(w.ana, tt.in)
			wantField(t, err, tt.pointer)
		}
	})
}

func TestRevoke_permission(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		sam := newOwner(t, db, "sam")
		mine, other := w.create("read"), w.create("read")
		self := w.by(mine.Secret.Reveal())
		for name, tt := range map[string]struct {
			who  access.Principal
			id   string
			want fault.Kind
		}{
			"no credential":         {access.Principal{}, mine.ID, fault.Unauthenticated},
			"another account":       {sam, mine.ID, fault.NotFound},
			"a token without admin": {self, other.ID, fault.Forbidden},
			"what was never there":  {w.ana, "tok_x", fault.NotFound},
			"a workspace's stranger": {access.Principal{
				Roles:    map[string]access.Role{"team_x": access.Workspace},
				HomeTeam: "team_x",
			}, mine.ID, fault.NotFound},
		} {
			if err := w.revoke(tt.who, tt.id); err == nil || fault.KindOf(err) != tt.want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.revoke(self, mine.ID); err != nil {
			t.Errorf("itself: %v", err)
		}
		if left := w.list(w.ana); len(left) != 1 || left[0].ID != other.ID {
			t.Errorf("left are %+v", left)
		}
		if found := w.list(sam); len(found) != 0 {
			t.Errorf("sam sees %+v", found)
		}
	})
}

func TestUpdate(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		sam := newOwner(t, db, "sam")
		minted, name := w.create("read"), " backup "
		update := func(p access.Principal, ifMatch string, name *string) (contract.Token, error) {
			return w.s.Update(t.Context(), p, contract.TokenUpdate{
				TokenPath: contract.TokenPath{Token: minted.ID},
				Condition: contract.Condition{IfMatch: ifMatch},
				Body:      contract.TokenChange{Name: name},
			})
		}
		updated, err := update(w.ana, minted.ETag, &name)
		if err != nil || updated.Name != "backup" || updated.ETag == minted.ETag {
			t.Fatalf("updated to %+v, %v", updated, err)
		}
		if got, err := w.s.Get(t.Context(), w.ana, contract.TokenPath{Token: minted.ID}); err != nil ||
			got.Name != "backup" || got.ETag != updated.ETag {
			t.Errorf("get: %+v, %v", got, err)
		}
		if _, err := update(w.ana, minted.ETag, &name); fault.KindOf(err) != fault.Stale {
			t.Errorf("with an old ETag: %v", err)
		}
		if _, err := update(sam, "", &name); fault.KindOf(err) != fault.NotFound {
			t.Errorf("another account: %v", err)
		}
		if _, err := update(w.by(minted.Secret.Reveal()), "", &name); fault.CodeOf(err) != "insufficient_scope" {
			t.Errorf("a token without admin: %v", err)
		}
		_, err = update(w.ana, "", new(string))
		wantField(t, err, "/name")
		entries, err := db.Read(t.Context()).AuditOf(w.ana.HomeTeam, 10)
		if err != nil || len(entries) != 2 || entries[0].Action != "token.update" ||
			entries[0].Changes["name"] != (contract.AuditChange{Before: "ci", After: "backup"}) {
			t.Errorf("recorded %+v, %v", entries, err)
		}
	})
}

func TestWorkspaceKey_listAndRevoke(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		var made accounts.Workspace
		err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
			made, err = accounts.NewWorkspace(tx, time.Hour)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		people := &accounts.Service{DB: db}
		key, err := people.ByWorkspaceKey(t.Context(), made.Key)
		if err != nil {
			t.Fatal(err)
		}
		found := w.list(key)
		if len(found) != 1 || found[0].Kind != contract.WorkspaceKey || !found[0].Current || found[0].ExpiresAt == nil {
			t.Fatalf("lists %+v", found)
		}
		if got, err := w.s.Get(t.Context(), key, contract.TokenPath{Token: found[0].ID}); err != nil || !got.Current {
			t.Errorf("get: %+v, %v", got, err)
		}
		if err := w.revoke(key, found[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := people.ByWorkspaceKey(t.Context(), made.Key); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("the key still works: %v", err)
		}
	})
}
