package exports_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"sync"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/exports"
	"postern/testkit/state"
)

// withVault makes exports signed.
func withVault(t *testing.T, w *world) {
	t.Helper()
	vault, err := secrets.NewVault("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	w.Vault = vault
}

// published reads the keys as `postern verify --signed-by` does.
func published(t *testing.T, w *world) []ed25519.PublicKey {
	t.Helper()
	text, err := w.PublicKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var keys []ed25519.PublicKey
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(ed25519.PublicKey))
	}
	return keys
}

func verified(t *testing.T, data []byte, keys ...ed25519.PublicKey) (bundle.Report, error) {
	t.Helper()
	return bundle.Verify(t.Context(), bytes.NewReader(data), int64(len(data)), bundle.Against{
		Targets:  targets.All(),
		SignedBy: keys,
	})
}

func TestSignature_installation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		unsigned := w.built(t, gateway)
		withVault(t, w)
		first, second := w.built(t, gateway), w.built(t, gateway)
		if !bytes.Equal(first, second) {
			t.Error("two signed exports of one state differ")
		}
		keys := published(t, w)
		if len(keys) != 1 {
			t.Fatalf("%d keys published, want 1", len(keys))
		}
		if report, err := verified(t, first, keys...); err != nil || !report.Signed {
			t.Errorf("Verify with the installation's key: signed %t, %v", report.Signed, err)
		}
		if report, err := verified(t, first); err != nil || !report.Signed {
			t.Errorf("Verify without a key: signed %t, %v", report.Signed, err)
		}
		other, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			data []byte
			key  ed25519.PublicKey
			says string
		}{
			"another installation's key": {first, other, "SHA256SUMS.sig: it wasn't created with the given key"},
			"no signature":               {unsigned, keys[0], "SHA256SUMS.sig: it is missing"},
		} {
			if _, err := verified(t, c.data, c.key); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", name, err, c.says)
			}
		}
	})
}

// The key is created once, by the first replica that asks.
func TestSignature_oneKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		withVault(t, w)
		var wait sync.WaitGroup
		answers := make([][]byte, 8)
		for i := range answers {
			wait.Go(func() { answers[i], _ = w.PublicKeys(t.Context()) })
		}
		wait.Wait()
		for _, got := range answers {
			if len(got) == 0 || !bytes.Equal(got, answers[0]) {
				t.Fatalf("keys differ:\n%s\n%s", answers[0], got)
			}
		}
	})
}

func TestSignature_sealedKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		withVault(t, w)
		keys := published(t, w)
		rows, err := db.Read(t.Context()).ExportKeys()
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows: %v", len(rows), err)
		}
		if len(rows[0].PrivateKey) <= ed25519.SeedSize || bytes.Contains(rows[0].PrivateKey, keys[0]) {
			t.Errorf("the private key is kept as %d bytes", len(rows[0].PrivateKey))
		}
	})
}

// built asks for an export, builds it and gives the zip.
func (w *world) built(t *testing.T, options exports.Options) []byte {
	t.Helper()
	e := w.request(t, options)
	if err := w.Build(t.Context(), e.ID, true); err != nil {
		t.Fatal(err)
	}
	return w.download(t, e.ID)
}
