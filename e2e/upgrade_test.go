package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"postern/e2e/harness"
	"postern/models"
	"postern/testkit"
)

// next is the program of a later release: this one with a step that no earlier program may
// run on. The files are laid over the source tree for the compiler.
var next = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "postern-next-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
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
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	return harness.Build("next", os.Environ(), "-overlay", file)
})

// later returns the path of the later program.
func later(t *testing.T) string {
	t.Helper()
	program, err := next()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// asNext is a wrapper for harness.ServeUnder that runs the later program.
func asNext(t *testing.T) []string {
	t.Helper()
	return []string{"sh", "-c", `shift; exec "$0" "$@"`, later(t)}
}

// TestUpgradeAndRollBack follows docs/upgrade.md. Going back is tried on a schema that the old program
// must not use, on one that it may use, and to the backup.
func TestUpgradeAndRollBack(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		data, operator := t.TempDir(), newOperator(t)
		server := harness.Serve(t, data, database)
		proxy := newProxy(t, server.URL)
		kept := createKeys(t, harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()), proxy.Project.ID, 2)
		if database == "" {
			operator.runs(t, "upgrade.md", "save", dataDir(data))
		} else {
			operator.runs(t, "backup.md", "pg_dump", "POSTERN_DATABASE_URL="+database)
		}
		server.End(t, syscall.SIGTERM)

		server = harness.ServeUnder(t, asNext(t), data, database)
		harness.WaitForStatus(t, callAddress(server, proxy), kept[0].Secret.Reveal(), http.StatusOK)
		added := createKeys(t, harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()), proxy.Project.ID, 1)
		harness.WaitForStatus(t, callAddress(server, proxy), added[0].Secret.Reveal(), http.StatusOK)
		if database == "" {
			// The programs of the later release are the ones in PATH by now.
			upgraded := operator
			upgraded.env = append(upgraded.env, "PATH="+filepath.Dir(later(t))+":"+os.Getenv("PATH"))
			upgraded.runs(t, "upgrade.md", "check", dataDir(data), "POSTERN_PUBLIC_URL="+server.URL)
		}
		server.End(t, syscall.SIGTERM)

		old := harness.Launch(t, nil, data, database)
		<-old.Gone
		says := old.Errors.String()
		if strings.Count(says, "\n") != 1 || !strings.Contains(says, "requires a postern that") {
			t.Errorf("the old program says of the newer schema: %q", says)
		}
		markCompatible(t, data, database)
		server = harness.Serve(t, data, database)
		for _, key := range slices.Concat(kept, added) {
			harness.WaitForStatus(t, callAddress(server, proxy), key.Secret.Reveal(), http.StatusOK)
		}
		server.End(t, syscall.SIGTERM)

		restored := ""
		if database == "" {
			operator.runs(t, "upgrade.md", "rollback", dataDir(data))
		} else {
			restored = testkit.Postgres(t)
			operator.runs(t, "upgrade.md", "rollback-postgres", "NEW_DATABASE_URL="+restored)
		}
		server = harness.Serve(t, data, restored)
		for _, key := range kept {
			harness.WaitForStatus(t, callAddress(server, proxy), key.Secret.Reveal(), http.StatusOK)
		}
		harness.WaitForStatus(t, callAddress(server, proxy), added[0].Secret.Reveal(), http.StatusUnauthorized)
		if database == "" {
			operator.runs(t, "upgrade.md", "check", dataDir(data), "POSTERN_PUBLIC_URL="+server.URL)
		}
	})
}

// markCompatible marks the schema as one that older programs can use, as a migration does that leaves oldestProgram
// unchanged.
func markCompatible(t *testing.T, data, database string) {
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
