package projects_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit"
	"postern/testkit/state"
)

func open(t *testing.T, databaseURL string) *models.DB {
	t.Helper()
	db, err := models.Open(t.Context(), databaseURL, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}

func follow(t *testing.T, w *world) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.feed.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
}

// A half-open connection looks like a slow database: no answer and no error arrive.
func TestFeed_onPostgres(t *testing.T) {
	for _, tt := range []struct {
		name string
		test func(*testing.T)
	}{
		{"another replica's revocation arrives after all connections went silent", revokedElsewhere},
		{"keys are revoked again after all connections went silent", revokedAfterSilence},
		{"a wait for a database that hangs ends with an error", revokedAfterHang},
		{"a database restored to an earlier point is read again", restoredEarlier},
		{"a database that is being restored is not served", halfRestored},
	} {
		t.Run(tt.name, tt.test)
	}
}

func revokedElsewhere(t *testing.T) {
	database := state.Postgres(t)
	relay := testkit.NewRelay(t, database)
	here, other := newWorld(t, open(t, database)), newWorld(t, open(t, relay.Through(t, database)))
	follow(t, other)
	created, owner := here.create(t, authenticated)
	hash := policy.HashKey(created.Keys["prod"].Secret.Reveal())
	testkit.Eventually(t, "the new key", func() bool { return other.key(hash).ID != "" })

	relay.Silence()
	if _, err := here.keys.Revoke(t.Context(), owner, created.Keys["prod"].Path()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the revocation", func() bool { return other.key(hash).State == snapshot.KeyRevoked })
}

func revokedAfterSilence(t *testing.T) {
	database := state.Postgres(t)
	relay := testkit.NewRelay(t, database)
	w := newWorld(t, open(t, relay.Through(t, database)))
	follow(t, w)
	created, owner := w.create(t, authenticated)
	hash := policy.HashKey(created.Keys["prod"].Secret.Reveal())

	relay.Silence()
	testkit.Eventually(t, "a revocation that succeeds", func() bool {
		_, err := w.keys.Revoke(t.Context(), owner, created.Keys["prod"].Path())
		if err != nil && !models.Unavailable(err) {
			t.Fatalf("got %v, want an error that asks to try again", err)
		}
		return err == nil
	})
	if got := w.key(hash).State; got != snapshot.KeyRevoked {
		t.Errorf("the key is %s, want %s", got, snapshot.KeyRevoked)
	}
}

func revokedAfterHang(t *testing.T) {
	database := state.Postgres(t)
	relay := testkit.NewRelay(t, database)
	w := newWorld(t, open(t, relay.Through(t, database)))
	created, owner := w.create(t, authenticated)

	relay.Hang()
	ended := make(chan error, 1)
	go func() {
		_, err := w.keys.Revoke(context.Background(), owner, created.Keys["prod"].Path())
		ended <- err
	}()
	select {
	case err := <-ended:
		if !models.Unavailable(err) {
			t.Errorf("got %v, want an error that asks to try again", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the call is still waiting")
	}
	relay.Resume()
	testkit.Eventually(t, "a revocation that succeeds", func() bool {
		_, err := w.keys.Revoke(t.Context(), owner, created.Keys["prod"].Path())
		return err == nil
	})
}

func restoredEarlier(t *testing.T) {
	database := state.Postgres(t)
	w := newWorld(t, open(t, database))
	kept, owner := w.create(t, authenticated)
	saved := testkit.SavePostgres(t, database)
	var later projects.Created
	testkit.Eventually(t, "a project that is lost later", func() bool {
		var err error
		later, err = w.Create(t.Context(), access.Principal{}, authenticated)
		return err == nil && w.holds(t, later.Keys["prod"].Secret.Reveal())
	})

	saved.Restore(t)
	// The restored database assigns the ids of lost revisions again.
	testkit.Eventually(t, "a revocation that succeeds", func() bool {
		_, err := w.keys.Revoke(t.Context(), owner, kept.Keys["prod"].Path())
		return err == nil
	})
	testkit.Eventually(t, "the revocation", func() bool {
		w.feed.Changed(t.Context())
		return w.key(policy.HashKey(kept.Keys["prod"].Secret.Reveal())).State == snapshot.KeyRevoked
	})
	if w.holds(t, later.Keys["prod"].Secret.Reveal()) {
		t.Error("a key that the restored database does not have is still served")
	}
}

func halfRestored(t *testing.T) {
	db := open(t, state.Postgres(t))
	w := newWorld(t, db)
	kept, _ := w.create(t, authenticated)
	plaintext := kept.Keys["prod"].Secret.Reveal()
	change := func(statements string) {
		if _, err := db.SQL().ExecContext(t.Context(), statements); err != nil {
			t.Fatal(err)
		}
	}
	// A restore fills table after table, and adds the foreign keys last.
	change(`ALTER TABLE group_members DROP CONSTRAINT group_members_group_id_fkey; DELETE FROM revisions;
		CREATE TABLE later AS TABLE api_keys; DELETE FROM api_keys`)
	if err := w.feed.Sync(t.Context()); err == nil {
		t.Error("Sync returned no error for a database without its foreign keys")
	}
	if !w.holds(t, plaintext) {
		t.Error("a key that is not restored yet is no longer served")
	}
	change(`INSERT INTO api_keys SELECT * FROM later; DROP TABLE later;
		ALTER TABLE group_members ADD FOREIGN KEY (group_id) REFERENCES user_groups (id)`)
	if err := w.feed.Sync(t.Context()); err != nil {
		t.Error(err)
	}
	if !w.holds(t, plaintext) {
		t.Error("the restored key is not served")
	}
}

func (w *world) holds(t *testing.T, plaintext string) bool {
	t.Helper()
	return w.key(policy.HashKey(plaintext)).ID != ""
}
