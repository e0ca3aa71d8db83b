package accounts_test

import (
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

// project adds a project to Ana's team.
func (o *testTeam) project(name string, deleted bool) string {
	o.t.Helper()
	now := models.Now()
	row := models.Project{ID: models.NewID("prj"), Name: name, TeamID: o.team, CreatedAt: now, UpdatedAt: now}
	if deleted {
		purge := time.Date(2099, 5, 6, 0, 0, 0, 0, time.UTC)
		row.DeletedAt, row.PurgeAt = &now, &purge
	}
	if err := o.db.Write(o.t.Context(), func(tx *models.Tx) error { return tx.Insert(&row) }); err != nil {
		o.t.Fatal(err)
	}
	return row.ID
}

// A team is deleted by its name, with what belongs to it, once nothing is in its way.
func TestDeleteTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		member := o.joins("bob", access.Member)
		o.invite(access.Viewer, "")
		team, err := o.s.Team(t.Context(), o.ana, o.path())
		if err != nil {
			t.Fatal(err)
		}
		now := models.Now()
		tenant := models.Tenant{ID: "tnt_1", TeamID: &o.team, Name: "acme", CreatedAt: now, UpdatedAt: now}
		merged := models.Team{ID: "team_merged", Name: "merged", ClaimedAt: &now, MergedInto: &o.team, CreatedAt: now}
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&tenant, &merged,
				&models.EndUser{ID: "usr_1", TenantID: "tnt_1", CreatedAt: now, UpdatedAt: now})
		})
		if err != nil {
			t.Fatal(err)
		}
		served, binned := o.project("shop", false), o.project("old", true)
		err = o.deleteTeam(o.ana, o.team, team.Name)
		named := "old (in the trash until 2099-05-06), shop"
		if fault.CodeOf(err) != "team_has_projects" || !strings.Contains(err.Error(), named) {
			t.Errorf("with projects: %v", err)
		}
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.DeleteProject(served); err != nil {
				return err
			}
			return tx.DeleteProject(binned)
		})
		if err != nil {
			t.Fatal(err)
		}
		o.checkRefusals(member, team.Name)
		d, err := o.s.TeamDeletion(t.Context(), o.ana, o.path())
		if err != nil || d.Members != 2 || d.Tenants != 1 || d.Users != 1 || d.Invitations != 2 {
			t.Errorf("goes along: %+v, %v", d, err)
		}
		if err := o.deleteTeam(o.ana, o.team, team.Name); err != nil {
			t.Fatal(err)
		}
		o.checkGone(member)
	})
}

func (o *testTeam) checkRefusals(member access.Principal, name string) {
	o.t.Helper()
	for _, tt := range []struct {
		what, confirm, code string
		who                 access.Principal
	}{
		{"another name", name + "x", "wrong_confirmation", o.ana},
		{"no name", "", "wrong_confirmation", o.ana},
		{"a member", name, "not_allowed", member},
		{"an anonymous caller", name, "credentials_required", access.Principal{}},
		{"an outsider", name, "not_found", access.Principal{Account: "acc_other"}},
	} {
		if err := o.deleteTeam(tt.who, o.team, tt.confirm); fault.CodeOf(err) != tt.code {
			o.t.Errorf("%s: %v, want %s", tt.what, err, tt.code)
		}
	}
}

// checkGone checks that nothing of the team is left but its audit log.
func (o *testTeam) checkGone(member access.Principal) {
	o.t.Helper()
	tx := o.db.Read(o.t.Context())
	if _, err := tx.TeamByID(o.team); err == nil {
		o.t.Error("the team is still there")
	}
	if c, err := tx.TeamContents(o.team); err != nil || c != (models.TeamContents{}) {
		o.t.Errorf("left: %+v, %v", c, err)
	}
	for name, who := range map[string]access.Principal{"its owner": o.ana, "its member": member} {
		list, err := o.s.Teams(o.t.Context(), who, contract.OwnTeamList{Page: contract.Page{Limit: 10}})
		if err != nil || len(list.Items) != 0 {
			o.t.Errorf("%s sees %d teams, %v", name, len(list.Items), err)
		}
	}
	if err := o.deleteTeam(o.ana, o.team, "x"); fault.KindOf(err) != fault.NotFound {
		o.t.Errorf("deleted again: %v", err)
	}
}
