// Package state gives tests an open, migrated database of each kind.
//
// It owns the shortcut of migrating once in a test run and copying after that, which makes one database per test
// affordable. It does not own the migrations: tests of those start from an empty database of package testkit.
package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"postern/models"
	"postern/platform/config"
	"postern/testkit"
)

// Each runs a test on both databases, as the subtests sqlite and postgres, each
// time with a migrated database that has no rows of ours yet.
func Each(t *testing.T, run func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, open(t, "", SQLite(t))) })
	t.Run("postgres", func(t *testing.T) { run(t, open(t, Postgres(t), "")) })
}

// EachBenchmark runs a benchmark on both databases, like Each.
func EachBenchmark(b *testing.B, run func(b *testing.B, db *models.DB)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { run(b, open(b, "", SQLite(b))) })
	b.Run("postgres", func(b *testing.B) { run(b, open(b, Postgres(b), "")) })
}

// OpenSQLite returns a migrated SQLite database. It is for tests of pages, of the API and of the
// command line: the rules and queries below them are tested on both databases where they are.
func OpenSQLite(t testing.TB) *models.DB {
	t.Helper()
	return open(t, "", SQLite(t))
}

// EachAddress is testkit.EachDatabase with a migrated PostgreSQL database. SQLiteIn does
// the same for the data directory of a server.
func EachAddress(t *testing.T, run func(t *testing.T, databaseURL string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, "") })
	t.Run("postgres", func(t *testing.T) { run(t, Postgres(t)) })
}

// SQLite creates a migrated SQLite file and returns its path.
func SQLite(t testing.TB) string {
	t.Helper()
	path, err := SQLiteIn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// SQLiteIn creates a migrated SQLite file where a server with the data directory dir
// looks for it, and returns its path.
func SQLiteIn(dir string) (path string, err error) {
	image, err := sqliteImage()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "postern.db")
	return path, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, image, 0o600))
}

// Postgres creates a migrated PostgreSQL database and returns its address.
func Postgres(t testing.TB) string {
	t.Helper()
	testkit.PostgresURL(t) // fails with advice where there is no server
	template, err := postgresTemplate()
	if err != nil {
		t.Fatal(err)
	}
	return testkit.PostgresFrom(t, template)
}

// patient are the deadlines of tests that are not about deadlines: with the race
// detector on a busy machine, a transaction may well pause for seconds.
var patient = models.Deadlines{
	Queue:     time.Minute,
	Connect:   time.Minute,
	Statement: time.Minute,
	Lock:      time.Minute + time.Second, // more than Idle
	Idle:      time.Minute,
	Feed:      time.Minute,
}

// Wait makes a server of a test as patient.
func Wait(c *config.Config) {
	db := &c.Database
	db.ConnectTimeout, db.StatementTimeout, db.FeedTimeout = patient.Connect, patient.Statement, patient.Feed
	db.IdleTimeout, db.LockTimeout, db.QueueTimeout = patient.Idle, patient.Lock, patient.Queue
}

func open(t testing.TB, databaseURL, file string) *models.DB {
	t.Helper()
	db, err := models.OpenWith(t.Context(), models.Options{
		DatabaseURL: databaseURL,
		SQLitePath:  file,
		Deadlines:   patient,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}

// sqliteImage is the content of a migrated SQLite file.
var sqliteImage = sync.OnceValues(func() ([]byte, error) {
	return shared("sqlite", func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "postern-template-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path := filepath.Join(dir, "postern.db")
		// Closing the last connection moves everything from the log into the file.
		if err := migrate("", path); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	})
})

// postgresTemplate is the name of a migrated database. It goes away with the
// server, which lives no longer than the test run.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	name, err := shared("postgres", newPostgresTemplate)
	return string(name), err
})

func newPostgresTemplate() (name []byte, err error) {
	ctx := context.Background()
	server, err := url.Parse(os.Getenv("TESTKIT_POSTGRES_URL"))
	if err != nil {
		return nil, errors.New("TESTKIT_POSTGRES_URL isn't a URL") // not repeated: it holds a password
	}
	conn, err := pgx.Connect(ctx, server.String())
	if err != nil {
		return nil, fmt.Errorf("connect to the PostgreSQL server of this test run: %w", err)
	}
	defer conn.Close(ctx)
	template := "template_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+template+" TEMPLATE template0"); err != nil {
		return nil, fmt.Errorf("create the template database: %w", err)
	}
	server.Path = "/" + template
	return []byte(template), migrate(server.String(), "")
}

// shared returns what create returns, or what it returned to another test binary of this run.
// tools/withpostgres creates the directory that they share, and removes it after the run; without
// it each binary has its own. Binaries that start together may each create one. A migration that
// is edited during the run is not seen.
func shared(name string, create func() ([]byte, error)) ([]byte, error) {
	dir := os.Getenv("TESTKIT_TEMPLATES")
	if dir == "" {
		return create()
	}
	path := filepath.Join(dir, name)
	if content, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	content, err := create()
	if err != nil {
		return nil, err
	}
	// By its name it is complete.
	half, err := os.CreateTemp(dir, name+"-*.part")
	if err != nil {
		return nil, err
	}
	_, err = half.Write(content)
	return content, errors.Join(err, half.Close(), os.Rename(half.Name(), path))
}

func migrate(databaseURL, file string) error {
	ctx := context.Background()
	db, err := models.Open(ctx, databaseURL, file)
	if err != nil {
		return err
	}
	_, _, err = db.Migrate(ctx, slog.New(slog.DiscardHandler))
	return errors.Join(err, db.Close())
}

// OtherWriter opens a SQLite file as another process would, and returns how to run a statement there.
func OtherWriter(t testing.TB, path string) func(statement string) {
	t.Helper()
	db := open(t, "", path)
	return func(statement string) { // to the one connection that writes
		t.Helper()
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
