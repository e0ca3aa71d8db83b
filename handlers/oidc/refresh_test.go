package oidc_test

import (
	"bytes"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

func (s *app) refresh(token string) got {
	s.t.Helper()
	return s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// signedIn returns the tokens of a new login with a refresh token.
func (s *app) signedIn() got {
	s.t.Helper()
	fake, provider := s.offerFake()
	out := s.exchange(s.signIn(fake, provider, "openid offline_access"))
	if out.status != http.StatusOK || out.Refresh == "" {
		s.t.Fatalf("the login gives %+v", out)
	}
	return out
}

// ageGrants makes all codes and refresh tokens that were used seem to have been used ago.
func (s *app) ageGrants(ago time.Duration) {
	s.t.Helper()
	const query = "UPDATE login_grants SET used_at = $1 WHERE used_at IS NOT NULL"
	if _, err := s.db.SQL().ExecContext(s.t.Context(), query, models.Now().Add(-ago)); err != nil {
		s.t.Fatal(err)
	}
}

func TestRefresh_repeatedAtOnce(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	first := s.signedIn()
	second := s.refresh(first.Refresh)
	if second.status != http.StatusOK {
		t.Fatalf("refreshing gives %+v", second)
	}
	again := s.refresh(first.Refresh)
	if again.status != http.StatusOK {
		t.Fatalf("refreshing once more gives %+v", again)
	}
	if again.Refresh != second.Refresh {
		t.Errorf("the second answer has the refresh token %q, want %q of the first", again.Refresh, second.Refresh)
	}
	if status := s.userInfo(again.Access); status != http.StatusOK {
		t.Errorf("userinfo with the second answer's access token: %d", status)
	}
	third := s.refresh(second.Refresh)
	if third.status != http.StatusOK {
		t.Fatalf("the successor gives %+v", third)
	}
	if late := s.refresh(first.Refresh); late.Refresh != third.Refresh {
		t.Errorf("a tab that comes after both gets %q, want the token that is valid now, "+
			"%q", late.Refresh, third.Refresh)
	}
}

func TestRefresh_refusedRepeats(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	first := s.signedIn()
	second := s.refresh(first.Refresh)

	wider := s.token(url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {first.Refresh},
		"scope":         {"openid email"},
	})
	if wider.Error != "invalid_scope" {
		t.Errorf("a repeat with more scopes: %+v, want invalid_scope", wider)
	}
	name := "other"
	other, err := s.server.AppClients.CreateClient(t.Context(), s.owner, contract.NewAppClient{Name: name}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	mine := s.client
	s.client = other
	if got := s.refresh(first.Refresh); got.Error != "invalid_grant" {
		t.Errorf("a repeat by another client: %+v, want invalid_grant", got)
	}
	s.client = mine

	s.ageGrants(31 * time.Second)
	if got := s.refresh(first.Refresh); got.Error != "invalid_grant" {
		t.Errorf("a repeat after 31 seconds: %+v, want invalid_grant", got)
	}
	if got := s.refresh(second.Refresh); got.Error != "invalid_grant" {
		t.Errorf("the successor after that: %+v, want invalid_grant", got)
	}
}

// If two requests come at the same time on PostgreSQL, the second waits for the first one's row and then has to see its
// successor.
func TestRefresh_raced(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	token := s.signedIn().Refresh
	for range 5 {
		answers := make([]got, 4)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = s.refresh(token) })
		}
		all.Wait()
		for _, one := range answers {
			if one.status != http.StatusOK || one.Refresh != answers[0].Refresh {
				t.Fatalf("one of four at once got %+v, another %+v", one, answers[0])
			}
		}
		token = answers[0].Refresh
	}
}

func TestRefresh_sealedSuccessor(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		second := s.refresh(s.signedIn().Refresh)
		stored := func() (list [][]byte) {
			rows, err := db.SQL().QueryContext(
				t.Context(), "SELECT successor FROM login_grants WHERE successor IS NOT NULL",
			)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var sealed []byte
				if err := rows.Scan(&sealed); err != nil {
					t.Fatal(err)
				}
				list = append(list, sealed)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			return list
		}
		sealed := stored()
		if len(sealed) != 1 {
			t.Fatalf("%d successors are stored, want 1", len(sealed))
		}
		if bytes.Contains(sealed[0], []byte(second.Refresh)) {
			t.Error("the successor is stored in plaintext")
		}
		s.ageGrants(time.Minute)
		if err := s.server.Login.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := stored(); len(left) != 0 {
			t.Errorf("%d successors are stored after the upkeep", len(left))
		}
	})
}
