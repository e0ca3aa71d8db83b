package servers

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"postern/testkit"
	"postern/testkit/ports"
)

// Pebble is a running ACME server (RFC 8555) by the makers of Let's Encrypt. It checks challenges by real handshakes.
type Pebble struct {
	Directory string         // URL of its directory
	RootsFile string         // PEM file with the root of its certificate
	Client    *http.Client   // that trusts it
	Issued    *x509.CertPool // the root of the certificates that it issues
}

// PebbleOptions are what Pebble checks names with.
type PebbleOptions struct {
	TLSPort    int           // where it checks tls-alpn-01
	NameServer string        // host:port
	Lifetime   time.Duration // of its certificates
}

// pebblePatience is for a machine that does much else.
const pebblePatience = time.Minute

// StartPebble runs a server until the test ends. Without the program, the test fails.
func StartPebble(t testing.TB, o PebbleOptions) *Pebble {
	t.Helper()
	dir := t.TempDir()
	s := &Pebble{RootsFile: filepath.Join(dir, "server.crt")}
	cert, key := testkit.Certificate(t, "localhost")
	keyFile := filepath.Join(dir, "server.key")
	address, management := ports.Address(t), ports.Address(t)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress":           address,
		"managementListenAddress": management,
		"certificate":             s.RootsFile,
		"privateKey":              keyFile,
		"httpPort":                1, // not listened on: http-01 fails
		"tlsPort":                 o.TLSPort,
		"retryAfter":              map[string]int{"authz": 1, "order": 1},
		"keyAlgorithm":            "ecdsa",
		"profiles": map[string]any{"default": map[string]any{
			"description":    "of this test",
			"validityPeriod": int(o.Lifetime.Seconds()),
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	configFile := filepath.Join(dir, "config.json")
	for file, content := range map[string][]byte{s.RootsFile: cert, keyFile: key, configFile: config} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	s.Client = &http.Client{Transport: transport, Timeout: pebblePatience}
	s.Directory = "https://" + address + "/dir"
	runPebble(t, "-config", configFile, "-dnsserver", o.NameServer)
	s.Issued = s.root(t, "https://"+management+"/roots/0")
	return s
}

// runPebble starts the program, and ends it with the test.
func runPebble(t testing.TB, arguments ...string) {
	t.Helper()
	command := exec.Command(program(t, "pebble"), arguments...)
	command.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0")
	var output testkit.LogBuffer
	command.Stdout, command.Stderr = &output, &output
	endWithTests(command)
	if err := command.Start(); err != nil {
		t.Fatalf("start Pebble: %v (run tools/setup)", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("Pebble wrote:\n%s", output.String())
		}
	})
}

// root waits until the server answers, and reads the root of what it issues.
func (s *Pebble) root(t testing.TB, address string) *x509.CertPool {
	t.Helper()
	answer := testkit.Await(t, "an answer of Pebble", func() (*http.Response, bool) {
		answer, err := s.Client.Get(address)
		return answer, err == nil
	})
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if block, _ := pem.Decode(text); err != nil || block == nil {
		t.Fatalf("Pebble's root is %q, %v", text, err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}
