// Package testkit gives tests the real parts they run against: databases, and an upstream that shows what it saw.
// testkit/state adds migrated databases, testkit/servers the other servers that Postern calls, testkit/idp identity
// providers, and testkit/browser a browser.
//
// It owns making and removing these parts. A part that is missing fails the test
// and says what to do; nothing here skips or substitutes. It has no
// expectations of how Postern behaves.
package testkit

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresURL is the address of the PostgreSQL server of this test run, with
// the right to create databases. A test that gets none fails.
func PostgresURL(t testing.TB) string {
	t.Helper()
	address := os.Getenv("TESTKIT_POSTGRES_URL")
	if address == "" {
		t.Fatal("no PostgreSQL server for this test: run `make test`, or `go run ./tools/withpostgres go test ./…`")
	}
	return address
}

// Postgres creates an empty database and returns its postgres:// address. The
// database is removed when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	return PostgresFrom(t, "template0")
}

// PostgresFrom creates a database as a copy of template, which must have no connections
// in the meantime. The database is removed when the test ends.
func PostgresFrom(t testing.TB, template string) string {
	t.Helper()
	server := PostgresURL(t)
	name := "test_" + strings.ToLower(rand.Text())
	administer(t, server, "CREATE DATABASE "+name+" TEMPLATE "+template)
	t.Cleanup(func() {
		// A connection that a test forgot must not keep the database alive.
		administer(t, server, "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return withDatabase(t, server, name)
}

// EachDatabase runs a test on both databases, as the subtests sqlite and
// postgres. The address is what POSTERN_DATABASE_URL would say: empty for
// SQLite, whose file belongs in t.TempDir(); else an empty PostgreSQL database.
func EachDatabase(t *testing.T, run func(t *testing.T, databaseURL string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, "") })
	t.Run("postgres", func(t *testing.T) { run(t, Postgres(t)) })
}

// administer runs one statement outside of any transaction. It has its own context: cleanups run when the test's is
// already over.
func administer(t testing.TB, server, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the PostgreSQL server of this test run: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func withDatabase(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("TESTKIT_POSTGRES_URL isn't a URL") // not repeated: it holds a password
	}
	u.Path = "/" + name
	return u.String()
}
