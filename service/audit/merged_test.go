package audit_test

import (
	"fmt"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/audit"
	"postern/testkit/state"
)

// mergeB leaves the workspace team_b with entries 1 to 3, two of them of prj_1, and
// merges it into team_a, whose entries 1 and 2 are of prj_1 too.
func mergeB(t *testing.T, db *models.DB) {
	t.Helper()
	now := models.Now()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		if err := tx.Insert(&models.Account{
			ID:        "acc_ana",
			Email:     "ana@example.com",
			CreatedAt: now,
		}, &models.Team{ID: "team_a", Name: "Ana", ClaimedAt: &now, CreatedAt: now},
			&models.Membership{TeamID: "team_a", AccountID: "acc_ana", Role: "owner", CreatedAt: now},
			&models.Team{ID: "team_b", ClaimedAt: &now, CreatedAt: now}, &models.Team{ID: "team_c", CreatedAt: now},
			&models.Project{ID: "prj_1", TeamID: "team_a", Name: "shop", CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
		for _, e := range []access.Entry{{
			Team:    "team_b",
			Project: "prj_1",
			Object:  "key_1",
		}, {Team: "team_b", Object: "tnt_1"}, {Team: "team_b", Project: "prj_1", Object: "key_2"},
			{
				Team:    "team_a",
				Project: "prj_1",
				Object:  "key_1",
			}, {
				Team:    "team_a",
				Project: "prj_1",
				Object:  "key_3",
			}, {Team: "team_c", Project: "prj_1", Object: "key_1"}} {
			e.Action = access.KeyChange
			if err := access.Record(tx, ana, e); err != nil {
				return err
			}
		}
		return tx.MergeTeam("team_b", "team_a")
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestList_mergedWorkspace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		mergeB(t, db)
		s := &audit.Service{DB: db}
		one := contract.Page{Limit: 1}
		for _, tt := range []struct {
			in   contract.AuditList
			want string
		}{
			{contract.AuditList{}, "a2 a1 | "},
			{contract.AuditList{Project: "shop"}, "a2 a1 b3 b1 | "},
			{contract.AuditList{Project: "shop", Page: contract.Page{Limit: 1}}, "a2 | a1 | b3 | b1 | "},
			{contract.AuditList{Project: "shop", Page: contract.Page{Limit: 2}}, "a2 a1 | b3 b1 | "},
			{contract.AuditList{Project: "shop", Page: contract.Page{Limit: 3}}, "a2 a1 b3 | b1 | "},
			{contract.AuditList{Project: "shop", Sort: "created"}, "b1 b3 a1 a2 | "},
			{contract.AuditList{Project: "shop", Page: one, Sort: "created"}, "b1 | b3 | a1 | a2 | "},
			{contract.AuditList{Project: "shop", Page: contract.Page{Limit: 3}, Sort: "created"}, "b1 b3 a1 | a2 | "},
			{contract.AuditList{Project: "shop", Text: "KEY_1"}, "a1 b1 | "},
			{contract.AuditList{Object: "key_1"}, "a1 b1 | "},
			{contract.AuditList{Object: "tnt_1"}, "b2 | "},
			{contract.AuditList{Team: "team_b"}, "b3 b2 b1 | "},
			{contract.AuditList{Team: "team_b", Page: contract.Page{Limit: 2}}, "b3 b2 | b1 | "},
			{contract.AuditList{Team: "team_b", Project: "shop"}, "b3 b1 | "},
		} {
			got := ""
			for in, more := tt.in, true; more; more = in.Cursor != "" {
				page, err := s.List(t.Context(), ana, in)
				if err != nil {
					t.Fatalf("%+v: %v", in, err)
				}
				for _, e := range page.Items {
					got += fmt.Sprint((*e.Team)[len("team_"):], e.Number, " ")
					if *e.Actor.Email != "ana@example.com" || (e.Project != nil && e.ProjectName != "shop") {
						t.Errorf("%+v: the actor has the address %q, the project is called %q", in, *e.Actor.Email,
							e.ProjectName)
					}
				}
				got, in.Cursor = got+"| ", page.Next
			}
			if got != tt.want {
				t.Errorf("%+v: %s, want %s", tt.in, got, tt.want)
			}
		}
		verdict, err := s.Verify(t.Context(), ana, contract.AuditVerification{Team: "team_b"})
		if err != nil || *verdict.Team != "team_b" || verdict.Entries != 3 || !verdict.Intact {
			t.Errorf("the old chain: %+v, %v", verdict, err)
		}
		choices, err := s.Choices(t.Context(), ana, "team_b")
		if err != nil || len(choices.Teams) != 2 || choices.Teams[1].Value != "team_b" || len(choices.Projects) != 1 {
			t.Errorf("to choose from: %+v, %v", choices, err)
		}
	})
}

func TestList_mergedWorkspaceHidden(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		mergeB(t, db)
		s := &audit.Service{DB: db}
		who := func(team string, role access.Role) access.Principal {
			return access.Principal{Account: "acc_x", HomeTeam: team, Roles: map[string]access.Role{team: role}}
		}
		for _, tt := range []struct {
			who  access.Principal
			in   contract.AuditList
			want fault.Kind
		}{
			{access.Principal{}, contract.AuditList{Team: "team_b"}, fault.Unauthenticated},
			{who("team_c", access.Owner), contract.AuditList{Team: "team_b"}, fault.NotFound},
			{who("team_a", access.Viewer), contract.AuditList{Team: "team_b"}, fault.Forbidden},
			{ana, contract.AuditList{Team: "team_c"}, fault.NotFound},
			{ana, contract.AuditList{Project: "shop", Page: contract.Page{Cursor: "3:team_c"}}, fault.Invalid},
			{ana, contract.AuditList{Page: contract.Page{Cursor: "3:team_b"}}, fault.Invalid},
		} {
			if _, err := s.List(t.Context(), tt.who, tt.in); fault.KindOf(err) != tt.want {
				t.Errorf("%+v asks %+v: %v, want %v", tt.who, tt.in, err, tt.want)
			}
			if tt.want == fault.Invalid {
				continue
			}
			_, err := s.Verify(t.Context(), tt.who, contract.AuditVerification{Team: tt.in.Team})
			if fault.KindOf(err) != tt.want {
				t.Errorf("%+v verifies %s: %v, want %v", tt.who, tt.in.Team, err, tt.want)
			}
		}
	})
}
