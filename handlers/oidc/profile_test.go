package oidc_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// userInfoOf asks userinfo with an access token.
func (s *app) userInfoOf(access string) map[string]any {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+s.path("/userinfo"), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+access)
	answer := s.do(http.DefaultClient, r)
	var out map[string]any
	if err := json.Unmarshal([]byte(answer.raw), &out); err != nil {
		s.t.Fatalf("userinfo answers %d %s", answer.status, answer.raw)
	}
	return out
}

var statedProfile = map[string]any{
	"name": "Ana Lima", "given_name": "Ana", "family_name": "Lima", "preferred_username": "ana", "locale": "pt-BR",
	"picture": "https://pictures.example/ana.png", "zoneinfo": "America/Sao_Paulo", "updated_at": 1700000000.0,
}

// A provider may state the profile in its ID token or at userinfo.
func TestProfile_stated(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		for name, atUserInfo := range map[string]bool{"in the ID token": false, "at userinfo": true} {
			s := newLoginApp(t, db, contract.AppClientSettings{})
			fake, provider := s.offerFake()
			if atUserInfo {
				answerUserInfo(fake, statedProfile)
				fake.Claims = func(claims map[string]any) { delete(claims, "name") }
			} else {
				fake.Claims = func(claims map[string]any) {
					for name, value := range statedProfile {
						claims[name] = value
					}
				}
			}
			tokens := s.enter(s.browser(), fake, provider.ID, "openid profile")
			for place, got := range map[string]map[string]any{
				"ID token": claims(t, tokens.ID), "userinfo": s.userInfoOf(tokens.Access),
			} {
				for claim, want := range statedProfile {
					if got[claim] != want {
						t.Errorf("%s: %s of the %s is %v, want %v", name, claim, place, got[claim], want)
					}
				}
			}
			without := s.enter(s.browser(), fake, provider.ID, "openid")
			for claim := range statedProfile {
				if _, there := claims(t, without.ID)[claim]; there {
					t.Errorf("%s: without the scope profile the ID token has %s", name, claim)
				}
			}
			subject := contract.UserPath{User: claims(t, tokens.ID)["sub"].(string)}
			user, err := s.server.Directory.User(t.Context(), s.owner, subject)
			if err != nil || user.Profile.Picture != statedProfile["picture"] {
				t.Errorf("%s: the team sees %+v, %v", name, user.Profile, err)
			}
		}
	})
}

func answerUserInfo(fake *idp.Fake, stated map[string]any) {
	fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/userinfo" {
			return false
		}
		all := map[string]any{"sub": fake.Subject}
		for name, value := range stated {
			all[name] = value
		}
		idp.Answer(w, http.StatusOK, all)
		return true
	})
}

// A long profile is in userinfo alone, because applications put the ID token into addresses.
func TestProfile_long(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	fake.Claims = func(claims map[string]any) {
		claims["given_name"] = strings.Repeat("x", 4000)
		claims["picture"] = strings.Repeat("y", federation.MaxProfile)
	}
	tokens := s.enter(s.browser(), fake, provider.ID, "openid profile")
	if _, there := claims(t, tokens.ID)["given_name"]; there {
		t.Error("the ID token has a long profile")
	}
	got := s.userInfoOf(tokens.Access)
	if given, _ := got["given_name"].(string); len(given) != 4000 || got["picture"] != nil {
		t.Errorf("userinfo has %.100v", got)
	}
}

// A provider whose userinfo fails still signs users in, as long as nothing but the profile is missing.
func TestProfile_failingUserInfo(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/userinfo" {
			http.Error(w, "no", http.StatusInternalServerError)
			return true
		}
		return false
	})
	tokens := s.enter(s.browser(), fake, provider.ID, "openid profile")
	if _, there := claims(t, tokens.ID)["picture"]; there || fake.Requests("/userinfo") == 0 {
		t.Errorf("the ID token says %v, after %d requests", claims(t, tokens.ID), fake.Requests("/userinfo"))
	}
}
