package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"postern/app"
	"postern/bundle"
	"postern/bundle/targets"
	"postern/client"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/testkit"
)

// start runs a whole server and returns its address.
func start(t *testing.T) string {
	t.Helper()
	return startApp(t).Config.PublicURL
}

// startApp runs a server with the default settings but for the given flags.
func startApp(t *testing.T, more ...string) *app.App {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	args := []string{
		"--data-dir",
		t.TempDir(),
		"--control-addr",
		"127.0.0.1:0",
		"--gateway-addr",
		"127.0.0.1:0",
		"--drain",
		"0s",
	}
	if err := flags.Parse(append(args, more...)); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	server, err := app.New(t.Context(), settings, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Errorf("the server stopped with %v", err)
		}
	})
	return server
}

func connect(t *testing.T, server, token string) *client.Client {
	t.Helper()
	c, err := client.New(server, token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// workspace makes a project called shop, and a client with its key.
func workspace(t *testing.T, server string) (*client.Client, client.Proxy) {
	t.Helper()
	proxy, err := connect(t, server, "").CreateProxy(t.Context(), client.NewProxy{
		Target: testkit.NewUpstream(t).URL, Name: "shop", RequestsAuth: &client.NewAuth{Mode: "authenticate"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, server, proxy.WorkspaceKey), proxy
}

func TestEveryFieldOfTheAPIIsKept(t *testing.T) {
	server := start(t)
	api, proxy := workspace(t, server)
	if _, err := api.CreateTenant(t.Context(), client.NewTenant{Name: "acme", FallbackOwner: "acme-app"}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.AttachTenant(t.Context(), "shop", "acme"); err != nil {
		t.Fatal(err)
	}
	if _, err := api.CreateProduct(t.Context(), client.NewProduct{Name: "store"}); err != nil {
		t.Fatal(err)
	}
	store := client.Nullable("store")
	change := client.ProjectChange{Product: &store, Limits: &client.ProjectLimits{IP: map[string]int64{"minute": 10}}}
	if _, err := api.UpdateProject(t.Context(), "shop", change); err != nil {
		t.Fatal(err)
	}
	key, err := api.CreateKey(
		t.Context(),
		"shop",
		client.NewKey{Owner: "billing", Environment: "prod", Tenant: "acme", Product: "store",
			Limits: map[string]int64{"minute": 100, "day": 5000}, AllowedCIDRs: []string{"203.0.113.7"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	queued, err := api.CreateExport(t.Context(), "shop", client.NewExport{Format: "data"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.WaitExport(t.Context(), queued.ID, nil); err != nil {
		t.Fatal(err)
	}
	same[client.Project](t, server+"/api/v1/projects/shop", proxy.WorkspaceKey)
	same[client.Key](t, server+"/api/v1/keys/"+key.ID, proxy.WorkspaceKey)
	same[client.Tenant](t, server+"/api/v1/tenants/acme", proxy.WorkspaceKey)
	same[client.Product](t, server+"/api/v1/products/store", proxy.WorkspaceKey)
	same[client.Export](t, server+"/api/v1/exports/"+queued.ID, proxy.WorkspaceKey)
	same[client.AuditPage](t, server+"/api/v1/audit", proxy.WorkspaceKey)
	same[client.AuditVerdict](t, server+"/api/v1/audit/verify", proxy.WorkspaceKey)
}

func TestTheAuditLogIsFilteredAndVerified(t *testing.T) {
	api, _ := workspace(t, start(t))
	key, err := api.CreateKey(t.Context(), "shop", client.NewKey{Owner: "billing"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.FreezeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	for want, q := range map[string]client.AuditQuery{
		"[key.change key.create]":                {Object: key.ID},
		"[key.change]":                           {Project: "shop", Action: "key.change", Outcome: "done", From: time.Now().Add(-time.Hour)},
		"[]":                                     {Outcome: "refused", To: time.Now().Add(time.Hour)},
		"[key.change key.create project.create]": {},
	} {
		page, err := api.Audit(t.Context(), q, "", 50)
		actions := []string{}
		for _, e := range page.Items {
			actions = append(actions, e.Action)
		}
		if err != nil || fmt.Sprint(actions) != want {
			t.Errorf("%+v: %v, %v; want %s", q, actions, err, want)
		}
	}
	verdict, err := api.VerifyAudit(t.Context(), "", "")
	if err != nil || !verdict.Intact || verdict.Entries != 3 {
		t.Errorf("%+v, %v", verdict, err)
	}
	if verdict, err = api.VerifyAudit(t.Context(), *verdict.Team, "2:"+strings.Repeat("0", 64)); err != nil ||
		verdict.Intact ||
		verdict.Broken.Number != 2 {
		t.Errorf("against another head: %+v, %v", verdict, err)
	}
}

// same compares what the server answers with what decoding and encoding make of
// it: the command line prints that as the API's JSON.
func same[T any](t *testing.T, address, token string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, answer.Status, err)
	}
	var typed T
	if err := json.Unmarshal(text, &typed); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(again, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%T (-server +client):\n%s", typed, diff)
	}
}

func TestListsGoThroughAllPages(t *testing.T) {
	api, _ := workspace(t, start(t))
	// More than the 200 of one page, with the one that was made at creation.
	for i := range 201 {
		if _, err := api.CreateKey(t.Context(), "shop", client.NewKey{Owner: fmt.Sprintf("app-%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for key, err := range api.Keys(t.Context(), "shop", client.KeyFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[key.ID] = true
	}
	if len(seen) != 202 {
		t.Errorf("%d different keys, want 202", len(seen))
	}
	for range api.Keys(t.Context(), "shop", client.KeyFilter{}) {
		break // must not panic by going on
	}
	for _, err := range api.Keys(t.Context(), "nope", client.KeyFilter{}) {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("keys of a project that is not there: %v", err)
		}
	}
}

func TestAnExportIsWaitedForAndDownloaded(t *testing.T) {
	api, _ := workspace(t, start(t))
	queued, err := api.CreateExport(t.Context(), "shop", client.NewExport{Format: "gateway"})
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	ready, err := api.WaitExport(t.Context(), queued.ID, func(e client.Export) { states = append(states, e.State) })
	if err != nil {
		t.Fatal(err)
	}
	if len(states) == 0 || states[len(states)-1] != "ready" {
		t.Errorf("progress told of %v", states)
	}
	var zip bytes.Buffer
	if err := api.Download(t.Context(), ready, &zip); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Verify(t.Context(), bytes.NewReader(zip.Bytes()), int64(zip.Len()), bundle.Against{Targets: targets.All()}); err != nil {
		t.Error(err)
	}
}

func TestProblemsBecomeFaults(t *testing.T) {
	server := start(t)
	api, _ := workspace(t, server)
	_, err := api.CreateProxy(t.Context(), client.NewProxy{Target: "ftp://x", Name: "Bad_"})
	var known *fault.Error
	if !errors.As(err, &known) || known.Kind != fault.Invalid || known.Code != "invalid_fields" ||
		len(known.Fields) != 2 ||
		known.Fields[0].Pointer == "" ||
		known.Fields[0].Detail == "" {
		t.Errorf("got %#v", err)
	}
	_, err = api.CreateProxy(t.Context(), client.NewProxy{Target: testkit.NewUpstream(t).URL, Name: "shop"})
	if fault.KindOf(err) != fault.Conflict || fault.CodeOf(err) != "name_taken" {
		t.Errorf("a taken name: %v", err)
	}
	_, err = connect(t, server, "canary").Project(t.Context(), "shop")
	if fault.KindOf(err) != fault.Unauthenticated || strings.Contains(err.Error(), "canary") {
		t.Errorf("a wrong token: %v", err)
	}
	for _, name := range []string{"", ".", "..", "nope", "a/b", "../keys", "%2e%2e"} {
		if _, err := api.Project(t.Context(), name); fault.KindOf(err) != fault.NotFound {
			t.Errorf("project %q: %v", name, err)
		}
	}
}

func TestEveryStatusHasItsKind(t *testing.T) {
	for status, want := range map[int]fault.Kind{400: fault.Malformed, 401: fault.Unauthenticated, 403: fault.Forbidden, 404: fault.NotFound,
		409: fault.Conflict, 410: fault.Gone, 412: fault.Stale, 413: fault.TooLarge, 415: fault.Unsupported, 422: fault.Invalid,
		429: fault.TooMany, 500: fault.Internal, 502: fault.Unavailable, 503: fault.Unavailable} {
		c := connect(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"code": "some_code", "detail": "Some text."}`)
		}), "")
		_, err := c.Project(t.Context(), "shop")
		var known *fault.Error
		if !errors.As(err, &known) || known.Kind != want || known.Code != "some_code" || known.Public != "Some text." {
			t.Errorf("%d: got %#v", status, err)
		}
	}
}

func answering(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheTokenGoesToNobodyElse(t *testing.T) {
	reached := make(chan string, 1)
	elsewhere := answering(t, func(_ http.ResponseWriter, r *http.Request) { reached <- r.Header.Get("Authorization") })
	server := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/canary-path?token=canary-query", http.StatusTemporaryRedirect)
	})
	_, err := connect(t, server, "canary-token").Project(t.Context(), "shop")
	if fault.CodeOf(err) != "redirected" || strings.Contains(err.Error(), "canary") ||
		!strings.Contains(err.Error(), elsewhere) {
		t.Errorf("got %v", err)
	}
	select {
	case got := <-reached:
		t.Errorf("the other server was called, with Authorization %q", got)
	default:
	}
}

func TestAServerThatIsNotThereOrNotPostern(t *testing.T) {
	_, err := connect(t, "http://127.0.0.1:1", "canary").Project(t.Context(), "shop")
	var known *fault.Error
	if !errors.As(err, &known) || known.Kind != fault.Unavailable ||
		known.Public != "no Postern answers at http://127.0.0.1:1: start one with `postern serve`, or name another with --server or POSTERN_SERVER" {
		t.Errorf("got %#v", err)
	}
	page := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if _, err := connect(t, page, "").Project(t.Context(), "shop"); fault.CodeOf(err) != "unexpected_answer" {
		t.Errorf("a page: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := connect(t, page, "").Project(ctx, "shop"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
	for _, address := range []string{"", "foo", "127.0.0.1:8080", "ftp://x", "http://", "http://user:canary@x", "http://x?canary=1", "http://x:canary"} {
		if _, err := client.New(address, ""); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestAnAddressHasOneSpelling(t *testing.T) {
	for _, spelling := range []string{"http://Example.com:80/", "HTTP://example.COM:80", " http://example.com:80// "} {
		if got, err := client.Address(spelling); err != nil || got != "http://example.com:80" {
			t.Errorf("%q: got %q, %v", spelling, got, err)
		}
	}
}

func TestADownloadIsCheckedWhileItStreams(t *testing.T) {
	content := []byte(strings.Repeat("zip", 1000))
	sum := sha256.Sum256(content)
	ready := client.Export{ID: "exp_1", SizeBytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		to    io.Writer
		code  string
		fails bool
	}{
		"whole":   {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }},
		"shorter": {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content[1:]) }, code: "download_damaged", fails: true},
		"longer": {serve: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(content[:len(content):len(content)], 0))
		}, code: "download_damaged", fails: true},
		"changed": {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.ToUpper(content)) }, code: "download_damaged", fails: true},
		"cut off": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:10])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, code: "download_cut_off", fails: true},
		"disk full": {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }, to: full{}, fails: true},
	} {
		var got bytes.Buffer
		to := test.to
		if to == nil {
			to = &got
		}
		err := connect(t, answering(t, test.serve), "").Download(t.Context(), ready, to)
		if (err != nil) != test.fails || fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && !bytes.Equal(got.Bytes(), content) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWaitingEndsWithTheExportOrTheCaller(t *testing.T) {
	for state, code := range map[string]string{"failed": "export_failed", "cancelled": "export_cancelled", "expired": "export_expired"} {
		c := connect(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(client.Export{ID: "exp_1", State: state, Error: "Why it failed."})
		}), "")
		if _, err := c.WaitExport(t.Context(), "exp_1", nil); fault.CodeOf(err) != code {
			t.Errorf("%s: %v", state, err)
		}
	}
	c := connect(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(client.Export{ID: "exp_1", State: "building"})
	}), "")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if _, err := c.WaitExport(ctx, "exp_1", func(client.Export) { stop() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
}
