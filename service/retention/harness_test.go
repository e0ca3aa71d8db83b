package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/migrations"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/exports"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/retention"
	"postern/service/serving"
)

// harness is a database with the services that fill it.
type harness struct {
	t        *testing.T
	db       *models.DB
	files    *folder
	projects *projects.Service
	accounts *accounts.Service
	keys     *keys.Service
	exports  *exports.Service
	feed     *serving.Feed
	table    *keys.Table
	served   []*snapshot.Project
	told     []string // events, with the tenant of each
}

func (l *harness) Emit(_ context.Context, _ *models.Tx, team, event string, data map[string]any) error {
	tenant, _ := data["tenant"].(string)
	l.told = append(l.told, team+" "+event+" "+tenant)
	return nil
}

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

type noJobs struct{}

func (noJobs) EnqueueExport(context.Context, *models.Tx, string) error { return nil }
func (noJobs) EnqueuePurge(context.Context, *models.Tx) error          { return nil }

func newHarness(t *testing.T, db *models.DB) *harness {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	l := &harness{t: t, db: db, files: &folder{Dir: exports.Dir(t.TempDir())}, table: keys.NewTable()}
	l.feed = &serving.Feed{
		DB:      db,
		Keys:    l.table,
		Log:     log,
		Publish: func(all []*snapshot.Project) error { l.served = all; return nil },
	}
	if err := l.feed.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.projects = &projects.Service{
		DB:           db,
		Targets:      anyTarget{},
		Log:          log,
		KeyPrefix:    "pst",
		UnclaimedTTL: time.Hour,
		Purger:       noJobs{},
		Changed:      l.feed.Changed,
	}
	l.accounts = &accounts.Service{DB: db, Changed: l.feed.Changed}
	l.keys = &keys.Service{DB: db, Prefix: "pst", Changed: l.feed.Changed}
	l.exports = &exports.Service{DB: db, Jobs: noJobs{}, Store: l.files, TTL: time.Hour, Generator: "test", Log: log,
		AddressOf: func(p, v, e string) string { return "http://localhost/" + p + v + e }}
	return l
}

// folder is the export storage, which can be made to fail.
type folder struct {
	exports.Dir
	broken error
}

func (f *folder) Remove(ctx context.Context, id string) error {
	if f.broken != nil {
		return f.broken
	}
	return f.Dir.Remove(ctx, id)
}

// hasFile reports whether the store has a file of an export.
func (l *harness) hasFile(export string) bool {
	l.t.Helper()
	for file, err := range l.files.List(l.t.Context()) {
		if err != nil {
			l.t.Fatal(err)
		}
		if file.Export == export {
			return true
		}
	}
	return false
}

func (l *harness) purge() error {
	s := &retention.Service{
		DB:      l.db,
		Files:   l.files,
		Changed: l.feed.Changed,
		Events:  l,
		Log:     slog.New(slog.NewTextHandler(l.t.Output(), nil)),
	}
	return s.Purge(l.t.Context())
}

// made is an unclaimed project with rows in every table that it can have rows in.
type made struct {
	projects.Created
	principal access.Principal
	export    string
	key       string // plaintext
}

func (l *harness) make(name string) made {
	l.t.Helper()
	created, err := l.projects.Create(l.t.Context(), access.Principal{}, projects.CreateInput{
		Target: "https://api.example.com", Name: name, Auth: contract.NewRequestsAuth{Mode: "authenticate"}})
	if err != nil {
		l.t.Fatal(err)
	}
	p := access.Principal{
		Roles:    map[string]access.Role{created.Workspace.Team: access.Workspace},
		HomeTeam: created.Workspace.Team,
	}
	export, err := l.exports.Request(l.t.Context(), p, created.Project.ID, exports.Options{
		Format:    "data",
		Consumers: true,
	})
	if err == nil {
		err = l.exports.Build(l.t.Context(), export.ID, true)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	hour := models.UsageHour{
		ProjectID:     created.Project.ID,
		EnvironmentID: created.Project.Versions[0].Environments[0].ID,
		Route:         "/*",
		StatusClass:   2,
		Calls:         1,
	}
	l.insert(&hour)
	return made{created, p, export.ID, created.Keys["prod"].Secret.Reveal()}
}

func (l *harness) insert(rows ...any) {
	l.t.Helper()
	if err := l.db.Write(l.t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		l.t.Fatal(err)
	}
}

// end moves the end of a workspace into the past.
func (l *harness) end(m made) {
	l.t.Helper()
	statement := "UPDATE teams SET expires_at = ? WHERE id = ?"
	if l.db.Dialect() == migrations.Postgres {
		statement = "UPDATE teams SET expires_at = $1 WHERE id = $2"
	}
	past := models.Now().Add(-time.Minute)
	if _, err := l.db.SQL().ExecContext(l.t.Context(), statement, past, m.Workspace.Team); err != nil {
		l.t.Fatal(err)
	}
}

// rows lists the tables that contain a text, with the number of rows that contain it.
func (l *harness) rows(text string) map[string]int {
	l.t.Helper()
	found := map[string]int{}
	for _, table := range l.tables() {
		rows, err := l.db.SQL().QueryContext(l.t.Context(), "SELECT * FROM "+table)
		if err != nil {
			l.t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			l.t.Fatal(err)
		}
		for rows.Next() {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				l.t.Fatal(err)
			}
			if strings.Contains(fmt.Sprintf("%s", row), text) {
				found[table]++
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			l.t.Fatal(err)
		}
	}
	return found
}

func (l *harness) tables() []string {
	l.t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if l.db.Dialect() == migrations.Postgres {
		query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
	}
	return slices.DeleteFunc(l.strings(query), func(name string) bool {
		return strings.HasPrefix(name, "river_") || strings.HasPrefix(name, "goose_")
	})
}

func (l *harness) strings(query string) (list []string) {
	l.t.Helper()
	rows, err := l.db.SQL().QueryContext(l.t.Context(), query)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			l.t.Fatal(err)
		}
		list = append(list, name)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return list
}

func (l *harness) isServed(m made) bool {
	return slices.ContainsFunc(l.served, func(p *snapshot.Project) bool { return p.ID == m.Project.ID })
}
