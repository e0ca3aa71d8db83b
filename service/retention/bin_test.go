package retention_test

import (
	"errors"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

// owner is an owner of the workspace's team, which no longer ends.
func (l *harness) owner(m made) access.Principal {
	l.t.Helper()
	p := l.account()
	if _, err := l.accounts.Claim(l.t.Context(), p, contract.ClaimOf(m.Workspace.ClaimCode, "")); err != nil {
		l.t.Fatal(err)
	}
	p.Roles[m.Workspace.Team], p.HomeTeam = access.Owner, m.Workspace.Team
	return p
}

// erased is a request to delete a project permanently.
func erased(name string) contract.ProjectRemoval {
	return contract.ProjectRemoval{ProjectPath: contract.ProjectPath{Project: name}, Now: true, Confirm: name}
}

func TestPurge_bin(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		gone, kept := l.make("gone"), l.make("kept")
		p, other := l.owner(gone), l.owner(kept)
		tenant := l.strings("SELECT id FROM tenants WHERE project_id = '" + gone.Project.ID + "'")[0]
		l.insert(loginRows(tenant)...)
		if _, err := l.projects.Delete(t.Context(), p, erased("gone")); err != nil {
			t.Fatal(err)
		}
		binned := contract.ProjectRemoval{ProjectPath: contract.ProjectPath{Project: "kept"}}
		if _, err := l.projects.Delete(t.Context(), other, binned); err != nil {
			t.Fatal(err)
		}
		before := l.rows(kept.Project.ID)
		for range 2 { // a second one finds nothing to do
			if err := l.purge(); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{gone.Workspace.Team + " tenant.deleted " + tenant}; !slices.Equal(l.told, want) {
			t.Errorf("told %q, want %q", l.told, want)
		}
		for _, id := range []string{gone.Project.ID, tenant} {
			for table := range l.rows(id) {
				if !slices.Contains([]string{"audit_entries", "audit_chains", "revisions"}, table) {
					t.Errorf("%s still has rows of %s", table, id)
				}
			}
		}
		if l.isServed(gone) {
			t.Error("the purged project is still in the gateway's table")
		}
		if l.hasFile(gone.export) {
			t.Error("the export's file was not removed")
		}
		entries, err := db.Read(t.Context()).AuditOf(gone.Workspace.Team, 100)
		if err != nil {
			t.Fatal(err)
		}
		if entries[0].Action != string(access.ProjectPurge) || entries[1].Action != string(access.ProjectErase) {
			t.Errorf("audit: %s after %s, want project.purge after project.erase", entries[0].Action, entries[1].Action)
		}
		for table, n := range l.rows(kept.Project.ID) {
			if n != before[table] {
				t.Errorf("of the project in the trash %d rows of %s are left, want %d", n, table, before[table])
			}
		}
		if _, err := l.projects.Restore(t.Context(), other, contract.ProjectPath{Project: "kept"}); err != nil {
			t.Errorf("restore the other project: %v", err)
		}
		l.make("gone") // the name is free
	})
}

// A purge that another replica has begun cannot be undone by one whose clock is behind.
func TestPurge_binNotRestored(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		m := l.make("gone")
		p := l.owner(m)
		if _, err := l.projects.Delete(t.Context(), p, erased("gone")); err != nil {
			t.Fatal(err)
		}
		l.files.broken = errors.New("the disk is read-only")
		if err := l.purge(); err == nil {
			t.Fatal("the purge went on without removing the file")
		}
		restored := false
		err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
			restored, err = tx.UnbinProject(m.Project.ID, models.Now().Add(-1e9))
			return err
		})
		if err != nil || restored {
			t.Errorf("restored %v, %v, want it refused", restored, err)
		}
		l.files.broken = nil
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		if n := l.rows(m.Project.ID)["projects"]; n != 0 {
			t.Errorf("%d rows are left of the project", n)
		}
	})
}
