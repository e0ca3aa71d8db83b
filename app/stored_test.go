package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"postern/testkit"
)

func TestStateFileOnPostgres(t *testing.T) {
	t.Run("parts of killed processes are removed", func(t *testing.T) {
		c := settings(t.TempDir(), testkit.Postgres(t))
		old := time.Now().Add(-time.Hour)
		for _, file := range []struct {
			name     string
			modified time.Time
		}{
			{"gateway.state.1234.part", old},
			{"gateway.state.5678.part", time.Now()}, // another replica may be writing it
			{"gateway.state.backup", old},
			{"1234.part", old},
		} {
			path := filepath.Join(c.DataDir, file.name)
			if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, file.modified, file.modified); err != nil {
				t.Fatal(err)
			}
		}
		during(t, newApp(t, c), func(*http.Client) {
			testkit.Eventually(t, "the state is written", func() bool {
				_, err := os.Stat(c.StateFile())
				return err == nil
			})
		})
		var left []string
		for _, name := range []string{
			"1234.part",
			"gateway.state",
			"gateway.state.1234.part",
			"gateway.state.5678.part",
			"gateway.state.backup",
		} {
			if _, err := os.Stat(filepath.Join(c.DataDir, name)); err == nil {
				left = append(left, name)
			}
		}
		want := []string{"1234.part", "gateway.state", "gateway.state.5678.part", "gateway.state.backup"}
		if !slices.Equal(left, want) {
			t.Errorf("the data directory has %q, want %q", left, want)
		}
	})
}
