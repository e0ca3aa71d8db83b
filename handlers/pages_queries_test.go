package handlers_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/golden"
	"postern/testkit/state"
)

// allObjects are the parameters of all pages, for Fixture.NewAllObjects.
const allObjects = "/invite/team/session/:code/:export/:mapping/versions/:version/openapi/:domain/api-scopes/" +
	":key_type/:import"

// notPages are routes outside of the JSON API that answer something other than a page, or that change something.
var notPages = []string{
	"/healthz", "/readyz", "/metrics", "/.well-known/", "/static/", "/openapi", "/oauth/", "/brand/", "/callback",
	"/tested", "download",
}

// queried are pages that make other statements with a query, with the queries.
var queried = map[string][]string{
	"/projects":               {"q=api", "sort=created&dir=desc"},
	"/projects/:project/keys": {"q=0042", "state=revoked", "sort=owner", "owner=customer-7"},
	"/projects/:project/usage": {
		"period=1h&by=key", "period=7d&by=key", "period=30d&by=key", "period=30d&by=owner", "period=30d&by=tenant",
		"period=30d&by=environment", "period=30d&by=route", "period=30d&by=status",
	},
	"/projects/:project/usage.csv": {"period=30d&by=key"},
	"/projects/:project/requests":  {"status=2xx"},
	"/tenants/:tenant/users":       {"q=user-42", "sort=name"},
	"/audit": {
		"action=key.create", "outcome=refused", "project=shop-1", "q=customer", "from=2026-01-01", "sort=created",
	},
	"/projects/:project/relations": {"q=order", "sort=user"},
}

// searched are texts that the search finds projects, keys, users and tenants by.
var searched = []string{"api", "customer-7", "user-42", "nothing like it"}

// pageRequest is a request for a page.
type pageRequest struct{ method, route, query, path, form string }

func (p pageRequest) name() string {
	name := p.route
	if p.method != http.MethodGet {
		name = p.method + " " + name + " " + p.form
	}
	if p.query != "" {
		name += "?" + p.query
	}
	return name
}

// pagesOf lists all pages of the dashboard, with the objects.
func pagesOf(t testing.TB, o *controlplane.Fixture, has controlplane.Objects) (out []pageRequest) {
	t.Helper()
	fill := strings.NewReplacer(":page", "keys", ":tag", "Keys")
	for _, route := range controlplane.Routes(o.Server) {
		want := guards[route.Method+" "+route.Path]
		if route.Method != http.MethodGet || controlplane.IsAPI(route.Path) || want.operator ||
			slices.ContainsFunc(notPages, func(part string) bool { return strings.Contains(route.Path, part) }) ||
			strings.HasPrefix(route.Path, "/scim/") {
			continue
		}
		path := fill.Replace(has.Path(route.Path))
		p := pageRequest{method: route.Method, route: route.Path, path: path + o.FillBody(t, has, want.query)}
		out = append(out, p)
		for _, query := range queried[route.Path] {
			p.query, p.path = query, path+"?"+query
			out = append(out, p)
		}
	}
	for _, text := range searched {
		form := "q=" + strings.ReplaceAll(text, " ", "+")
		out = append(out, pageRequest{method: http.MethodPost, route: "/search", path: "/search", form: form})
	}
	return out
}

// statementsFile has a line for each page: what it may make, and its name.
const statementsFile = "testdata/statements.golden"

// perRow are the pages that may make statements for each row, with the reason.
var perRow = map[string]string{
	"/account/delete":                   "one has few teams, and each may keep the account",
	"/projects/:project/export/preview": "it builds an export",
}

// TestPageQueries_golden counts the statements of every page, with few rows and with many. A page must make no more
// than statementsFile says, and none for each row that it lists. Both databases get the same statements, so one is
// enough.
func TestPageQueries_golden(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	var statements atomic.Int64
	if err := db.OnStatement(func(context.Context) { statements.Add(1) }); err != nil {
		t.Fatal(err)
	}
	o := controlplane.NewFixture(t, db)
	has := o.NewAllObjects(t, "webhook", allObjects)
	pages := pagesOf(t, o, has)
	count := func(p pageRequest) int64 {
		p.load(o) // what is cached is there
		before := statements.Load()
		if status := p.load(o); status >= 500 {
			t.Fatalf("%s answers %d", p.path, status)
		}
		return statements.Load() - before
	}
	few, many := map[string]int64{}, map[string]int64{}
	for _, p := range pages {
		few[p.name()] = count(p)
	}
	for i := range 15 {
		more(t, o, has, i)
	}
	moreRows(t, o, has)
	for _, p := range pages {
		if perRow[p.name()] == "" {
			many[p.name()] = count(p)
		}
	}
	for name, n := range many {
		if n > few[name]+3 { // three are made only if there is another page
			t.Errorf("GET %s makes %d statements, and %d with more rows", name, few[name], n)
		}
	}
	checkStatements(t, many)
}

// checkStatements compares the statements of pages with the file.
func checkStatements(t *testing.T, made map[string]int64) {
	t.Helper()
	text, err := os.ReadFile(statementsFile)
	check(t, err)
	most := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		check(t, err)
		most[name] = n
	}
	if golden.Update(t) {
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(made)) {
			n, bound := made[name], most[name]
			if n <= bound && n >= bound-2 {
				n = bound // which holds, so that an update changes only the bounds that don't
			}
			fmt.Fprintf(&text, "%d %s\n", n, name)
		}
		golden.Compare(t, statementsFile, text.String())
		return
	}
	for name, n := range made {
		switch bound, listed := most[name]; {
		case !listed:
			t.Errorf("%s is not in %s; run make golden", name, statementsFile)
		case n > bound:
			t.Errorf("%s makes %d statements, want at most %d", name, n, bound)
		case n < bound-2:
			t.Errorf("%s makes only %d statements of %d; run make golden", name, n, bound)
		}
	}
}

// moreRows adds rows that no request adds: usage by many owners and tenants, exports, deliveries and relations.
func moreRows(t *testing.T, o *controlplane.Fixture, has controlplane.Objects) {
	t.Helper()
	small := stock{projects: 60, keys: 120, busiest: 60, inUse: 60, called: 40, entries: 120, users: 60}
	small.fill(t, o, has)
	webhook := strings.TrimPrefix(has.Path("/webhooks/:webhook"), "/webhooks/")
	now := models.Now()
	var exports []models.Export
	var deliveries []models.WebhookDelivery
	for range 20 {
		exports = append(exports, models.Export{
			ID: models.NewID("exp"), ProjectID: has.Project, Format: "kong", Keys: "hashes", State: "ready",
			CreatedAt: now, FinishedAt: &now, ExpiresAt: &now,
		})
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: models.NewID("msg"), WebhookID: webhook, Event: "key.created", Payload: "{}", State: "delivered",
			CreatedAt: now, FinishedAt: &now,
		})
	}
	insertAll(t, o.DB, exports)
	insertAll(t, o.DB, deliveries)
}

// more adds one of what pages list to the objects.
func more(t *testing.T, o *controlplane.Fixture, has controlplane.Objects, i int) {
	t.Helper()
	for _, add := range []struct{ route, body string }{
		{"/api/v1/projects/:project/keys", `{"owner":"owner-%d"}`},
		{"/api/v1/projects/:project/key-types", `{"name":"type-%d","scopes":["read"]}`},
		{"/api/v1/projects/:project/domains", `{"host":"www-9%d.example.com","environment":"prod","version":"1.0.0"}`},
		{"/api/v1/tenants/:tenant/users", `{"email":"user-%d@example.com"}`},
		{"/api/v1/tenants/:tenant/groups", `{"name":"group-%d"}`},
		{"/api/v1/tenants/:tenant/signup/approvals", `{"kind":"domain","value":"d%d.example.com"}`},
		{"/api/v1/tenants/:tenant/app-clients", `{"name":"app-%d"}`},
		{"/api/v1/projects/:project/versions", `{"name":"9.%d.0"}`},
		{"/api/v1/products", `{"name":"product-9%d"}`},
		{"/api/v1/tenants", `{"name":"listed-%d"}`},
		{"/api/v1/webhooks", `{"url":"http://8.8.8.8/hook-%d"}`},
		{"/api/v1/tokens", `{"name":"token-%d","scopes":["read"]}`},
		{"/api/v1/teams", `{"name":"team-%d"}`},
		{"/api/v1/teams/:team/invitations", `{"role":"viewer"}`},
		{"/api/v1/projects/:project/relations", `{"user":"owner-%d","object":"order:9%[1]d"}`},
	} {
		body := add.body
		if strings.Contains(body, "%d") {
			body = fmt.Sprintf(body, i)
		}
		got := o.Do(t, http.MethodPost, has.Path(add.route), body, o.Owner)
		if got.Status != http.StatusCreated && got.Status != http.StatusOK {
			t.Fatalf("POST %s: %d %s", add.route, got.Status, got.Raw)
		}
	}
	o.CreateProject(t, o.Principal, fmt.Sprintf("more-%d", i))
}
