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

// put writes files below dir, by path, and creates their folders.
func put(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func openDirectory(t *testing.T, dir string) (*certs.Directory, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	d, err := certs.OpenDirectory(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return d, &log
}

// chosen returns the first name (the common name) of the certificate for a host name, "" for none.
func chosen(d *certs.Directory, host string) string {
	found, err := d.Certificate(&tls.ClientHelloInfo{ServerName: host})
	if found == nil || err != nil {
		return ""
	}
	return found.Leaf.Subject.CommonName
}

func TestDirectory_hostName(t *testing.T) {
	dir := t.TempDir()
	shopCert, shopKey := testkit.Certificate(t, "api.shop.test", "API2.shop.test")
	wildCert, wildKey := testkit.Certificate(t, "*.shop.test")
	secretCert, secretKey := testkit.Certificate(t, "secret.test")
	liveCert, liveKey := testkit.Certificate(t, "live.test")
	put(t, dir, map[string][]byte{
		"anything.crt":            shopCert,
		"anything.key":            shopKey,
		"wild.crt":                wildCert,
		"wild.key":                wildKey,
		"secret/tls.crt":          secretCert,
		"secret/tls.key":          secretKey,
		"live.test/fullchain.pem": liveCert,
		"live.test/privkey.pem":   liveKey,
		"ca.crt":                  secretCert, // no key: not a pair
		"README":                  []byte("about these files"),
	})
	d, log := openDirectory(t, dir)
	for host, want := range map[string]string{
		"api.shop.test":   "api.shop.test",
		"API.Shop.TEST":   "api.shop.test",
		"api2.shop.test":  "api.shop.test",
		"other.shop.test": "*.shop.test",
		"a.b.shop.test":   "",
		"shop.test":       "",
		"secret.test":     "secret.test",
		"live.test":       "live.test",
		"unknown.test":    "",
		"":                "",
		"*.shop.test":     "*.shop.test", // no client sends it, and it reveals nothing
	} {
		if got := chosen(d, host); got != want {
			t.Errorf("%q gets the certificate of %q, want %q", host, got, want)
		}
	}
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("the log has an error: %s", log)
	}
}

func TestDirectory_changes(t *testing.T) {
	dir := t.TempDir()
	oldCert, oldKey := testkit.Certificate(t, "old.test", "api.test")
	newCert, newKey := testkit.Certificate(t, "new.test", "api.test")
	put(t, dir, map[string][]byte{"api.crt": oldCert, "api.key": oldKey})
	d, log := openDirectory(t, dir)
	step := func(what, want string) {
		t.Helper()
		d.Look()
		d.Look()
		if got := chosen(d, "api.test"); got != want {
			t.Errorf("%s: the certificate of %q is in use, want %q", what, got, want)
		}
	}
	step("unchanged", "old.test")
	put(t, dir, map[string][]byte{"api.crt": newCert})
	step("half replaced", "old.test")
	if n := strings.Count(log.String(), "could not use a TLS certificate"); n != 1 {
		t.Errorf("%d errors in the log for one problem, want 1: %s", n, log)
	}
	put(t, dir, map[string][]byte{"api.key": newKey})
	step("replaced", "new.test")
	if got := chosen(d, "old.test"); got != "" {
		t.Errorf("a name that the certificate lost still gets %q", got)
	}
	remove(t, dir, "api.key")
	step("the key is missing", "new.test")
	remove(t, dir, "api.crt")
	step("both files are gone", "")
	put(t, dir, map[string][]byte{"other/tls.crt": oldCert, "other/tls.key": oldKey})
	step("a new pair", "old.test")
	if strings.Contains(log.String(), "PRIVATE") {
		t.Error("a key is in the log")
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestDirectory_brokenPair(t *testing.T) {
	dir := t.TempDir()
	cert, key := testkit.Certificate(t, "api.test")
	otherCert, otherKey := testkit.Certificate(t, "other.test")
	put(t, dir, map[string][]byte{"api.crt": cert, "api.key": key, "other.crt": otherCert, "other.key": key})
	d, log := openDirectory(t, dir)
	if got := chosen(d, "api.test"); got != "api.test" {
		t.Errorf("the valid pair's name gets %q", got)
	}
	if got := chosen(d, "other.test"); got != "" {
		t.Errorf("the broken pair's name gets %q", got)
	}
	if !strings.Contains(log.String(), "other.crt") {
		t.Errorf("the log does not name the broken pair: %s", log)
	}
	put(t, dir, map[string][]byte{"other.key": otherKey})
	d.Look()
	if got := chosen(d, "other.test"); got != "other.test" {
		t.Errorf("after the files are fixed, the name gets %q", got)
	}
	put(t, dir, map[string][]byte{"other.key": key})
	d.Look()
	if got := chosen(d, "other.test"); got != "other.test" {
		t.Errorf("after the files are broken again, the name gets %q, want the previous certificate", got)
	}
}

// Kubernetes mounts a secret's files as links through a link that it switches.
func TestDirectory_links(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old.test", "new.test"} {
		cert, key := testkit.Certificate(t, name, "api.test")
		put(t, dir, map[string][]byte{"shop/.." + name + "/tls.crt": cert, "shop/.." + name + "/tls.key": key})
	}
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("..old.test", "shop/..data")
	link("..data/tls.crt", "shop/tls.crt")
	link("..data/tls.key", "shop/tls.key")
	d, _ := openDirectory(t, dir)
	if got := chosen(d, "api.test"); got != "old.test" {
		t.Errorf("at first: %q", got)
	}
	link("..new.test", "shop/..data_tmp")
	if err := os.Rename(filepath.Join(dir, "shop/..data_tmp"), filepath.Join(dir, "shop/..data")); err != nil {
		t.Fatal(err)
	}
	d.Look()
	if got := chosen(d, "api.test"); got != "new.test" {
		t.Errorf("after the switch: %q", got)
	}
}

func TestDirectory_removed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "names")
	cert, key := testkit.Certificate(t, "api.test")
	put(t, dir, map[string][]byte{"api.crt": cert, "api.key": key})
	d, log := openDirectory(t, dir)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	d.Look()
	d.Look()
	if got := chosen(d, "api.test"); got != "api.test" {
		t.Errorf("the name gets %q", got)
	}
	if n := strings.Count(log.String(), "could not read the directory of TLS certificates"); n != 1 {
		t.Errorf("%d errors in the log, want 1: %s", n, log)
	}
	_, err := certs.OpenDirectory(dir, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("opening it: %v, want an error that names %s", err, dir)
	}
}

func TestConfigWith_fallback(t *testing.T) {
	cert, key := testkit.Certificate(t, "gateway.test")
	certFile, keyFile := place(t, t.TempDir(), cert, key)
	p, _ := load(t, certFile, keyFile)
	dir := t.TempDir()
	nameCert, nameKey := testkit.Certificate(t, "api.test")
	put(t, dir, map[string][]byte{"api.crt": nameCert, "api.key": nameKey})
	d, _ := openDirectory(t, dir)
	config := p.ConfigWith(d.Certificate)
	for host, want := range map[string]string{
		"api.test":     "api.test",
		"unknown.test": "gateway.test",
		"":             "gateway.test",
	} {
		got, err := config.GetCertificate(&tls.ClientHelloInfo{ServerName: host})
		if err != nil || got.Leaf.Subject.CommonName != want {
			t.Errorf("%q gets %v, %v; want the certificate of %s", host, got, err, want)
		}
	}
}
