package certs_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"postern/platform/certs"
	"postern/testkit"
)

// A certificate that ends is logged once a day, first as a warning, and an expired one doesn't replace a valid one.
func TestExpiry(t *testing.T) {
	type following = func(t *testing.T, dir string, log *slog.Logger) (look func(), inUse func() string)
	for name, follow := range map[string]following{
		"pair": func(t *testing.T, dir string, log *slog.Logger) (func(), func() string) {
			p, err := certs.Load(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), log)
			if err != nil {
				t.Fatal(err)
			}
			return p.Look, func() string { return named(t, p) }
		},
		"directory": func(t *testing.T, dir string, log *slog.Logger) (func(), func() string) {
			d, err := certs.OpenDirectory(dir, log)
			if err != nil {
				t.Fatal(err)
			}
			return d.Look, func() string { return chosen(d, "a.test") }
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { expiry(t, follow) }) })
	}
}

func expiry(t *testing.T, follow func(*testing.T, string, *slog.Logger) (look func(), inUse func() string)) {
	dir := t.TempDir()
	put := func(left time.Duration, names ...string) {
		cert, key := testkit.CertificateUntil(t, time.Now().Add(left), names...)
		place(t, dir, cert, key)
	}
	var log bytes.Buffer
	said := func(wants ...string) {
		t.Helper()
		text := log.String()
		log.Reset()
		if strings.Count(text, "\n") != len(wants) {
			t.Errorf("the log has\n%swant %d lines: %q", text, len(wants), wants)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("the log lacks %q:\n%s", want, text)
			}
		}
	}
	const day = 24 * time.Hour
	put(30*day, "a.test", "first.test")
	look, inUse := follow(t, dir, slog.New(slog.NewTextHandler(&log, nil)))
	log.Reset() // a directory logs what it has
	look()
	said()
	time.Sleep(25*day + time.Hour)
	look()
	look()
	said("level=WARN msg=\"a TLS certificate is about to expire: renew it\"")
	time.Sleep(day)
	look()
	said("is about to expire")

	put(-time.Hour, "a.test", "expired.test")
	look()
	look()
	said("level=ERROR")
	if got := inUse(); got == "expired.test" {
		t.Errorf("an expired certificate replaced a valid one")
	}
	time.Sleep(4 * day)
	look()
	said("level=ERROR msg=\"a TLS certificate has expired: renew it\"")
	put(90*day, "a.test", "second.test")
	look()
	said("level=INFO")
}
