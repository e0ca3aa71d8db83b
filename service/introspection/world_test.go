package introspection_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/gateway"
	"postern/gateway/bearer"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/introspection"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/login/providers"
	"postern/service/projects"
	"postern/service/serving"
	"postern/testkit"
)

// world is a gateway that asks, with the gateway key, with the control plane next to it.
type world struct {
	introspector *introspection.Introspector
	verifier     *bearer.Verifier
	appClients   *appclients.Service
	login        *login.Service
	people       *directory.Service
	projects     *projects.Service
	feed         *serving.Feed
	vault        *secrets.Vault
	client       *http.Client
	front        string // address of the gateway
	upstream     *testkit.Upstream
	log          *testkit.LogBuffer
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	w := &world{upstream: testkit.NewUpstream(t), log: &testkit.LogBuffer{}}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	key := secrets.Secret(strings.Repeat("A", 43) + "=")
	if w.vault, err = secrets.NewVault(key); err != nil {
		t.Fatal(err)
	}
	w.client = guard.Client()
	t.Cleanup(w.client.CloseIdleConnections)
	set := &providers.Set{HTTP: w.client}
	newAppClients := func(vault *secrets.Vault) *appclients.Service {
		return &appclients.Service{
			DB:        db,
			Vault:     vault,
			Providers: set,
			Targets:   guard,
			PublicURL: "https://postern.example",
			Log:       log,
			Changed:   func(ctx context.Context) { w.feed.Changed(ctx) },
		}
	}
	w.appClients = newAppClients(w.vault)
	w.login = login.New(w.appClients)
	w.people = &directory.Service{DB: db, Changed: w.login.Changed}
	gatewayKey, err := secrets.GatewayKeys(key)
	if err != nil {
		t.Fatal(err)
	}
	gatewayVault, err := secrets.NewVault(gatewayKey)
	if err != nil {
		t.Fatal(err)
	}
	w.introspector = &introspection.Introspector{
		Login:  login.New(newAppClients(gatewayVault)),
		DB:     db,
		Vault:  gatewayVault,
		Client: w.client,
		Log:    log,
	}
	w.verifier = bearer.New(w.client, log)
	t.Cleanup(w.verifier.Close)
	table := keys.NewTable()
	plane := gateway.New(gateway.Options{
		Domain:       "127.0.0.1",
		Keys:         table,
		Introspector: w.introspector,
		Verifier:     w.verifier,
		Dial:         guard.DialContext,
		Logger:       log,
	})
	w.feed = &serving.Feed{DB: db, Keys: table, PublicURL: "https://postern.example", Publish: plane.Publish, Log: log}
	if err := w.feed.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.projects = &projects.Service{
		DB:           db,
		Targets:      guard,
		Vault:        w.vault,
		CheckLogin:   w.appClients.CheckProject,
		Log:          log,
		KeyPrefix:    "pst",
		UnclaimedTTL: time.Hour,
		Changed:      w.feed.Changed,
	}
	door, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, ended := plane.Server(""), make(chan struct{})
	w.front = "http://" + door.Addr().String()
	go func() {
		defer close(ended)
		_ = server.Serve(door)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		http.DefaultClient.CloseIdleConnections()
		plane.Close()
		<-ended
	})
	return w
}

// create creates a project and a principal that may change it.
func (w *world) create(t *testing.T, in projects.CreateInput) (projects.Project, access.Principal) {
	t.Helper()
	in.Target = w.upstream.URL
	made, err := w.projects.Create(t.Context(), access.Principal{}, in)
	if err != nil {
		t.Fatal(err)
	}
	return made.Project, access.Principal{
		Roles:    map[string]access.Role{made.Workspace.Team: access.Workspace},
		HomeTeam: made.Workspace.Team,
	}
}

// answer is a caller's answer.
type answer struct {
	status int
	body   string
	header http.Header
}

// call calls a project with a token.
func (w *world) call(t *testing.T, project, token string) answer {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.front+"/"+project+"/1.0.0/prod/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer "+token)
	got, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{got.StatusCode, string(body), got.Header}
}

// wants checks the status and the gateway's own code, "" for an answer of the upstream.
func (a answer) wants(t *testing.T, when string, status int, code string) {
	t.Helper()
	if a.status != status || (code != "" && !strings.Contains(a.body, `"code":"`+code+`"`)) {
		t.Errorf("%s: %d %s, want %d %s", when, a.status, a.body, status, code)
	}
}
