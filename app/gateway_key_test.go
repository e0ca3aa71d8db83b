package app_test

import (
	"encoding/base64"
	"errors"
	"os"
	"strings"
	"testing"

	"postern/app"
	"postern/platform/config"
	"postern/platform/secrets"
	"postern/testkit"
)

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
	if text := refused(t, before); !strings.Contains(text, "can't decrypt the secrets in the database") {
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
		"all roles":          {config.Default().Roles, key, "has a gateway key, which"},
		"a worker":           {config.Roles{Worker: true}, key, "has a gateway key, which"},
		"gateway and worker": {config.Roles{Gateway: true, Worker: true}, key, "has a gateway key, which"},
		"no key":             {config.Roles{Gateway: true}, "", "run `postern secrets gateway-key` where"},
		"another's key": {
			config.Roles{Gateway: true},
			gatewayKeyOf(t, otherInstallation(t)),
			"the key in --secrets-key",
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
