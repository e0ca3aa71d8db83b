package exports_test

import (
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/exports"
	"postern/testkit/state"
)

// finished requests an export and builds it.
func (w *world) finished(t *testing.T, options exports.Options) contract.Export {
	t.Helper()
	e := w.request(t, options)
	if err := w.Build(t.Context(), e.ID, true); err != nil {
		t.Fatal(err)
	}
	return w.get(t, e.ID)
}

func (w *world) ledger(t *testing.T, id string) exports.Ledger {
	t.Helper()
	found, err := w.Ledger(t.Context(), w.owner, exportAt(id))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// named returns the names of all items of a kind.
func named(l exports.Ledger, kind string) string {
	var out []string
	for _, line := range l.Lines {
		if line.Kind == kind {
			out = append(out, line.Names...)
		}
	}
	return strings.Join(out, " ")
}

func TestLedger_afterExpiry(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		addApproval(t, db, w.project)
		e := w.finished(t, gateway)
		found := w.ledger(t, e.ID)
		if got := named(found, "signup_policy"); !strings.Contains(got, "ana@example.com") || found.Forgotten {
			t.Errorf("while the zip is there: forgotten %v, rules %q", found.Forgotten, got)
		}
		lines := len(found.Lines)
		gone := func(when string) {
			t.Helper()
			found := w.ledger(t, e.ID)
			if !found.Forgotten || named(found, "signup_policy")+named(found, "key") != "" {
				t.Errorf("%s: forgotten %v, names %q", when, found.Forgotten, named(found, "signup_policy"))
			}
			if named(found, "version") == "" || len(found.Lines) != lines || found.Lines[0].Count == 0 {
				t.Errorf("%s: %d of %d lines, versions %q", when, len(found.Lines), lines, named(found, "version"))
			}
		}
		expireNow(t, db, e.ID)
		gone("before the upkeep")
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone("after the upkeep")
		// The stored ledger has no names either: show it as if the zip were there.
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := tx.MoveExport(e.ID, []string{contract.ExportExpired}, contract.ExportReady)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		extend(t, db, e.ID)
		if got := named(w.ledger(t, e.ID), "signup_policy"); got != "" {
			t.Errorf("the upkeep left the names %q", got)
		}
	})
}

func TestLedger_filters(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.finished(t, gateway)
		all := w.ledger(t, e.ID)
		for _, f := range []contract.LedgerFilter{
			{Status: "skipped"}, {Status: "exact"}, {Area: "records"}, {Area: "access", Status: "exact"},
			{Code: all.Lines[0].Code},
		} {
			var want []string
			for _, l := range all.Lines {
				if (f.Status == "" || f.Status == l.Status) && (f.Code == "" || f.Code == l.Code) &&
					(f.Area == "" || f.Area == string(snapshot.Feature(l.Kind).Area())) {
					want = append(want, l.Code)
				}
			}
			var got []string
			list := contract.LedgerList{ExportPath: e.Path(), LedgerFilter: f, Page: contract.Page{Limit: 200}}
			found, err := w.LedgerLines(t.Context(), w.owner, list)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range found.Items {
				got = append(got, l.Code)
			}
			if len(got) == 0 || !slices.Equal(got, want) {
				t.Errorf("%+v selects %v, want %v", f, got, want)
			}
		}
	})
}

func TestLedger_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		queued, ready := w.request(t, gateway), w.finished(t, gateway)
		other := access.Principal{Account: "acc_other", Roles: map[string]access.Role{"team_other": access.Owner}}
		viewer := access.Principal{
			Account: "acc_viewer", Roles: map[string]access.Role{w.owner.HomeTeam: access.Viewer},
		}
		for name, c := range map[string]struct {
			by   access.Principal
			id   string
			kind fault.Kind
			code string
		}{
			"not finished":         {w.owner, queued.ID, fault.Conflict, "no_ledger"},
			"unknown":              {w.owner, "exp_unknown", fault.NotFound, "not_found"},
			"of another team":      {other, ready.ID, fault.NotFound, "not_found"},
			"without a credential": {access.Principal{}, ready.ID, fault.Unauthenticated, "credentials_required"},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := w.Ledger(t.Context(), c.by, exportAt(c.id))
				if fault.KindOf(err) != c.kind || fault.CodeOf(err) != c.code {
					t.Errorf("%v, want %s", err, c.code)
				}
			})
		}
		if l, err := w.Ledger(t.Context(), viewer, ready.Path()); err != nil || len(l.Lines) == 0 {
			t.Errorf("a viewer of the team: %d lines, %v", len(l.Lines), err)
		}
	})
}

func TestList_requester(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		if got := w.get(t, w.request(t, gateway).ID); got.RequestedBy.ID != "workspace_key:"+w.owner.HomeTeam {
			t.Errorf("requested by %q, want the workspace key", got.RequestedBy.ID)
		}
		now := models.Now()
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(
				&models.Account{ID: "acc_ana", Email: "ana@example.com", CreatedAt: now},
				&models.Membership{TeamID: w.owner.HomeTeam, AccountID: "acc_ana", Role: "owner", CreatedAt: now},
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		ana := "ana@example.com"
		for account, email := range map[string]*string{"acc_ana": &ana, "acc_gone": nil} {
			want := contract.Requester{ID: account, Email: email}
			by := access.Principal{Account: account, Roles: map[string]access.Role{w.owner.HomeTeam: access.Owner}}
			e, err := w.Request(t.Context(), by, "shop", gateway)
			if err != nil {
				t.Fatal(err)
			}
			list, err := w.List(t.Context(), w.owner, contract.ExportList{
				ProjectPath: contract.ProjectPath{Project: "shop"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := list.Items[0]; got.ID != e.ID || !reflect.DeepEqual(got.RequestedBy, want) {
				t.Errorf("%s: listed as of %+v", account, got.RequestedBy)
			}
			if got := w.get(t, e.ID); !reflect.DeepEqual(got.RequestedBy, want) {
				t.Errorf("%s: called %+v", account, got.RequestedBy)
			}
		}
	})
}

func addApproval(t *testing.T, db *models.DB, project string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		tenants, err := tx.TenantsOf(project)
		if err != nil {
			return err
		}
		return tx.Insert(&models.Approval{ID: "apr_1", TenantID: tenants[0].ID, Kind: "email",
			Value: "ana@example.com", Groups: []string{}, CreatedAt: models.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func expireNow(t *testing.T, db *models.DB, id string) {
	setExpiry(t, db, id, "2001-01-01 00:00:00+00:00")
}

func extend(t *testing.T, db *models.DB, id string) {
	setExpiry(t, db, id, time.Now().Add(time.Hour).UTC().Format("2006-01-02 15:04:05+00:00"))
}

func setExpiry(t *testing.T, db *models.DB, id, at string) {
	t.Helper()
	if _, err := db.SQL().ExecContext(t.Context(),
		"UPDATE exports SET expires_at = '"+at+"' WHERE id = '"+id+"'"); err != nil {
		t.Fatal(err)
	}
}

// Everyone who may download an export can read its whole ledger. The ledger of a zip with new keys
// or secrets contains neither.
func TestOpenLedger(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		viewer := w.asViewer().owner
		for _, keys := range []string{"hashes", "mint"} {
			e := w.finished(t, exports.Options{Format: "data", Keys: keys, Consumers: true})
			before := downloads(t, db, e.ID)
			got := w.asViewer().wholeLedger(t, e.ID)
			if got != entry(t, w.download(t, e.ID), "MIGRATION-REPORT.json") {
				t.Errorf("%s: the ledger is not that of the zip: %d bytes", keys, len(got))
			}
			if n := downloads(t, db, e.ID) - before; n != 2 { // the ledger, and the zip it is compared with
				t.Errorf("%s: %d downloads are recorded, want 2", keys, n)
			}
			expireNow(t, db, e.ID)
			if _, err := w.OpenLedger(t.Context(), viewer, e.Path()); fault.KindOf(err) != fault.Gone {
				t.Errorf("%s: after it expired: %v, want gone", keys, err)
			}
		}
		queued := w.request(t, gateway)
		if _, err := w.OpenLedger(t.Context(), viewer, queued.Path()); fault.CodeOf(err) != "export_not_ready" {
			t.Errorf("before it is ready: %v", err)
		}
	})
}

// asViewer is the world in which a viewer of the team acts.
func (w *world) asViewer() *world {
	out := *w
	out.owner = access.Principal{
		Account: "acc_viewer",
		Roles:   map[string]access.Role{w.owner.HomeTeam: access.Viewer},
	}
	return &out
}

func (w *world) wholeLedger(t *testing.T, id string) string {
	t.Helper()
	file, err := w.OpenLedger(t.Context(), w.owner, exportAt(id))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if file.Name != "shop-ledger.json" || file.Size != int64(len(content)) {
		t.Errorf("it is called %q and has %d bytes, %d came", file.Name, file.Size, len(content))
	}
	return string(content)
}
