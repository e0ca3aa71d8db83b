package providers_test

import (
	"errors"
	"testing"
	"time"

	"postern/service/login/providers"
	"postern/service/login/tokencheck"
	"postern/testkit"
	"postern/testkit/idp"
)

// refusedTokens are tokens of another app, or invalid ones, by the stage in every.
var refusedTokens = map[string]struct {
	of   string
	make func(p *presented) string
}{
	"google, another aud": {
		"google",
		func(p *presented) string { p.fake.Verdict = set("aud", "another"); return p.token },
	},
	"google, another azp": {
		"google",
		func(p *presented) string { p.fake.Verdict = set("azp", "another"); return p.token },
	},
	"google, not to sign in": {
		"google",
		func(p *presented) string { p.fake.Verdict = unset("sub"); return p.token },
	},
	"google, an ID token's aud": {
		"google id",
		func(p *presented) string { return identified(p.fake, set("aud", "another")) },
	},
	"google, an ID token's azp": {
		"google id",
		func(p *presented) string { return identified(p.fake, set("azp", "another")) },
	},
	"google, an ID token that ends": {"google id", func(p *presented) string {
		return identified(p.fake, set("exp", time.Now().Add(-2*time.Minute).Unix()))
	}},
	"google, another's ID token": {
		"google id",
		func(p *presented) string { return identified(p.fake, set("iss", "https://evil.example")) },
	},
	"microsoft, another appid": {
		"microsoft",
		func(p *presented) string { return graph(p, set("appid", "another")) },
	},
	"microsoft, no appid":   {"microsoft", func(p *presented) string { return graph(p, unset("appid")) }},
	"microsoft, it is over": {"microsoft", func(p *presented) string { return graph(p, set("exp", 1)) }},
	"microsoft, no tid":     {"microsoft", func(p *presented) string { return graph(p, unset("tid")) }},
	"microsoft, no oid":     {"microsoft", func(p *presented) string { return graph(p, unset("oid")) }},
	"microsoft, iss is not tid's": {
		"microsoft",
		func(p *presented) string { return graph(p, set("tid", "00000000-0000-0000-0000-000000000001")) },
	},
	"microsoft, azp of another": {"microsoft, its own API", func(p *presented) string {
		return graph(p, func(c map[string]any) { c["aud"] = idp.ClientID; c["appid"] = "another" })
	}},
	"oidc, another client_id": {
		"oidc",
		func(p *presented) string { p.fake.Verdict = set("client_id", "another"); return p.token },
	},
	"oidc, another audience": {"oidc", func(p *presented) string {
		p.fake.Verdict = func(a map[string]any) { delete(a, "client_id"); a["aud"] = "another" }
		return p.token
	}},
	"oidc, another issuer": {
		"oidc",
		func(p *presented) string { p.fake.Verdict = set("iss", "https://evil.example"); return p.token },
	},
	"oidc, not active": {
		"oidc",
		func(p *presented) string { p.fake.Verdict = set("active", false); return p.token },
	},
	"oidc, a refresh token": {
		"oidc",
		func(p *presented) string { p.fake.Verdict = set("token_type", "Refresh"); return p.token },
	},
	"oidc, it is over": {"oidc", func(p *presented) string { p.fake.Verdict = set("exp", 1); return p.token }},
	"oidc, not yet": {"oidc", func(p *presented) string {
		p.fake.Verdict = set("nbf", time.Now().Add(time.Hour).Unix())
		return p.token
	}},
	"oidc, bound to a key": {
		"oidc",
		func(p *presented) string { p.fake.Verdict = set("cnf", map[string]any{"jkt": "x"}); return p.token },
	},
	"oidc, no subject": {"oidc", func(p *presented) string { p.fake.Verdict = unset("sub"); return p.token }},
	"readable, another client_id": {"oidc, readable", func(p *presented) string {
		return readable(p.fake, func(c map[string]any) { c["client_id"] = "another"; c["aud"] = idp.ClientID })
	}},
	"readable, another azp": {"auth0", func(p *presented) string {
		return readable(
			p.fake,
			func(c map[string]any) { c["azp"] = "another"; c["aud"] = []string{idp.ClientID, "x"} },
		)
	}},
	"readable, no client": {
		"oidc, readable",
		func(p *presented) string { return readable(p.fake, unset("client_id")) },
	},
	"readable, it is over": {
		"oidc, readable",
		func(p *presented) string { return readable(p.fake, set("exp", 1)) },
	},
	"readable, without an end": {
		"oidc, readable",
		func(p *presented) string { return readable(p.fake, unset("exp")) },
	},
	"readable, bound to a key": {
		"oidc, readable",
		func(p *presented) string { return readable(p.fake, set("cnf", map[string]any{"jkt": "x"})) },
	},
	"readable, of another issuer": {
		"oidc, readable",
		func(p *presented) string { return readable(p.fake, set("iss", "https://evil.example")) },
	},
	"an access token, not an ID": {"oidc id", func(p *presented) string { return readable(p.fake, nil) }},
}

func TestOwner_refused(t *testing.T) {
	for name, one := range testkit.ByName(refusedTokens) {
		t.Run(name, func(t *testing.T) {
			p := every[one.of](t)
			if got, err := p.owner(t, one.make(p)); !errors.Is(err, tokencheck.ErrRefused) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestOwner_refusedGitHubAndFacebook(t *testing.T) {
	github := idp.StartGitHub(t)
	github.Check["app"] = map[string]any{"client_id": "another"}
	facebook := idp.StartFacebook(t)
	facebook.Debug["type"] = "PAGE"
	set := &providers.Set{
		HTTP:          guarded(t),
		GitHubURL:     github.URL,
		GitHubAPI:     github.URL,
		FacebookURL:   facebook.URL,
		FacebookGraph: facebook.URL,
	}
	for kind, token := range map[string]string{providers.GitHub: github.Access, providers.Facebook: facebook.Access} {
		if _, err := set.Owner(t.Context(), configOf(kind, ""), token, false); !errors.Is(err, tokencheck.ErrRefused) {
			t.Errorf("%s: a token of another: %v", kind, err)
		}
	}
	facebook.Debug["type"], facebook.Debug["expires_at"] = "USER", time.Now().Add(-time.Minute).Unix()
	_, err := set.Owner(t.Context(), configOf(providers.Facebook, ""), facebook.Access, false)
	if !errors.Is(err, tokencheck.ErrRefused) {
		t.Errorf("facebook: a token that is over: %v", err)
	}
	facebook.Debug["expires_at"], facebook.Debug["app_id"] = 0, "another"
	_, err = set.Owner(t.Context(), configOf(providers.Facebook, ""), facebook.Access, false)
	if !errors.Is(err, tokencheck.ErrRefused) {
		t.Errorf("facebook: a token of another app: %v", err)
	}
}

func set(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

func unset(name string) func(map[string]any) { return func(m map[string]any) { delete(m, name) } }

// graph creates another token that Graph takes.
func graph(p *presented, change func(map[string]any)) string {
	p.fake.Access = idp.MicrosoftAccess(p.fake, change)
	return p.fake.Access
}
