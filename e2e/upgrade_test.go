package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"postern/models"
	"postern/testkit"
)

// next is the program of a later release: this one with a step that no earlier program may
// run on. The files are laid over the source tree for the compiler.
var next = sync.OnceValues(func() (string, error) {
	program, err := built()
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(program)
	compatible, err := os.ReadFile("../migrations/compatible.go")
	if err != nil {
		return "", err
	}
	before, after, found := strings.Cut(string(compatible), "const oldestProgram = ")
	_, after, ended := strings.Cut(after, "\n")
	if !found || !ended {
		return "", errors.New("migrations/compatible.go has no constant oldestProgram")
	}
	overlay := map[string]string{}
	for name, content := range map[string]string{
		"compatible.go":          before + "const oldestProgram = 9999\n" + after,
		"sqlite/9999_next.sql":   "-- +goose Up\nALTER TABLE projects ADD COLUMN next TEXT NOT NULL DEFAULT '';\n",
		"postgres/9999_next.sql": "-- +goose Up\nALTER TABLE projects ADD COLUMN next TEXT NOT NULL DEFAULT '';\n",
	} {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", err
		}
		place, err := filepath.Abs(filepath.Join("..", "migrations", filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		overlay[place] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	file, later := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "next")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-overlay", file, "-o", later, "postern/cmd/postern").CombinedOutput()
	if err != nil {
		return "", errors.Join(errors.New(string(out)), err)
	}
	return later, nil
})

// asNext is a wrapper for serveUnder that runs the later program.
func asNext(t *testing.T) []string {
	t.Helper()
	program, err := next()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"sh", "-c", `shift; exec "$0" "$@"`, program}
}

// TestUpgradeAndRollBack follows docs/upgrade.md. Going back is tried on a schema that the old program
// must not use, on one that it may use, and to the backup.
func TestUpgradeAndRollBack(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		data, operator := t.TempDir(), newDesk(t)
		server := serve(t, data, database)
		proxy := newProxy(t, server.URL)
		kept := createKeys(t, connect(t, server.URL, proxy.WorkspaceKey), proxy.Project.ID, 2)
		if database == "" {
			operator.runs(t, "upgrade.md", "save", dataDir(data))
		} else {
			operator.runs(t, "backup.md", "pg_dump", "POSTERN_DATABASE_URL="+database)
		}
		server.end(t, syscall.SIGTERM)

		server = serveUnder(t, asNext(t), data, database)
		waitForStatus(t, callAddress(server, proxy), kept[0].Key, http.StatusOK)
		later := createKeys(t, connect(t, server.URL, proxy.WorkspaceKey), proxy.Project.ID, 1)
		waitForStatus(t, callAddress(server, proxy), later[0].Key, http.StatusOK)
		if database == "" {
			// The programs of the later release are the ones in PATH by now.
			upgraded := operator
			upgraded.env = append(upgraded.env, "PATH="+laterPath(t)+":"+os.Getenv("PATH"))
			upgraded.runs(t, "upgrade.md", "check", dataDir(data), "POSTERN_PUBLIC_URL="+server.URL)
		}
		server.end(t, syscall.SIGTERM)

		old := launch(t, nil, data, database)
		<-old.gone
		says := old.errors.String()
		if strings.Count(says, "\n") != 1 || !strings.Contains(says, "needs a postern that") {
			t.Errorf("the old program says of the newer schema: %q", says)
		}
		sayCompatible(t, data, database)
		server = serve(t, data, database)
		for _, key := range slices.Concat(kept, later) {
			waitForStatus(t, callAddress(server, proxy), key.Key, http.StatusOK)
		}
		server.end(t, syscall.SIGTERM)

		restored := ""
		if database == "" {
			operator.runs(t, "upgrade.md", "rollback", dataDir(data))
		} else {
			restored = testkit.Postgres(t)
			operator.runs(t, "upgrade.md", "rollback-postgres", "NEW_DATABASE_URL="+restored)
		}
		server = serve(t, data, restored)
		for _, key := range kept {
			waitForStatus(t, callAddress(server, proxy), key.Key, http.StatusOK)
		}
		waitForStatus(t, callAddress(server, proxy), later[0].Key, http.StatusUnauthorized)
		if database == "" {
			operator.runs(t, "upgrade.md", "check", dataDir(data), "POSTERN_PUBLIC_URL="+server.URL)
		}
	})
}

// sayCompatible marks the schema as one that older programs can use, as a migration does that leaves
// oldestProgram as it is.
func sayCompatible(t *testing.T, data, database string) {
	t.Helper()
	db, err := models.Open(t.Context(), database, filepath.Join(data, "postern.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), "UPDATE schema_compatibility SET oldest = 1"); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// laterPath is a directory in which the later program is called postern.
func laterPath(t *testing.T) string {
	t.Helper()
	program, err := next()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "postern")); err != nil {
		t.Fatal(err)
	}
	return dir
}
