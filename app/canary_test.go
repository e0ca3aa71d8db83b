package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"postern/app"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/servers"
	"postern/testkit/state"
)

// canaryTest is a server that logs everything, with every secret that was sent to it
// or issued by it.
type canaryTest struct {
	*testing.T
	settings config.Config
	log      *testkit.LogBuffer
	traces   *servers.Collector
	browser  *http.Client
	project  string            // id of shop
	chosen   int               // secrets that new returned
	canaries map[string]string // description -> secret
	outputs  map[string]string // place -> text that must not contain a canary
}

const canary = "CanaryCanaryCanaryCanaryCanaryCanary" // as long as a session or a key

// shownAgain are the secrets that a form repeats to its sender: the address that it
// is sent to, and the values of its visible fields.
var shownAgain = []string{"the first link", "a password typed as the address"}

// new returns a secret chosen by a caller, another one for each call. It is valid as a name or a
// value anywhere.
func (a *canaryTest) new(what string) string {
	a.chosen++
	secret := canary + fmt.Sprintf("%05d", a.chosen)
	if _, taken := a.canaries[what]; taken {
		what += fmt.Sprintf(" (%d)", a.chosen)
	}
	a.canaries[what] = secret
	return secret
}

// Secrets, valid and invalid ones, are sent to every route and field that takes them.
// None may appear in the log, the traces, the audit log, an error, the metrics, the live log of
// requests, an export, a table or, on SQLite, the database files.
func TestCanary_secrets(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testNoTrace(t, "") })
	t.Run("postgres", func(t *testing.T) { testNoTrace(t, state.Postgres(t)) })
}

func testNoTrace(t *testing.T, databaseURL string) {
	a := newCanaryTest(t)
	firstLink, stop := a.start(databaseURL)
	defer stop()

	a.canaries["the first link"] = firstLink[strings.LastIndex(firstLink, "/")+1:]
	a.signUp(firstLink)
	a.useKeys()
	a.tryEveryRoute()
	// The wrong session cookies have removed the session.
	a.form("/signin", "email", "ana@example.com", "password", a.canaries["the password"])
	a.browser.CloseIdleConnections()
	a.capture("metrics", "/metrics", http.StatusOK)
	a.capture("live log", "/api/v1/projects/shop/requests?limit=200", http.StatusOK)
	a.capture("audit log", "/api/v1/audit?limit=200", http.StatusOK)
	a.capture("the operators' audit log", "/api/v1/audit?limit=200&team=installation", http.StatusOK)
	stop()
	a.readDatabase()
	a.outputs["the log"] = a.log.String()
	a.outputs["the traces"] = a.traces.Text()
	a.checkOutputs()
}

func newCanaryTest(t *testing.T) *canaryTest {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &canaryTest{
		T:        t,
		log:      &testkit.LogBuffer{},
		traces:   servers.StartCollector(t),
		canaries: map[string]string{},
		outputs:  map[string]string{},
		browser: &http.Client{
			Jar:           jar,
			Transport:     &http.Transport{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	t.Cleanup(a.browser.CloseIdleConnections)
	return a
}

// start runs a server that logs at every level. stop can be called more than once.
func (a *canaryTest) start(databaseURL string) (firstLink string, stop func()) {
	a.Helper()
	log := slog.New(slog.NewJSONHandler(a.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	settings := settingsFor(a.T, databaseURL)
	settings.Traces = config.Traces{
		Endpoint: a.traces.URL,
		Headers:  map[string]config.Secret{"Authorization": config.Secret(a.new("the collector's credential"))},
		Ratio:    1,
	}
	server, err := app.New(a.Context(), settings, "test", log)
	if err != nil {
		a.Fatal(err)
	}
	a.settings = server.Config
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	return server.FirstLink, sync.OnceFunc(func() {
		cancel()
		if err := <-stopped; err != nil {
			a.Errorf("stop: %v", err)
		}
	})
}

// captured are the places that must hold text, or the search in them proves nothing.
var captured = []string{
	"the tables",
	"the log",
	"the traces",
	"metrics",
	"live log",
	"audit log",
	"the operators' audit log",
	"the export, gateway",
	"the export, data",
	"all audit entries",
}

// checkOutputs searches every output for every canary.
func (a *canaryTest) checkOutputs() {
	a.Helper()
	for place, text := range a.outputs {
		for what, secret := range a.canaries {
			if strings.HasPrefix(place, "answer") && slices.Contains(shownAgain, what) {
				continue
			}
			if strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret)) {
				at := strings.Index(text, secret)
				a.Errorf("%s is in %s: …%.200q", what, place, text[max(0, at-120):])
			}
		}
	}
	for _, place := range captured {
		if len(a.outputs[place]) < 100 {
			a.Errorf("%s was not captured: %.100q", place, a.outputs[place])
		}
	}
}
