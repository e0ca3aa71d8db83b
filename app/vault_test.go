package app_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"postern/config"
	"postern/models"
	"postern/secrets"
)

var sealedAt = secrets.Place{Table: "t", Row: "1", Column: "c"}

// One start makes a key; another key is refused; both rewrap; the new one is enough.
func TestKeyOfSecretsAtRest(t *testing.T) {
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
