package bundle_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/testkit"
)

// withSecrets is a project with a secret of every kind.
func withSecrets() bundle.Input {
	in := withPeople()
	v := &in.Project.Versions[0]
	v.Access.Methods = append(v.Access.Methods, snapshot.Opaque)
	v.Access.Opaque = new(fullIntrospection())
	v.Environments[0].Headers = []snapshot.UpstreamHeader{{Name: "X-Token"}}
	v.Environments[0].Certificate = &snapshot.ClientCertificate{Chain: "chain"}
	in.Project.CallSigningKeys = []snapshot.CallSigningKey{{ID: "k1", Public: []byte("public")}}
	in.Options.Secrets = true
	in.Secret = func(item string) (string, error) { return "the secret of " + item + " \u202e${HOME}", nil }
	return in
}

func TestWrite_secrets(t *testing.T) {
	data, _ := write(t, withSecrets())
	if _, err := verify(data); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	for _, item := range []string{
		"upstream_header:env_1:X-Token", "client_certificate:env_1", "call_signing:prj_0000000000sample",
		"token_introspection:ver_1",
		"identity_provider:cli_1:idp_1",
	} {
		if !strings.Contains(files["secrets.json"], `"item": "`+item+`"`) {
			t.Errorf("secrets.json has no secret of %s", item)
		}
	}
	if n := strings.Count(files["secrets.json"], `"item"`); n != 5 {
		t.Errorf("%d secrets, want 5: idp_2 doesn't have one, and that of idp_3 is the installation's", n)
	}
	for name, text := range files {
		if name != "secrets.json" && strings.Contains(text, "the secret of") {
			t.Errorf("%s has a secret", name)
		}
	}
	if !strings.Contains(files["MIGRATION-REPORT.json"], "data.identity_provider.with_secret") ||
		!strings.Contains(files["MIGRATION-REPORT.json"], "data.secrets_left_out.some_included") {
		t.Error("the ledger does not say that secrets are in the zip")
	}
}

func TestWrite_encryptedSecrets(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	in := withSecrets()
	in.Options.Recipient = identity.Recipient().String()
	data, _ := write(t, in)
	if _, err := verify(data); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	for name, text := range files {
		if strings.Contains(text, "the secret of") {
			t.Errorf("%s has a secret in plaintext", name)
		}
	}
	opened, err := age.Decrypt(strings.NewReader(files["secrets.json.age"]), identity)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(opened)
	if err != nil || strings.Count(string(text), `"item"`) != 5 {
		t.Errorf("%v: decrypted:\n%s", err, text)
	}
}

func TestWrite_secretOptions(t *testing.T) {
	for name, tt := range testkit.ByName(map[string]struct {
		change func(*bundle.Options)
		code   string
	}{
		"no key":     {func(o *bundle.Options) { o.Recipient = "age1xyz" }, "invalid_recipient"},
		"two keys":   {func(o *bundle.Options) { o.Recipient = "age1a\nage1b" }, "invalid_recipient"},
		"no secrets": {func(o *bundle.Options) { o.Secrets, o.Recipient = false, "age1" }, "recipient_without_secrets"},
		"mint without consumers": {
			func(o *bundle.Options) { o.Keys, o.Consumers = bundle.KeysMint, false }, "keys_without_consumers",
		},
		"hashes without consumers": {
			func(o *bundle.Options) { o.Keys, o.Consumers = bundle.KeysHashes, false }, "keys_without_consumers",
		},
	}) {
		in := withSecrets()
		tt.change(&in.Options)
		_, err := bundle.Write(t.Context(), failing{nil}, in)
		refused, ok := errors.AsType[*fault.Error](err)
		if !ok || len(refused.Fields) != 1 || refused.Fields[0].Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
}
