package models_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"postern/migrations"
	"postern/models"
	"postern/testkit/state"
)

// began is when the first entry of fillAudit is from; each is a second later than the one before.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fillAudit adds n entries to a chain. Each tenth was refused, each hundredth is about project prj_2, and the third is
// alone about needle.
func fillAudit(tb testing.TB, db *models.DB, team string, n int) {
	tb.Helper()
	at := "strftime('%Y-%m-%d %H:%M:%S+00:00', '2026-01-01', '+' || i || ' seconds')"
	if db.Dialect() == migrations.Postgres {
		at = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + i * INTERVAL '1 second'"
	}
	fill(tb, db, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO audit_entries (id, team_id, number, hash, actor, token_id, action, object, project_id, outcome,
			detail, changes, remote_addr, request_id, created_at)
		SELECT %s, '%s', i, '', 'acc_' || (i %% 7), '', 'key.create', 'key_' || i,
			CASE WHEN i %% 100 = 0 THEN 'prj_2' ELSE 'prj_1' END,
			CASE WHEN i %% 10 = 0 THEN 'refused' ELSE 'done' END,
			CASE WHEN i = 3 THEN '{"name": "needle"}' ELSE '{"name": "hay"}' END, '{"state": {"before": null}}',
			'192.0.2.1', 'req_' || i, %s FROM n`, n, auditID(), team, at), fmt.Sprintf(
		"INSERT INTO audit_chains (team_id, number, hash) VALUES ('%s', %d, '')", team, n))
}

// auditID is an SQL expression of the id that an entry of fillAudit gets.
func auditID() string {
	id := "'aud_'"
	for shift := 45; shift >= 0; shift -= 5 {
		id += fmt.Sprintf(" || substr('0123456789abcdefghjkmnpqrstvwxyz', "+
			"CAST((((%d + i * 1000) * 4) >> %d) & 31 AS INTEGER) + 1, 1)", began.UnixMilli(), shift)
	}
	return id + " || '0000000000000000'"
}

// fillRelations adds n relations of a tenant to a project: objects in the reverse order of users.
func fillRelations(tb testing.TB, db *models.DB, project, tenant string, n int) {
	tb.Helper()
	at := "strftime('%Y-%m-%d %H:%M:%S+00:00', '2026-01-01', '+' || i || ' seconds')"
	if db.Dialect() == migrations.Postgres {
		at = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + i * INTERVAL '1 second'"
	}
	fill(tb, db, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO relations (project_id, tenant_id, object, relation, "user", created_at)
		SELECT '%s', '%s', 'order:' || (10000000 - i), 'owner', 'user-' || (10000000 + i), %s FROM n`,
		n, project, tenant, at))
}

func fill(tb testing.TB, db *models.DB, statements ...string) {
	tb.Helper()
	if db.Dialect() == migrations.Postgres {
		statements = append(statements, "ANALYZE")
	}
	for _, statement := range statements {
		if db.Dialect() == migrations.Postgres {
			statement = strings.NewReplacer(
				`'{"name": "needle"}'`, `'{"name": "needle"}'::jsonb`, `'{"name": "hay"}'`, `'{"name": "hay"}'::jsonb`,
				`'{"state": {"before": null}}'`, `'{"state": {"before": null}}'::jsonb`,
			).Replace(statement)
		}
		if _, err := db.SQL().ExecContext(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestAuditLog_window searches more entries than one page looks at.
func TestAuditLog_window(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const n = models.SearchWindow + 500
		fillAudit(t, db, "team_a", n)
		tests := map[string]struct {
			f        models.AuditFilter
			after    int64
			first    string // number of the first entry
			end      int64  // number of the last one that was looked at, 0: all were
			count    int64
			complete bool
		}{
			"everything":   {models.AuditFilter{}, 0, "10500", 0, models.MaxTotal + 1, true},
			"oldest":       {models.AuditFilter{Oldest: true}, 0, "1", 0, models.MaxTotal + 1, true},
			"far away":     {models.AuditFilter{Text: "NEEDLE"}, 0, "", 501, 0, false},
			"the rest":     {models.AuditFilter{Text: "needle"}, 501, "3", 0, 0, false},
			"near":         {models.AuditFilter{Text: "needle", Oldest: true}, 0, "3", 10_000, 1, false},
			"not in names": {models.AuditFilter{Text: "name"}, 501, "", 0, 0, false},
			"by one of the team": {
				models.AuditFilter{Text: "req_10500", Actors: []string{"acc_2"}},
				0, "10500", 0, 1429, false,
			},
			"narrowed by object": {
				models.AuditFilter{Text: "needle", Object: "key_3", Project: "prj_1"},
				0, "3", 0, 1, true,
			},
			"two filters": {
				models.AuditFilter{Project: "prj_2", Outcome: models.OutcomeRefused, Action: "key.create"},
				0, "10500", 0, 105, true,
			},
			"a day of old": {
				models.AuditFilter{From: began.Add(10 * time.Second), To: began.Add(13 * time.Second)},
				0, "12", 0, 3, true,
			},
			"later than all": {models.AuditFilter{From: began.Add(10 * time.Hour)}, 0, "", 0, 0, true},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				tt.f.TeamID = "team_a"
				log, err := db.Read(t.Context()).AuditLog(tt.f)
				if err != nil {
					t.Fatal(err)
				}
				rows, end, err := log.Entries(tt.after, 10)
				if err != nil {
					t.Fatal(err)
				}
				first := ""
				if len(rows) > 0 {
					first = fmt.Sprint(rows[0].Number)
				}
				if first != tt.first {
					t.Errorf("entry %q is first, want %q", first, tt.first)
				}
				if end == nil != (tt.end == 0) || end != nil && end.Number != tt.end {
					t.Errorf("it ended at %+v, want %d", end, tt.end)
				}
				count, complete, err := log.Count()
				if err != nil || complete != tt.complete || count != tt.count {
					t.Errorf("%d entries in all (%v), %v; want %d (%v)", count, complete, err, tt.count, tt.complete)
				}
			})
		}
	})
}

// TestRelationsOf_window searches more relations than one page looks at, in every order.
func TestRelationsOf_window(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, now := seed(t, db), models.Now()
		tenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&tenant) }); err != nil {
			t.Fatal(err)
		}
		fillRelations(t, db, project.ID, tenant.ID, models.SearchWindow+500)
		for order, want := range map[string]string{
			"": "order:9989500", "object": "order:9989500", "-object": "order:9999999", "user": "order:9999999",
			"-user": "order:9989500", "created": "order:9999999", "-created": "order:9989500",
		} {
			t.Run("by "+order, func(t *testing.T) {
				page := models.Page{Sort: models.ParseSort(order), Text: "USER-1", Count: true, Limit: 1}
				list, err := db.Read(t.Context()).RelationsOf(project.ID, models.RelationFilter{}, page)
				if err != nil || list.Total != models.SearchWindow || !list.AtLeast || list.Items[0].Object != want {
					t.Fatalf("%+v, %v; want %s first", list, err, want)
				}
				page.Text, page.Limit = "user-10000003", 10
				if first := want == "order:9999999"; first {
					page.Text = "user-10010498"
				}
				list, err = db.Read(t.Context()).RelationsOf(project.ID, models.RelationFilter{}, page)
				if err != nil || len(list.Items) > 0 || !list.Partial || list.Total != 0 {
					t.Fatalf("the first page is %+v, %v; want none yet", list, err)
				}
				page.Cursor = list.Next
				list, err = db.Read(t.Context()).RelationsOf(project.ID, models.RelationFilter{}, page)
				if err != nil || len(list.Items) != 1 || list.Partial || list.Next != "" {
					t.Errorf("the second page is %+v, %v; want the only one", list, err)
				}
			})
		}
		t.Run("cursor of another order", func(t *testing.T) {
			tx := db.Read(t.Context())
			page := models.Page{Sort: models.ParseSort("user")}
			list, err := tx.RelationsOf(project.ID, models.RelationFilter{}, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range []string{"", "object", "created"} {
				page := models.Page{Sort: models.ParseSort(order), Cursor: list.Next}
				if _, err := tx.RelationsOf(project.ID, models.RelationFilter{}, page); err == nil {
					t.Errorf("by %q: it is taken", order)
				}
			}
		})
	})
}

// BenchmarkMillion reads pages of lists with a million rows, with the count that the page shows.
func BenchmarkMillion(b *testing.B) {
	state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
		const n = 1_000_000
		now := models.Now()
		team := models.Team{ID: "team_a", Name: "t", CreatedAt: now}
		project := models.Project{ID: "prj_1", TeamID: "team_a", Name: "shop", CreatedAt: now, UpdatedAt: now}
		tenant := models.Tenant{ID: "tnt_1", ProjectID: &project.ID, Name: "default", CreatedAt: now}
		err := db.Write(b.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &project, &tenant) })
		if err != nil {
			b.Fatal(err)
		}
		fillAudit(b, db, "team_a", n)
		fillRelations(b, db, project.ID, tenant.ID, n)
		after := map[string]int64{"in the middle": n / 2}
		for name, f := range map[string]models.AuditFilter{
			"newest":              {},
			"oldest":              {Oldest: true},
			"in the middle":       {},
			"project":             {Project: "prj_1"},
			"actor":               {Actor: "acc_3"},
			"action":              {Action: "key.create"},
			"refused":             {Outcome: models.OutcomeRefused},
			"done":                {Outcome: models.OutcomeDone},
			"project and refused": {Project: "prj_2", Outcome: models.OutcomeRefused},
			"project and done":    {Project: "prj_1", Outcome: models.OutcomeDone, Actor: "acc_1"},
			"day":                 {From: began.Add(24 * time.Hour), To: began.Add(48 * time.Hour)},
			"found text":          {Text: "req_9"},
			"text not found":      {Text: "nothing like it"},
			"text in a project":   {Text: "nothing like it", Project: "prj_2"},
		} {
			b.Run("audit/"+name, func(b *testing.B) {
				f.TeamID = "team_a"
				for b.Loop() {
					log, err := db.Read(b.Context()).AuditLog(f)
					if err != nil {
						b.Fatal(err)
					}
					_, end, err := log.Entries(after[name], 51)
					if err != nil {
						b.Fatal(err)
					}
					if end != nil {
						continue // there is no total
					}
					if _, _, err := log.Count(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run("relations/of a user", func(b *testing.B) {
			f := models.RelationFilter{User: "user-10900000"}
			for b.Loop() {
				list, err := db.Read(b.Context()).RelationsOf("prj_1", f, models.Page{Count: true})
				if err != nil || list.Total != 1 {
					b.Fatalf("%+v, %v", list, err)
				}
			}
		})
		for _, order := range []string{"", "object", "user", "created", "-created"} {
			for _, text := range []string{"", "user-100", "nothing like it"} {
				b.Run(fmt.Sprintf("relations/by %s %q", order, text), func(b *testing.B) {
					page := models.Page{Sort: models.ParseSort(order), Text: text, Count: true}
					for b.Loop() {
						_, err := db.Read(b.Context()).RelationsOf("prj_1", models.RelationFilter{}, page)
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	})
}
