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

type following = func(t *testing.T, dir string, log *slog.Logger) (look func(), inUse func() string)

// A certificate that ends is logged once a day, first as a warning, and an expired one doesn't replace a valid one.
func TestExpiry(t *testing.T) { eachFollowing(t, expiry) }

func eachFollowing(t *testing.T, run func(*testing.T, following)) {
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
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { run(t, follow) }) })
	}
}

func expiry(t *testing.T, follow following) {
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
	put(30*day, "first.test", "a.test")
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

	put(-time.Hour, "expired.test", "a.test")
	look()
	look()
	said("level=ERROR")
	if got := inUse(); got != "first.test" {
		t.Errorf("after an expired certificate was written, %s is in use", got)
	}
	time.Sleep(4 * day)
	look()
	said("level=ERROR msg=\"a TLS certificate has expired: renew it\"")
	put(90*day, "second.test", "a.test")
	look()
	said("level=INFO")
	if got := inUse(); got != "second.test" {
		t.Errorf("after the renewal, %s is in use", got)
	}
}

// A certificate that is not valid yet replaces a valid one once it is, and another one that is not valid at once.
func TestPair_notValidYet(t *testing.T) {
	const day = 24 * time.Hour
	type span struct{ from, to time.Duration } // of a certificate
	const (
		valid, waits, inUse = "", "isn't valid yet; serving the previous one", "that isn't valid yet is in use"
	)
	for name, tt := range testkit.ByName(map[string]struct {
		first, second   span
		wait            time.Duration // until the third look
		says            string        // on the first look at the second certificate
		before, between string        // is in use before and after the wait
	}{
		"valid and early":   {span{-day, 60 * day}, span{2 * day, 90 * day}, 2 * day, waits, "first", "second"},
		"still early":       {span{-day, 60 * day}, span{2 * day, 90 * day}, day, waits, "first", "first"},
		"both early":        {span{day, 60 * day}, span{2 * day, 90 * day}, day, inUse, "second", "second"},
		"early and valid":   {span{day, 60 * day}, span{-day, 90 * day}, day, valid, "second", "second"},
		"expired and early": {span{-2 * day, -day}, span{day, 90 * day}, day, inUse, "second", "second"},
		"valid briefly":     {span{-day, day}, span{2 * day, 90 * day}, day + 1, waits, "first", "first"},
	}) {
		t.Run(name, func(t *testing.T) {
			eachFollowing(t, func(t *testing.T, follow following) {
				dir := t.TempDir()
				put := func(c span, name string) {
					now := time.Now()
					cert, key := testkit.CertificateFrom(t, now.Add(c.from), now.Add(c.to), name, "a.test")
					place(t, dir, cert, key)
				}
				var log bytes.Buffer
				put(tt.first, "first")
				look, used := follow(t, dir, slog.New(slog.NewTextHandler(&log, nil)))
				if early := tt.first.from > 0; strings.Contains(log.String(), inUse) != early {
					t.Errorf("the log of the start has %s", &log)
				}
				log.Reset()
				put(tt.second, "second")
				look()
				look()
				if n := strings.Count(log.String(), "valid yet"); n != strings.Count(tt.says, "valid yet") ||
					!strings.Contains(log.String(), tt.says) {
					t.Errorf("the log has %s", &log)
				}
				if got := used(); got != tt.before {
					t.Errorf("%s is in use at first", got)
				}
				time.Sleep(tt.wait)
				look()
				if got := used(); got != tt.between {
					t.Errorf("%s is in use after %s", got, tt.wait)
				}
			})
		})
	}
}

// Of two files with a certificate for the same name, the one that is valid is used.
func TestDirectory_notValidYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		dir, now := t.TempDir(), time.Now()
		oldCert, oldKey := testkit.CertificateFrom(t, now.Add(-day), now.Add(60*day), "old.test", "a.test")
		newCert, newKey := testkit.CertificateFrom(t, now.Add(day), now.Add(90*day), "new.test", "a.test")
		put(t, dir, map[string][]byte{"old.crt": oldCert, "old.key": oldKey, "new.crt": newCert, "new.key": newKey})
		d, _ := openDirectory(t, dir)
		if got := chosen(d, "a.test"); got != "old.test" {
			t.Errorf("%s is in use before the other one is valid", got)
		}
		time.Sleep(day)
		d.Look()
		if got := chosen(d, "a.test"); got != "new.test" {
			t.Errorf("%s is in use after the other one became valid", got)
		}
	})
}
