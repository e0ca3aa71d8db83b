package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/app"
)

// A start removes the temporary files of killed processes and says so, and no others.
func TestNew_leftovers(t *testing.T) {
	c := settings(t.TempDir(), "")
	t.Setenv("TMPDIR", t.TempDir())
	var left []string
	for _, dir := range []string{c.DataDir, c.UploadDir(), os.TempDir()} {
		path := filepath.Join(dir, ".postern-tmp-1234")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "postern.db"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		left = append(left, path)
	}
	kept := filepath.Join(c.DataDir, "1234.part")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	a, err := app.New(t.Context(), c, "test", slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	for _, path := range left {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
		if !strings.Contains(logged.String(), path) {
			t.Errorf("the log does not name %s:\n%s", path, &logged)
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("a file of others is gone: %v", err)
	}
}
