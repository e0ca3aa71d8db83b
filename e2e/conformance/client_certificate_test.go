//go:build conformance

package conformance

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// mutual is an upstream that asks for client certificates.
type mutual struct {
	target string
	mu     sync.Mutex
	shown  []string // subjects of the certificates, "" for a handshake without
}

func (m *mutual) takeShown() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.shown
	m.shown = nil
	return out
}

func startMutual(t *testing.T, up *upstream, clients authority, asks tls.ClientAuthType) *mutual {
	t.Helper()
	servers, m := newAuthority(t), &mutual{}
	trusted := x509.NewCertPool()
	trusted.AddCert(clients.certificate)
	s := scripted.Start(t, &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{servers.issue(t, x509.Certificate{DNSNames: []string{"localhost"}})},
		ClientAuth:   asks,
		ClientCAs:    trusted,
		VerifyConnection: func(state tls.ConnectionState) error {
			subject := ""
			if len(state.PeerCertificates) > 0 {
				subject = state.PeerCertificates[0].Subject.CommonName
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.shown = append(m.shown, subject)
			return nil
		},
	})
	m.target = "https://" + net.JoinHostPort("localhost", strconv.Itoa(s.Port))
	if up.secure == nil {
		up.secure = &secureUpstreams{roots: x509.NewCertPool(), file: filepath.Join(t.TempDir(), "roots.pem")}
	}
	up.secure.roots.AddCert(servers.certificate)
	up.secure.all = append(up.secure.all, s)
	file, err := os.OpenFile(up.secure.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: servers.certificate.Raw}); err != nil {
		t.Fatal(err)
	}
	return m
}

// clientCertificate issues a certificate for the key, and returns it with the key in PEM.
// The sealed key is the key itself: see unsealed.
func (a authority) clientCertificate(t *testing.T, name string, key crypto.Signer) *snapshot.ClientCertificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: name},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})...)
	return &snapshot.ClientCertificate{
		Chain:  string(chain),
		Sealed: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

// Both gateways present the certificate of each environment, with keys of every kind, to
// upstreams that require one and to those that only ask.
func TestConformanceClientCertificate(t *testing.T) {
	up, clients := newUpstream(t), newAuthority(t)
	requires := startMutual(t, up, clients, tls.RequireAndVerifyClientCert)
	asks := startMutual(t, up, clients, tls.VerifyClientCertIfGiven)
	project, keys := sample.Fresh(requires.target, sample.RequiresKeys())
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, target string, key crypto.Signer) {
		e := snapshot.Environment{ID: "env_" + name, Name: name, Target: target}
		if key != nil {
			e.Certificate = clients.clientCertificate(t, "client of "+name, key)
			t.Setenv(clientKeyVariable(name), string(e.Certificate.Sealed))
		}
		project.Versions[0].Environments = append(project.Versions[0].Environments, e)
	}
	project.Versions[0].Environments = nil
	add("asked-none", asks.target, nil)
	add("asked-rsa", asks.target, rsaKey)
	add("ed", requires.target, edKey)
	add("ec", requires.target, ecKey)
	add("none", requires.target, nil)
	add("prod", requires.target, rsaKey)
	for name, k := range keys {
		k.Environment = ""
		keys[name] = k
	}
	trust := "KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE=" + up.secure.file
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up, trust)
	postern := startPosternOf(t, up, project, keys)
	for name, want := range map[string]string{
		"prod": "client of prod", "ec": "client of ec", "ed": "client of ed", "asked-rsa": "client of asked-rsa",
		"asked-none": "", "none": "",
	} {
		c := get(name, "/1.0.0/"+name+"/x", key(keys["active"]))
		for _, by := range []*peer{postern, kong} {
			out := by.send(c)
			shown := append(requires.takeShown(), asks.takeShown()...)
			if name == "none" { // TLS 1.3 lets a client without a certificate finish the handshake
				if out.Status != http.StatusBadGateway || len(out.Seen) > 0 {
					t.Errorf("%s by %s: %d, %d calls upstream; want 502", name, by.name, out.Status, len(out.Seen))
				}
				continue
			}
			if out.Status != http.StatusOK || len(shown) != 1 || shown[0] != want {
				t.Errorf("%s by %s: %d, certificates %q, want 200 and %q", name, by.name, out.Status, shown, want)
			}
		}
	}
}

// A gateway that cannot present the certificate refuses calls instead of forwarding them
// without one, as Kong alone does.
func TestConformanceClientCertificate_unusableKey(t *testing.T) {
	own, other := newKey(t), newKey(t)
	up, clients := newUpstream(t), newAuthority(t)
	asks := startMutual(t, up, clients, tls.VerifyClientCertIfGiven)
	project, keys := sample.Fresh(asks.target, sample.RequiresKeys())
	project.Versions[0].Environments = nil
	fitting := string(clients.clientCertificate(t, "", own).Sealed)
	unusable := map[string]string{
		"empty":     "",
		"nokey":     "not a key",
		"cutoff":    fitting[:60],
		"backslash": strings.ReplaceAll(fitting, "\n", `\n`),
		"another":   string(clients.clientCertificate(t, "", other).Sealed),
	}
	var filledIn []string // for start.sh, which does not look at what a key is
	add := func(name, private string) {
		t.Setenv(clientKeyVariable(name), private)
		filledIn = append(filledIn, clientKeyVariable(name)+"=filled in")
		project.Versions[0].Environments = append(project.Versions[0].Environments, snapshot.Environment{
			ID:          "env_" + name,
			Name:        name,
			Target:      asks.target,
			Certificate: clients.clientCertificate(t, "client of "+name, own),
		})
	}
	for name, private := range unusable {
		add(name, private)
	}
	add("prod", fitting) // the readiness check calls it
	for name, k := range keys {
		k.Environment = ""
		keys[name] = k
	}
	trust := "KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE=" + up.secure.file
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, folder, up, trust)
	for name := range unusable {
		t.Run(name, func(t *testing.T) {
			got := kong.send(get(name, "/1.0.0/"+name+"/x", key(keys["active"])))
			if shown := asks.takeShown(); len(got.Seen) > 0 || len(shown) > 0 {
				t.Errorf("%d calls and %d handshakes reached the upstream", len(got.Seen), len(shown))
			}
			if got.Status != http.StatusServiceUnavailable || got.Code != "upstream_credentials_missing" {
				t.Errorf("status %d %s", got.Status, got.Code)
			}
		})
	}
	got := kong.send(get("fitting", prod+"/x", key(keys["active"])))
	if shown := asks.takeShown(); got.Status != http.StatusOK || len(shown) != 1 || shown[0] != "client of prod" {
		t.Errorf("with the certificate's own key: status %d, certificates %q", got.Status, shown)
	}
	says := runStart(t, folder, kong, keys["active"].Plaintext, filledIn...)
	for name := range unusable {
		want := "FAIL  the upstream of /1.0.0/" + name + "/ does not respond: the gateway returned 503"
		if !strings.Contains(says, want) {
			t.Errorf("start.sh does not say %q:\n%s", want, says)
		}
	}
	if !strings.Contains(says, "ok    the upstream of "+prod+"/ responds: 200") {
		t.Errorf("start.sh does not say that the upstream of prod responds:\n%s", says)
	}
}

// clientKeyVariable returns the variable that the export names for an environment of version 1.0.0.
func clientKeyVariable(environment string) string {
	return "UPSTREAM_1_0_0_" + strings.ToUpper(strings.ReplaceAll(environment, "-", "_")) + "_CLIENT_KEY"
}
