package providers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/platform/federation"
	"postern/service/login/providers"
	"postern/testkit"
	"postern/testkit/idp"
)

func book(t *testing.T) (*idp.Facebook, *stage) {
	t.Helper()
	fake := idp.StartFacebook(t)
	return fake, &stage{
		fake:   fake.Fake,
		set:    &providers.Set{HTTP: guarded(t), FacebookURL: fake.URL, FacebookGraph: fake.URL},
		config: configOf(providers.Facebook, ""),
	}
}

func TestFacebook_accepted(t *testing.T) {
	fake, s := book(t)
	person, tokens, err := s.login(t)
	want := federation.Identity{
		Issuer:  fake.URL + "/" + idp.ClientID,
		Subject: "10158",
		Email:   "ana@example.com",
		Name:    "Ana",
	}
	if err != nil || person != want || tokens.Access.Reveal() != fake.Access {
		t.Errorf("%+v, %v", person, err)
	}
	delete(fake.Me, "email")
	if person, _, err := s.login(t); err != nil || person.Email != "" || person.Subject != "10158" {
		t.Errorf("without an address: %+v, %v", person, err)
	}
}

func TestFacebook_refused(t *testing.T) {
	answering := func(ending string, status int, body any) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, ending) {
				return false
			}
			idp.Answer(w, status, body)
			return true
		}
	}
	tests := map[string]func(*idp.Facebook){
		"a token of another app":    func(f *idp.Facebook) { f.Debug["app_id"] = "another-app" },
		"a token of no app":         func(f *idp.Facebook) { delete(f.Debug, "app_id") },
		"a token that is not valid": func(f *idp.Facebook) { f.Debug["is_valid"] = false },
		"a token of somebody else":  func(f *idp.Facebook) { f.Debug["user_id"] = "999" },
		"no user":                   func(f *idp.Facebook) { delete(f.Me, "id") },
		"no user twice":             func(f *idp.Facebook) { delete(f.Me, "id"); delete(f.Debug, "user_id") },
		"no data":                   func(f *idp.Facebook) { f.Debug = nil },
		"debug_token refuses": func(f *idp.Facebook) {
			f.Graph = answering("/debug_token", 400, map[string]any{"error": map[string]any{"code": 190}})
		},
		"debug_token is down": func(f *idp.Facebook) { f.Graph = answering("/debug_token", 500, nil) },
		"me refuses": func(f *idp.Facebook) {
			f.Graph = answering("/me", 400, map[string]any{"error": map[string]any{"code": 190}})
		},
		"the token endpoint is down": func(f *idp.Facebook) {
			f.Graph = answering("/access_token", 503, nil)
		},
		"no token": func(f *idp.Facebook) {
			f.Graph = answering("/access_token", 200, map[string]any{})
		},
		"an answer of 2 MiB": func(f *idp.Facebook) {
			f.Me["about"] = strings.Repeat("x", 2<<20)
		},
		"an id that is longer than it is": func(f *idp.Facebook) {
			f.Me["id"] = strings.Repeat("1", 300)
			f.Debug["user_id"] = f.Me["id"]
		},
		"an error that holds the token": func(f *idp.Facebook) {
			f.Graph = answering("/access_token", 400, map[string]any{"error": f.Access})
		},
	}
	for name, lie := range testkit.ByName(tests) {
		t.Run(name, func(t *testing.T) {
			fake, s := book(t)
			lie(fake)
			if person, _, err := s.login(t); err == nil {
				t.Errorf("taken for %+v", person)
			} else {
				refusedQuietly(t, s.fake, err)
			}
		})
	}
}

// The address of debug_token holds the person's token, as Facebook wants it; an
// error of the connection names addresses.
func TestFacebook_errors(t *testing.T) {
	fake, s := book(t)
	fake.Graph = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/debug_token") {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	_, _, err := s.login(t)
	if err == nil {
		t.Fatal("taken")
	}
	refusedQuietly(t, s.fake, err)
}

func TestFacebook_codeOnce(t *testing.T) {
	fake, s := book(t)
	address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
	if err != nil {
		t.Fatal(err)
	}
	code := fake.Authorize(t, address).Query().Get("code")
	if _, _, err := s.set.Complete(t.Context(), s.config, sent, providers.Response{Code: code}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.set.Complete(t.Context(), s.config, sent, providers.Response{Code: code}); err == nil {
		t.Error("the code is taken a second time")
	}
	other := sent
	other.Verifier += "x"
	answer := providers.Response{Code: fake.Authorize(t, address).Query().Get("code")}
	_, _, err = s.set.Complete(t.Context(), s.config, other, answer)
	if err == nil {
		t.Error("another verifier is taken")
	}
}
