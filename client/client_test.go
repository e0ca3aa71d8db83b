package client_test

import (
	"context"
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
	"postern/client"
	"postern/core/contract"
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
		"--data-dir", t.TempDir(),
		"--control-addr", "127.0.0.1:0",
		"--gateway-addr", "127.0.0.1:0",
		"--drain", "0s",
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

// workspace creates a project called shop, and a client with its key.
func workspace(t *testing.T, server string) (*client.Client, contract.Proxy) {
	t.Helper()
	proxy, err := client.Do(t.Context(), connect(t, server, ""), contract.CreateProxy, contract.NewProxy{
		Target: testkit.NewUpstream(t).URL, Name: "shop", RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, server, proxy.WorkspaceKey.Reveal()), proxy
}

func TestContract_everyField(t *testing.T) {
	server := start(t)
	api, proxy := workspace(t, server)
	acme := contract.NewTenant{Name: "acme", FallbackOwner: "acme-app"}
	if _, err := client.Do(t.Context(), api, contract.CreateTenant, contract.TenantCreation{Body: acme}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), api, contract.AttachTenant, contract.Attachment("shop", "acme")); err != nil {
		t.Fatal(err)
	}
	product := contract.NewProduct{Name: "store"}
	if _, err := client.Do(
		t.Context(), api, contract.CreateProduct, contract.ProductCreation{Body: product},
	); err != nil {
		t.Fatal(err)
	}
	change := contract.ProjectUpdate{
		ProjectPath: contract.ProjectPath{Project: "shop"},
		Body: contract.ProjectChange{
			Product: contract.Sent("store"),
			Limits:  contract.ProjectLimitsChange{IP: &contract.Limits{"minute": 10}},
		},
	}
	if _, err := client.Do(t.Context(), api, contract.UpdateProject, change); err != nil {
		t.Fatal(err)
	}
	key, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{
		Owner:        "billing",
		Environment:  "prod",
		Tenant:       "acme",
		Product:      "store",
		Limits:       map[string]int64{"minute": 100, "day": 5000},
		AllowedCIDRs: []string{"203.0.113.7"},
	}.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	queued, err := client.Do(t.Context(), api, contract.CreateExport, contract.NewExport{Format: "data"}.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.WaitExport(t.Context(), queued.ID, nil); err != nil {
		t.Fatal(err)
	}
	same[contract.Project](t, server+"/api/v1/projects/shop", proxy.WorkspaceKey.Reveal())
	same[contract.Key](t, server+"/api/v1/keys/"+key.ID, proxy.WorkspaceKey.Reveal())
	same[contract.Export](t, server+"/api/v1/exports/"+queued.ID, proxy.WorkspaceKey.Reveal())
}

func TestAuditFilters(t *testing.T) {
	api, _ := workspace(t, start(t))
	key, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{Owner: "billing"}.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), api, contract.FreezeKey, key.Path()); err != nil {
		t.Fatal(err)
	}
	lastHour, nextHour := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for want, in := range map[string]contract.AuditList{
		"[key.change key.create]": {Object: key.ID},
		"[key.change]": {
			Project: "shop",
			Action:  "key.change",
			Outcome: "done",
			From:    lastHour,
		},
		"[]":                                     {Outcome: "refused", To: nextHour},
		"[key.change key.create project.create]": {},
	} {
		t.Run(want, func(t *testing.T) {
			actions := []string{}
			for e, err := range client.Each(t.Context(), api, contract.ListAuditEntries, in) {
				if err != nil {
					t.Fatal(err)
				}
				actions = append(actions, e.Action)
			}
			if fmt.Sprint(actions) != want {
				t.Errorf("%+v: got %v", in, actions)
			}
		})
	}
}

func TestVerifyAudit(t *testing.T) {
	api, _ := workspace(t, start(t))
	for _, owner := range []string{"billing", "support"} {
		in := contract.NewKey{Owner: owner}.In("shop")
		if _, err := client.Do(t.Context(), api, contract.CreateKey, in); err != nil {
			t.Fatal(err)
		}
	}
	verdict, err := client.Do(t.Context(), api, contract.VerifyAudit, contract.AuditVerification{})
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.Intact || verdict.Entries != 3 {
		t.Errorf("verdict = %+v, want three entries, intact", verdict)
	}
	otherHead := "2:" + strings.Repeat("0", 64)
	in := contract.AuditVerification{Team: *verdict.Team, Head: otherHead}
	if verdict, err = client.Do(t.Context(), api, contract.VerifyAudit, in); err != nil {
		t.Fatal(err)
	}
	if verdict.Intact || verdict.Broken.Number != 2 {
		t.Errorf("verdict against another head = %+v, want entry 2 broken", verdict)
	}
}

// same decodes the server's response into a T, encodes it again, and fails on any
// difference: the command line prints the second form as the API's JSON.
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

func keysOf(project string) contract.KeyList {
	return contract.KeyList{ProjectPath: contract.ProjectPath{Project: project}}
}

func TestEach_everyPage(t *testing.T) {
	api, _ := workspace(t, start(t))
	// One page holds 200. The project itself came with one more key.
	for i := range 201 {
		in := contract.NewKey{Owner: fmt.Sprintf("app-%d", i)}.In("shop")
		if _, err := client.Do(t.Context(), api, contract.CreateKey, in); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for key, err := range client.Each(t.Context(), api, contract.ListKeys, keysOf("shop")) {
		if err != nil {
			t.Fatal(err)
		}
		seen[key.ID] = true
	}
	if len(seen) != 202 {
		t.Errorf("%d different keys, want 202", len(seen))
	}
	for range client.Each(t.Context(), api, contract.ListKeys, keysOf("shop")) {
		break // an iterator that calls yield again panics
	}
	for _, err := range client.Each(t.Context(), api, contract.ListKeys, keysOf("nope")) {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("keys of an unknown project: %v", err)
		}
	}
}

// A page of a filtered list may have no items and still be followed by others (docs/lists.md).
func TestFirst_emptyPages(t *testing.T) {
	pages := map[string]string{
		"":  `{"items": [], "next_cursor": "a"}`,
		"a": `{"items": [{"id": "key_1"}, {"id": "key_2"}], "next_cursor": "b"}`,
		"b": `{"items": [], "next_cursor": "c"}`,
		"c": `{"items": [{"id": "key_3"}], "next_cursor": null}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, pages[r.URL.Query().Get("cursor")])
	}))
	t.Cleanup(server.Close)
	api, err := client.New(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		most  int
		keys  []string
		more  bool
		named string
	}{
		{0, []string{"key_1", "key_2", "key_3"}, false, "all"},
		{1, []string{"key_1"}, true, "part of a page"},
		{2, []string{"key_1", "key_2"}, true, "a whole page"},
		{3, []string{"key_1", "key_2", "key_3"}, false, "to the end"},
	} {
		t.Run(tt.named, func(t *testing.T) {
			got, more, err := client.First(t.Context(), api, contract.ListKeys, keysOf("shop"), tt.most)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, key := range got.Items {
				keys = append(keys, key.ID)
			}
			if diff := cmp.Diff(tt.keys, keys); diff != "" || more != tt.more {
				t.Errorf("more: %v, want %v; keys (-want +got):\n%s", more, tt.more, diff)
			}
		})
	}
}
