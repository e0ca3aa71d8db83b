package movein_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/kongfile"
	plans "postern/core/movein"
	"postern/gateway"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/domains"
	"postern/service/keys"
	"postern/service/movein"
	"postern/service/projects"
	"postern/service/ratelimit"
	"postern/service/serving"
	"postern/testkit"
)

// world is a team that moves in, with a gateway.
type world struct {
	*movein.Service
	owner    access.Principal
	keys     *keys.Service
	upstream *testkit.Upstream
	front    string // address of the gateway
}

const publicURL = "https://postern.example"

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	table := keys.NewTable()
	plane := gateway.New(gateway.Options{
		Domain: "127.0.0.1", Keys: table, Dial: guard.DialContext, Logger: log, Limiter: ratelimit.NewLocal(),
		Unsealer: projects.Unsealer{Vault: vault},
	})
	feed := &serving.Feed{DB: db, Keys: table, PublicURL: publicURL, Publish: plane.Publish, Log: log}
	if err := feed.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "team", ClaimedAt: &now, CreatedAt: now}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
		t.Fatal(err)
	}
	return &world{
		Service: &movein.Service{
			DB: db,
			Projects: &projects.Service{
				DB: db, Targets: guard, Vault: vault, Log: log, PublicURL: publicURL, KeyPrefix: "pst",
				Changed: feed.Changed,
			},
			Domains: &domains.Service{DB: db, Own: []string{"postern.example"}, Log: log, Changed: feed.Changed},
			Changed: feed.Changed,
		},
		owner: access.Principal{
			Account: models.NewID("acc"), Roles: map[string]access.Role{team.ID: access.Owner}, HomeTeam: team.ID,
			Operator: true,
		},
		keys:     &keys.Service{DB: db, Prefix: "pst", Changed: feed.Changed},
		upstream: testkit.NewUpstream(t),
		front:    serve(t, plane),
	}
}

// serve returns the address at which a gateway serves calls.
func serve(t *testing.T, plane *gateway.Gateway) string {
	t.Helper()
	door, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, ended := plane.Server(""), make(chan struct{})
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
	return "http://" + door.Addr().String()
}

// file is a Kong file with two services.
const file = `_format_version: "3.0"
services:
- name: Orders
  url: UPSTREAM/base
  routes:
  - {name: orders, hosts: [api.example.com], paths: [/orders]}
  plugins:
  - {name: acl, config: {allow: [Team A]}}
  - {name: rate-limiting, config: {year: 3, policy: local}}
  - {name: request-transformer, config: {add: {headers: ["X-From:kong", "X-Api-Token:token-of-upstream"]}}}
- name: invoices
  url: UPSTREAM
  routes:
  - {name: invoices, hosts: [api.example.com], paths: [/invoices], strip_path: false, methods: [GET, POST]}
  - {name: away, hosts: [away.example.com], plugins: [{name: ip-restriction, config: {allow: [192.0.2.0/24]}}]}
plugins:
- {name: key-auth, config: {key_names: [X-Old-Key], key_in_query: false, hide_credentials: true}}
consumers:
- username: alice
  custom_id: c-1
  acls: [{group: Team A}]
  keyauth_credentials: [{key: alice-0123456789abcdef, id: 5f7c0a4e-6b0c-4a55-9d3c-0d8c3d3f3c11}]
- username: bob
  keyauth_credentials: [{key: bob-0123456789abcdefgh}]
`

const aliceKey, bobKey = "alice-0123456789abcdef", "bob-0123456789abcdefgh"

// plan plans a file in which the old text is replaced by the new one, in pairs.
func (w *world) plan(t *testing.T, replaced ...string) *plans.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replaced, "UPSTREAM", w.upstream.URL)...).Replace(file)
	return planOf(t, text)
}

func planOf(t testing.TB, text string) *plans.Plan {
	t.Helper()
	read, err := kongfile.Read([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plans.Kong(read, plans.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// approve proves a host name of a project.
func (w *world) approve(t *testing.T, project, host string) {
	t.Helper()
	if _, err := w.Domains.Approve(t.Context(), w.owner, contract.DomainOf(project, host)); err != nil {
		t.Fatal(err)
	}
}

// call calls the gateway as callers of the old one do, and returns the status.
func (w *world) call(t *testing.T, method, host, path, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.front+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	if key != "" {
		request.Header.Set("X-Old-Key", key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		t.Logf("%s %s%s: %d %s", method, host, path, answer.StatusCode, body)
	}
	return answer.StatusCode
}

// rows counts the rows of every table that an import writes, apart from what undo leaves: revisions, the audit log and
// data keys.
func rows(t *testing.T, db *models.DB) string {
	t.Helper()
	var out []string
	for _, table := range []string{
		"teams", "projects", "versions", "environments", "upstream_headers", "domains", "key_types", "tenants",
		"project_tenants", "products", "api_keys", "revoked_hashes", "user_groups", "group_owners", "move_ins",
		"moved_objects",
	} {
		out = append(out, fmt.Sprint(table, " ", count(t, db, table)))
	}
	return strings.Join(out, ", ")
}

func count(t *testing.T, db *models.DB, query string) (n int64) {
	t.Helper()
	err := db.Consistent(context.WithoutCancel(t.Context()), func(tx *models.Tx) error {
		return tx.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM "+query).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
