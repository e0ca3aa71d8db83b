package providers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/platform/fault"
	"postern/testkit"
)

// Answers of real providers that differ from the standards in what does not matter.
func TestComplete_oddAnswers(t *testing.T) {
	t.Parallel()
	for name, change := range testkit.ByName(map[string]func(s *stage){
		"expires_in with a fraction": func(s *stage) {
			s.fake.Token = func(answer map[string]any) { answer["expires_in"] = 3600.5 }
		},
		"no token_type": func(s *stage) {
			s.fake.Token = func(answer map[string]any) { delete(answer, "token_type") }
		},
		"names that are odd": func(s *stage) {
			s.fake.Claims = func(claims map[string]any) {
				claims["name"], claims["given_name"] = 42, []string{"Ana"}
				claims["family_name"] = map[string]any{"a": 1}
				claims["preferred_username"], claims["locale"] = true, 7.5
			}
		},
	}) {
		for kind, start := range kinds {
			s := start(t)
			honest := s.fake.Claims
			change(s)
			if odd := s.fake.Claims; honest != nil && odd != nil {
				s.fake.Claims = func(claims map[string]any) { honest(claims); odd(claims) }
			}
			person, tokens, err := s.login(t)
			if err != nil || person.Subject == "" || tokens.Access == "" {
				t.Errorf("%s, %s: %+v, %v", kind, name, person, err)
			}
			if name == "names that are odd" && person.Name != "" && person.Name != person.Email {
				t.Errorf("%s: the name is %q", kind, person.Name)
			}
		}
	}
}

// Azure AD B2C gives an ID token alone where no scope of an API was requested.
func TestComplete_idTokenAlone(t *testing.T) {
	t.Parallel()
	for name, change := range testkit.ByName(map[string]func(answer map[string]any){
		"none":  func(answer map[string]any) { delete(answer, "access_token") },
		"null":  func(answer map[string]any) { answer["access_token"] = nil },
		"empty": func(answer map[string]any) { answer["access_token"] = "" },
	}) {
		for kind, start := range kinds {
			s := start(t)
			s.fake.Token = func(answer map[string]any) { change(answer); delete(answer, "expires_in") }
			s.config.AllClaims = true
			person, tokens, err := s.login(t)
			if err != nil || person.Subject == "" || tokens.Access != "" || tokens.ID == "" {
				t.Errorf("%s, %s: %+v, %q, %v", kind, name, person, tokens.Access.Reveal(), err)
			}
		}
		s := kinds["oidc"](t)
		s.fake.Token = change
		s.fake.Claims = func(claims map[string]any) { delete(claims, "email") } // so that userinfo is needed
		if _, _, err := s.login(t); fault.CodeOf(err) != "provider_answer_refused" ||
			!strings.Contains(err.Error(), "without an access token") || s.fake.Requests("/userinfo") > 0 {
			t.Errorf("%s, where userinfo is needed: %v", name, err)
		}
	}
	s := kinds["oidc"](t)
	s.fake.Token = func(answer map[string]any) { delete(answer, "access_token"); delete(answer, "id_token") }
	if _, _, err := s.login(t); fault.CodeOf(err) != "provider_answer_refused" {
		t.Errorf("without any token: %v", err)
	}
}

// RFC 6749, 7.1: a token of a type that the client does not understand is not used.
func TestComplete_tokenType(t *testing.T) {
	t.Parallel()
	for kind, start := range kinds {
		s := start(t)
		s.fake.Token = func(answer map[string]any) { answer["token_type"] = "mac" }
		if _, _, err := s.login(t); fault.CodeOf(err) != "provider_answer_refused" ||
			!strings.Contains(err.Error(), "isn't a bearer token") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestComplete_unreadableUserinfo(t *testing.T) {
	t.Parallel()
	s := kinds["oidc"](t)
	s.fake.Claims = func(claims map[string]any) { delete(claims, "email") } // so that userinfo is needed
	if person, _, err := s.login(t); err != nil || person.Email == "" {
		t.Fatalf("with userinfo: %+v, %v", person, err)
	}
	for _, body := range []string{"<html>Sign in</html>", `{"sub": `, `{"sub":"subject-1","sub":"subject-2"}`, "[]"} {
		s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/userinfo" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
			return true
		}
		if _, _, err := s.login(t); fault.CodeOf(err) != "provider_answer_refused" ||
			!strings.Contains(err.Error(), "can't be read") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Addresses keep letters outside of ASCII, which strings.ToLower would make other people's.
func TestComplete_otherAlphabets(t *testing.T) {
	t.Parallel()
	s := kinds["oidc"](t)
	s.config.Domains = []string{"kino.example"}
	for email, want := range map[string][2]string{
		"Kate@KINO.example":      {"kate@kino.example", "kino.example"},
		"\u212Aate@kino.example": {"\u212Aate@kino.example", "kino.example"},
		"\u0130ana@kino.example": {"\u0130ana@kino.example", "kino.example"},
		"kate@\u212Aino.example": {"kate@\u212Aino.example", ""},
		"kate@k\u0130no.example": {"kate@k\u0130no.example", ""},
	} {
		s.fake.Claims = func(claims map[string]any) { claims["email"] = email }
		person, _, err := s.login(t)
		if err != nil || person.Email != want[0] || person.Domain != want[1] {
			t.Errorf("%s: %q of %q, %v; want %q", email, person.Email, person.Domain, err, want)
		}
	}
}
