package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/jobs"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/exports"
	"postern/service/keys"
	"postern/service/projects"
	"postern/testkit"
)

// fixture holds services and a queue on one database, and workers that a test starts.
type fixture struct {
	db       *models.DB
	dir      exports.Dir
	queue    *jobs.Queue
	workers  *jobs.Workers
	exports  *exports.Service
	projects *projects.Service
	keys     *keys.Service
	accounts *accounts.Service
}

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

// emitter is the Events of every service.
type emitter interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

func newFixture(t *testing.T, db *models.DB) *fixture {
	t.Helper()
	f := newServices(t, db, newQueue(t, db), nil)
	f.workers = newWorkers(t, db, f.exports)
	return f
}

// newServices returns a fixture without workers.
func newServices(t *testing.T, db *models.DB, queue *jobs.Queue, events emitter) *fixture {
	t.Helper()
	nothing := func(context.Context) {}
	dir := exports.Dir(filepath.Join(t.TempDir(), "exports"))
	return &fixture{
		db:       db,
		dir:      dir,
		queue:    queue,
		keys:     &keys.Service{DB: db, Prefix: "pst", Changed: nothing, Events: events},
		accounts: &accounts.Service{DB: db, Changed: nothing, Events: events},
		projects: &projects.Service{
			DB:           db,
			Targets:      anyTarget{},
			Log:          testLogger(t),
			KeyPrefix:    "pst",
			UnclaimedTTL: time.Hour,
			Changed:      nothing,
			Events:       events,
		},
		exports: &exports.Service{
			DB:        db,
			Jobs:      queue,
			Store:     dir,
			TTL:       time.Hour,
			Generator: "postern test",
			Log:       testLogger(t),
			AddressOf: func(p, v, e string) string { return "http://localhost:8090/" + p + "/" + v + "/" + e },
			Events:    events,
		},
	}
}

func testLogger(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// atOnce retries without a delay.
var atOnce = jobs.Schedule{Attempts: 4, RetryAfter: func(int) time.Duration { return 0 }}

func newQueue(t *testing.T, db *models.DB) *jobs.Queue {
	t.Helper()
	queue, err := jobs.NewQueue(db, atOnce, testLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

func newWorkers(t *testing.T, db *models.DB, work jobs.Exports, others ...jobs.Registration) *jobs.Workers {
	t.Helper()
	registrations := slices.Concat(others, []jobs.Registration{jobs.ExportJobs(work), jobs.UpkeepJobs(db, work)})
	workers, err := jobs.NewWorkers(jobs.Options{DB: db, Log: testLogger(t)}, registrations...)
	if err != nil {
		t.Fatal(err)
	}
	return workers
}

func (f *fixture) create(t *testing.T) (projects.Created, access.Principal) {
	t.Helper()
	created, err := f.projects.Create(t.Context(), access.Principal{}, newProject)
	if err != nil {
		t.Fatal(err)
	}
	return created, access.Principal{
		Roles:    map[string]access.Role{created.Workspace.Team: access.Workspace},
		HomeTeam: created.Workspace.Team,
	}
}

var newProject = projects.CreateInput{
	Target: "https://api.example.com",
	Auth:   contract.NewRequestsAuth{Mode: "authenticate"},
}

var asData = exports.Options{Format: "data", Consumers: true}

// tables are those that services write, and the queue's.
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

// content returns the rows of every table, each as one text, to compare before and
// after a transaction. renamed maps a table to its present name.
func (f *fixture) content(t *testing.T, renamed map[string]string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range tables {
		name := table
		if other := renamed[table]; other != "" {
			name = other
		}
		all[table] = f.rows(t, name)
	}
	return all
}

func (f *fixture) rows(t *testing.T, table string) []string {
	t.Helper()
	var list []string
	found, err := f.db.SQL().QueryContext(t.Context(), "SELECT * FROM "+table)
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

func (f *fixture) account(t *testing.T) access.Principal {
	t.Helper()
	account := models.Account{
		ID:           "acc_ana",
		Email:        "ana@example.com",
		Name:         "Ana",
		PasswordHash: "none",
		CreatedAt:    models.Now(),
	}
	if err := f.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&account) }); err != nil {
		t.Fatal(err)
	}
	return access.Principal{Account: account.ID}
}

// patience is how long a test waits before it fails.
const patience = time.Minute

func (f *fixture) request(t *testing.T, owner access.Principal, project string) (id string) {
	t.Helper()
	e, err := f.exports.Request(t.Context(), owner, project, asData)
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

func (f *fixture) waitReady(t *testing.T, owner access.Principal, id string) {
	t.Helper()
	testkit.Await(t, "the export", func() (contract.Export, bool) {
		e, err := f.exports.Get(t.Context(), owner, contract.ExportPath{Export: id})
		if err != nil {
			t.Fatal(err)
		}
		return e, e.State == contract.ExportReady
	})
}

func start(t *testing.T, workers *jobs.Workers) {
	t.Helper()
	if err := workers.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func stop(ctx context.Context, t *testing.T, workers *jobs.Workers) {
	t.Helper()
	if err := workers.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}
