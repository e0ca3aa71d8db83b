package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// sortedLists are the lists with their own default order, and the field that shows what each order is by. Orders
// without a field are by age, as the identifiers are.
var sortedLists = []struct {
	path   string
	orders map[string]string
	id     string
}{
	{"/api/v1/tenants", map[string]string{"name": "display_name", "created": "id"}, "id"},
	{"/api/v1/products", map[string]string{"name": "display_name", "created": "id"}, "id"},
	{"/api/v1/projects", map[string]string{"name": "display_name", "created": "id"}, "id"},
	{"/api/v1/tenants/:tenant/groups", map[string]string{"name": "display_name", "created": "id"}, "id"},
	{"/api/v1/tenants/:tenant/users", map[string]string{
		"name": "", "state": "state", "last_login": "", "created": "id",
	}, "id"},
	{"/api/v1/projects/:project/users", map[string]string{
		"name": "", "state": "state", "last_login": "", "created": "id",
	}, "id"},
	{"/api/v1/groups/:group/members", map[string]string{"name": "", "role": "role"}, "user"},
	{"/api/v1/groups/:group/owners", map[string]string{"owner": "owner", "role": "role"}, "owner"},
	{"/api/v1/teams/:team/members", map[string]string{"name": "name", "role": "role", "joined": ""}, "account"},
	{"/api/v1/projects/:project/keys", map[string]string{"created": "id", "owner": "owner", "last_used": ""}, "id"},
	{"/api/v1/projects/:project/domains", map[string]string{"created": "id", "host": "host"}, "id"},
	{"/api/v1/projects/:project/exports", map[string]string{"created": "id", "size": ""}, "id"},
	{"/api/v1/tenants/:tenant/app-clients", map[string]string{"created": "id", "name": "name"}, "id"},
	{"/api/v1/tokens", map[string]string{"created": "id", "name": "name", "expires": "", "last_used": ""}, "id"},
	{"/api/v1/webhooks", map[string]string{"created": "id", "url": "url"}, "id"},
	{"/api/v1/webhooks/:webhook/deliveries", map[string]string{"created": "id"}, "id"},
	{"/api/v1/users/:user/sessions", map[string]string{"created": "id", "last_seen": "", "expires": ""}, "id"},
	{"/api/v1/sessions", map[string]string{"created": "created_at", "last_seen": "last_seen_at"}, "id"},
	{"/api/v1/teams/:team/invitations", map[string]string{
		"created": "id", "email": "email", "role": "role", "expires": "",
	}, "id"},
	{"/api/v1/audit", map[string]string{"created": ""}, "id"},
	{"/api/v1/teams", map[string]string{"created": "id", "name": "name"}, "id"},
	{"/api/v1/tenants/:tenant/signup/approvals", map[string]string{"created": "id", "value": "value"}, "id"},
	{"/api/v1/projects/:project/relations", map[string]string{
		"object": "object", "user": "user", "created": "",
	}, "object"},
}

// TestLists_sort walks each list in every order, two rows a page: it has all rows once, sorted,
// and backward it is the other way round.
func TestLists_sort(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		all := "/invite/team/session/:code/:export/:mapping/versions/:version/openapi/:domain/api-scopes/:key_type"
		has := o.NewAllObjects(t, "webhook", all+"/:group/:user")
		for i := range 5 {
			more(t, o, has, i)
			body := fmt.Sprintf(`{"name":"named-%d","display_name":"%c named"}`, i, "bAcBa"[i])
			for _, path := range []string{"/api/v1/tenants", "/api/v1/products", "/api/v1/tenants/:tenant/groups"} {
				if got := o.Do(t, http.MethodPost, has.Path(path), body, o.Owner); got.Status != http.StatusCreated {
					t.Fatalf("POST %s: %d %s", path, got.Status, got.Raw)
				}
			}
			app := fmt.Sprintf(`{"owner":"%c app","role":"%s"}`, "bAcde"[i], []string{"member", "admin"}[i%2])
			o.Do(t, http.MethodPost, has.Path("/api/v1/groups/:group/owners"), app, o.Owner)
		}
		for _, tt := range sortedLists {
			path := has.Path(tt.path)
			want := idsOf(t, o, path+"?limit=200", tt.id, "")
			slices.Sort(want)
			limit := "&limit=2"
			if tt.path == "/api/v1/sessions" { // it has one page
				limit = ""
			}
			for by, field := range tt.orders {
				t.Run(tt.path+" by "+by, func(t *testing.T) {
					up := idsOf(t, o, path+"?sort="+by+limit, tt.id, field)
					down := idsOf(t, o, path+"?sort=-"+by+limit, tt.id, "")
					slices.Reverse(down)
					if !slices.Equal(up, down) {
						t.Errorf("backward it is not the other way round:\n%v\n%v", up, down)
					}
					if slices.Sort(up); !slices.Equal(up, want) {
						t.Errorf("sorted it has %d rows, otherwise %d", len(up), len(want))
					}
				})
			}
		}
		t.Run("refused", func(t *testing.T) {
			for query, status := range map[string]int{
				"sort=name&cursor=tnt_1": http.StatusUnprocessableEntity,
				"sort=team_id":           http.StatusUnprocessableEntity,
			} {
				got := o.Do(t, http.MethodGet, "/api/v1/tenants?"+query, "", o.Owner)
				if got.Status != status {
					t.Errorf("%s: %d, want %d", query, got.Status, status)
				}
			}
		})
		t.Run("search", func(t *testing.T) {
			for q, want := range map[string]int{"B NAMED": 2, "named-": 5, "100%": 0, "named_": 0} {
				found := idsOf(t, o, "/api/v1/tenants?limit=1&sort=-name&q="+url.QueryEscape(q), "id", "")
				if len(found) != want {
					t.Errorf("%q finds %d tenants, want %d", q, len(found), want)
				}
			}
		})
	})
}

// TestLists_filters asks lists for the filters that change the form of their query: each finds what
// is there, and another value of it finds nothing.
func TestLists_filters(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		has := o.NewAllObjects(t, "", "/:key/:key_type")
		keys, audit := has.Path("/api/v1/projects/:project/keys?limit=1"), "/api/v1/audit?limit=1&project="+has.Project
		key := o.Do(t, http.MethodGet, has.Path("/api/v1/keys/:key"), "", o.Owner).Body
		o.Do(t, http.MethodPatch, has.Path("/api/v1/keys/:key"), `{"description": "for billing"}`, o.Owner)
		owner, keyType := fmt.Sprint(key["owner"]), fmt.Sprint(key["key_type"])
		projects := "/api/v1/projects?sort=-name&q=" + has.ProjectName
		for name, tt := range map[string]struct{ list, finds, misses string }{
			"state of projects": {projects, "&state=served", "&state=deleted"},
			"owner of keys":     {keys + "&state=active", "&owner=" + url.QueryEscape(owner), "&owner=nemo"},
			"type of keys":      {keys, "&key_type=" + url.QueryEscape(keyType), "&key_type=none"},
			"state of a type":   {keys + "&key_type=" + url.QueryEscape(keyType), "&state=active", "&state=frozen"},
			"object": {audit, "&action=key.change&object=" + has.Key + "&from=2020-01-01T00:00:00Z",
				"&action=key.change&object=key_0"},
		} {
			t.Run(name, func(t *testing.T) {
				if ids := idsOf(t, o, tt.list+tt.finds, "id", ""); len(ids) == 0 {
					t.Errorf("%s finds nothing", tt.finds)
				}
				if ids := idsOf(t, o, tt.list+tt.misses, "id", ""); len(ids) != 0 {
					t.Errorf("%s finds %v", tt.misses, ids)
				}
			})
		}
		path := has.Path("/api/v1/projects/:project/usage?group_by=owner&group_by=status_class&group_by=environment")
		if got := o.Do(t, http.MethodGet, path, "", o.Owner); got.Status != http.StatusOK {
			t.Errorf("usage in three groups: %d %s", got.Status, got.Raw)
		}
	})
}

// idsOf returns the ids of all pages of a list. If field is set, its values must not decrease.
func idsOf(t *testing.T, o *controlplane.Fixture, path, id, field string) (ids []string) {
	t.Helper()
	last, cursor := "", ""
	for range 200 {
		got := o.Do(t, http.MethodGet, path+cursor, "", o.Owner)
		if got.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, got.Status, got.Raw)
		}
		items, _ := got.Body["items"].([]any)
		for _, item := range items {
			row, _ := item.(map[string]any)
			ids = append(ids, fmt.Sprint(row[id]))
			if field == "" {
				continue
			}
			value := strings.ToLower(fmt.Sprint(row[field]))
			if value < last {
				t.Errorf("%s: %q comes after %q", path, value, last)
			}
			last = value
		}
		next, _ := got.Body["next_cursor"].(string)
		if next == "" {
			return ids
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
	t.Fatalf("%s has no end", path)
	return nil
}

// TestPages_lists asks the pages of lists for their orders and filters as a browser without
// scripts does.
func TestPages_lists(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	for _, name := range []string{"acme", "zulu", "books"} {
		s.Submit("/tenants", "name", name, "display_name", strings.ToUpper(name))
	}
	first := func(path string) string { return s.Get(path).Find("tbody th a").First().Text() }
	if got := first("/tenants?sort=name&dir=desc"); got != "ZULU" {
		t.Errorf("by name, descending: %q is first", got)
	}
	if got := first("/tenants?sort=name"); got != "ACME" {
		t.Errorf("by name: %q is first", got)
	}
	if got := first("/tenants?sort=team_id%3B--&dir=up"); got != "default" {
		t.Errorf("by what is not offered: %q is first, want the usual order", got)
	}
	page := s.Get("/tenants?q=boo&sort=name")
	page.Says("th[aria-sort=ascending]", "Tenant").Says("tbody", "BOOKS").Holds("q", "boo")
	if n := page.Find("tbody tr").Length(); n != 1 {
		t.Errorf("the search leaves %d rows, want 1", n)
	}
	other := page.Find("#sort-name").AttrOr("href", "")
	if other != "/tenants?dir=desc&q=boo&sort=name" {
		t.Errorf("the column leads to %q, want the other way round with the search", other)
	}
	none := s.Get("/tenants?q=nothing+like+it&sort=name")
	none.Says("main", "No tenants found").Says("main", "“nothing like it”").Lacks("table")
	if to := none.Find("#list-found a.btn").AttrOr("href", ""); to != "/tenants?sort=name" {
		t.Errorf("clearing leads to %q", to)
	}
}

// listPages are the pages with lists: a query that sorts one, and what of the page says so.
var listPages = []struct{ page, query, shows string }{
	{"/projects", "sort=created&dir=asc", "#sort-created[aria-current]"},
	{"/bin", "sort=name&dir=desc&q=s", "[data-announce]"},
	{"/tenants", "sort=name&dir=desc", "th[aria-sort=descending] #sort-name"},
	{"/products", "sort=name&dir=desc", "th[aria-sort=descending] #sort-name"},
	{"/settings/tokens", "sort=last_used&dir=asc", "th[aria-sort=ascending] #sort-last_used"},
	{"/settings/webhooks", "sort=url&dir=asc&q=hook", "th[aria-sort=ascending] #sort-url"},
	{
		"/settings/webhooks/:webhook", "sort=created&dir=asc&state=delivered",
		".chips a[href='/settings/webhooks/:webhook?dir=asc&sort=created#deliveries']",
	},
	{"/teams", "sort=name&dir=desc&q=team", "#sort-name[aria-current]"},
	{"/tenants/:tenant/signup", "sort=value&dir=desc&q=example", "#sort-value[aria-current]"},
	{"/teams/:team", "sort=role&dir=desc&q=@", "#sort-role[aria-current]"},
	{"/teams/:team", "invitations_sort=expires&invitations_dir=desc", "#invitations-sort-expires[aria-current]"},
	{"/tenants/:tenant/users", "sort=name&dir=desc", "th[aria-sort=descending] #sort-name"},
	{"/tenants/:tenant/groups", "sort=created&dir=desc", "#sort-created[aria-current]"},
	{"/projects/:project/tenants", "sort=name&dir=desc", "th[aria-sort=descending] #sort-name"},
	{"/projects/:project/keys", "keys_sort=owner&keys_dir=desc", "th[aria-sort=descending] #keys-sort-owner"},
	{"/projects/:project/keys", "keys_sort=last_used", "th[aria-sort=descending] #keys-sort-last_used"},
	{"/projects/:project/domains", "sort=host&dir=desc&q=www", "th[aria-sort=descending] #sort-host"},
	{"/projects/:project/login", "sort=name&dir=desc", "th[aria-sort=descending] #sort-name"},
	{"/projects/:project/export", "exports_sort=size", "th[aria-sort=descending] #exports-sort-size"},
	{"/projects/:project/relations", "sort=user&dir=desc&q=order", "th[aria-sort=descending] #sort-user"},
	{
		"/projects/:project/relations", "sort=created&user=owner-1",
		".chips a[href='/projects/:project/relations?sort=created']",
	},
	{"/audit", "sort=created&dir=asc", "#sort-created[aria-current]"},
	{"/audit", "sort=created&dir=asc&action=key.create&q=key", ".chips a[href='/audit?dir=asc&q=key&sort=created']"},
	{"/audit", "from=2020-01-01&project=nothing", ".chips a[href='/audit?project=nothing']"},
}

// orderAsked finds the order that a query requests, and the prefix of its list.
var orderAsked = regexp.MustCompile(`\b(\w+_)?sort=\w+`)

// TestPages_sorted asks every page with a list for another order: it says which it is in, and how much there is. Its
// way to the next page keeps the order, and the column leads the other way round. A page says which part of the query
// it can't follow.
func TestPages_sorted(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		all := "/invite/team/session/:code/:export/:mapping/versions/:version/openapi/:domain/api-scopes/:key_type"
		has := o.NewAllObjects(t, "webhook", all+"/:group/:user")
		for i := range 4 {
			more(t, o, has, i)
		}
		for _, tt := range listPages {
			t.Run(tt.page+" "+tt.query, func(t *testing.T) {
				path := has.Path(tt.page) + "?" + tt.query
				got := o.Do(t, http.MethodGet, path, "", o.Owner)
				doc, err := goquery.NewDocumentFromReader(strings.NewReader(got.Raw))
				if got.Status != http.StatusOK || err != nil {
					t.Fatalf("%s: %d, %v", path, got.Status, err)
				}
				shows := strings.NewReplacer(
					":webhook", has.Path(":webhook"), ":project", has.Path(":project"),
				).Replace(tt.shows)
				if doc.Find(shows).Length() != 1 {
					t.Errorf("the page lacks %s", shows)
				}
				if found := doc.Find("[data-announce]"); found.Length() == 0 {
					t.Error("no list can be swapped")
				}
				if strings.Contains(got.Raw, "Ignored invalid") {
					t.Error("the page ignores a part of the query")
				}
				wrong := orderAsked.ReplaceAllString(tt.query, "${1}sort=price")
				if wrong == tt.query {
					return
				}
				name := orderAsked.FindStringSubmatch(tt.query)[1] + "sort"
				got = o.Do(t, http.MethodGet, has.Path(tt.page)+"?"+wrong, "", o.Owner)
				if said := name + " &#34;price&#34;"; !strings.Contains(got.Raw, said) {
					t.Errorf("the page ignores %s, and doesn't say so", wrong)
				}
			})
		}
	})
}
