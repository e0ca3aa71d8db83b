package jobs

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/appclients"
	"postern/service/audit"
	"postern/service/exports"
	"postern/service/login"
	"postern/service/retention"
	"postern/service/usage"
	"postern/service/webhooks"
	"postern/testkit/state"
)

const day = 24 * time.Hour

// growing is a table that gets rows from use alone.
type growing struct {
	says    string // how the documentation names the bound
	setting string // of the bound
	kept    time.Duration
	forever bool
	rows    func(now time.Time) []any
}

// growingTables are the tables of docs/database.md. Rows refer to each other, and to no rows of other tables.
var growingTables = map[string]growing{
	"revisions": {says: "24 hours", kept: day, rows: func(now time.Time) (out []any) {
		for range 2 { // the newer one stays
			out = append(out, &models.Revision{ProjectID: "prj_1", CreatedAt: now})
		}
		return out
	}},
	"api_keys": {
		says: "never by default", setting: "--retention-revoked-keys", kept: 40 * day,
		rows: func(now time.Time) []any {
			return []any{&models.APIKey{
				ID: "key_1", State: "revoked", Hash: []byte("h"), UpdatedAt: now,
				KeyDetails: contract.KeyDetails{CreatedAt: now},
			}}
		},
	},
	"revoked_hashes": {says: "never", forever: true, rows: func(time.Time) []any {
		return []any{&models.RevokedHash{Hash: []byte("h")}}
	}},
	"audit_entries": {
		says: "never by default", setting: "--retention-audit", kept: 50 * day, rows: chain("project.create"),
	},
	"audit_chains": {
		says: "90 days", setting: "--retention-workspaces", kept: 90 * day, rows: chain("workspace.purge"),
	},
	"teams": {says: "7 days", setting: "--unclaimed-grace", kept: 7 * day, rows: func(now time.Time) []any {
		return []any{&models.Team{ID: "team_1", CreatedAt: now, ExpiresAt: &now}}
	}},
	"usage_log": {says: "a minute", kept: time.Minute, rows: func(now time.Time) []any {
		return []any{&models.UsageLogEntry{ID: "ulg_1", WrittenAt: now.Unix(), Payload: noCounts()}}
	}},
	"usage_hours": {
		says: "never by default", setting: "--retention-usage", kept: 40 * day,
		rows: ofProject(func(now time.Time) any {
			return &models.UsageHour{ProjectID: "prj_1", Hour: now.Unix() / 3600, Calls: 1}
		}),
	},
	"usage_days": {
		says: "never by default", setting: "--retention-usage", kept: 40 * day,
		rows: ofProject(func(now time.Time) any {
			return &models.UsageDay{ProjectID: "prj_1", Day: now.Unix() / models.TrafficDay, Calls: 1}
		}),
	},
	"usage_spans": {
		says: "never by default", setting: "--retention-usage", kept: 40 * day,
		rows: func(now time.Time) []any {
			today := now.Unix() / models.TrafficDay
			return append(ofProject(func(time.Time) any {
				return &models.UsageDay{ProjectID: "prj_1", Day: today, Calls: 1}
			})(now), &models.UsageSpan{ProjectID: "prj_1", Days: 3, Since: today / 3, Calls: 1})
		},
	},
	"usage_traffic": {
		says: "3 hours", setting: "--retention-usage", kept: 3 * time.Hour,
		rows: ofProject(func(now time.Time) any {
			slot := models.TrafficSlot{
				ProjectID: "prj_1", Level: models.TrafficOfProject, Period: models.TrafficMinute,
				Since: now.Unix() / models.TrafficMinute,
			}
			return &models.Traffic{TrafficSlot: slot, FirstByte: []byte{}, Total: []byte{}}
		}),
	},
	"limit_counts": {says: "ends", kept: time.Hour, rows: func(now time.Time) []any {
		return []any{&models.LimitCount{ProjectID: "prj_1", EndsAt: now.Add(time.Hour).Unix(), Calls: 1}}
	}},
	"shadow_refusals": {says: "30 days", kept: 30 * day, rows: func(now time.Time) []any {
		return []any{&models.ShadowRefusal{ProjectID: "prj_1", Day: now.Unix() / models.TrafficDay, LastAt: now}}
	}},
	"relation_misses": {says: "30 days", kept: 30 * day, rows: func(now time.Time) []any {
		return []any{&models.RelationMiss{ProjectID: "prj_1", Day: now.Unix() / models.TrafficDay, LastAt: now}}
	}},
	"invalid_requests": {says: "30 days", kept: 30 * day, rows: func(now time.Time) []any {
		return []any{&models.InvalidRequest{ProjectID: "prj_1", Day: now.Unix() / models.TrafficDay, LastAt: now}}
	}},
	"gateways": {says: "an hour", kept: time.Hour, rows: func(now time.Time) []any {
		return []any{&models.Gateway{ID: "gwy_1", SeenAt: now}}
	}},
	"target_reports": {says: "their gateway's row", kept: time.Hour, rows: func(now time.Time) []any {
		return []any{
			&models.Gateway{ID: "gwy_1", SeenAt: now},
			&models.TargetReport{GatewayID: "gwy_1", EnvironmentID: "env_1", Target: "a.example", Since: now},
		}
	}},
	"target_health": {says: "30 days", kept: 30 * day, rows: func(now time.Time) []any {
		return []any{&models.TargetHealth{EnvironmentID: "env_1", Target: "a.example", State: "healthy", Since: now}}
	}},
	"key_imports": {says: "24 hours", kept: day, rows: func(now time.Time) []any {
		return []any{&models.KeyImport{
			Lookup: []byte("l"), Attempt: "try_1", LeaseUntil: now, Digest: []byte{}, ExpiresAt: now.Add(day),
		}}
	}},
	"import_plans": {says: "24 hours", kept: day, rows: func(now time.Time) []any {
		return []any{&models.ImportPlan{
			ID: "pln_1", File: []byte("f"), Trusted: map[string]contract.Upstream{},
			CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(day),
		}}
	}},
	"idempotent_requests": {says: "24 hours", kept: day, rows: func(now time.Time) []any {
		return []any{&models.IdempotentRequest{
			Lookup: []byte("l"), Fingerprint: []byte{}, Answer: []byte{}, LeaseUntil: now, ExpiresAt: now.Add(day),
		}}
	}},
	"tokens": {says: "expire", kept: day, rows: func(now time.Time) []any {
		return []any{&models.Token{ID: "tok_1", Hash: []byte("h"), CreatedAt: now, ExpiresAt: new(now.Add(day))}}
	}},
	"access_tokens": {says: "expire", kept: day, rows: func(now time.Time) []any {
		return []any{&models.AccessToken{
			ID: "pat_1", Scopes: []string{}, Hash: []byte("h"), CreatedAt: now, ExpiresAt: now.Add(day),
		}}
	}},
	"device_grants": {says: "an hour", kept: day + time.Hour, rows: func(now time.Time) []any {
		return []any{&models.DeviceGrant{
			ID: "dev_1", Scopes: []string{}, DeviceHash: []byte("d"), UserHash: []byte("u"), CreatedAt: now,
			ExpiresAt: now.Add(day),
		}}
	}},
	"invitations": {says: "30 days", kept: 31 * day, rows: func(now time.Time) []any {
		return []any{&models.Invitation{ID: "inv_1", CodeHash: []byte("c"), CreatedAt: now, ExpiresAt: now.Add(day)}}
	}},
	"login_attempts": {says: "expire", kept: day, rows: func(now time.Time) []any {
		return []any{&models.LoginAttempt{ID: "lat_1", BrowserHash: []byte{}, CreatedAt: now, ExpiresAt: now.Add(day)}}
	}},
	"login_sessions": {says: "25 hours", kept: day + 25*time.Hour, rows: session},
	"login_grants":   {says: "session", kept: day + 25*time.Hour, rows: session},
	"deleted_users": {says: "expired", kept: day, rows: func(now time.Time) []any {
		return []any{&models.DeletedUser{UserID: "usr_1", EndsAt: now.Add(day)}}
	}},
	"signing_keys": {says: "expired", kept: day, rows: func(now time.Time) []any {
		return []any{&models.SigningKey{
			ID: "sig_1", ClientID: "cli_1", ActiveAt: now, CreatedAt: now, ExpiresAt: new(now.Add(day)),
		}}
	}},
	"logout_notices": {says: "a day of attempts", kept: time.Hour, rows: func(now time.Time) []any {
		return []any{
			&models.AppClient{
				ID: "cli_1", RedirectURIs: []string{}, LogoutURIs: []string{}, CreatedAt: now, UpdatedAt: now,
			},
			&models.LogoutNotice{ID: "lgo_1", ClientID: "cli_1", DueAt: now.Add(time.Hour), CreatedAt: now},
		}
	}},
	"exports":        {says: "90 days", kept: 90 * day, rows: export},
	"export_ledgers": {says: "with their export", kept: 90 * day, rows: export},
	"webhook_deliveries": {says: "30 days", kept: 30 * day, rows: func(now time.Time) []any {
		return []any{&models.WebhookDelivery{ID: "dlv_1", State: "delivered", CreatedAt: now, FinishedAt: &now}}
	}},
	"certificates": {says: "no project", kept: time.Hour, rows: func(now time.Time) []any {
		return []any{
			&models.Domain{
				ID: "dom_1", Host: "a.example", Proof: "dns", VerifiedAt: &now, CreatedAt: now, UpdatedAt: now,
			},
			&models.Certificate{Host: "a.example", DueAt: now, UpdatedAt: now},
		}
	}},
	"workers": {says: "an hour", kept: time.Hour, rows: func(now time.Time) []any {
		return []any{&models.Worker{ID: "wrk_1", SeenAt: now}, &models.Worker{ID: "wrk_2", SeenAt: now}}
	}},
}

// chain is the audit log of a team that does not exist.
func chain(action string) func(time.Time) []any {
	return func(now time.Time) []any {
		e := models.AuditEntry{
			ID: "aud_1", TeamID: "team_gone", Number: 1, Action: action, Outcome: models.OutcomeDone,
			Detail: map[string]string{}, Changes: map[string]contract.AuditChange{}, CreatedAt: now,
		}
		hash, err := e.ChainHash("")
		if err != nil {
			panic(err)
		}
		e.Hash = hash
		return []any{&e, &models.AuditChain{TeamID: e.TeamID, Number: 1, Hash: hash}}
	}
}

func ofProject(row func(time.Time) any) func(time.Time) []any {
	return func(now time.Time) []any {
		return []any{
			&models.Project{ID: "prj_1", Name: "shop", CreatedAt: now, UpdatedAt: now},
			row(now),
		}
	}
}

// noCounts is a payload of usage_log.
func noCounts() []byte {
	out := bytes.NewBuffer([]byte{1})
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write([]byte{0})
	}
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func session(now time.Time) []any {
	return []any{
		&models.LoginSession{ID: "ses_1", CreatedAt: now, ExpiresAt: now.Add(day)},
		&models.LoginGrant{Hash: []byte("h"), SessionID: "ses_1", CreatedAt: now, ExpiresAt: now.Add(day)},
	}
}

func export(now time.Time) []any {
	return []any{
		&models.Export{ID: "exp_1", State: contract.ExportFailed, CreatedAt: now, FinishedAt: &now},
		&models.ExportLedger{ExportID: "exp_1", Document: []byte{}},
	}
}

// createdTables hold what teams, their users and their rules have created.
var createdTables = []string{
	"accounts", "linked_accounts", "memberships", "products", "projects", "versions", "openapi_documents",
	"environments", "upstream_headers", "upstream_certificates", "call_signing_keys", "domains", "acme_accounts",
	"move_ins", "moved_objects", "tenants", "project_tenants", "key_types", "end_users", "identities",
	"signup_policies", "approvals",
	"user_groups", "group_members", "group_owners", "group_groups", "relations", "app_clients", "providers",
	"group_mappings", "mapped_members", "unstated_claims", "login_consents", "usage_folds", "export_keys", "webhooks",
	"data_keys", "schema_compatibility",
}

// TestGrowth moves the clock, and finds that each table that grows is bounded as docs/database.md says. A new table
// belongs either there or to createdTables.
func TestGrowth(t *testing.T) {
	documented := documentedTables(t)
	db := state.OpenSQLite(t)
	var tables []string
	err := db.Consistent(t.Context(), func(tx *models.Tx) error {
		rows, err := tx.SQL().QueryContext(t.Context(), "SELECT name FROM sqlite_master WHERE type = 'table'")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			tables = append(tables, name)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		if strings.HasPrefix(name, "river_") || strings.HasPrefix(name, "sqlite_") || name == "goose_db_version" {
			continue
		}
		grows, known := growingTables[name]
		switch {
		case known && (!strings.Contains(documented[name].bound, grows.says) ||
			documented[name].setting != grows.setting):
			t.Errorf("docs/database.md says of %s: %+v", name, documented[name])
		case !known && !slices.Contains(createdTables, name):
			t.Errorf("%s is in neither list", name)
		}
	}
	for name := range documented {
		if _, known := growingTables[name]; !known {
			t.Errorf("docs/database.md lists %s", name)
		}
	}
	for name, grows := range growingTables {
		t.Run(name, func(t *testing.T) {
			path := state.SQLite(t)
			synctest.Test(t, func(t *testing.T) { grows.test(t, path, name) })
		})
	}
}

type documentedTable struct{ bound, setting string }

func documentedTables(t *testing.T) map[string]documentedTable {
	t.Helper()
	page, err := os.ReadFile("../docs/database.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Growing tables\n")
	section, _, _ = strings.Cut(section, "\n## ")
	out := map[string]documentedTable{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*)` \\|.*\\| (.*) \\| (?:`(.*)` )?\\|$").
		FindAllStringSubmatch(section, -1) {
		out[row[1]] = documentedTable{row[2], row[3]}
	}
	return out
}

// test adds rows, and looks for them shortly before and after their time.
func (g growing) test(t *testing.T, path, name string) {
	db, err := models.Open(t.Context(), "", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	exec(t, db, "PRAGMA foreign_keys = 0") // rows of other tables are not needed
	if err := db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.Insert(append(g.rows(models.Now()), newestRevisions()...)...)
	}); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "PRAGMA foreign_keys = 1")
	before := count(t, db, name)
	time.Sleep(g.kept - min(g.kept/2, time.Hour))
	g.upkeep(t, db)
	if n := count(t, db, name); n < before && g.kept > time.Minute { // what is kept for a minute at most may go earlier
		t.Errorf("%d of %d rows are left before %s have passed", n, before, g.kept)
	}
	if name == "certificates" {
		exec(t, db, "DELETE FROM domains")
	}
	time.Sleep(min(g.kept/2, time.Hour) + 49*time.Hour) // usage is removed in whole days
	g.upkeep(t, db)
	if n := count(t, db, name); (n < before) == g.forever {
		t.Errorf("%d of %d rows are left after %s", n, before, g.kept)
	}
}

// newestRevisions are those that are always kept.
func newestRevisions() []any {
	rows := make([]models.Revision, 1000)
	for i := range rows {
		rows[i] = models.Revision{ProjectID: fmt.Sprint("prj_new", i), CreatedAt: models.Now()}
	}
	return []any{&rows}
}

func exec(t *testing.T, db *models.DB, statement string) {
	t.Helper()
	if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *models.DB, table string) (n int) {
	t.Helper()
	if err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// upkeep does all work that is done from time to time.
func (g growing) upkeep(t *testing.T, db *models.DB) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	changed := func(context.Context) {}
	files := exports.Dir(t.TempDir())
	kept := &retention.Service{
		DB: db, Files: files, Changed: changed, Trimmer: &audit.Trimmer{DB: db}, Log: log,
		Grace: 7 * day, Usage: 40 * day, Revoked: 40 * day, Deleted: 90 * day,
	}
	if g.setting == "--retention-audit" {
		kept.Audit = g.kept
	}
	hosted := login.New(&appclients.Service{DB: db, Changed: changed, Log: log})
	recorder := usage.NewRecorder(db, log)
	ctx := t.Context()
	_, folded := recorder.Fold(ctx, models.Now(), 100)
	err := errors.Join(
		(&upkeepWorker{db: db, exports: &exports.Service{DB: db, Store: files, Log: log}}).Work(ctx, nil),
		(&purgeWorker{retention: kept}).Work(ctx, nil),
		(&loginWorker{login: hosted}).Work(ctx, nil),
		(&logoutWorker{logouts: hosted}).Work(ctx, nil),
		(&webhookUpkeepWorker{webhooks: &webhooks.Service{DB: db, Log: log}}).Work(ctx, nil),
		folded,
		recorder.FoldLog(ctx),
		db.Write(ctx, func(tx *models.Tx) error {
			_, certificates := tx.DeleteUnusedCertificates()
			return errors.Join(certificates, tx.WorkerAlive("wrk_other"), tx.KeepLimitCounts(nil, time.Now().Unix()))
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
}
