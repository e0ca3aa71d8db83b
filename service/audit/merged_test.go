package audit_test

import (
	"fmt"
	"testing"

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

func TestAMergedWorkspaceIsReadByItsNewTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		mergeB(t, db)
		s := &audit.Service{DB: db}
		oldest := models.ParseSort("created")
		for _, tt := range []struct {
			q    audit.Query
			want string
		}{
			{audit.Query{}, "a2 a1 | "},
			{audit.Query{Project: "shop"}, "a2 a1 b3 b1 | "},
			{audit.Query{Project: "shop", Page: models.Page{Limit: 1}}, "a2 | a1 | b3 | b1 | "},
			{audit.Query{Project: "shop", Page: models.Page{Limit: 2}}, "a2 a1 | b3 b1 | "},
			{audit.Query{Project: "shop", Page: models.Page{Limit: 3}}, "a2 a1 b3 | b1 | "},
			{audit.Query{Project: "shop", Page: models.Page{Sort: oldest}}, "b1 b3 a1 a2 | "},
			{audit.Query{Project: "shop", Page: models.Page{Sort: oldest, Limit: 1}}, "b1 | b3 | a1 | a2 | "},
			{audit.Query{Project: "shop", Page: models.Page{Sort: oldest, Limit: 3}}, "b1 b3 a1 | a2 | "},
			{audit.Query{Project: "shop", Page: models.Page{Text: "KEY_1"}}, "a1 b1 | "},
			{audit.Query{Object: "key_1"}, "a1 b1 | "},
			{audit.Query{Object: "tnt_1"}, "b2 | "},
			{audit.Query{Team: "team_b"}, "b3 b2 b1 | "},
			{audit.Query{Team: "team_b", Page: models.Page{Limit: 2}}, "b3 b2 | b1 | "},
			{audit.Query{Team: "team_b", Project: "shop"}, "b3 b1 | "},
		} {
			got := ""
			for q, more := tt.q, true; more; more = q.Cursor != "" {
				page, err := s.List(t.Context(), ana, q)
				if err != nil {
					t.Fatalf("%+v: %v", q, err)
				}
				for _, e := range page.Items {
					got += fmt.Sprint(e.TeamID[len("team_"):], e.Number, " ")
					if e.ActorName != "ana@example.com" || (e.ProjectID != "" && e.ProjectName != "shop") {
						t.Errorf("%+v: the actor is called %q, the project %q", q, e.ActorName, e.ProjectName)
					}
				}
				got, q.Cursor = got+"| ", page.Next
			}
			if got != tt.want {
				t.Errorf("%+v: %s, want %s", tt.q, got, tt.want)
			}
		}
		verdict, err := s.Verify(t.Context(), ana, "team_b", audit.Head{})
		if err != nil || verdict.Team != "team_b" || verdict.Entries != 3 || verdict.Broken != nil {
			t.Errorf("the old chain: %+v, %v", verdict, err)
		}
		choices, err := s.Choices(t.Context(), ana, "team_b")
		if err != nil || len(choices.Teams) != 2 || choices.Teams[1].Value != "team_b" || len(choices.Projects) != 1 {
			t.Errorf("to choose from: %+v, %v", choices, err)
		}
	})
}

func TestAMergedWorkspaceIsHiddenFromOthers(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		mergeB(t, db)
		s := &audit.Service{DB: db}
		who := func(team string, role access.Role) access.Principal {
			return access.Principal{Account: "acc_x", HomeTeam: team, Roles: map[string]access.Role{team: role}}
		}
		for _, tt := range []struct {
			who  access.Principal
			q    audit.Query
			want fault.Kind
		}{
			{access.Principal{}, audit.Query{Team: "team_b"}, fault.Unauthenticated},
			{who("team_c", access.Owner), audit.Query{Team: "team_b"}, fault.NotFound},
			{who("team_a", access.Viewer), audit.Query{Team: "team_b"}, fault.Forbidden},
			{ana, audit.Query{Team: "team_c"}, fault.NotFound},
			{ana, audit.Query{Project: "shop", Page: models.Page{Cursor: "3:team_c"}}, fault.Invalid},
			{ana, audit.Query{Page: models.Page{Cursor: "3:team_b"}}, fault.Invalid},
		} {
			if _, err := s.List(t.Context(), tt.who, tt.q); fault.KindOf(err) != tt.want {
				t.Errorf("%+v asks %+v: %v, want %v", tt.who, tt.q, err, tt.want)
			}
			if tt.want == fault.Invalid {
				continue
			}
			if _, err := s.Verify(t.Context(), tt.who, tt.q.Team, audit.Head{}); fault.KindOf(err) != tt.want {
				t.Errorf("%+v verifies %s: %v, want %v", tt.who, tt.q.Team, err, tt.want)
			}
		}
	})
}
