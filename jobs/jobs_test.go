package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/jobs"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/exports"
	"postern/service/keys"
	"postern/service/projects"
	"postern/testkit/state"
)

// world is the rules over one database and one real queue, on which nobody works
// unless a test starts it.
type world struct {
	db       *models.DB
	dir      exports.Dir
	queue    *jobs.Queue
	exports  *exports.Service
	projects *projects.Service
	keys     *keys.Service
	accounts *accounts.Service
}

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	nothing := func(context.Context) {}
	w := &world{db: db, dir: exports.Dir(filepath.Join(t.TempDir(), "exports")),
		keys:     &keys.Service{DB: db, Prefix: "pst", Changed: nothing},
		accounts: &accounts.Service{DB: db, Changed: nothing},
		projects: &projects.Service{
			DB:           db,
			Targets:      anyTarget{},
			Log:          testLogger(t),
			KeyPrefix:    "pst",
			UnclaimedTTL: time.Hour,
			Changed:      nothing,
		},
	}
	w.exports = &exports.Service{DB: db, Store: w.dir, TTL: time.Hour, Generator: "postern test", Log: testLogger(t),
		AddressOf: func(p, v, e string) string { return "http://localhost:8090/" + p + "/" + v + "/" + e }}
	w.queue = newQueue(t, db, w.exports)
	w.exports.Jobs = w.queue
	return w
}

func testLogger(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func newQueue(t *testing.T, db *models.DB, work jobs.Exports) *jobs.Queue {
	t.Helper()
	queue, err := jobs.New(db, work, testLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

func (w *world) create(t *testing.T) (projects.Created, access.Principal) {
	t.Helper()
	created, err := w.projects.Create(t.Context(), access.Principal{}, newProject)
	if err != nil {
		t.Fatal(err)
	}
	return created, access.Principal{
		Roles:    map[string]access.Role{created.Workspace.Team: access.Workspace},
		HomeTeam: created.Workspace.Team,
	}
}

var newProject = projects.CreateInput{Target: "https://api.example.com", Auth: projects.AuthInput{Mode: "authenticate"}}

var asData = exports.Options{Format: "data", Consumers: true}

// tables are those that rules write, and the queue's.
var tables = []string{
	"accounts",
	"teams",
	"memberships",
	"tokens",
	"projects",
	"versions",
	"environments",
	"key_types",
	"tenants",
	"api_keys",
	"exports",
	"audit_entries",
	"revisions",
	"river_job",
}

// content is every row, each as one text, so that a test sees whatever a
// transaction left behind. renamed tells which tables have another name now.
func (w *world) content(t *testing.T, renamed map[string]string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range tables {
		name := table
		if other := renamed[table]; other != "" {
			name = other
		}
		all[table] = w.rows(t, name)
	}
	return all
}

func (w *world) rows(t *testing.T, table string) []string {
	t.Helper()
	var list []string
	found, err := w.db.SQL().QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(row...))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// lateFailure inserts the real job and fails after that.
type lateFailure struct{ *jobs.Queue }

var errLate = errors.New("failed after the job was inserted")

func (q lateFailure) EnqueueExport(ctx context.Context, tx *models.Tx, id string) error {
	return errors.Join(q.Queue.EnqueueExport(ctx, tx, id), errLate)
}

func TestAnExportThatFailsLateLeavesNothing(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t)
		before := w.content(t, nil)
		w.exports.Jobs = lateFailure{w.queue}
		if _, err := w.exports.Request(t.Context(), owner, created.Project.ID, asData); !errors.Is(err, errLate) {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff(before, w.content(t, nil)); diff != "" {
			t.Errorf("left behind (-before +after):\n%s", diff)
		}
		w.exports.Jobs = w.queue
		e, err := w.exports.Request(t.Context(), owner, created.Project.ID, asData)
		if err != nil {
			t.Fatal(err)
		}
		after := w.content(t, nil)
		for table, added := range map[string]int{"exports": 1, "audit_entries": 1, "river_job": 1, "revisions": 0} {
			if got := len(after[table]) - len(before[table]); got != added {
				t.Errorf("export %s added %d rows to %s, want %d", e.ID, got, table, added)
			}
		}
	})
}

func TestAJobExistsExactlyIfItsTransactionCommits(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for i, rollback := range []error{errLate, nil} {
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				return errors.Join(w.queue.EnqueueExport(t.Context(), tx, "exp_1"), rollback)
			})
			if !errors.Is(err, rollback) {
				t.Fatalf("got %v", err)
			}
			if found := w.rows(t, "river_job"); len(found) != i {
				t.Errorf("after a transaction that ended with %v: %v", rollback, found)
			}
		}
	})
}

// Each rule ends with its revision. Where that cannot be written, nothing before
// it may stay: neither row nor audit entry, nor a key that only its owner knows.
func TestAChangeWithoutItsRevisionLeavesNothing(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t)
		ana := w.account(t)
		project, version := created.Project.ID, created.Project.Versions[0]
		environment, key := version.Environments[0], created.Keys["prod"].ID
		name, mode := "Renamed", "passthrough"
		changes := map[string]func() error{
			"create a project": func() error { _, err := w.projects.Create(t.Context(), access.Principal{}, newProject); return err },
			"change settings": func() error {
				_, err := w.projects.UpdateSettings(
					t.Context(), owner, project, "", projects.Settings{DisplayName: &name},
				)
				return err
			},
			"change access": func() error {
				_, err := w.projects.UpdateAccess(
					t.Context(), owner, project, version.ID, "", projects.AccessChange{Mode: &mode},
				)
				return err
			},
			"change a target": func() error {
				_, err := w.projects.UpdateTarget(
					t.Context(),
					owner,
					project,
					environment.ID,
					"",
					"https://b.example.com",
				)
				return err
			},
			"create a key": func() error {
				_, err := w.keys.Create(t.Context(), owner, project, keys.CreateInput{Owner: "late"})
				return err
			},
			"freeze": func() error { _, err := w.keys.Freeze(t.Context(), owner, key); return err },
			"rotate": func() error { _, err := w.keys.Rotate(t.Context(), owner, key, "", time.Hour); return err },
			"revoke": func() error { _, err := w.keys.Revoke(t.Context(), owner, key); return err },
			"claim": func() error {
				_, err := w.accounts.Claim(t.Context(), ana, created.Workspace.ClaimCode, "")
				return err
			},
		}
		before := w.content(t, nil)
		rename := func(from, to string) {
			if _, err := db.SQL().ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("revisions", "away")
		for what, change := range changes {
			if err := change(); err == nil {
				t.Errorf("%s: done without a revision", what)
			}
			if diff := cmp.Diff(before, w.content(t, map[string]string{"revisions": "away"})); diff != "" {
				t.Errorf("%s left behind (-before +after):\n%s", what, diff)
			}
		}
		rename("away", "revisions")
		if _, err := w.keys.Freeze(t.Context(), owner, key); err != nil {
			t.Errorf("once revisions can be written: %v", err)
		}
	})
}

func (w *world) account(t *testing.T) access.Principal {
	t.Helper()
	account := models.Account{
		ID:           "acc_ana",
		Email:        "ana@example.com",
		Name:         "Ana",
		PasswordHash: "none",
		CreatedAt:    models.Now(),
	}
	if err := w.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&account) }); err != nil {
		t.Fatal(err)
	}
	return access.Principal{Account: account.ID}
}

func TestAStartedQueueBuildsWhatWasAskedFor(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t)
		early := w.request(t, owner, created.Project.ID)
		start(t, w.queue)
		w.waitReady(t, owner, early)
		w.waitReady(t, owner, w.request(t, owner, created.Project.ID))
		stop(t.Context(), t, w.queue)
	})
}

// held builds until it is told to stop.
type held struct {
	*exports.Service
	began chan struct{}
}

func (h held) Build(ctx context.Context, id string, final bool) error {
	stopped := *h.Service
	stopped.Store = heldStore{Store: h.Store, begin: func() error { close(h.began); <-ctx.Done(); return ctx.Err() }}
	return stopped.Build(ctx, id, final)
}

type heldStore struct {
	exports.Store
	begin func() error
}

func (s heldStore) Create(string) (exports.Draft, error) { return nil, s.begin() }

// A worker that is stopped in the middle of an export gives it back, and the next
// one finishes it.
func TestStopHandsARunningExportBack(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t)
		began := make(chan struct{})
		first := newQueue(t, db, held{w.exports, began})
		id := w.request(t, owner, created.Project.ID)
		start(t, first)
		select {
		case <-began:
		case <-time.After(patience):
			t.Fatal("nobody works on the export")
		}
		over, end := context.WithCancel(t.Context())
		end() // no time to finish
		stop(over, t, first)
		row, err := db.Read(t.Context()).ExportByID(id)
		if err != nil || row.State != exports.Building || row.LeaseUntil == nil || row.LeaseUntil.After(models.Now()) {
			t.Fatalf("after the stop somebody still holds %+v, %v", row, err)
		}

		start(t, w.queue)
		w.waitReady(t, owner, id)
		stop(t.Context(), t, w.queue)
	})
}

// patience is where a test gives up, not what is expected.
const patience = time.Minute

func (w *world) request(t *testing.T, owner access.Principal, project string) (id string) {
	t.Helper()
	e, err := w.exports.Request(t.Context(), owner, project, asData)
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

func (w *world) waitReady(t *testing.T, owner access.Principal, id string) {
	t.Helper()
	var e exports.Export
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if e, err = w.exports.Get(t.Context(), owner, id); err != nil {
			t.Fatal(err)
		}
		if e.State == exports.Ready {
			return
		}
	}
	t.Fatalf("after %s: %+v", patience, e)
}

func start(t *testing.T, queue *jobs.Queue) {
	t.Helper()
	if err := queue.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func stop(ctx context.Context, t *testing.T, queue *jobs.Queue) {
	t.Helper()
	if err := queue.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}
