// Package pebble starts a real ACME server (RFC 8555) for tests: Pebble, by the makers of
// Let's Encrypt. It checks challenges by real handshakes.
//
// tools/setup installs the program in the user's cache directory.
package pebble

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	_ "embed"

	"postern/testkit"
)

// Server is a running ACME server.
type Server struct {
	Directory string         // URL of its directory
	RootsFile string         // PEM file with the root of its own certificate
	Client    *http.Client   // that trusts it
	Issued    *x509.CertPool // the root of the certificates that it issues
}

// Options are what the server checks names with.
type Options struct {
	TLSPort    int           // where it checks tls-alpn-01
	NameServer string        // host:port
	Lifetime   time.Duration // of its certificates
}

//go:embed pinned
var pinned string

var versionLine = regexp.MustCompile(`(?m)^version=(.+)$`)

// patience is for a machine that does much else.
const patience = time.Minute

// Start runs a server until the test ends. Without the program, the test fails.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	dir := t.TempDir()
	s := &Server{RootsFile: filepath.Join(dir, "server.crt")}
	cert, key := testkit.Certificate(t, "localhost")
	keyFile := filepath.Join(dir, "server.key")
	address, management := FreeAddress(t), FreeAddress(t)
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
	s.Client = &http.Client{Transport: transport, Timeout: patience}
	s.Directory = "https://" + address + "/dir"
	run(t, "-config", configFile, "-dnsserver", o.NameServer)
	s.Issued = s.root(t, "https://"+management+"/roots/0")
	return s
}

// run starts the program, and ends it with the test.
func run(t testing.TB, arguments ...string) {
	t.Helper()
	command := exec.Command(program(t), arguments...)
	command.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0")
	var output output
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
func (s *Server) root(t testing.TB, address string) *x509.CertPool {
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

// FreeAddress returns an address of loopback that nothing listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func program(t testing.TB) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	path := filepath.Join(cache, "postern", "pebble-"+versionLine.FindStringSubmatch(pinned)[1], "pebble")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Pebble for this test: %v (run tools/setup)", err)
	}
	return path
}

// output is what the program has written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
