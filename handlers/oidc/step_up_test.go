package oidc_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// minutes is an auth_time that many minutes before the provider states it.
type minutes int

// minutesAgo is an auth_time.
func minutesAgo(n int) int64 { return time.Now().Add(-time.Duration(n) * time.Minute).Unix() }

// stating changes the ID tokens of a provider: it authenticated the user at that time.
func stating(at int64) func(map[string]any) {
	return func(claims map[string]any) { claims["auth_time"], claims["acr"] = at, "silver" }
}

// stepUps are demands of a client, and answers of its provider.
var stepUps = []struct {
	name   string
	ask    url.Values
	sent   url.Values // what reaches the provider, "" for a parameter that must not
	answer map[string]any
	strip  bool // the browser removes what is demanded on the way
	unmet  string
}{
	{
		name: "nothing demanded, nothing stated",
		sent: url.Values{"prompt": {""}, "max_age": {""}, "acr_values": {""}},
	},
	{name: "nothing demanded, an old authentication", answer: map[string]any{"auth_time": minutes(900)}},
	{
		name:   "prompt=login, authenticated again",
		ask:    url.Values{"prompt": {"login"}},
		sent:   url.Values{"prompt": {"login"}, "max_age": {"0"}},
		answer: map[string]any{"auth_time": minutes(0)},
	},
	{
		name:   "prompt=login, an older authentication",
		ask:    url.Values{"prompt": {"login"}},
		answer: map[string]any{"auth_time": minutes(1)},
		unmet:  "authenticate the user again",
	},
	{
		name:   "prompt=login, removed on the way",
		ask:    url.Values{"prompt": {"login"}},
		answer: map[string]any{"auth_time": minutes(1)},
		strip:  true,
		unmet:  "authenticate the user again",
	},
	{
		name:  "prompt=login, removed on the way, no auth_time", // which the tokens don't have either
		ask:   url.Values{"prompt": {"login"}},
		strip: true,
	},
	{name: "max_age=0, removed on the way", ask: url.Values{"max_age": {"0"}}, strip: true, unmet: "auth_time"},
	{
		name:   "max_age=0 is prompt=login",
		ask:    url.Values{"max_age": {"0"}},
		sent:   url.Values{"prompt": {"login"}, "max_age": {"0"}},
		answer: map[string]any{"auth_time": minutes(1)},
		unmet:  "authenticate the user again",
	},
	{
		name:   "max_age, a session young enough",
		ask:    url.Values{"max_age": {"3600"}},
		sent:   url.Values{"prompt": {""}, "max_age": {"3600"}},
		answer: map[string]any{"auth_time": minutes(59)},
	},
	{
		name:   "max_age, a session too old",
		ask:    url.Values{"max_age": {"3600"}},
		answer: map[string]any{"auth_time": minutes(62)},
		unmet:  "max_age",
	},
	{name: "max_age, not stated", ask: url.Values{"max_age": {"3600"}}, strip: true, unmet: "auth_time"},
	{
		name:   "max_age, a time to come",
		ask:    url.Values{"max_age": {"3600"}},
		answer: map[string]any{"auth_time": minutes(-90)},
		unmet:  "auth_time",
	},
	{
		name:   "max_age, no time",
		ask:    url.Values{"max_age": {"3600"}},
		answer: map[string]any{"auth_time": "now"},
		unmet:  "auth_time",
	},
	{
		name:   "acr_values, met",
		ask:    url.Values{"acr_values": {"gold  silver"}},
		sent:   url.Values{"acr_values": {"gold silver"}, "max_age": {""}},
		answer: map[string]any{"acr": "silver", "amr": []string{"pwd", "otp"}},
	},
	{name: "acr_values, removed on the way", ask: url.Values{"acr_values": {"gold"}}, strip: true},
	{
		name:   "acr_values, another one",
		ask:    url.Values{"acr_values": {"gold"}},
		answer: map[string]any{"acr": "bronze"},
	},
	{
		name: "hints",
		ask:  url.Values{"login_hint": {"ana@example.com&x=1"}, "ui_locales": {"de-AT de"}},
		sent: url.Values{"login_hint": {"ana@example.com&x=1"}, "ui_locales": {"de-AT de"}},
	},
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	for _, tt := range stepUps {
		t.Run(tt.name, func(t *testing.T) {
			answer := maps.Clone(tt.answer)
			if n, ok := answer["auth_time"].(minutes); ok {
				answer["auth_time"] = minutesAgo(int(n))
			}
			fake.Claims = func(claims map[string]any) {
				for name, value := range answer {
					claims[name] = value
				}
			}
			browser, r := s.browser(), s.request("openid")
			for name, values := range tt.ask {
				r.query[name] = values
			}
			to := s.toProvider(browser, r, provider.ID)
			asked := to.Query()
			for name := range tt.sent {
				if got := asked.Get(name); got != tt.sent.Get(name) || asked.Has(name) != (got != "") {
					t.Errorf("%s=%q reaches the provider, want %q", name, got, tt.sent.Get(name))
				}
			}
			if tt.strip {
				for name := range tt.ask {
					asked.Del(name)
				}
				asked.Del("max_age")
				to.RawQuery = asked.Encode()
			}
			back := s.agree(browser, fake.Authorize(t, to.String()).String())
			if tt.unmet != "" {
				wantUnmet(t, back, tt.unmet)
				return
			}
			if !back.Query().Has("code") {
				t.Fatalf("back with %s", back)
			}
			wantStated(t, answer, s.exchange(r, back))
		})
	}
}

func wantUnmet(t *testing.T, back *url.URL, why string) {
	t.Helper()
	q := back.Query()
	if q.Get("error") != "unmet_authentication_requirements" || q.Get("state") != "the state" || q.Has("code") {
		t.Errorf("back with %s", back)
	}
	if text := q.Get("error_description"); !strings.Contains(text, why) {
		t.Errorf("the description is %q, want %q in it", text, why)
	}
}

// wantStated compares what our tokens state with what the provider stated.
func wantStated(t *testing.T, stated map[string]any, tokens got) {
	t.Helper()
	for which, token := range map[string]string{"ID": tokens.ID, "access": tokens.Access} {
		says := claims(t, token)
		if at, there := stated["auth_time"]; there && says["auth_time"] != float64(at.(int64)) {
			t.Errorf("the %s token's auth_time is %v, want %v", which, says["auth_time"], at)
		} else if _, invented := says["auth_time"]; !there && invented {
			t.Errorf("the %s token states an auth_time that the provider did not", which)
		}
		if acr := stated["acr"]; says["acr"] != acr {
			t.Errorf("the %s token's acr is %v, want %v", which, says["acr"], acr)
		}
		list, _ := says["amr"].([]any)
		if want, _ := stated["amr"].([]string); len(list) != len(want) {
			t.Errorf("the %s token's amr is %v, want %v", which, list, want)
		}
	}
}

// The provider's claims stay the same when tokens are refreshed.
func TestStepUp_refresh(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	at := minutesAgo(7)
	fake.Claims = func(claims map[string]any) { claims["auth_time"], claims["acr"] = at, "gold" }
	browser, r := s.browser(), s.request("openid offline_access")
	back := fake.Authorize(t, s.toProvider(browser, r, provider.ID).String())
	first := s.exchange(r, s.agree(browser, back.String()))
	again := s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.Refresh}})
	wantStated(t, map[string]any{"auth_time": at, "acr": "gold"}, again)
}

// unable are kinds that cannot prove what is demanded.
var unable = map[string]struct {
	start    func(t *testing.T, s *app) contract.NewProvider
	demands  []string // which are refused at once
	provable []string
}{
	"github": {
		func(t *testing.T, s *app) contract.NewProvider {
			fake := idp.StartGitHub(t)
			s.server.AppClients.Providers.GitHubURL, s.server.AppClients.Providers.GitHubAPI = fake.URL, fake.URL
			return contract.NewProvider{Type: "github"}
		},
		[]string{"max_age=60", "max_age=0"}, []string{"prompt=select_account", "prompt=login", "acr_values=gold"},
	},
	"facebook": {
		func(*testing.T, *app) contract.NewProvider { return contract.NewProvider{Type: "facebook"} },
		[]string{"max_age=60", "max_age=0"}, []string{"prompt=select_account", "prompt=login", "acr_values=gold"},
	},
	"google": {
		func(t *testing.T, s *app) contract.NewProvider {
			s.server.AppClients.Providers.GoogleURL = idp.StartGoogle(t).URL
			return contract.NewProvider{Type: "google"}
		},
		nil, []string{"prompt=login", "max_age=0", "max_age=60", "acr_values=gold"},
	},
	"microsoft": {
		func(t *testing.T, s *app) contract.NewProvider {
			s.server.AppClients.Providers.MicrosoftURL = idp.StartMicrosoft(t).URL
			return contract.NewProvider{Type: "microsoft"}
		},
		nil, []string{"prompt=login", "max_age=0", "max_age=60", "acr_values=gold"},
	},
}

func TestStepUp_unprovable(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	for kind, tt := range testkit.ByName(unable) {
		t.Run(kind, func(t *testing.T) {
			s := newLoginApp(t, db, contract.AppClientSettings{})
			in := tt.start(t, s)
			id, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
			in.ClientID, in.ClientSecret = &id, &secret
			first := s.offer(in)
			ask := func(demand string) step {
				name, value, _ := strings.Cut(demand, "=")
				r := s.request("openid")
				r.query.Set(name, value)
				return s.get(s.browser(), s.path("/authorize?"+r.query.Encode()))
			}
			for _, demand := range tt.demands {
				if page := ask(demand); page.to == nil {
					t.Errorf("%s: %d %s", demand, page.status, page.Find("main").Text())
				} else {
					wantUnmet(t, page.to, "none of the application's providers")
				}
			}
			for _, demand := range tt.provable {
				page := ask(demand)
				direct := page.to != nil && page.to.Query().Get("client_id") == id
				if !direct && page.Find("a[href$='/"+first.ID+"']").Length() != 1 {
					t.Errorf("%s: %d to %v, want %s", demand, page.status, page.to, kind)
				}
			}
			// Next to a provider that can, only that one is offered, and the link of the other one is refused.
			if len(tt.demands) == 0 {
				return
			}
			_, other := s.offerFake()
			browser, r := s.browser(), s.request("openid")
			r.query.Set("max_age", "60")
			r.query.Set("prompt", "select_account") // the only one to choose is gone to at once otherwise
			page := s.get(browser, s.path("/authorize?"+r.query.Encode()))
			if n := page.Find("a[data-provider]").Length(); n != 1 {
				t.Fatalf("%d providers are offered, want 1", n)
			}
			link := page.Find("a[data-provider]").AttrOr("href", "")
			if forced := s.get(browser, strings.Replace(link, other.ID, first.ID, 1)); forced.status != 409 {
				t.Errorf("the link of the other one: %d", forced.status)
			}
		})
	}
}

// Values that are passed on to the provider unchanged have bounds.
func TestAuthorize_hintBounds(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	s.offerFake()
	for _, name := range []string{"login_hint", "ui_locales", "acr_values"} {
		for _, value := range []string{strings.Repeat("x", 501), "a\nb", "a\u202eb"} {
			r := s.request("openid")
			r.query.Set(name, value)
			if page := s.get(s.browser(), s.path("/authorize?"+r.query.Encode())); page.to == nil ||
				page.to.Query().Get("error") != "invalid_request" {
				t.Errorf("%s=%.10q: %d %v", name, value, page.status, page.to)
			}
		}
	}
}

// The certified provider: max_age reaches it, it states auth_time, and a request whose
// demands were removed on the way is refused.
func TestStepUp_certifiedProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	real := idp.StartCertified(t)
	provider := s.offerReal(real)
	session := real.NewBrowser(t)
	signIn := func(demand string, strip bool) (request, *url.URL, int) {
		browser, r := s.browser(), s.request("openid")
		name, value, _ := strings.Cut(demand, "=")
		r.query.Set(name, value)
		to := s.toProvider(browser, r, provider.ID)
		if strip {
			q := to.Query()
			q.Del("prompt")
			q.Del("max_age")
			to.RawQuery = q.Encode()
		}
		back, asked := session.SignIn(t, to.String(), "ana")
		return r, s.agree(browser, back.String()), asked
	}
	before := time.Now().Unix()
	r, back, asked := signIn("prompt=login", false)
	if at, _ := claims(t, s.exchange(r, back).ID)["auth_time"].(float64); asked == 0 || int64(at) < before {
		t.Errorf("asked for the password %d times, auth_time %v", asked, at)
	}
	// The browser is signed in at the provider now, which asks again where it is told to.
	if r, back, asked = signIn("max_age=3600", false); asked != 0 || s.exchange(r, back).ID == "" {
		t.Errorf("within max_age, the password is asked for %d times", asked)
	}
	if r, back, asked = signIn("prompt=login", false); asked == 0 || s.exchange(r, back).ID == "" {
		t.Error("prompt=login does not reach the provider")
	}
	// A browser that removes prompt=login is not authenticated again, and the tokens do not state that it was.
	r, back, asked = signIn("prompt=login", true)
	if _, stated := claims(t, s.exchange(r, back).ID)["auth_time"]; asked != 0 || stated {
		t.Errorf("asked for the password %d times; auth_time is stated: %t", asked, stated)
	}
	_, back, _ = signIn("max_age=0", true)
	wantUnmet(t, back, "auth_time")
	if r, back, _ = signIn("acr_values=gold", false); s.exchange(r, back).ID == "" {
		t.Error("acr_values, a voluntary claim, is refused")
	}
}
