package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/idp"
	"postern/testkit/servers"
)

// The trace of a call or a job has its requests to other systems. Of these, only the receiver of a webhook gets the
// trace.
func TestTraces_outgoingRequests(t *testing.T) {
	to, upstream := servers.StartCollector(t), testkit.NewUpstream(t)
	delivered := make(chan http.Header, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		delivered <- r.Header
	}))
	defer receiver.Close()
	key := idp.KeyOf(jose.ES256, "one")
	issuer := idp.StartIssuer(t, time.Now(), key)
	issuer.AnswerWith(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Traceparent") != "" {
			t.Error("an issuer got the trace")
		}
		return false
	})
	c := settings(t.TempDir(), "")
	c.RedisURL = config.Secret(servers.StartRedis(t).URL())
	c.Traces = config.Traces{Endpoint: to.URL, Ratio: 1}
	a := newApp(t, c)
	during(t, a, func(browser *http.Client) {
		if status, body := post(t, browser, a.FirstLink, ana); status != http.StatusOK {
			t.Fatalf("create the account: %d %s", status, body)
		}
		api := a.Config.PublicURL + "/api/v1"
		var made struct {
			Project struct{ Environments []struct{ URL string } }
		}
		pair := issuer.Pair()
		ask(t, browser, http.MethodPost, a.Config.PublicURL+"/proxy", `{"name": "shop", "target": "`+upstream.URL+`",
			"requests_auth": {"mode": "authenticate", "methods": ["jwt", "api_key"], "jwt": {"allowed_pairs": [
				{"iss": "`+pair.Issuer+`", "aud": "`+pair.Audience+`"}]}}}`, &made)
		var hook, created struct{ ID, Key string }
		ask(t, browser, http.MethodPost, api+"/webhooks",
			`{"url": "`+receiver.URL+`/quarz?token=quarz", "events": ["key.created"]}`, &hook)
		ask(t, browser, http.MethodPost, api+"/projects/shop/keys",
			`{"owner": "ana", "key_type": "full", "limits": {"hour": 100}}`, &created)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + key.Sign(t, nil, issuer.Claims()),
			"X-API-Key":     created.Key,
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				made.Project.Environments[0].URL+"/quarz", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set(name, value)
			answer, err := browser.Do(request)
			if status, body := read(t, answer, err); status != http.StatusOK {
				t.Errorf("a call with %s got %d %s", name, status, body)
			}
		}
		below := func(parent, name string) servers.Span {
			t.Helper()
			child := to.Await(t, func(s servers.Span) bool { return s.Name == name && s.Kind == "client" })
			to.Await(t, func(s servers.Span) bool { return s.ID == child.Parent && s.Name == parent })
			return child
		}
		for _, name := range []string{"GET discovery", "GET jwks"} {
			if span := below("GET /*", name); span.Attrs["http.response.status_code"] != "200" {
				t.Errorf("got %+v", span)
			}
		}
		if span := below("GET /*", "EVALSHA"); span.Attrs["db.system.name"] != "redis" ||
			span.Attrs["server.address"] != "127.0.0.1" {
			t.Errorf("got %+v", span)
		}
		attempt := below("job webhook_delivery", "POST webhook")
		want := "00-" + attempt.Trace + "-" + attempt.ID + "-01"
		if got := (<-delivered).Get("Traceparent"); got != want {
			t.Errorf("the receiver got traceparent %q, want %q", got, want)
		}
	})
	if strings.Contains(to.Text(), "quarz") {
		t.Error("a path or a query is in the spans")
	}
}
