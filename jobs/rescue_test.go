package jobs_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"postern/core/contract"
	"postern/jobs"
	"postern/models"
	"postern/platform/egress"
	"postern/testkit/state"
)

// With these variables set, this test binary is a second process that takes jobs and
// never ends them.
const (
	stuckDatabase = "TESTKIT_STUCK_DATABASE"
	stuckFile     = "TESTKIT_STUCK_FILE"
)

func TestMain(m *testing.M) {
	if os.Getenv(stuckFile) == "" && os.Getenv(stuckDatabase) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := takeJobs(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func takeJobs(ctx context.Context) error {
	db, err := models.Open(ctx, os.Getenv(stuckDatabase), os.Getenv(stuckFile))
	if err != nil {
		return err
	}
	workers, err := jobs.NewWorkers(
		jobs.Options{DB: db, Log: slog.New(slog.DiscardHandler)}, jobs.ExportJobs(stuck{}),
		jobs.WebhookJobs(stuck{}, atOnce),
	)
	if err != nil {
		return err
	}
	if err := workers.Start(ctx); err != nil {
		return err
	}
	select {} // until it is killed
}

// stuck prints each job that it begins and does not end it. It writes nothing to the
// database.
type stuck struct{}

func (stuck) Build(context.Context, string, bool) error   { return hang("export") }
func (stuck) Deliver(context.Context, string, bool) error { return hang("delivery") }
func (stuck) Upkeep(context.Context) error                { return nil }
func (stuck) Sweep(context.Context) error                 { return nil }

func hang(kind string) error {
	fmt.Println(kind)
	select {}
}

// The process is killed after it took a job, and before it could write anything about
// it.
func TestWorkers_killedProcess(t *testing.T) {
	run := func(t *testing.T, database, file string) {
		db, err := models.Open(t.Context(), database, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		hook, _ := f.subscribe(t, receiver.URL, contract.EventKeyFrozen)
		export := f.request(t, f.ana, f.project.Project.ID)
		f.freeze(t)
		killHolding(t, database, file, "export", "delivery")

		f.startWorkers(t)
		receiver.wait(t, 1)
		f.waitState(t, hook.ID, contract.DeliveryDelivered)
		f.waitReady(t, f.ana, export)
	}
	t.Run("sqlite", func(t *testing.T) { run(t, "", state.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { run(t, state.Postgres(t), "") })
}

// killHolding kills a second process once it has taken a job of each kind.
func killHolding(t *testing.T, database, file string, kinds ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), stuckDatabase+"="+database, stuckFile+"="+file)
	c.Stderr = t.Output()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for lines := bufio.NewScanner(out); len(taken) < len(kinds) && lines.Scan(); {
		taken[lines.Text()] = true
	}
	if len(taken) < len(kinds) {
		t.Errorf("the second process took %v, want %v", taken, kinds)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // returns that it was killed
}
