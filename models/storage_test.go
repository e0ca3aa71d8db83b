package models_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/state"
)

// coded is an error of SQLite's driver.
type coded int

func (c coded) Error() string { return fmt.Sprintf("result code %d", int(c)) }
func (c coded) Code() int     { return int(c) }

// The codes are those of https://sqlite.org/rescode.html.
func TestUnavailable_sqlite(t *testing.T) {
	for name, c := range map[string]struct {
		code coded
		want bool
	}{
		"SQLITE_BUSY":                {5, true},
		"SQLITE_LOCKED":              {6, true},
		"SQLITE_READONLY":            {8, true},
		"SQLITE_READONLY_DBMOVED":    {1032, true},
		"SQLITE_IOERR":               {10, true},
		"SQLITE_IOERR_WRITE":         {778, true},
		"SQLITE_IOERR_FSYNC":         {1034, true},
		"SQLITE_FULL":                {13, true},
		"SQLITE_CANTOPEN":            {14, true},
		"SQLITE_ERROR":               {1, false},
		"SQLITE_CORRUPT":             {11, false},
		"SQLITE_CONSTRAINT":          {19, false},
		"SQLITE_NOTADB":              {26, false},
		"SQLITE_CONSTRAINT_CHECK":    {275, false},
		"SQLITE_CONSTRAINT_UNIQUE":   {2067, false},
		"SQLITE_READONLY_CANTLOCK":   {520, true},
		"SQLITE_CANTOPEN_ISDIR":      {526, true},
		"SQLITE_ERROR_MISSING_COLL.": {257, false},
	} {
		if got := models.Unavailable(fmt.Errorf("write: %w", c.code)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// A disk that was mounted read-only fails changes with 503, and the check of readiness until it can be written again.
func TestPing_unwritable(t *testing.T) {
	db, err := models.Open(t.Context(), "", state.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	writable := func(yes bool) {
		t.Helper()
		// The connection that writes is the only one of its pool.
		statement := map[bool]string{true: "PRAGMA query_only = 0", false: "PRAGMA query_only = 1"}[yes]
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	insert := func() error {
		now := models.Now()
		return db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&models.Team{ID: models.NewID("team"), Name: "a", ClaimedAt: &now, CreatedAt: now})
		})
	}
	for range 2 {
		if err := errors.Join(db.Ping(t.Context()), insert()); err != nil {
			t.Fatal(err)
		}
		writable(false)
		if err := insert(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a change on a read-only disk: %v, want 503", err)
		}
		if err := db.Ping(t.Context()); !models.Unavailable(err) || !errors.Is(err, models.ErrUnwritable) {
			t.Errorf("a disk that is read-only: %v", err)
		}
		writable(true)
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("a disk that can be written again: %v", err)
		}
	}
}

// While another process writes to the file, it can be read, and changes are told to come back.
func TestPing_locked(t *testing.T) {
	for _, lock := range []string{"BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"} {
		t.Run(lock, func(t *testing.T) {
			path := state.SQLite(t)
			db, err := models.OpenWith(t.Context(), models.Options{
				SQLitePath: path, Deadlines: models.Deadlines{Queue: 10 * time.Millisecond},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			change := func() error {
				return db.Write(t.Context(), func(tx *models.Tx) error {
					return tx.Insert(&models.Team{ID: models.NewID("team"), Name: "a", CreatedAt: models.Now()})
				})
			}
			other := state.OtherWriter(t, path)
			other(lock)
			testkit.Eventually(t, "a change is refused because of the lock", func() bool {
				err := change()
				busy := fault.KindOf(err) == fault.Unavailable && fault.CodeOf(err) == "database_busy"
				if !busy || fault.RetryAfter(err) <= 0 {
					t.Fatalf("a change: %v", err)
				}
				return db.Locked() // it may have had too little time for its turn
			})
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("it is taken for an outage: %v", err)
			}
			if _, err := db.Read(t.Context()).CountAllKeys(); err != nil {
				t.Errorf("reading: %v", err)
			}
			other("ROLLBACK")
			testkit.Eventually(t, "a change is made", func() bool { return change() == nil && !db.Locked() })
		})
	}
}
