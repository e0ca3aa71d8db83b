package directory_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/state"
)

// An error of the database is not reported as an invalid field, which is answered
// with 422 and not logged, even if a field is invalid too.
func TestChange_databaseErrors(t *testing.T) {
	tests := map[string]func(*testing.T, *world, []string) error{
		"create user": func(t *testing.T, w *world, groups []string) error {
			in := contract.NewUser{Email: "no address", Groups: groups}
			_, err := w.CreateUser(t.Context(), w.owner, in.In(w.tenant))
			return err
		},
		"approve": func(t *testing.T, w *world, groups []string) error {
			in := contract.NewApproval{Kind: "email", Value: "no address", Groups: groups}
			_, err := w.CreateApproval(t.Context(), w.owner, in.In(w.tenant))
			return err
		},
	}
	for name, change := range testkit.ByName(tests) {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				w := newWorld(t, db)
				groups := []string{w.group(t, "staff")}
				if _, err := db.SQL().ExecContext(t.Context(), "ALTER TABLE user_groups RENAME TO gone"); err != nil {
					t.Fatal(err)
				}
				err := change(t, w, groups)
				if err == nil {
					t.Fatal("no error without the table of groups")
				}
				if kind := fault.KindOf(err); kind != fault.Internal {
					t.Errorf("kind %d of %v, want %d", kind, err, fault.Internal)
				}
			})
		})
	}
}
