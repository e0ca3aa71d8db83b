package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestReplicas_revocation has two processes on one PostgreSQL
// database. A key is changed through the one and tried at the other.
func TestReplicas_revocation(t *testing.T) {
	t.Run("told by the database", func(t *testing.T) {
		revokedOnOtherReplica(t, testkit.Postgres(t))
	})
	t.Run("polling", func(t *testing.T) {
		database := testkit.Postgres(t)
		silence(t, database)
		revokedOnOtherReplica(t, database)
	})
}

func revokedOnOtherReplica(t *testing.T, database string) {
	data := t.TempDir() // which replicas share
	a, b := harness.Serve(t, data, database), harness.Serve(t, data, database)
	proxy := newProxy(t, a.URL)
	api := harness.Connect(t, a.URL, proxy.WorkspaceKey.Reveal())
	_, path, _ := strings.Cut(strings.TrimPrefix(proxy.Project.Environments[0].URL, "http://"), "/")
	address := b.Gateway + "/" + path + "/hello"

	change := func(ctx context.Context, op *contract.Op[contract.KeyPath, contract.Key], key contract.Key) error {
		_, err := client.Do(ctx, api, op, key.Path())
		return err
	}
	var rotated contract.KeyWithSecret
	for what, take := range testkit.ByName(map[string]func(ctx context.Context, key contract.Key) error{
		"revoked": func(ctx context.Context, key contract.Key) error { return change(ctx, contract.RevokeKey, key) },
		"frozen":  func(ctx context.Context, key contract.Key) error { return change(ctx, contract.FreezeKey, key) },
		"rotated": func(ctx context.Context, key contract.Key) (err error) {
			rotated, err = client.Do(ctx, api, contract.RotateKey, contract.KeyRotation{
				KeyPath: key.Path(),
				Body:    &contract.Grace{GraceSeconds: new(int64)},
			})
			return err
		},
	}) {
		for range 5 {
			in := contract.NewKey{Owner: "billing"}.In(proxy.Project.ID)
			key, err := client.Do(t.Context(), api, contract.CreateKey, in)
			if err != nil {
				t.Fatal(err)
			}
			harness.WaitForStatus(t, address, key.Secret.Reveal(), http.StatusOK)
			if err := take(t.Context(), key.Key); err != nil {
				t.Fatal(err)
			}
			want := http.StatusUnauthorized
			if what == "frozen" {
				want = http.StatusForbidden
			}
			harness.WaitForStatus(t, address, key.Secret.Reveal(), want)
			if what == "rotated" {
				harness.WaitForStatus(t, address, rotated.Secret.Reveal(), http.StatusOK)
			}
		}
	}
}

// silence cuts every connection of the database that listens for changes, again
// and again: what is left is to poll.
func silence(t *testing.T, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int64)
	const cutListeners = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN %'`
	go func() {
		var cut int64
		for again := time.NewTicker(5 * time.Millisecond); ctx.Err() == nil; <-again.C {
			done, err := conn.Exec(ctx, cutListeners)
			if err == nil {
				cut += done.RowsAffected()
			}
		}
		ended <- cut
	}()
	t.Cleanup(func() {
		stop()
		if cut := <-ended; cut < 2 {
			t.Errorf("%d connections were cut: the replicas may have been told of the changes", cut)
		}
		_ = conn.Close(context.Background())
	})
}
