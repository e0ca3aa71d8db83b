package certs_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/platform/certs"
	"postern/testkit"
)

// place writes a pair into dir.
func place(t *testing.T, dir string, cert, key []byte) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, content := range map[string][]byte{certFile: cert, keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// named returns the host name of the certificate in use.
func named(t *testing.T, p *certs.Pair) string {
	t.Helper()
	pair, err := p.Config().GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf.DNSNames[0]
}

func load(t *testing.T, certFile, keyFile string) (*certs.Pair, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	p, err := certs.Load(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return p, &log
}

func TestPair_renewed(t *testing.T) {
	dir := t.TempDir()
	oldCert, oldKey := testkit.Certificate(t, "old.test")
	certFile, keyFile := place(t, dir, oldCert, oldKey)
	p, log := load(t, certFile, keyFile)
	p.Look()
	if got := named(t, p); got != "old.test" {
		t.Errorf("without a change: %s", got)
	}
	if log.Len() > 0 {
		t.Errorf("without a change the log has %s", log)
	}
	newCert, newKey := testkit.Certificate(t, "new.test")
	place(t, dir, newCert, newKey)
	p.Look()
	if got := named(t, p); got != "new.test" {
		t.Errorf("after the renewal: %s", got)
	}
	if strings.Contains(log.String(), "PRIVATE") {
		t.Error("the key is in the log")
	}
}

// Kubernetes and certbot put the new files elsewhere and switch a link, which
// changes no file that was named.
func TestPair_switchedLink(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old.test", "new.test"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		cert, key := testkit.Certificate(t, name)
		place(t, filepath.Join(dir, name), cert, key)
	}
	link := filepath.Join(dir, "..data")
	if err := os.Symlink("old.test", link); err != nil {
		t.Fatal(err)
	}
	p, _ := load(t, filepath.Join(link, "tls.crt"), filepath.Join(link, "tls.key"))
	if err := os.Symlink("new.test", link+"_tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+"_tmp", link); err != nil {
		t.Fatal(err)
	}
	p.Look()
	if got := named(t, p); got != "new.test" {
		t.Errorf("after the switch: %s", got)
	}
}

func TestPair_broken(t *testing.T) {
	oldCert, oldKey := testkit.Certificate(t, "old.test")
	newCert, newKey := testkit.Certificate(t, "new.test")
	for name, broken := range map[string][2][]byte{
		"the renewal is half done":          {newCert, oldKey},
		"half done the other way":           {oldCert, newKey},
		"the certificate is cut off":        {newCert[:len(newCert)/2], newKey},
		"the key is empty":                  {newCert, nil},
		"the two are in each other's place": {newKey, newCert},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			certFile, keyFile := place(t, dir, oldCert, oldKey)
			p, log := load(t, certFile, keyFile)
			place(t, dir, broken[0], broken[1])
			p.Look()
			p.Look()
			if got := named(t, p); got != "old.test" {
				t.Errorf("%s is in use", got)
			}
			if n := strings.Count(log.String(), "could not reload the TLS certificate"); n != 1 {
				t.Errorf("%d errors in the log, want one\n%s", n, log)
			}
			place(t, dir, newCert, newKey)
			p.Look()
			if got := named(t, p); got != "new.test" {
				t.Errorf("after the files are fixed %s is in use", got)
			}
		})
	}
}

func TestPair_missingFile(t *testing.T) {
	cert, key := testkit.Certificate(t, "old.test")
	certFile, keyFile := place(t, t.TempDir(), cert, key)
	p, log := load(t, certFile, keyFile)
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	p.Look()
	if got := named(t, p); got != "old.test" {
		t.Errorf("%s is in use", got)
	}
	if !strings.Contains(log.String(), keyFile) {
		t.Errorf("the log does not name %s: %s", keyFile, log)
	}
}

func TestLoad_fileName(t *testing.T) {
	cert, _ := testkit.Certificate(t, "a.test")
	_, otherKey := testkit.Certificate(t, "b.test")
	certFile, keyFile := place(t, t.TempDir(), cert, otherKey)
	for name, file := range map[string]string{
		"key of another certificate": keyFile,
		"missing key":                keyFile + ".gone",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := certs.Load(certFile, file, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%v, want an error that names %s", err, file)
			}
		})
	}
}
