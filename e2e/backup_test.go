package e2e

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestBackup_runningServer follows docs/backup.md: a server is backed up while keys are
// created, and what was acknowledged before works where the backup is restored.
func TestBackup_runningServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := harness.Serve(t, data, "")
	proxy := newProxy(t, server.URL)
	api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())
	before := createKeys(t, api, proxy.Project.ID, 5)

	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for ctx.Err() == nil {
			_, err := client.Do(ctx, api, contract.CreateKey, contract.NewKey{Owner: "later"}.In(proxy.Project.ID))
			if err != nil && ctx.Err() == nil {
				t.Errorf("a key cannot be created during the backup: %v", err)
				return
			}
		}
	})
	operator := newOperator(t)
	operator.runs(t, "backup.md", "backup", dataDir(data))
	stop()
	writing.Wait()
	if _, err := client.Do(t.Context(), api, contract.RevokeKey, before[0].Path()); err != nil {
		t.Fatal(err)
	}
	operator.refused(t, "postern restore postern.age --identity backup.key", "another postern serve", dataDir(data))
	server.End(t, syscall.SIGTERM)
	operator.refused(t, "postern restore postern.age --identity backup.key", "already exists", dataDir(data))

	restored := filepath.Join(t.TempDir(), "restored")
	operator.runs(t, "backup.md", "restore", dataDir(restored))
	server = harness.Serve(t, restored, "")
	for _, key := range before { // the revoked one as well: it was revoked after the backup
		harness.WaitForStatus(t, callAddress(server, proxy), key.Secret.Reveal(), http.StatusOK)
	}
	api, at := harness.Connect(
		t,
		server.URL,
		proxy.WorkspaceKey.Reveal(),
	), contract.ProjectPath{
		Project: proxy.Project.ID,
	}
	if _, err := client.Do(t.Context(), api, contract.GetProject, at); err != nil {
		t.Error(err)
	}
}

// TestBackup_dumpOfPostgreSQL follows docs/backup.md with the programs of PostgreSQL.
func TestBackup_dumpOfPostgreSQL(t *testing.T) {
	t.Parallel()
	database, data := testkit.Postgres(t), t.TempDir() // data has the secrets key
	server := harness.Serve(t, data, database)
	proxy := newProxy(t, server.URL)
	keys := createKeys(t, harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()), proxy.Project.ID, 3)
	operator := newOperator(t)
	operator.runs(t, "backup.md", "pg_dump", "POSTERN_DATABASE_URL="+database)
	server.End(t, syscall.SIGTERM)

	empty := testkit.Postgres(t)
	operator.runs(t, "backup.md", "pg_restore", "POSTERN_DATABASE_URL="+empty)
	server = harness.Serve(t, data, empty)
	for _, key := range keys {
		harness.WaitForStatus(t, callAddress(server, proxy), key.Secret.Reveal(), http.StatusOK)
	}
}

func createKeys(t *testing.T, api *client.Client, project string, n int) []contract.KeyWithSecret {
	t.Helper()
	var keys []contract.KeyWithSecret
	for range n {
		key, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{Owner: "billing"}.In(project))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// callAddress is the address of the proxy's first environment on a server, which may be
// another one than the proxy was created on.
func callAddress(server *harness.Process, proxy contract.Proxy) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(proxy.Project.Environments[0].URL, "http://"), "/")
	return server.Gateway + "/" + path + "/hello"
}
