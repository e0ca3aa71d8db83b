package handlers_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/migrations"
	"postern/models"
	"postern/service/usage"
	"postern/testkit/controlplane"
)

// stock is how much a large team has.
type stock struct {
	projects int
	keys     int // of all projects
	busiest  int // of them, those of the project whose pages are shown
	inUse    int // of these, those that make calls each day
	called   int // other projects that are called
	entries  int // of the audit log
	users    int // of the tenant whose pages are shown
}

const stockedDays = 30

// fill adds the stock to the owner's team, in the rows that the services write.
func (s stock) fill(tb testing.TB, o *controlplane.Fixture, has controlplane.Objects) {
	tb.Helper()
	began := time.Now()
	tx := o.DB.Read(tb.Context())
	pattern, err := tx.ProjectByID(has.Project)
	check(tb, err)
	versions, err := tx.VersionsOf(pattern.ID)
	check(tb, err)
	environments, err := tx.EnvironmentsOf(pattern.ID)
	check(tb, err)
	types, err := tx.KeyTypesOf(pattern.ID)
	check(tb, err)
	main := stockedProject{pattern.ID, has.Tenant, environments[0].ID, types[0].ID}
	others := s.addProjects(tb, o.DB, pattern, versions[0], environments[0], types)
	inUse := s.addKeys(tb, o.DB, main, others)
	s.addUsage(tb, o, main, others[:min(s.called, len(others))], inUse)
	s.addAudit(tb, o, append(others, main))
	s.addUsers(tb, o.DB, has)
	if o.DB.Dialect() == migrations.Postgres { // which does this automatically after a while
		_, err = o.DB.SQL().ExecContext(tb.Context(), "VACUUM ANALYZE")
		check(tb, err)
	}
	tb.Logf("the database was filled in %.0f s", time.Since(began).Seconds())
}

// stockedProject has the ids that keys and usage refer to.
type stockedProject struct{ project, tenant, environment, keyType string }

func (s stock) addProjects(
	tb testing.TB, db *models.DB, pattern models.Project, version models.Version, environment models.Environment,
	types []models.KeyType,
) (out []stockedProject) {
	tb.Helper()
	var projects []models.Project
	var versions []models.Version
	var environments []models.Environment
	var tenants []models.Tenant
	var keyTypes []models.KeyType
	var exports []models.Export
	for i := range s.projects - 1 {
		p, v, e := pattern, version, environment
		p.ID, p.Name, p.DisplayName = models.NewID("prj"), fmt.Sprintf("api-%05d", i), fmt.Sprintf("API %d", i)
		v.ID, v.ProjectID = models.NewID("ver"), p.ID
		e.ID, e.VersionID = models.NewID("env"), v.ID
		t := models.Tenant{
			ID: models.NewID("tnt"), ProjectID: &p.ID, Name: "default", CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt,
		}
		for _, keyType := range types {
			keyType.ID, keyType.ProjectID = models.NewID("kty"), p.ID
			keyTypes = append(keyTypes, keyType)
		}
		projects, versions, tenants = append(projects, p), append(versions, v), append(tenants, t)
		environments = append(environments, e)
		exports = append(exports, models.Export{
			ID: models.NewID("exp"), ProjectID: p.ID, Format: "kong", Keys: "hashes", State: "ready",
			CreatedAt: p.CreatedAt, FinishedAt: &p.CreatedAt, ExpiresAt: &p.CreatedAt,
		})
		out = append(out, stockedProject{p.ID, t.ID, e.ID, keyTypes[len(keyTypes)-1].ID})
	}
	insertAll(tb, db, projects)
	insertAll(tb, db, versions)
	insertAll(tb, db, environments)
	insertAll(tb, db, tenants)
	insertAll(tb, db, keyTypes)
	insertAll(tb, db, exports)
	return out
}

// addKeys returns ids and owners of the keys that are in use.
func (s stock) addKeys(tb testing.TB, db *models.DB, main stockedProject, others []stockedProject) [][2]string {
	tb.Helper()
	var inUse [][2]string
	var rows []models.APIKey
	now := models.Now()
	for i := range s.keys {
		of := main
		if i >= s.busiest {
			of = others[i%len(others)]
		}
		hash := make([]byte, 32)
		_, _ = rand.Read(hash)
		key := models.APIKey{
			ID: models.NewID("key"), ProjectID: of.project, TenantID: of.tenant, KeyTypeID: of.keyType,
			Owner: fmt.Sprintf("customer-%d", i/2), Environment: "prod", State: "active", Hash: hash,
			UpdatedAt: now,
			KeyDetails: contract.KeyDetails{
				Prefix: "pst_prod_", Last4: fmt.Sprintf("%04d", i%10_000), CreatedAt: now,
			},
		}
		if i%97 == 0 {
			key.State = "revoked"
		}
		if i < s.busiest && i%max(1, s.busiest/s.inUse) == 0 {
			key.LastUsedAt = &now
			inUse = append(inUse, [2]string{key.ID, key.Owner})
		}
		if rows = append(rows, key); len(rows) == 50_000 {
			insertAll(tb, db, rows)
			rows = rows[:0]
		}
	}
	insertAll(tb, db, rows)
	return inUse
}

// addUsage has each key in use call in four hours of each day. Sums by day and of traffic are like those of
// days that have ended, with histograms of calls that go through the recorder.
func (s stock) addUsage(
	tb testing.TB, o *controlplane.Fixture, main stockedProject, called []stockedProject, inUse [][2]string,
) {
	tb.Helper()
	now := time.Now().UTC()
	hour := now.Unix() / 3600
	var rows []models.UsageHour
	add := func(of stockedProject, key [2]string, n int) {
		for day := range int64(stockedDays) {
			for i := range int64(4) {
				status := int64(2)
				if n%5 == 0 && i == 0 {
					status = 4
				}
				rows = append(rows, models.UsageHour{
					ProjectID: of.project, Hour: hour - day*24 - i*6, EnvironmentID: of.environment, KeyID: key[0],
					Owner: key[1], Route: fmt.Sprintf("/orders/{id}/part-%d", n%8), StatusClass: status, Calls: 7,
					BytesIn: 700, BytesOut: 7000,
				})
			}
		}
	}
	for n, key := range inUse {
		add(main, key, n)
	}
	for n, of := range called {
		add(of, [2]string{"", "someone"}, n)
	}
	insertAll(tb, o.DB, rows)
	recorder := usage.NewRecorder(o.DB, slog.New(slog.DiscardHandler))
	for i := range 3000 {
		call := usage.Call{
			ProjectID: main.project, EnvironmentID: main.environment, Owner: inUse[i%len(inUse)][1],
			CredentialID: inUse[i%len(inUse)][0], RemoteIP: "192.0.2.1", Method: "GET", Path: "/orders/1",
			Route: "/orders/{id}", Status: 200, Step: "forward", Forwarded: true, BytesOut: 100,
			Start: now.Add(-time.Duration(i) * time.Second), Duration: time.Duration(1+i%400) * time.Millisecond,
		}
		call.FirstByte = call.Duration / 2
		recorder.Observe(call)
		o.Server.Usage.Recorder.Observe(call) // for the live log
	}
	check(tb, recorder.Close(tb.Context()))
	check(tb, o.DB.Write(tb.Context(), func(tx *models.Tx) error {
		for _, of := range slices.Concat([]stockedProject{main}, called) {
			if err := tx.FoldUsage(of.project, hour/24-1, 2*stockedDays); err != nil {
				return err
			}
		}
		return nil
	}))
	_, err := o.DB.SQL().ExecContext(tb.Context(), `UPDATE usage_traffic SET (first_byte, total) =
		(SELECT first_byte, total FROM usage_traffic WHERE period = 3600 ORDER BY length(total) DESC LIMIT 1)`)
	check(tb, err)
}

func (s stock) addAudit(tb testing.TB, o *controlplane.Fixture, projects []stockedProject) {
	tb.Helper()
	chain, err := o.DB.Read(tb.Context()).AuditChainOf(o.Team)
	check(tb, err)
	var rows []models.AuditEntry
	now := models.Now().Add(-time.Duration(s.entries) * time.Second)
	for i := range s.entries {
		rows = append(rows, models.AuditEntry{
			ID: models.NewID("aud"), TeamID: o.Team, Number: chain.Number + int64(i) + 1, Hash: strings.Repeat("0", 64),
			Actor: o.Principal.Account, Action: "key.create", Object: models.NewID("key"),
			ProjectID: projects[i%len(projects)].project, Outcome: models.OutcomeDone,
			Detail: map[string]string{"owner": "customer"}, CreatedAt: now.Add(time.Duration(i) * time.Second),
			Changes: map[string]contract.AuditChange{"state": {After: "active"}, "owner": {After: "customer"}},
		})
	}
	insertAll(tb, o.DB, rows)
}

func (s stock) addUsers(tb testing.TB, db *models.DB, has controlplane.Objects) {
	tb.Helper()
	group := strings.TrimPrefix(has.Path("/groups/:group"), "/groups/")
	var users []models.EndUser
	var identities []models.Identity
	var members []models.GroupMember
	now := models.Now()
	for i := range s.users {
		user := models.EndUser{
			ID: models.NewID("usr"), TenantID: has.Tenant, Email: fmt.Sprintf("user-%d@example.com", i),
			EmailVerified: true, Name: fmt.Sprintf("User %d", i), State: "active", CreatedAt: now, UpdatedAt: now,
		}
		users = append(users, user)
		identities = append(identities, models.Identity{
			TenantID: has.Tenant, Issuer: "https://id.example", Subject: fmt.Sprint(i), UserID: user.ID, CreatedAt: now,
		})
		members = append(members, models.GroupMember{
			GroupID: group, UserID: user.ID, Role: "member", CreatedAt: now,
		})
	}
	insertAll(tb, db, users)
	insertAll(tb, db, identities)
	insertAll(tb, db, members)
}

// insertAll inserts rows a few hundred at a time: databases bound the parameters of a statement.
func insertAll[T any](tb testing.TB, db *models.DB, rows []T) {
	tb.Helper()
	check(tb, db.Write(tb.Context(), func(tx *models.Tx) error {
		for some := range slices.Chunk(rows, 500) {
			if err := tx.Insert(&some); err != nil {
				return err
			}
		}
		return nil
	}))
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
