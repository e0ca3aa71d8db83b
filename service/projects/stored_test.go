package projects_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/serving"
	"postern/testkit/state"
)

var samePrefix = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

// restored is a feed without a database that was given a stored state.
func restored(
	t *testing.T,
	stored []byte,
	publicURL string,
) (served []*snapshot.Project, table *keys.Table, asOf time.Time, err error) {
	t.Helper()
	table = keys.NewTable()
	feed := &serving.Feed{
		Keys:      table,
		PublicURL: publicURL,
		Log:       slog.New(slog.DiscardHandler),
		Publish: func(all []*snapshot.Project) error {
			served = all
			return nil
		},
	}
	asOf, err = feed.Restore(bytes.NewReader(stored))
	return served, table, asOf, err
}

func TestRestore_served(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		second, err := w.keys.Create(t.Context(), owner, contract.NewKey{Owner: "billing"}.In(created.Project.ID))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.keys.Revoke(t.Context(), owner, second.Path()); err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		if err := w.feed.Store(&stored); err != nil {
			t.Fatal(err)
		}
		served, table, asOf, err := restored(t, stored.Bytes(), "https://postern.example")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.served, served, samePrefix); diff != "" {
			t.Errorf("projects (-stored +restored):\n%s", diff)
		}
		for plaintext, want := range map[string]snapshot.KeyState{
			created.Keys["prod"].Secret.Reveal(): snapshot.KeyActive,
			second.Secret.Reveal():               snapshot.KeyRevoked,
		} {
			var key snapshot.Key
			found, _ := table.Lookup(w.served[0].TeamID, policy.HashKey(plaintext), &key)
			if !found || key.State != want {
				t.Errorf("a key is found %v as %q, want it %s", found, key.State, want)
			}
			if bytes.Contains(stored.Bytes(), []byte(plaintext)) {
				t.Error("the stored state has the plaintext of a key")
			}
		}
		if age := time.Since(asOf); age < 0 || age > time.Hour {
			t.Errorf("the state is %s old", age)
		}
	})
}
