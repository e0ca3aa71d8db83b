package models_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

// These variables make this test binary a second process, which holds a
// transaction open in a database. The server ends the transaction when it is idle
// for as long as the second says.
const (
	frozenWriter = "TESTKIT_FROZEN_WRITER"
	frozenIdle   = "TESTKIT_FROZEN_IDLE"
)

func TestMain(m *testing.M) {
	database := os.Getenv(frozenWriter)
	if database == "" {
		os.Exit(m.Run())
	}
	idle, err := time.ParseDuration(os.Getenv(frozenIdle))
	if err == nil {
		err = holdTransaction(context.Background(), database, idle)
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

// holdTransaction says when it has changed a project and written the revision, and
// then waits for input before it commits.
func holdTransaction(ctx context.Context, database string, idle time.Duration) error {
	db, err := models.OpenWith(ctx, models.Options{DatabaseURL: database, Deadlines: models.Deadlines{Idle: idle}})
	if err != nil {
		return err
	}
	return db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.AddRevision("prj_frozen", "", models.Now()); err != nil {
			return err
		}
		if err := tx.Insert(&models.Team{ID: "team_contended", Name: "Frozen", CreatedAt: models.Now()}); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("held\n"); err != nil {
			return err
		}
		_, err := io.ReadAll(os.Stdin)
		return err
	})
}

// A replica that is stopped in the middle of a transaction keeps no other replica
// from writing: not at all with the lock that orders revisions, and only for a
// moment with locks on rows that both want.
func TestWrite_onPostgres(t *testing.T) {
	database := state.Postgres(t)
	db, err := models.Open(t.Context(), database, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	insert := func(id string) error {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		return db.Write(ctx, func(tx *models.Tx) error {
			if err := tx.AddRevision("prj_"+id, "", models.Now()); err != nil {
				return err
			}
			return tx.Insert(&models.Team{ID: id, Name: "Other", CreatedAt: models.Now()})
		})
	}
	t.Run("another row is written while a frozen process has a transaction", func(t *testing.T) {
		resume := freeze(t, database, time.Hour) // the server does not help
		if err := insert("team_other"); err != nil {
			t.Error(err)
		}
		if out, err := resume(); err != nil {
			t.Errorf("the process ended with %v, %s", err, out)
		}
	})
	t.Run("a change is committed while another replica writes usage", func(t *testing.T) {
		err := db.Write(t.Context(), func(usage *models.Tx) error {
			if err := usage.TouchKeys(nil, models.Now()); err != nil { // takes its lock
				return err
			}
			return insert("team_during_usage")
		})
		if err != nil {
			t.Errorf("a commit waits for usage to be written: %v", err)
		}
	})
	t.Run("the same row is written once the server has ended a frozen transaction", func(t *testing.T) {
		remove := func(tx *models.Tx) error { return tx.DeleteTeam("team_contended") } // of the first process
		if err := db.Write(t.Context(), remove); err != nil {
			t.Fatal(err)
		}
		resume := freeze(t, database, 2*time.Second)
		if err := insert("team_contended"); err != nil {
			t.Error(err)
		}
		out, err := resume()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			t.Errorf("the process ended with %v, %s: its transaction should be undone", err, out)
		}
	})
}

// In each process, only one transaction at a time waits in the server for the audit chain of a team. If the process is
// frozen, the chain is held up once, and not once for each of them. The others show that they are not frozen.
func TestWrite_auditChainOnPostgres(t *testing.T) {
	database := state.Postgres(t)
	open := func() *models.DB {
		db, err := models.OpenWith(t.Context(), models.Options{
			DatabaseURL: database, Deadlines: models.Deadlines{Lock: time.Minute, Idle: time.Minute},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db, other := open(), open()
	const writers = 4
	entry := func(n int) models.AuditEntry {
		return models.AuditEntry{
			ID: fmt.Sprint("aud_", n), TeamID: "team_1", Action: "test", Outcome: models.OutcomeDone,
			Detail: map[string]string{}, Changes: map[string]contract.AuditChange{}, CreatedAt: models.Now(),
		}
	}
	done := make(chan error, writers)
	sessions := func(where string) (n int) {
		t.Helper()
		query := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND " + where
		if err := db.SQL().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	err := other.Write(t.Context(), func(tx *models.Tx) error { // the chain is held until it returns
		if _, err := tx.LockAuditChain("team_1"); err != nil {
			return err
		}
		for n := range writers {
			go func() {
				done <- db.Write(t.Context(), func(tx *models.Tx) error {
					tx.Audit(entry(n))
					return nil
				})
			}()
		}
		testkit.Eventually(t, "one waits for the chain, and the others for their turn", func() bool {
			return sessions("wait_event_type = 'Lock'") == 1 &&
				sessions("state = 'idle in transaction' AND query = 'SELECT 1'") == writers-1
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if chain, err := db.Read(t.Context()).AuditChainOf("team_1"); err != nil || chain.Number != writers {
		t.Errorf("the chain ends at %+v, %v", chain, err)
	}
}

// freeze stops a second process within a transaction. The function that it returns
// lets the process go on, and waits for its end.
func freeze(t *testing.T, database string, idle time.Duration) (resume func() (string, error)) {
	t.Helper()
	var failure strings.Builder
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), frozenWriter+"="+database, frozenIdle+"="+idle.String())
	c.Stderr = &failure
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("held\n"))); err != nil {
		t.Fatalf("the second process: %v %s", err, &failure)
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() (string, error) {
		_ = in.Close()
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		return failure.String(), err
	}
}
