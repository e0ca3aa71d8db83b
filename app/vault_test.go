package app_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"postern/app"
	"postern/models"
	"postern/platform/config"
	"postern/platform/secrets"
	"postern/testkit"
	"postern/testkit/state"
)

var sealedAt = secrets.Place{Table: "t", Row: "1", Column: "c", Purpose: secrets.ForControl}

// One start creates a key. Another key is refused. Both rewrap. The new one alone is enough.
func TestNew_masterKey(t *testing.T) {
	c := settings(t.TempDir(), "")
	started(t, c)
	made, err := os.ReadFile(c.SecretsKeyFile())
	if err != nil {
		t.Fatal(err)
	}
	seal(t, c, secrets.Secret(made))

	other := secrets.Secret(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("b", secrets.KeySize))))
	c.SecretsKey = other
	if text := refused(t, c); !strings.Contains(text, "POSTERN_SECRETS_KEY") || strings.Contains(text, other.Reveal()) {
		t.Errorf("refused with %q", text)
	}
	c.SecretsKey = other + "," + secrets.Secret(made)
	started(t, c)
	c.SecretsKey = other
	started(t, c)
	c.SecretsKey = ""
	if text := refused(t, c); !strings.Contains(text, c.SecretsKeyFile()) {
		t.Errorf("the key that was replaced is refused with %q", text)
	}
	c.SecretsKey = "nonsense"
	if text := refused(t, c); strings.Contains(text, "nonsense") {
		t.Errorf("the error repeats the key: %q", text)
	}
}

// Replicas with a key file each start on a database without secrets, too.
func TestNew_secretsKeyOfOtherReplica(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		first := settings(t.TempDir(), databaseURL)
		other := settings(t.TempDir(), databaseURL)
		if databaseURL == "" {
			other.DataDir = first.DataDir
			key := []byte(strings.Repeat("o", secrets.KeySize))
			other.SecretsKey = secrets.Secret(base64.StdEncoding.EncodeToString(key))
		}
		started(t, first)
		if text := refused(t, other); !strings.Contains(text, "POSTERN_SECRETS_KEY") {
			t.Errorf("a replica with another key is refused with %q", text)
		}
		made, err := os.ReadFile(first.SecretsKeyFile())
		if err != nil {
			t.Fatal(err)
		}
		added := secrets.Secret(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("n", secrets.KeySize))))
		first.SecretsKey = secrets.Secret(made) + "," + added // added at the end, then in front, then alone
		started(t, first)
		other.SecretsKey = added + "," + secrets.Secret(made)
		started(t, other)
		started(t, first)
		started(t, other)
		first.SecretsKey = added
		started(t, first)
		first.SecretsKey = ""
		if text := refused(t, first); !strings.Contains(text, first.SecretsKeyFile()) {
			t.Errorf("the key that was replaced is refused with %q", text)
		}
	})
}

// If two processes mark an empty database at once, one key remains.
func TestNew_concurrentSecretsKeysOnPostgres(t *testing.T) {
	databaseURL := state.Postgres(t)
	var errs [2]error
	var wg sync.WaitGroup
	for i := range errs {
		c := settings(t.TempDir(), databaseURL)
		wg.Go(func() {
			a, err := app.New(t.Context(), c, "test", slog.New(slog.DiscardHandler))
			if err == nil {
				err = a.Close()
			} else {
				err = fmt.Errorf("refused: %w", err)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("%v and %v, want one refused", errs[0], errs[1])
	}
}

func started(t *testing.T, c config.Config) {
	t.Helper()
	if err := newApp(t, c).Close(); err != nil {
		t.Fatal(err)
	}
}

func seal(t *testing.T, c config.Config, key secrets.Secret) {
	t.Helper()
	db, err := models.Open(t.Context(), "", c.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.NewVault(key)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *models.Tx) error {
		_, err := vault.Seal(tx, "team_1", sealedAt, "canary")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A database file that is missing, empty or without tables is not taken for a new installation if its key is there.
func TestNew_lostDatabase(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	for name, tt := range testkit.ByName(map[string]struct {
		lose func(path string) error
		says string
	}{
		"missing": {os.Remove, "doesn't exist, and "},
		"emptied": {func(path string) error { return os.Truncate(path, 0) }, "is empty, and "},
		"without tables": {func(path string) error {
			db, err := models.Open(t.Context(), "", path+".new")
			if err == nil {
				err = errors.Join(db.Close(), os.Rename(path+".new", path))
			}
			return err
		}, "doesn't have Postern's tables, and "},
	}) {
		t.Run(name, func(t *testing.T) {
			c := settings(t.TempDir(), "")
			started(t, c)
			if err := tt.lose(c.SQLitePath()); err != nil {
				t.Fatal(err)
			}
			before, missing := os.ReadFile(c.SQLitePath())
			for name, refused := range testkit.ByName(map[string]func() error{
				"serve":   func() error { _, err := app.New(t.Context(), c, "test", quiet); return err },
				"migrate": func() error { _, _, err := app.Migrate(t.Context(), c, quiet); return err },
			}) {
				err := refused()
				if err == nil || !strings.Contains(err.Error(), tt.says+c.SecretsKeyFile()) {
					t.Errorf("%s: %v", name, err)
				}
			}
			after, err := os.ReadFile(c.SQLitePath())
			if os.IsNotExist(missing) != os.IsNotExist(err) || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %v, %v", missing, err)
			}
			if err := os.Rename(c.SecretsKeyFile(), c.SecretsKeyFile()+".old"); err != nil {
				t.Fatal(err)
			}
			started(t, c)
		})
	}
}

// A first start that fails can be repeated.
func TestNew_afterFailedFirstStart(t *testing.T) {
	c := settings(t.TempDir(), "")
	bad := c
	bad.ControlTLS = config.KeyPair{CertFile: "missing.crt", KeyFile: "missing.key"}
	if text := refused(t, bad); !strings.Contains(text, "missing.crt") {
		t.Errorf("refused with %q", text)
	}
	if _, err := os.Stat(c.SecretsKeyFile()); err != nil {
		t.Errorf("the start that failed has not created the key: %v", err)
	}
	started(t, c)
}
