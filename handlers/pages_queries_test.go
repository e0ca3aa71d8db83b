package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// maxStatements bounds the statements of one page, its session and its team among them.
const maxStatements = 60

// perRow are the pages that may make statements for each row, with the reason.
var perRow = map[string]string{
	"/account/delete":               "one has few teams, and each may keep the account",
	"/projects/NAME/export/preview": "it builds an export",
}

// TestPages_queries counts the statements of every page, with few rows and with many: a page must not make one for
// each row that it lists. Both databases get the same statements, so one is enough.
func TestPages_queries(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	var statements atomic.Int64
	if err := db.OnStatement(func(context.Context) { statements.Add(1) }); err != nil {
		t.Fatal(err)
	}
	o := controlplane.NewFixture(t, db)
	all := "/invite/team/session/:code/:export/:mapping/versions/:version/openapi/:domain/api-scopes/:key_type"
	has := o.NewAllObjects(t, "webhook", all)
	var paths []string
	for _, route := range o.Server.Routes() {
		want := guards[route.Method+" "+route.Path]
		if route.Method == http.MethodGet && !controlplane.IsAPI(route.Path) && !want.open && !want.operator &&
			!strings.HasPrefix(route.Path, "/oauth/") && !strings.Contains(route.Path, "download") {
			paths = append(paths, has.Path(route.Path)+o.FillBody(t, has, want.query))
		}
	}
	count := func(path string) int64 {
		o.Do(t, http.MethodGet, path, "", o.Owner) // what is cached is there
		before := statements.Load()
		if got := o.Do(t, http.MethodGet, path, "", o.Owner); got.Status >= 500 {
			t.Fatalf("%s answers %d", path, got.Status)
		}
		return statements.Load() - before
	}
	few := map[string]int64{}
	for _, path := range paths {
		few[path] = count(path)
	}
	for i := range 15 {
		more(t, o, has, i)
	}
	most := int64(0)
	for _, path := range paths {
		if perRow[strings.ReplaceAll(path, has.ProjectName, "NAME")] != "" {
			continue
		}
		many := count(path)
		most = max(most, many)
		if many > few[path]+2 {
			t.Errorf("GET %s makes %d statements, and %d with 15 more rows", path, few[path], many)
		}
		if many > maxStatements {
			t.Errorf("GET %s makes %d statements, want at most %d", path, many, maxStatements)
		}
	}
	t.Logf("%d pages make at most %d statements", len(paths), most)
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
		{"/api/v1/tenants/:tenant/approvals", `{"kind":"domain","value":"d%d.example.com"}`},
		{"/api/v1/tenants/:tenant/app-clients", `{"name":"app-%d"}`},
		{"/api/v1/projects/:project/versions", `{"version":"9.%d.0"}`},
		{"/api/v1/products", `{"name":"product-9%d"}`},
		{"/api/v1/tenants", `{"name":"listed-%d"}`},
		{"/api/v1/webhooks", `{"url":"http://8.8.8.8/hook-%d"}`},
		{"/api/v1/tokens", `{"name":"token-%d","scopes":["read"]}`},
		{"/api/v1/teams", `{"name":"team-%d"}`},
		{"/api/v1/teams/:team/invitations", `{"role":"viewer"}`},
	} {
		body := add.body
		if strings.Contains(body, "%d") {
			body = fmt.Sprintf(body, i)
		}
		got := o.Do(t, http.MethodPost, has.Path(add.route), body, o.Owner)
		if got.Status != http.StatusCreated {
			t.Fatalf("POST %s: %d %s", add.route, got.Status, got.Raw)
		}
	}
	o.CreateProject(t, o.Principal, fmt.Sprintf("more-%d", i))
}
