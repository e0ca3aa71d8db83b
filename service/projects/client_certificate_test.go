package projects_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/projects"
	"postern/testkit"
	"postern/testkit/state"
)

func (w *headerWorld) present(t *testing.T, chain, key []byte) (contract.ClientCertificate, error) {
	return w.SetClientCertificate(t.Context(), w.owner, contract.ClientCertificateUpdate{
		EnvironmentPath: w.at(),
		Body:            contract.NewClientCertificate{Certificate: string(chain), PrivateKey: contract.Secret(key)},
	})
}

// retarget changes the target of the environment.
func (w *headerWorld) retarget(t *testing.T, target string) error {
	return w.world.retarget(t, w.owner, w.at(), "", target)
}

// newSecureWorld is a headerWorld whose target is an https URL.
func newSecureWorld(t *testing.T, db *models.DB) *headerWorld {
	t.Helper()
	w := newHeaderWorld(t, db)
	if err := w.retarget(t, "https://127.0.0.1:9/api"); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestClientCertificate(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newSecureWorld(t, db)
		chain, key := testkit.Certificate(t, "client.test")
		t.Run("shown without its key", func(t *testing.T) {
			set, err := w.present(t, chain, key)
			if err != nil {
				t.Fatal(err)
			}
			if set.Subject != "CN=client.test" || set.Certificate != string(chain) || len(set.SHA256) != 64 {
				t.Errorf("shown %+v", set)
			}
			got, err := w.ClientCertificate(t.Context(), w.owner, w.at())
			if err != nil || got.SHA256 != set.SHA256 || !got.ExpiresAt.Equal(set.ExpiresAt) {
				t.Errorf("read back %+v, %v", got, err)
			}
		})
		t.Run("replaced, stored sealed, opens without a database", func(t *testing.T) {
			chain, key := testkit.Certificate(t, "second.test")
			if _, err := w.present(t, chain, key); err != nil {
				t.Fatal(err)
			}
			var stored bytes.Buffer
			if err := w.feed.Store(&stored); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(stored.Bytes(), []byte("PRIVATE KEY")) {
				t.Error("the stored state has the key")
			}
			served, _, _, err := restored(t, stored.Bytes(), "https://postern.example")
			if err != nil {
				t.Fatal(err)
			}
			c := served[0].Versions[0].Environments[0].Certificate
			unsealer := projects.Unsealer{Vault: w.Vault}
			opened, err := unsealer.ClientKey(served[0], w.environment, *c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tls.X509KeyPair([]byte(c.Chain), opened); err != nil {
				t.Errorf("the gateway cannot use it: %v", err)
			}
			if _, err := unsealer.ClientKey(served[0], "env_other", *c); err == nil {
				t.Error("the key opens for another environment")
			}
		})
		t.Run("keeps the target", func(t *testing.T) {
			for _, target := range []string{"https://127.0.0.1:10/api", "http://127.0.0.1:9/api"} {
				if code := codeOf(w.retarget(t, target)); code != "/target has_upstream_credentials" {
					t.Errorf("%s: %q", target, code)
				}
			}
			if err := w.retarget(t, "https://127.0.0.1:9/other"); err != nil {
				t.Errorf("another path: %v", err)
			}
		})
		t.Run("removed", func(t *testing.T) {
			if _, err := w.RemoveClientCertificate(t.Context(), w.owner, w.at()); err != nil {
				t.Fatal(err)
			}
			if c := w.project(t, w.id).Versions[0].Environments[0].Certificate; c != nil {
				t.Error("it is still presented")
			}
			_, err := w.RemoveClientCertificate(t.Context(), w.owner, w.at())
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("removed twice: %v", err)
			}
		})
	})
}

func codeOf(err error) string {
	if refusal, ok := errors.AsType[*fault.Error](err); ok && len(refusal.Fields) > 0 {
		return refusal.Fields[0].Pointer + " " + refusal.Fields[0].Code
	}
	return ""
}

// issued creates a certificate of those dates and that purpose, and its key.
func issued(t *testing.T, curve elliptic.Curve, from, until time.Time, use ...x509.ExtKeyUsage) (chain, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "client.test"},
		NotBefore:    from,
		NotAfter:     until,
		ExtKeyUsage:  use,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func TestClientCertificate_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newSecureWorld(t, db)
		now := time.Now()
		chain, key := testkit.Certificate(t, "client.test")
		other, otherKey := testkit.Certificate(t, "other.test")
		expired, expiredKey := issued(t, elliptic.P256(), now.Add(-time.Hour), now.Add(-time.Minute))
		early, earlyKey := issued(t, elliptic.P256(), now.Add(time.Hour), now.Add(2*time.Hour))
		server, serverKey := issued(t, elliptic.P256(), now.Add(-time.Hour), now.Add(time.Hour),
			x509.ExtKeyUsageServerAuth)
		small, smallKey := issued(t, elliptic.P224(), now.Add(-time.Hour), now.Add(time.Hour))
		legacy := pem.EncodeToMemory(&pem.Block{
			Type:    "RSA PRIVATE KEY",
			Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"},
			Bytes:   []byte("x"),
		})
		sealed := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})
		for _, tc := range []struct {
			name       string
			chain, key []byte
			want       string
		}{
			{"key of another", chain, otherKey, "/private_key key_mismatch"},
			{"issuer first", append(bytes.Clone(other), chain...), key, "/private_key key_mismatch"},
			{"encrypted PKCS #8", chain, sealed, "/private_key encrypted_private_key"},
			{"encrypted PKCS #1", chain, legacy, "/private_key encrypted_private_key"},
			{"no key", chain, nil, "/private_key invalid_private_key"},
			{"certificate as key", chain, chain, "/private_key invalid_private_key"},
			{"P-224", small, smallKey, "/private_key unsupported_private_key"},
			{"expired", expired, expiredKey, "/certificate certificate_expired"},
			{"not yet valid", early, earlyKey, "/certificate certificate_not_yet_valid"},
			{"for servers", server, serverKey, "/certificate not_for_clients"},
			{"no certificate", []byte("hello"), key, "/certificate invalid_certificate"},
			{"key in the chain", append(bytes.Clone(chain), key...), key, "/certificate private_key_in_certificate"},
			{"too many", bytes.Repeat(chain, 11), key, "/certificate invalid_certificate"},
			{"too long", bytes.Repeat([]byte(" "), 65<<10), key, "/certificate invalid_certificate"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := w.present(t, tc.chain, tc.key)
				if got := codeOf(err); got != tc.want {
					t.Errorf("%q, want %q (%v)", got, tc.want, err)
				}
				if err != nil && strings.Contains(err.Error(), "BEGIN PRIVATE") && tc.key != nil &&
					strings.Contains(err.Error(), string(tc.key)) {
					t.Error("the error has the key")
				}
			})
		}
		t.Run("http target", func(t *testing.T) {
			if err := w.retarget(t, "http://127.0.0.1:9"); err != nil {
				t.Fatal(err)
			}
			_, err := w.present(t, chain, key)
			if got := codeOf(err); got != "/certificate needs_https" {
				t.Errorf("%q (%v)", got, err)
			}
		})
	})
}
