package testkit

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
)

// Saved is a PostgreSQL database as it was at one point in time.
type Saved struct {
	server, live, copy string
}

// SavePostgres keeps the database of the URL as it is now. It cuts all
// connections to it.
func SavePostgres(t testing.TB, databaseURL string) Saved {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal("the address isn't a URL")
	}
	s := Saved{
		server: PostgresURL(t),
		live:   strings.TrimPrefix(u.Path, "/"),
		copy:   "saved_" + strings.ToLower(rand.Text()),
	}
	s.alone(t, func() { administer(t, s.server, "CREATE DATABASE "+s.copy+" TEMPLATE "+s.live) })
	t.Cleanup(func() { administer(t, s.server, "DROP DATABASE IF EXISTS "+s.copy+" WITH (FORCE)") })
	return s
}

// Restore puts the database back to what it was, under those who use it: their
// connections are cut and find the earlier state when they come back. It can be
// done once.
func (s Saved) Restore(t testing.TB) {
	t.Helper()
	s.Drop(t)
	administer(t, s.server, "ALTER DATABASE "+s.copy+" RENAME TO "+s.live)
}

// Drop removes the database, as the first step of a restore, and cuts all connections
// to it.
func (s Saved) Drop(t testing.TB) {
	t.Helper()
	administer(t, s.server, "DROP DATABASE IF EXISTS "+s.live+" WITH (FORCE)")
}

// alone keeps everyone out of the database for as long as do runs.
func (s Saved) alone(t testing.TB, do func()) {
	t.Helper()
	administer(t, s.server, "ALTER DATABASE "+s.live+" ALLOW_CONNECTIONS false")
	const cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = "
	administer(t, s.server, cut+"'"+s.live+"'")
	do()
	administer(t, s.server, "ALTER DATABASE "+s.live+" ALLOW_CONNECTIONS true")
}
