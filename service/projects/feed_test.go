package projects_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/migrations"
	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

// On PostgreSQL another replica hears of a change at once; it does not have to
// poll for it.
func TestFeed_notified(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		here, elsewhere := newWorld(t, db), newWorld(t, db)
		if db.Dialect() == migrations.Postgres {
			elsewhere.feed.Poll = time.Hour
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { elsewhere.feed.Run(ctx) })
		defer running.Wait()
		defer stop()

		created, owner := here.create(t, authenticated)
		hash := policy.HashKey(created.Keys["prod"].Secret.Reveal())
		testkit.Eventually(t, "the new key", func() bool { return elsewhere.key(hash).ID != "" })
		if _, err := here.keys.Revoke(t.Context(), owner, created.Keys["prod"].Path()); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the revocation", func() bool {
			return elsewhere.key(hash).State == snapshot.KeyRevoked
		})
	})
}

// Replicas whose clocks are hours apart write revisions whose times are. Another replica
// follows them in the order of their commits.
func TestFeed_wrongClock(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		here, elsewhere := newWorld(t, db), newWorld(t, db)
		created, _ := here.create(t, authenticated)
		minted := created.Keys["prod"]
		hash := policy.HashKey(minted.Secret.Reveal())
		for _, change := range []struct {
			clock time.Duration // ahead
			state snapshot.KeyState
		}{{time.Hour, snapshot.KeyFrozen}, {-time.Hour, snapshot.KeyActive}, {-2 * time.Hour, snapshot.KeyRevoked}} {
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				row, err := tx.KeyByID(minted.ID)
				if err != nil {
					return err
				}
				seen := row.UpdatedAt
				row.State, row.UpdatedAt = string(change.state), models.Now().Add(change.clock)
				if updated, err := tx.UpdateKey(row, seen); err != nil || !updated {
					return fmt.Errorf("updated %v: %w", updated, err)
				}
				return tx.AddRevision(created.Project.ID, minted.ID, row.UpdatedAt)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := elsewhere.feed.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := elsewhere.key(hash).State; got != change.state {
				t.Errorf("a change by a clock %s ahead: the key is %s, want %s", change.clock, got, change.state)
			}
		}
	})
}

// A replica far from the database pays a round trip for each statement.
func TestFeed_manyKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		here, elsewhere := newWorld(t, db), newWorld(t, db)
		created, owner := here.create(t, authenticated)
		var hashes [][32]byte
		var ids []string
		for i := range 20 {
			minted, err := here.keys.Create(t.Context(), owner, contract.NewKey{
				Owner: fmt.Sprintf("ana-%d", i),
			}.In(created.Project.Name))
			if err != nil {
				t.Fatal(err)
			}
			hashes, ids = append(hashes, policy.HashKey(minted.Secret.Reveal())), append(ids, minted.ID)
		}
		var statements atomic.Int64
		if err := db.OnStatement(func(context.Context) { statements.Add(1) }); err != nil {
			t.Fatal(err)
		}
		follow := func(most int64) {
			t.Helper()
			before := statements.Load()
			if err := elsewhere.feed.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := statements.Load() - before; n > most {
				t.Errorf("20 changes of keys take %d statements, at most %d are needed", n, most)
			}
		}
		if err := elsewhere.feed.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := here.keys.Revoke(t.Context(), owner, contract.KeyPath{Key: id}); err != nil {
				t.Fatal(err)
			}
		}
		follow(2) // the revisions, and the keys
		for _, hash := range hashes {
			if got := elsewhere.key(hash); got.State != snapshot.KeyRevoked || got.KeyType == "" || got.Tenant == "" {
				t.Fatalf("after the revocation the key is %+v", got)
			}
		}
		execute(t, db, "DELETE FROM api_keys WHERE id = ?", ids[0])
		revise(t, db, created.Project.ID, ids[0])
		follow(2)
		if got := elsewhere.key(hashes[0]); got.ID != "" {
			t.Errorf("a key that is gone is still %+v", got)
		}
	})
}
