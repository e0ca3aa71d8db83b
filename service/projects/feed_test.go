package projects_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/migrations"
	"postern/models"
	"postern/testkit/state"
)

// On PostgreSQL another replica hears of a change at once; it does not have to
// poll for it.
func TestAReplicaHearsOfAChange(t *testing.T) {
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
		hash := policy.HashKey(created.Keys["prod"].Plaintext)
		eventually(t, "the new key", func() bool { return elsewhere.key(hash).ID != "" })
		if _, err := here.keys.Revoke(t.Context(), owner, created.Keys["prod"].ID); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the revocation", func() bool {
			return elsewhere.key(hash).State == snapshot.KeyRevoked
		})
	})
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("%s has not arrived", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
