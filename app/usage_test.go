package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"postern/app"
	"postern/client"
	"postern/core/contract"
	"postern/models"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/ports"
	"postern/testkit/state"
)

// running is a whole server in front of an upstream that counts.
type running struct {
	t        *testing.T
	settings config.Config
	api      *client.Client
	key      string
	stop     func()

	upstream   string
	seen       atomic.Int64 // calls at the upstream
	seenBytes  atomic.Int64 // of their bodies
	sentBytes  atomic.Int64 // of its responses
	holdUp     chan struct{}
	inProgress chan struct{}
	unanswered string // an address where nothing answers
}

func settingsFor(t *testing.T, databaseURL string) config.Config {
	t.Helper()
	dir := t.TempDir()
	if databaseURL == "" {
		if _, err := state.SQLiteIn(dir); err != nil {
			t.Fatal(err)
		}
	}
	return settings(dir, databaseURL)
}

// start runs a server with the projects shop, which requires keys, and down, which asks for none and whose upstream is
// not there.
func start(t *testing.T, databaseURL string) *running {
	t.Helper()
	r := &running{
		t:          t,
		settings:   settingsFor(t, databaseURL),
		holdUp:     make(chan struct{}),
		inProgress: make(chan struct{}, 100),
	}
	upstream := httptest.NewServer(r)
	t.Cleanup(upstream.Close)
	r.upstream = upstream.URL
	r.unanswered = "http://" + ports.Address(t)
	r.settings, r.stop = serve(t, r.settings)
	api, err := client.New(r.settings.PublicURL, "")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := client.Do(t.Context(), api, contract.CreateProxy, contract.NewProxy{
		Target:       r.upstream,
		Name:         "shop",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), api, contract.CreateProxy,
		contract.NewProxy{Target: r.unanswered, Name: "down"}.Request()); err != nil {
		t.Fatal(err)
	}
	r.key = shop.APIKeys["prod"].Key.Reveal()
	if r.api, err = client.New(r.settings.PublicURL, shop.WorkspaceKey.Reveal()); err != nil {
		t.Fatal(err)
	}
	return r
}

// serve runs a server until the stop that it returns, which is a clean one.
func serve(t *testing.T, settings config.Config) (config.Config, func()) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	server, err := app.New(t.Context(), settings, "test", log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Errorf("the server stopped with %v", err)
		}
	})
	t.Cleanup(stop)
	return server.Config, stop
}

// ServeHTTP is the upstream.
func (r *running) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.seen.Add(1)
	n, _ := io.Copy(io.Discard, request.Body)
	r.seenBytes.Add(n)
	switch {
	case strings.HasSuffix(request.URL.Path, "/hold"):
		r.inProgress <- struct{}{}
		<-r.holdUp
	case strings.HasSuffix(request.URL.Path, "/fails"):
		w.WriteHeader(http.StatusInternalServerError)
	}
	n64, _ := io.WriteString(w, strings.Repeat("x", int(n)%7+1))
	r.sentBytes.Add(int64(n64))
}

// tally counts the answers to callers: by status class, and in bytes.
type tally struct {
	calls     [6]atomic.Int64
	refused   atomic.Int64 // by the gateway itself
	got, sent atomic.Int64 // bytes of bodies
}

func (r *running) call(c *http.Client, to *tally, path, key, body string) {
	request, err := http.NewRequest(http.MethodPost, r.settings.GatewayURL+path, strings.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return
	}
	if key != "" {
		request.Header.Set("X-API-Key", key)
	}
	answer, err := c.Do(request)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Error(err)
	}
	to.calls[answer.StatusCode/100].Add(1)
	to.got.Add(int64(len(text)))
	var own struct{ Code string }
	if json.Unmarshal(text, &own) == nil && own.Code != "" {
		to.refused.Add(1)
	} else {
		to.sent.Add(int64(len(body)))
	}
}

// Everything that callers were answered, upstreams were asked and the log wrote
// down is in the rows, and nothing else, also of the calls that were still under
// way when the server was told to stop.
func TestUsage_reconciles(t *testing.T) {
	state.EachAddress(t, func(t *testing.T, databaseURL string) {
		r := start(t, databaseURL)
		const callers, each = 16, 240
		paths := []struct{ path, key string }{
			{"/shop/1.0.0/prod/orders", r.key}, {"/shop/1.0.0/prod/fails", r.key}, {"/shop/1.0.0/prod", ""},
			{"/shop/1.0.0/prod/x?key=" + r.key, "wrong"}, {"/nowhere/1.0.0/prod", r.key},
			{"/down/1.0.0/prod", ""},
		}
		c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
		t.Cleanup(c.CloseIdleConnections)
		var counted, uncounted, down tally
		var calling sync.WaitGroup
		for caller := range callers {
			calling.Go(func() {
				for n := range each {
					p, to := paths[(caller+n)%len(paths)], &counted
					switch {
					case strings.HasPrefix(p.path, "/nowhere"):
						to = &uncounted
					case strings.HasPrefix(p.path, "/down"):
						to = &down
					}
					r.call(c, to, p.path, p.key, strings.Repeat("b", n%50))
				}
			})
		}
		calling.Wait()
		const shopCalls = callers * each * 4 / 6
		r.awaitLog(t, shopCalls)
		for range 10 {
			calling.Go(func() { r.call(c, &counted, "/shop/1.0.0/prod/hold", r.key, "held") })
			<-r.inProgress
		}
		c.CloseIdleConnections() // a server waits for those that were opened and not used
		stopped := make(chan struct{})
		go func() { defer close(stopped); r.stop() }()
		r.stopsListening()
		close(r.holdUp)
		calling.Wait()
		<-stopped

		const calls = shopCalls + 10
		if counted.calls[2].Load()+counted.calls[4].Load()+counted.calls[5].Load() != calls ||
			uncounted.calls[4].Load() != callers*each/6 {
			t.Fatalf("callers were answered %+v", &counted)
		}
		if sums := r.rows("down"); sums[0].Calls != callers*each/6 || sums[0].Calls != down.calls[5].Load() ||
			sums[0].BytesOut != down.got.Load() {
			t.Errorf("of an upstream that is not there: %+v", sums)
		}
		sums := r.rows("shop", models.UsageByStatusClass)
		var total models.UsageHour
		for _, sum := range sums {
			if want := counted.calls[sum.StatusClass].Load(); sum.Calls != want {
				t.Errorf("%dxx: %d calls in the rows, %d answered", sum.StatusClass, sum.Calls, want)
			}
			total.Calls += sum.Calls
			total.BytesIn += sum.BytesIn
			total.BytesOut += sum.BytesOut
		}
		if total.Calls != calls || total.Calls != r.seen.Load()+counted.refused.Load() {
			t.Errorf(
				"%d calls in the rows, %d were made: %d seen by the upstream and %d refused", total.Calls,
				calls, r.seen.Load(), counted.refused.Load(),
			)
		}
		if total.BytesIn != r.seenBytes.Load() || total.BytesIn != counted.sent.Load() ||
			total.BytesOut != counted.got.Load() {
			t.Errorf("bytes: %d in and %d out in the rows, %d seen by the upstream, %d and %d by callers",
				total.BytesIn, total.BytesOut, r.seenBytes.Load(), counted.sent.Load(), counted.got.Load())
		}
	})
}

// stopsListening waits until the server that is being stopped takes no calls.
func (r *running) stopsListening() {
	r.t.Helper()
	testkit.Eventually(r.t, "the end of listening", func() bool {
		answer, err := http.DefaultClient.Get(r.settings.GatewayURL + "/nowhere")
		if err == nil {
			answer.Body.Close()
		}
		return err != nil
	})
}

// rows reads what a stopped server left in the database.
func (r *running) rows(project string, by ...string) []models.UsageSum {
	r.t.Helper()
	db, err := models.Open(r.t.Context(), r.settings.DatabaseURL.Reveal(), r.settings.SQLitePath())
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	tx := db.Read(r.t.Context())
	parent, err := tx.ProjectByName(project)
	if err != nil {
		r.t.Fatal(err)
	}
	sums, err := tx.UsageOf(parent.ID, 0, 1<<40, by, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	return sums
}

// awaitLog waits until the live log has numbered that many requests, those
// included that it dropped. A caller may have its response before the log has the
// call.
func (r *running) awaitLog(t *testing.T, calls int64) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%d requests in the log or dropped", calls), func() (string, bool) {
		log, err := client.Do(t.Context(), r.api, contract.ListRequests, contract.RequestList{
			ProjectPath: contract.ProjectPath{Project: "shop"}, Page: contract.Page{Limit: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		newest := log.Items[0].ID // entries are numbered without gaps
		return newest, strings.HasSuffix(newest, fmt.Sprintf("-%d", calls-log.Dropped))
	})
}
