package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/migrations"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	"postern/service/retention"
	"postern/testkit/state"
)

// reviseOften adds more revisions of a project than a purge leaves alone.
func (l *harness) reviseOften(m made) {
	l.t.Helper()
	err := l.db.Write(l.t.Context(), func(tx *models.Tx) error {
		for range 1001 {
			if err := tx.AddRevision(m.Project.ID, "", models.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func TestPurge_unclaimedWorkspace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		gone, other := l.make("gone"), l.make("other")
		l.end(gone)
		l.reviseOften(other) // the newest revisions stay, for replicas to find their position by
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		// The remaining row says that it was deleted, and tells replicas to forget it.
		for _, id := range []string{gone.Project.ID, gone.Workspace.Team} {
			for table := range l.rows(id) {
				if !slices.Contains([]string{"audit_entries", "audit_chains", "revisions"}, table) {
					t.Errorf("%s still has rows of %s", table, id)
				}
			}
		}
		if n := l.rows(gone.Project.ID)["revisions"]; n != 1 {
			t.Errorf("%d revisions remain, want the one that says it is gone", n)
		}
		if l.isServed(gone) || !l.isServed(other) {
			t.Errorf("served: gone %v, other %v", l.isServed(gone), l.isServed(other))
		}
		if l.hasFile(gone.export) {
			t.Error("the export's file was not removed")
		}
		entries, err := db.Read(t.Context()).AuditOf(gone.Workspace.Team, 100)
		if err != nil {
			t.Fatal(err)
		}
		if entries[0].Action != "workspace.purge" || entries[0].Actor != "system" ||
			entries[1].Action != "project.purge" ||
			entries[1].Detail["name"] != "gone" {
			t.Errorf("audit: %+v", entries[:2])
		}
		if n := l.rows(other.Project.ID); n["projects"] != 1 || n["api_keys"] != 1 || n["usage_hours"] != 1 ||
			n["exports"] != 1 {
			t.Errorf("of the other project: %v", n)
		}
		if !l.hasFile(other.export) {
			t.Error("the other export's file was removed")
		}
		l.make("gone") // the name is free
	})
}

func TestPurge_beforeGracePeriod(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		m := l.make("shop")
		l.end(m)
		s := &retention.Service{
			DB:      db,
			Files:   l.files,
			Grace:   time.Hour,
			Changed: l.feed.Changed,
			Log:     slog.New(slog.DiscardHandler),
		}
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l.rows(m.Project.ID)["projects"] != 1 || !l.isServed(m) {
			t.Error("it is gone while its grace lasts")
		}
		_, err := l.accounts.Claim(t.Context(), l.account(), contract.ClaimOf(m.Workspace.ClaimCode, ""))
		if fault.CodeOf(err) != "claim_expired" {
			t.Errorf("claim during the grace: %v, want claim_expired", err)
		}
	})
}

func (l *harness) account() access.Principal {
	l.t.Helper()
	id := models.NewID("acc")
	l.insert(&models.Account{
		ID:           id,
		Email:        id + "@example.com",
		Name:         "Ana",
		PasswordHash: "none",
		CreatedAt:    models.Now(),
	})
	return access.Principal{Account: id, Roles: map[string]access.Role{}}
}

// A claimed workspace keeps the dates of its row: that it is claimed is what counts.
func TestPurge_claimed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		m := l.make("shop")
		claim := contract.ClaimOf(m.Workspace.ClaimCode, "")
		if _, err := l.accounts.Claim(t.Context(), l.account(), claim); err != nil {
			t.Fatal(err)
		}
		l.end(m)
		before := l.rows(m.Project.ID)
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		if after := l.rows(m.Project.ID); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("after the purge %v, before %v", after, before)
		}
	})
}

// A claim and a purge at the same moment: either the claim wins and everything is
// there, or the purge does and nothing is.
func TestPurge_concurrentClaim(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		ana := l.account()
		claimed, purged := 0, 0
		for i := range 12 {
			m := l.make(fmt.Sprintf("shop-%d", i))
			whole := l.rows(m.Project.ID)
			late := models.Now().Add(2 * time.Hour) // another replica's clock, by which it has ended
			var claim, purge error
			var both sync.WaitGroup
			both.Go(func() {
				if i%2 == 0 {
					_, claim = l.accounts.Claim(t.Context(), ana, contract.ClaimOf(m.Workspace.ClaimCode, ""))
				}
			})
			both.Go(func() {
				s := &retention.Service{
					DB:      db,
					Files:   l.files,
					Grace:   -time.Until(late),
					Changed: func(context.Context) {},
					Log:     slog.New(slog.DiscardHandler),
				}
				purge = s.Purge(t.Context())
			})
			both.Wait()
			if i%2 != 0 {
				_, claim = l.accounts.Claim(t.Context(), ana, contract.ClaimOf(m.Workspace.ClaimCode, ""))
			}
			if purge != nil {
				t.Fatal(purge)
			}
			left := l.rows(m.Project.ID)
			delete(left, "audit_entries")
			delete(left, "revisions")
			switch {
			case claim == nil:
				claimed++
				delete(whole, "audit_entries")
				delete(whole, "revisions")
				if fmt.Sprint(left) != fmt.Sprint(whole) {
					t.Errorf("claimed, and of it is left %v, want %v", left, whole)
				}
			case fault.KindOf(claim) == fault.NotFound || fault.KindOf(claim) == fault.Conflict:
				purged++
				if len(left) > 0 {
					t.Errorf("purged, and of it is left %v", left)
				}
			default:
				t.Errorf("claim: %v", claim)
			}
		}
		if purged == 0 {
			t.Errorf("claimed %d, purged %d: nothing was purged", claimed, purged)
		}
	})
}

// A purge that was interrupted is completed by the next one, and what is left of the
// workspace cannot be claimed in between.
func TestPurge_resumption(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		m, next := l.make("shop"), l.make("next")
		for range 1200 { // more than one step's worth
			row, _, err := keys.Mint(
				"pst", models.Project{ID: m.Project.ID, TeamID: m.principal.Teams()[0]}, l.tenant(m), l.keyType(m),
				contract.NewKey{Owner: "x"}, models.Now(),
			)
			if err != nil {
				t.Fatal(err)
			}
			l.insert(&row)
		}
		l.end(m)
		l.end(next)
		l.files.broken = errors.New("the disk is gone")
		if err := l.purge(); !errors.Is(err, l.files.broken) {
			t.Fatalf("got %v", err)
		}
		_, err := l.accounts.Claim(t.Context(), l.account(), contract.ClaimOf(m.Workspace.ClaimCode, ""))
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("claim of what is being deleted: %v, want not found", err)
		}
		l.files.broken = nil
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		for _, m := range []made{m, next} {
			if left := l.rows(m.Project.ID); left["projects"]+left["api_keys"] > 0 {
				t.Errorf("left: %v", left)
			}
		}
		if err := l.purge(); err != nil {
			t.Errorf("with nothing to do: %v", err)
		}
	})
}

func (l *harness) tenant(m made) string {
	l.t.Helper()
	list, err := l.db.Read(l.t.Context()).TenantsOf(m.Project.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return list[0].ID
}

func (l *harness) keyType(m made) models.KeyType {
	l.t.Helper()
	list, err := l.db.Read(l.t.Context()).KeyTypesOf(m.Project.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return list[0]
}

// kept are tables that know of projects or teams and are left alone.
var kept = map[string]string{
	"audit_entries": "what happened stays on record",
	"audit_chains":  "and can be checked",
	"memberships":   "an unclaimed workspace has no members",

	"revoked_hashes": "the secrets of removed keys stay invalid in their team",
}

// A table that knows of projects or teams and is not in the purge would keep
// rows for ever, or keep the purge from deleting what they refer to.
func TestPurge_everyTable(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		query := "SELECT DISTINCT m.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table' " +
			"AND p.name IN ('project_id', 'team_id', 'version_id', 'tenant_id', 'client_id', 'user_id', " +
			"'session_id', 'group_id')"
		if db.Dialect() == migrations.Postgres {
			query = "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'public' AND " +
				"column_name IN ('project_id', 'team_id', 'version_id', 'tenant_id', 'client_id', 'user_id', " +
				"'session_id', 'group_id')"
		}
		ours := l.tables()
		for _, table := range l.strings(query) {
			if !slices.Contains(ours, table) {
				continue
			}
			if _, ok := kept[table]; !ok && !slices.Contains(models.Purged(), table) {
				t.Errorf("%s has rows of projects or teams: purge it (models/purge.go), or say here why not", table)
			}
		}
	})
}

// The gateway's table forgets the keys with their project.
func TestPurge_keys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		gone, other := l.make("gone"), l.make("other")
		l.end(gone)
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		if key := l.lookup(gone); key != nil {
			t.Errorf("the key of the project that is gone is still there: %+v", key)
		}
		if l.lookup(other) == nil {
			t.Error("the other project's key is gone too")
		}
	})
}

func (l *harness) lookup(m made) *snapshot.Key {
	var key snapshot.Key
	if found, _ := l.table.Lookup(m.principal.Teams()[0], policy.HashKey(m.key), &key); !found {
		return nil
	}
	return &key
}

// A workspace that was merged holds the audit log of what it had: it stays when
// others go, however long it has ended.
func TestPurge_mergedWorkspace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		ana := l.account()
		merged, gone := l.make("merged"), l.make("gone")
		claim := contract.ClaimOf(merged.Workspace.ClaimCode, ana.HomeTeam)
		if _, err := l.accounts.Claim(t.Context(), ana, claim); err != nil {
			t.Fatal(err)
		}
		l.end(merged)
		l.end(gone)
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		if into, err := db.Read(t.Context()).MergedInto(merged.Workspace.Team); err != nil || into != ana.HomeTeam {
			t.Errorf("merged into %q, %v", into, err)
		}
		if !l.isServed(merged) || l.isServed(gone) {
			t.Errorf("served: merged %v, gone %v", l.isServed(merged), l.isServed(gone))
		}
	})
}
