package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestCopyToPostgreSQL follows docs/database.md. A server that was killed in the middle of an
// export is moved: its keys work, and the export is finished by the server on PostgreSQL.
func TestCopyToPostgreSQL(t *testing.T) {
	t.Parallel()
	data, database := t.TempDir(), testkit.Postgres(t)
	operator := newOperator(t)
	to := "POSTERN_COPY_TO=" + database
	operator.refused(t, "postern copy", "set the server's data directory", dataDir(data), to)
	server := harness.Serve(t, data, "")
	proxy := newProxy(t, server.URL)
	api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())
	keys := createKeys(t, api, proxy.Project.ID, 3)
	if _, err := client.Do(t.Context(), api, contract.FreezeKey, keys[2].Path()); err != nil {
		t.Fatal(err)
	}
	addKeys(t, "", filepath.Join(data, "postern.db"), proxy.Project.ID)
	operator.refused(t, "postern copy", "another postern serve is using", dataDir(data), to)
	queued := killDuringExport(t, server, proxy, filepath.Join(data, "exports"), func() *harness.Process {
		return harness.Serve(t, data, "")
	})
	before := digest(t, filepath.Join(data, "postern.db"))

	out := operator.runs(t, "database.md", "copy", dataDir(data), "POSTERN_DATABASE_URL="+database)
	if !strings.Contains(out, " unfinished job") || !strings.Contains(out, "every row, 1 export, and the heads of") {
		t.Errorf("postern copy says %q", out)
	}
	if digest(t, filepath.Join(data, "postern.db")) != before {
		t.Error("the source was changed")
	}
	operator.refused(t, "postern copy", "the target database isn't empty", dataDir(data), to)

	server = harness.Serve(t, data, database)
	address := callAddress(server, proxy)
	harness.WaitForStatus(t, address, keys[0].Secret.Reveal(), http.StatusOK)
	harness.WaitForStatus(t, address, keys[1].Secret.Reveal(), http.StatusOK)
	harness.WaitForStatus(t, address, keys[2].Secret.Reveal(), http.StatusForbidden)
	harness.WaitForExport(t, harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()), queued.ID)
	server.End(t, syscall.SIGTERM)
}

// digest is the content of a SQLite database without its log, which opening it may empty.
func digest(t *testing.T, path string) string {
	t.Helper()
	out, err := newOperator(t).shell(
		`postern backup --data-dir "$(dirname "$FILE")" --recipient "$RECIPIENT" -o x.age &&
		postern restore x.age --identity backup.key --data-dir restored >/dev/null && sha256sum restored/postern.db`,
		"FILE="+path,
	)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}
