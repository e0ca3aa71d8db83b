package oidc_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"postern/testkit/idp"
)

// onTheBrowser has the attacks on the redirects to the provider and back, which are the
// same for every kind of provider.
var onTheBrowser = []attack{
	{"no state", func(s *providerLogin) step {
		browser, _, back := s.begin()
		return s.get(browser, with(back, func(q url.Values) { q.Del("state") }))
	}},
	{"a state that is cut off", func(s *providerLogin) step {
		browser, _, back := s.begin()
		return s.get(browser, with(back, func(q url.Values) { q.Set("state", q.Get("state")[:len(q.Get("state"))-1]) }))
	}},
	{"two states", func(s *providerLogin) step {
		browser, _, back := s.begin()
		return s.get(browser, with(back, func(q url.Values) { q.Add("state", "x") }))
	}},
	{"the state a second time, after a code that the provider refused", func(s *providerLogin) step {
		browser, _, back := s.begin()
		s.get(browser, with(back, func(q url.Values) { q.Set("code", "guessed") }))
		return s.get(browser, back.String()) // with a code that was not used
	}},
	{"the state a second time, in another browser", func(s *providerLogin) step {
		s.newUser() // who is asked for consent, so that the login is not complete
		browser := s.browser()
		asked := s.toProvider(browser, s.request("openid"), s.provider.ID).String()
		s.get(browser, s.fake.Authorize(s.t, asked).String())
		return s.get(s.browser(), s.fake.Authorize(s.t, asked).String()) // with a code that was not used
	}},
	{"the answer of another browser", func(s *providerLogin) step { // a victim follows the attacker's link
		_, _, back := s.begin()
		victim, _, _ := s.begin()
		return s.get(victim, back.String())
	}},
	{"an answer where no login was begun", func(s *providerLogin) step {
		_, _, back := s.begin()
		return s.get(s.browser(), back.String())
	}},
	{"the answer at another provider's callback", func(s *providerLogin) step { // mix-up (RFC 9700, 4.4)
		browser, _, back := s.begin()
		return s.get(browser, strings.Replace(back.String(), s.provider.ID, s.other.ID, 1))
	}},
	{"an answer in another issuer's name", func(s *providerLogin) step { // mix-up (RFC 9207, 2.4)
		browser, _, back := s.begin()
		return s.get(browser, with(back, func(q url.Values) { q.Set("iss", "https://evil.example") }))
	}},
	{"two issuers", func(s *providerLogin) step {
		browser, _, back := s.begin()
		return s.get(
			browser,
			with(back, func(q url.Values) { q["iss"] = []string{s.fake.URL, "https://evil.example"} }),
		)
	}},
	{"a code that was used", func(s *providerLogin) step {
		thief, _, theirs := s.begin()
		victim, _, back := s.begin()
		s.get(victim, back.String())
		return s.get(thief, with(theirs, func(q url.Values) { q.Set("code", back.Query().Get("code")) }))
	}},
	{"a code that was stolen", func(s *providerLogin) step { // unused, so that PKCE alone protects
		thief, _, theirs := s.begin()
		_, _, back := s.begin()
		return s.get(thief, with(theirs, func(q url.Values) { q.Set("code", back.Query().Get("code")) }))
	}},
	{"no code", func(s *providerLogin) step {
		browser, _, back := s.begin()
		return s.get(browser, with(back, func(q url.Values) { q.Del("code") }))
	}},
	{"two codes", func(s *providerLogin) step {
		browser, _, back := s.begin()
		return s.get(browser, with(back, func(q url.Values) { q.Add("code", "x") }))
	}},
	{"an error that is a page", func(s *providerLogin) step {
		browser, _, back := s.begin()
		got := s.get(browser, with(back, func(q url.Values) {
			q.Set("error", "<a href=https://evil.example>")
			q.Set("error_description", "<a href=https://evil.example>")
		}))
		if strings.Contains(got.raw, "evil.example") {
			s.t.Error("the provider's text is on the page")
		}
		return got
	}},
	{"the consent of another browser", func(s *providerLogin) step {
		s.newUser()
		browser, _, back := s.begin()
		form := formOf(s.get(browser, back.String()), "agree")
		other, _, _ := s.begin()
		return s.post(other, s.path("/consent"), form)
	}},
	{"a consent that is forged", func(s *providerLogin) step {
		s.newUser()
		browser, _, back := s.begin()
		form := formOf(s.get(browser, back.String()), "agree")
		ticket := form.Get("ticket")
		form.Set("ticket", ticket[:len(ticket)/2]+"AAAA"+ticket[len(ticket)/2+4:])
		return s.post(browser, s.path("/consent"), form)
	}},
}

// newUser has the provider sign in a user who is new here, and so is asked for consent.
func (s *providerLogin) newUser() {
	switch {
	case s.github != nil:
		s.github.User["id"] = 77
	case s.facebook != nil:
		s.facebook.Me["id"], s.facebook.Debug["user_id"] = "77", "77"
	default:
		honest := s.fake.Claims
		s.fake.Claims = func(claims map[string]any) {
			if honest != nil {
				honest(claims)
			}
			claims["sub"] = "77"
			if claims["oid"] != nil {
				claims["oid"] = "00000000-0000-0000-66f3-000000000077"
			}
		}
	}
}

// asking is an authorization request with something changed.
func asking(name string, pairs ...string) attack {
	return attack{name, func(s *providerLogin) step {
		r := s.request("openid")
		for i := 0; i < len(pairs); i += 2 {
			r.query.Set(pairs[i], pairs[i+1])
		}
		return s.get(s.browser(), s.path("/authorize?"+r.query.Encode()))
	}}
}

// exchanging is a token request with something changed.
func exchanging(name string, change func(s *providerLogin, form url.Values)) attack {
	return attack{name, func(s *providerLogin) step {
		browser, r, back := s.begin()
		form := url.Values{
			"grant_type":    {"authorization_code"},
			"client_id":     {s.client.ID},
			"code":          {s.agree(browser, back.String()).Query().Get("code")},
			"redirect_uri":  {callback},
			"code_verifier": {r.verifier},
		}
		change(s, form)
		return s.post(http.DefaultClient, s.path("/token"), form)
	}}
}

// The attacks in the application's name.
var onTheClient = []attack{
	asking("another host to go back to", "redirect_uri", "https://evil.example/app/callback"),
	asking("a path below", "redirect_uri", callback+"/more"),
	asking("a path with dots", "redirect_uri", callback+"/../../evil"),
	asking("a query more", "redirect_uri", callback+"?next=https://evil.example"),
	asking("a name before the host", "redirect_uri", "http://127.0.0.1@evil.example/app/callback"),
	asking("a script to go back to", "redirect_uri", "javascript:alert(1)"),
	asking("PKCE plain", "code_challenge_method", "plain"),
	asking("no PKCE", "code_challenge", "", "code_challenge_method", ""),
	asking("the implicit flow", "response_type", "token id_token"),
	exchanging("no verifier", func(_ *providerLogin, form url.Values) { form.Del("code_verifier") }),
	exchanging(
		"the challenge as verifier",
		func(_ *providerLogin, form url.Values) { form.Set("code_verifier", form.Get("code_verifier")[1:]+"x") },
	),
	exchanging("another redirect URI", func(_ *providerLogin, form url.Values) {
		form.Set("redirect_uri", callback+"/")
	}),
	exchanging("another client", func(_ *providerLogin, form url.Values) { form.Set("client_id", "cli_other") }),
	exchanging("our code a second time", func(s *providerLogin, form url.Values) {
		if first := s.post(http.DefaultClient, s.path("/token"), form); first.status != http.StatusOK {
			s.t.Errorf("the first time, it is answered %d", first.status)
		}
	}),
	{"signing out to a stranger", func(s *providerLogin) step {
		got := s.get(s.browser(), s.path("/logout?"+url.Values{
			"id_token_hint":            {s.honest().ID},
			"post_logout_redirect_uri": {"https://evil.example"},
		}.Encode()))
		if got.to != nil || got.status != http.StatusOK {
			s.t.Errorf("signing out leads to %d %v", got.status, got.to)
		}
		got.status = http.StatusForbidden // it stays on our page, which is what is asked
		return got
	}},
	{"the same address elsewhere", func(s *providerLogin) step {
		mine := claims(s.t, s.honest().ID)["sub"]
		fake, provider := s.offerFake()
		address := "ana@example.com"
		if s.github != nil {
			address = "octocat@github.example"
		}
		fake.Claims = func(claims map[string]any) { claims["email"] = address }
		r, back := s.signIn(fake, provider, "openid email")
		theirs := claims(s.t, s.exchange(r, back).ID)
		if theirs["sub"] == mine || theirs["email"] != address {
			s.t.Errorf("another provider that names the same address is %v, who is %v", theirs, mine)
		}
		return s.judged()
	}},
}

// tokenPath tells the token endpoint of every kind.
func tokenPath(path string) bool {
	return strings.HasSuffix(path, "/token") || strings.HasSuffix(path, "/access_token")
}

// answering has the endpoints that match answer in their own way.
func (s *providerLogin) answering(match func(path string) bool, answer http.HandlerFunc) {
	honest := s.fake.Serve
	s.fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
		if match(r.URL.Path) {
			answer(w, r)
			return true
		}
		return honest != nil && honest(w, r)
	})
}

func tokenEndpoint(name string, answer http.HandlerFunc) attack {
	return attack{name, func(s *providerLogin) step {
		s.answering(tokenPath, answer)
		return s.arrives()
	}}
}

// The attacks by the provider's token endpoint.
var onTheExchange = []attack{
	tokenEndpoint(
		"a token endpoint of nonsense",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello")) },
	),
	tokenEndpoint(
		"a token endpoint of nothing",
		func(w http.ResponseWriter, _ *http.Request) { idp.Answer(w, http.StatusOK, map[string]any{}) },
	),
	tokenEndpoint(
		"a token endpoint that is down",
		func(w http.ResponseWriter, _ *http.Request) { idp.Answer(w, http.StatusBadGateway, nil) },
	),
	tokenEndpoint("a token endpoint of 2 MiB", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(
			w,
			`{"padding": "%s", "access_token": "x", "token_type": "bearer"}`,
			strings.Repeat("x", 2<<20),
		)
	}),
	tokenEndpoint("a token endpoint elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
	}),
	tokenEndpoint(
		"a token endpoint that hangs up",
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	),
	{"a token endpoint that never ends", func(s *providerLogin) step {
		s.answering(tokenPath, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"access_token": "x", `))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		set := s.server.AppClients.Providers
		patient := set.HTTP
		if patient.Timeout <= 0 {
			s.t.Fatal("nothing bounds how long a provider may take")
		}
		hasty := *patient
		hasty.Timeout = patient.Timeout / 100
		set.HTTP = &hasty
		defer func() { set.HTTP = patient }()
		return s.arrives()
	}},
}
