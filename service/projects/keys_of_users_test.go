package projects_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

// listener keeps the events of keys.
type listener struct{ told []string }

func (l *listener) Emit(_ context.Context, _ *models.Tx, _, event string, data map[string]any) error {
	key, _ := data["key"].(string)
	l.told = append(l.told, event+" "+key)
	return nil
}

func (h *loginProject) person(t *testing.T, email string) string {
	t.Helper()
	user, err := h.people.CreateUser(t.Context(), h.owner, contract.NewUser{Email: email}.In(h.tenant))
	if err != nil {
		t.Fatal(err)
	}
	return user.ID
}

// sibling is another project in the product of the project.
func (h *loginProject) sibling(t *testing.T) string {
	t.Helper()
	in := authenticated
	in.Name, in.Product = "books", "store"
	made, err := h.Create(t.Context(), h.owner, in)
	if err != nil {
		t.Fatal(err)
	}
	settings := contract.ProjectChange{Product: contract.Sent("store")}
	if _, err := h.Update(t.Context(), h.owner, settings.Of(h.project)); err != nil {
		t.Fatal(err)
	}
	return made.Project.ID
}

// age moves every freeze and deletion of a user into the past, and compiles the project
// again.
func (h *loginProject) age(t *testing.T, db *models.DB) {
	t.Helper()
	ago := models.Now().Add(-snapshot.BarredFor - time.Minute)
	for _, statement := range []string{
		"UPDATE end_users SET updated_at = $1",
		"UPDATE deleted_users SET ends_at = $1",
	} {
		if _, err := db.SQL().ExecContext(t.Context(), statement, ago); err != nil {
			t.Fatal(err)
		}
	}
	settings := contract.ProjectChange{DisplayName: new(models.NewID("x"))}
	if _, err := h.Update(t.Context(), h.owner, settings.Of(h.project)); err != nil {
		t.Fatal(err)
	}
}

func (h *loginProject) answers(t *testing.T, when, project, plaintext, want string) {
	t.Helper()
	if got, _ := h.answer(t, project, plaintext); got != want {
		t.Errorf("%s: %q, want %q", when, got, want)
	}
}

func TestOwnerKeys_frozenUser(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		books, ana := h.sibling(t), h.person(t, "ana@example.com")
		own := h.mint(t, h.owner, h.project, contract.NewKey{Owner: ana})
		both := h.mint(t, h.owner, h.project, contract.NewKey{Owner: ana, Product: "store"})
		h.answers(t, "at first", h.project, own.Secret.Reveal(), "")
		h.answers(t, "at first, next door", books, both.Secret.Reveal(), "")

		if _, err := h.people.Freeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		h.answers(t, "frozen", h.project, own.Secret.Reveal(), "user_frozen")
		h.answers(t, "frozen, the product's key", h.project, both.Secret.Reveal(), "user_frozen")
		h.answers(t, "frozen, next door", books, both.Secret.Reveal(), "user_frozen")
		h.age(t, db)
		h.answers(t, "frozen long ago", h.project, own.Secret.Reveal(), "user_frozen")

		if _, err := h.people.Unfreeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		h.answers(t, "unfrozen", h.project, own.Secret.Reveal(), "")
		h.answers(t, "unfrozen, next door", books, both.Secret.Reveal(), "")
	})
}

// A frozen user without keys is no longer compiled once their last token has expired, and
// again with their first key.
func TestOwnerKeys_userFrozenBefore(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		books, ana := h.sibling(t), h.person(t, "ana@example.com")
		if _, err := h.people.Freeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		h.age(t, db)
		if got := h.barred(t); len(got) != 0 {
			t.Fatalf("still barred: %v", got)
		}
		key := h.mint(t, h.owner, h.project, contract.NewKey{Owner: ana, Product: "store"})
		h.answers(t, "a new key", h.project, key.Secret.Reveal(), "user_frozen")
		h.answers(t, "a new key, next door", books, key.Secret.Reveal(), "user_frozen")
		if _, err := h.keys.Revoke(t.Context(), h.owner, key.Path()); err != nil {
			t.Fatal(err)
		}
		h.age(t, db)
		if got := h.barred(t); len(got) != 0 {
			t.Errorf("barred for a key that is revoked: %v", got)
		}
	})
}

func TestOwnerKeys_deletedUser(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h, heard := newLoginProject(t, db), &listener{}
		h.people.Events = heard
		ana, ben := h.person(t, "ana@example.com"), h.person(t, "ben@example.com")
		gone := h.mint(t, h.owner, h.project, contract.NewKey{Owner: ana})
		stays := h.mint(t, h.owner, h.project, contract.NewKey{Owner: ben})
		if _, err := h.people.DeleteUser(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		h.answers(t, "deleted", h.project, gone.Secret.Reveal(), "invalid_key")
		h.answers(t, "somebody else's", h.project, stays.Secret.Reveal(), "")
		h.age(t, db)
		h.answers(t, "deleted long ago", h.project, gone.Secret.Reveal(), "invalid_key")
		want := []string{"user.created ", "user.created ", "user.deleted ", "key.revoked " + gone.ID}
		if !slices.Equal(heard.told, want) {
			t.Errorf("told %q, want %q", heard.told, want)
		}
		entries, err := db.Read(t.Context()).AuditEntries(models.AuditFilter{TeamID: h.owner.HomeTeam}, 50)
		if err != nil {
			t.Fatal(err)
		}
		revoked := func(e models.AuditEntry) bool {
			return e.Object == gone.ID && e.Action == string(access.KeyChange)
		}
		if !slices.ContainsFunc(entries, revoked) {
			t.Errorf("the audit log does not say that the key was revoked: %+v", entries)
		}
	})
}

// handOver gives a key an owner that Create refuses.
func (h *loginProject) handOver(
	t *testing.T, db *models.DB, who access.Principal, key contract.KeyWithSecret, owner string,
) {
	t.Helper()
	_, err := db.SQL().ExecContext(t.Context(), "UPDATE api_keys SET owner = $1 WHERE id = $2", owner, key.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.keys.Freeze(t.Context(), who, key.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.keys.Unfreeze(t.Context(), who, key.Path()); err != nil {
		t.Fatal(err)
	}
}

// The id of another team's user is an owner like any other text.
func TestOwnerKeys_otherTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		other, stranger := h.create(t, authenticated)
		ana := h.person(t, "ana@example.com")
		key := h.mint(t, stranger, other.Project.ID, contract.NewKey{Owner: "app"})
		h.handOver(t, db, stranger, key, ana)
		if _, err := h.people.Freeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		h.answers(t, "frozen elsewhere", other.Project.ID, key.Secret.Reveal(), "")
		if _, err := h.people.DeleteUser(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		h.answers(t, "deleted elsewhere", other.Project.ID, key.Secret.Reveal(), "")
	})
}
