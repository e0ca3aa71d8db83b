package app_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"postern/app"
	"postern/models"
	"postern/platform/config"
	"postern/platform/secrets"
	"postern/service/certificates"
	"postern/testkit"
)

// manyCertificates take more than one transaction to be sealed again.
const manyCertificates = 230

// A database of before there was a gateway key is opened with it after one start.
func TestReseal(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		c := settings(t.TempDir(), databaseURL)
		started(t, c)
		whole, err := os.ReadFile(c.SecretsKeyFile())
		if err != nil {
			t.Fatal(err)
		}
		vault, gateway := vaultWith(t, secrets.Secret(whole)), vaultWith(t, gatewayKeyOf(t, c))
		onDatabase(t, c, func(tx *models.Tx) error {
			for i := range manyCertificates {
				host := fmt.Sprintf("%03d.example.com", i)
				place := certificates.PrivateKeyPlace(host)
				place.Purpose = secrets.ForControl // as it was sealed before
				sealed, err := vault.Seal(tx, "installation", place, secrets.Secret(host))
				if err != nil {
					return err
				}
				if err := tx.Insert(&models.Certificate{Host: host, PrivateKey: sealed}); err != nil {
					return err
				}
			}
			mark, err := tx.DataKeyByID(secrets.MarkID)
			if err != nil {
				return err
			}
			mark.GatewayWrapped = []byte{}
			return tx.UpdateDataKey(mark)
		})
		if databaseURL != "" {
			only := gatewayOnly(t, c)
			if text := refused(t, only); !strings.Contains(text, "not sealed for the gateway key yet") {
				t.Errorf("a gateway before is refused with %q", text)
			}
		}
		var first []string
		for start := range 2 {
			started(t, c)
			var values []string
			onDatabase(t, c, func(tx *models.Tx) error {
				for i := range manyCertificates {
					host := fmt.Sprintf("%03d.example.com", i)
					rows, err := tx.CertificatesOf([]string{host})
					if err != nil || len(rows) != 1 {
						return fmt.Errorf("%d rows of %s, %w", len(rows), host, err)
					}
					got, err := gateway.Open(tx, certificates.PrivateKeyPlace(host), rows[0].PrivateKey)
					if err != nil || got.Reveal() != host {
						t.Fatalf("start %d: %s opens as %q, %v", start, host, got.Reveal(), err)
					}
					values = append(values, string(rows[0].PrivateKey))
				}
				return nil
			})
			if start == 0 {
				first = values
			} else if strings.Join(first, "") != strings.Join(values, "") {
				t.Error("the second start seals again what the first one has sealed")
			}
		}
		if databaseURL != "" {
			started(t, gatewayOnly(t, c))
		}
	})
}

// The gateway key is replaced with the whole one, in the same three steps.
func TestGatewayKey_replaced(t *testing.T) {
	c := settings(t.TempDir(), testkit.Postgres(t))
	started(t, c)
	before := gatewayOnly(t, c)
	first, err := os.ReadFile(c.SecretsKeyFile())
	if err != nil {
		t.Fatal(err)
	}
	older := secrets.Secret(strings.TrimSpace(string(first)))
	newer := secrets.Secret(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("n", secrets.KeySize))))
	for _, keys := range []secrets.Secret{older + "," + newer, newer + "," + older, newer} {
		gateway := c
		gateway.SecretsKey = keys
		gateway = gatewayOnly(t, gateway)
		started(t, gateway) // before the control plane
		c.SecretsKey = keys
		started(t, c)
		started(t, gateway)
	}
	if text := refused(t, before); !strings.Contains(text, "cannot be opened with the key") {
		t.Errorf("the old gateway key is refused with %q", text)
	}
}

// A copy is opened with the gateway key of its source.
func TestCopy_gatewayKey(t *testing.T) {
	c := settings(t.TempDir(), "")
	started(t, c)
	target := c
	target.DatabaseURL = config.Secret(testkit.Postgres(t))
	if _, err := app.Copy(t.Context(), c, target, func(string) {}); err != nil {
		t.Fatal(err)
	}
	started(t, gatewayOnly(t, target))
}

// The gateway key is of no use to other processes, and none is created for a gateway.
func TestNew_gatewayKey(t *testing.T) {
	databaseURL := testkit.Postgres(t)
	c := settings(t.TempDir(), databaseURL)
	started(t, c)
	key := gatewayKeyOf(t, c)
	for name, tc := range map[string]struct {
		roles config.Roles
		key   secrets.Secret
		says  string
	}{
		"all roles":          {config.Default().Roles, key, "has the gateway key, which"},
		"a worker":           {config.Roles{Worker: true}, key, "has the gateway key, which"},
		"gateway and worker": {config.Roles{Gateway: true, Worker: true}, key, "has the gateway key, which"},
		"no key":             {config.Roles{Gateway: true}, "", "run `postern secrets gateway-key` where"},
		"another's key": {
			config.Roles{Gateway: true},
			gatewayKeyOf(t, otherInstallation(t)),
			"cannot be opened with the key of --secrets-key",
		},
		"mixed": {config.Roles{Gateway: true}, key + "," + secrets.Secret(strings.Repeat("A", 43)+"="), "are mixed"},
	} {
		t.Run(name, func(t *testing.T) {
			other := settings(t.TempDir(), databaseURL)
			other.Roles, other.SecretsKey = tc.roles, tc.key
			other.PublicURL, other.GatewayURL = "http://localhost:1", "http://localhost:2"
			text := refused(t, other)
			if !strings.Contains(text, tc.says) || tc.key != "" && strings.Contains(text, tc.key.Reveal()) {
				t.Errorf("refused with %q, want %q", text, tc.says)
			}
			if _, err := os.Stat(other.SecretsKeyFile()); !errors.Is(err, os.ErrNotExist) {
				t.Error("it creates a key")
			}
		})
	}
}

// otherInstallation returns the settings of another installation.
func otherInstallation(t *testing.T) config.Config {
	t.Helper()
	c := settings(t.TempDir(), "")
	started(t, c)
	return c
}

// gatewayOnly returns the settings of a gateway alone with the gateway key, on the same
// database.
func gatewayOnly(t *testing.T, of config.Config) config.Config {
	t.Helper()
	c := settings(t.TempDir(), of.DatabaseURL.Reveal())
	c.Roles, c.SecretsKey = config.Roles{Gateway: true}, gatewayKeyOf(t, of)
	c.PublicURL = "http://localhost:1"
	return c
}

func gatewayKeyOf(t *testing.T, c config.Config) secrets.Secret {
	t.Helper()
	key, err := app.GatewayKey(c)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func vaultWith(t *testing.T, keys secrets.Secret) *secrets.Vault {
	t.Helper()
	vault, err := secrets.NewVault(keys)
	if err != nil {
		t.Fatal(err)
	}
	return vault
}

func onDatabase(t *testing.T, c config.Config, do func(*models.Tx) error) {
	t.Helper()
	db, err := models.Open(t.Context(), c.DatabaseURL.Reveal(), c.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Write(t.Context(), do), db.Close()); err != nil {
		t.Fatal(err)
	}
}
