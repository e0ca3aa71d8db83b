package accounts_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit/state"
)

type unclaimed struct {
	accounts.Workspace
	project models.Project
}

// makeUnclaimed creates what an anonymous POST /proxy creates.
func makeUnclaimed(t *testing.T, db *models.DB, ttl time.Duration) unclaimed {
	t.Helper()
	var made unclaimed
	err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
		if made.Workspace, err = accounts.NewWorkspace(tx, ttl); err != nil {
			return err
		}
		now := models.Now()
		made.project = models.Project{
			ID:        models.NewID("prj"),
			TeamID:    made.Team,
			Name:      "shop",
			CreatedAt: now,
			UpdatedAt: now,
		}
		return tx.Insert(&made.project)
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func newService(t *testing.T, db *models.DB) (s *accounts.Service, ana access.Principal) {
	t.Helper()
	s = &accounts.Service{DB: db, PasswordCost: cheap, Changed: func(context.Context) {}}
	ana, err := s.BySession(t.Context(), firstAccount(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return s, ana
}

func TestClaim_movedWorkspace(t *testing.T) {
	for _, merge := range []bool{false, true} {
		t.Run(fmt.Sprint("merge ", merge), func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				s, ana := newService(t, db)
				w := makeUnclaimed(t, s.DB, time.Hour)
				into := ""
				if merge {
					into = ana.HomeTeam
				}
				seen, err := s.PreviewClaim(t.Context(), ana, w.ClaimCode)
				if err != nil || len(seen.Projects) != 1 || len(seen.Teams) != 1 {
					t.Fatalf("looked at %+v, %v", seen, err)
				}
				claimed, err := s.Claim(t.Context(), ana, contract.ClaimOf(w.ClaimCode, into))
				if err != nil || claimed.Projects[0] != "shop" || (claimed.Team.ID == ana.HomeTeam) != merge {
					t.Fatalf("claimed %+v, %v", claimed, err)
				}
				tx := s.DB.Read(t.Context())
				project, err := tx.ProjectByID(w.project.ID)
				if err != nil || project.TeamID != claimed.Team.ID {
					t.Errorf("the project is in %s, error %v", project.TeamID, err)
				}
				team, err := tx.TeamByID(project.TeamID)
				if err != nil || team.ClaimedAt == nil || team.ExpiresAt != nil {
					t.Errorf("its team still ends: %+v, %v", team, err)
				}
				if revisions, err := tx.RevisionsOf([]string{w.project.ID}); err != nil || len(revisions) != 1 {
					t.Errorf("gateways are not told: %+v, %v", revisions, err)
				}
				if _, err := s.ByWorkspaceKey(t.Context(), w.Key); fault.KindOf(err) != fault.Unauthenticated {
					t.Errorf("the workspace key: %v", err)
				}
			})
		})
	}
}

func TestClaim_concurrent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, ana := newService(t, db)
		w := makeUnclaimed(t, db, time.Hour)
		var winners, late atomic.Int32
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				switch _, err := s.Claim(t.Context(), ana, contract.ClaimOf(w.ClaimCode, "")); {
				case err == nil:
					winners.Add(1)
				case fault.CodeOf(err) == "already_claimed":
					late.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if winners.Load() != 1 || late.Load() != 99 {
			t.Errorf("%d won, %d were late", winners.Load(), late.Load())
		}
	})
}

func TestClaim_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, ana := newService(t, db)
		w := makeUnclaimed(t, db, time.Hour)
		workspace, err := s.ByWorkspaceKey(t.Context(), w.Key)
		if err != nil {
			t.Fatal(err)
		}
		expired := accounts.Workspace{}
		err = db.Write(t.Context(), func(tx *models.Tx) (err error) {
			expired, err = accounts.NewWorkspace(tx, -time.Second)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name string
			who  access.Principal
			code string
			team string
			want fault.Kind
		}{
			{"no credential", access.Principal{}, w.ClaimCode, "", fault.Unauthenticated},
			{"a workspace key", workspace, w.ClaimCode, "", fault.Forbidden},
			{"a wrong code", ana, w.ClaimCode + "x", "", fault.NotFound},
			{"no code", ana, "", "", fault.NotFound},
			{"an expired code", ana, expired.ClaimCode, "", fault.Gone},
			{"another's team", ana, w.ClaimCode, "team_other", fault.NotFound},
		} {
			_, err := s.Claim(t.Context(), tt.who, contract.ClaimOf(tt.code, tt.team))
			if err == nil || fault.KindOf(err) != tt.want {
				t.Errorf("%s: got %v", tt.name, err)
			}
		}
		if _, err := s.Claim(t.Context(), ana, contract.ClaimOf(w.ClaimCode, "")); err != nil {
			t.Errorf("after all that: %v", err)
		}
	})
}
