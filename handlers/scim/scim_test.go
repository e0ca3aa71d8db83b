package scim_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// client is a provisioning system at one tenant.
type client struct {
	*controlplane.Fixture
	base string
}

// newClient returns the client of a new project's tenant.
func newClient(t *testing.T, o *controlplane.Fixture, project string) client {
	t.Helper()
	tenant, _, _ := o.CreateAppClient(t, o.CreateProject(t, o.Principal, project).Project.ID)
	return client{o, "/api/v1/tenants/" + tenant + "/scim/v2"}
}

// call sends a request, which must be answered with the status.
func (c client) call(t *testing.T, status int, method, path, body string) controlplane.Response {
	t.Helper()
	header := append([]string{"Content-Type", "application/scim+json", "Accept", "application/scim+json"}, c.Owner...)
	got := controlplane.Call(t, c.Handler, method, c.base+path, "", body, header...)
	if got.Status != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, got.Status, status, got.Raw)
	}
	return got
}

// total asserts the number of resources that a filter matches.
func (c client) total(t *testing.T, path, filter, query string, want float64) controlplane.Response {
	t.Helper()
	got := c.call(t, 200, http.MethodGet, path+"?filter="+url.QueryEscape(filter)+query, "")
	if got.Body["totalResults"] != want {
		t.Errorf("%s: want %v results: %s", filter, want, got.Raw)
	}
	return got
}

// has asserts members of an answer.
func has(t *testing.T, got controlplane.Response, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got.Body[name] != value {
			t.Errorf("%s is %v, want %v: %s", name, got.Body[name], value, got.Raw)
		}
	}
}

// TestSCIM_provisioning sends the requests of a provisioning system in its order: find no
// user, create a user and a group, change, deactivate and delete them.
func TestSCIM_provisioning(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		c := newClient(t, controlplane.NewFixture(t, db), "shop")
		c.total(t, "/Users", `userName eq "Ana@Example.com"`, "&startIndex=1&count=100", 0)
		user := c.call(t, 201, http.MethodPost, "/Users", `{
			"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],
			"userName":"Ana@Example.com",
			"externalId":"00u1",
			"name":{"givenName":"Ana","familyName":"Ark"},
			"emails":[{"primary":true,"type":"work","value":"ana@example.com"}],
			"password":"secret",
			"active":true
		}`)
		has(t, user, map[string]any{
			"userName":    "ana@example.com",
			"displayName": "Ana Ark",
			"active":      true,
			"externalId":  "00u1",
			"password":    nil,
		})
		id, _ := user.Body["id"].(string)
		taken := c.call(t, 409, http.MethodPost, "/Users", `{"userName":"ANA@example.com"}`)
		has(t, taken, map[string]any{"scimType": "uniqueness", "status": "409"})
		c.checkUserFilters(t, id)
		c.checkGroups(t, id)

		path := "/Users/" + id
		const freeze = `{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`
		frozen := c.call(t, 200, http.MethodPatch, path, freeze)
		has(t, frozen, map[string]any{"active": false})
		replaced := c.call(t, 200, http.MethodPut, path, `{"userName":"ana@example.com","displayName":"Ana"}`)
		has(t, replaced, map[string]any{
			"active":      false, // an absent active is unchanged
			"externalId":  nil,   // any other absent attribute is removed
			"displayName": "Ana",
		})
		has(t, c.call(t, 404, http.MethodGet, "/Users/usr_nobody", ""), map[string]any{"status": "404"})
		c.call(t, 204, http.MethodDelete, path, "")
		c.call(t, 404, http.MethodGet, path, "")
	})
}

func (c client) checkUserFilters(t *testing.T, id string) {
	t.Helper()
	for filter, total := range map[string]float64{
		`externalId eq "00u1"`:                                                     1,
		`userName eq "ANA@example.com" and active eq true`:                         1,
		`userName eq "ana@example.com" and active eq false`:                        0,
		`active eq true and active eq false`:                                       0,
		`externalId eq "00u1" and externalId eq "00u2"`:                            0,
		`id eq "` + id + `" and emails[type eq "work"].value eq "ana@example.com"`: 1,
		`id eq "usr_other" and userName eq "ana@example.com"`:                      0,
		`userName eq "" and active eq true`:                                        0,
	} {
		c.total(t, "/Users", filter, "", total)
	}
	unknown := c.call(t, 400, http.MethodGet, "/Users?filter="+url.QueryEscape(`title co "boss"`), "")
	has(t, unknown, map[string]any{"scimType": "invalidFilter"})
}

func (c client) checkGroups(t *testing.T, user string) {
	t.Helper()
	group := c.call(t, 201, http.MethodPost, "/Groups",
		`{"displayName":"The Engineers","members":[{"value":"`+user+`"}]}`)
	id, _ := group.Body["id"].(string)
	if members, _ := group.Body["members"].([]any); len(members) != 1 {
		t.Errorf("%d members, want 1: %s", len(members), group.Raw)
	}
	const without = "&excludedAttributes=members"
	found := c.total(t, "/Groups", `displayName eq "the engineers"`, without, 1)
	if strings.Contains(found.Raw, user) {
		t.Errorf("an excluded attribute is in the answer: %s", found.Raw)
	}
	for filter, total := range map[string]float64{ // how Entra ID reads a membership
		`id eq "` + id + `" and members eq "` + user + `"`: 1,
		`id eq "` + id + `" and members eq "usr_other"`:    0,
		`id eq "grp_other" and members eq "` + user + `"`:  0,
	} {
		c.total(t, "/Groups", filter, without, total)
	}
	left := c.call(t, 200, http.MethodPatch, "/Groups/"+id,
		`{"Operations":[{"op":"remove","path":"members[value eq \"`+user+`\"]"}]}`)
	has(t, left, map[string]any{"members": nil})
	c.call(t, 204, http.MethodDelete, "/Groups/"+id, "")
}

// TestSCIM_otherTenant checks that a tenant's endpoints do not find another tenant's users.
func TestSCIM_otherTenant(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	shop, other := newClient(t, o, "shop"), newClient(t, o, "other")
	user := shop.call(t, 201, http.MethodPost, "/Users", `{"userName":"bob@example.com"}`)
	path := "/Users/" + user.Body["id"].(string)
	other.call(t, 404, http.MethodGet, path, "")
	other.call(t, 404, http.MethodDelete, path, "")
}

// TestSCIM_clientMistakes checks that mistakes of a client are not logged as errors.
func TestSCIM_clientMistakes(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o, book := controlplane.NewFixture(t, db), &controlplane.LogBuffer{}
	project := o.CreateProject(t, o.Principal, "shop")
	tenant, _, _ := o.CreateAppClient(t, project.Project.ID)
	o.Server.Log = slog.New(slog.NewTextHandler(book, nil))
	handler, base := o.Server.Handler(), "/api/v1/tenants/"+tenant+"/scim/v2/Users"
	header := append([]string{"Content-Type", "application/scim+json"}, o.Owner...)
	for path, body := range map[string]string{
		"?filter=" + url.QueryEscape(`userName co "%"`): "",
		"?startIndex=x": "",
		"":              "{",
	} {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		if got := controlplane.Call(t, handler, method, base+path, "", body, header...); got.Status != 400 {
			t.Errorf("%s %s: %d %s", method, path, got.Status, got.Raw)
		}
	}
	if log := book.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log has errors:\n%s", log)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := controlplane.Call(t, handler, http.MethodGet, base, "", "", header...); got.Status != 500 &&
		got.Status != 503 {
		t.Errorf("without a database: %d %s", got.Status, got.Raw)
	}
	if log := book.String(); !strings.Contains(log, "level=ERROR") {
		t.Errorf("a fault of ours is not in the log:\n%s", log)
	}
}

// A change by SCIM sends the webhook events that any other change sends.
func TestSCIM_events(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	c := newClient(t, controlplane.NewFixture(t, db), "shop")
	in := contract.WebhookCreation{Body: contract.NewWebhook{URL: "http://127.0.0.1:9/hook"}}
	hook, err := c.Server.Webhooks.Create(t.Context(), c.Principal, in)
	if err != nil {
		t.Fatal(err)
	}
	user := c.call(t, 201, http.MethodPost, "/Users", `{"userName":"ana@example.com"}`)
	id, _ := user.Body["id"].(string)
	c.call(t, 201, http.MethodPost, "/Groups", `{"displayName":"Staff","members":[{"value":"`+id+`"}]}`)
	path := "/Users/" + id
	c.call(t, 200, http.MethodPatch, path, `{"Operations":[{"op":"replace","path":"active","value":false}]}`)
	c.call(t, 204, http.MethodDelete, path, "")
	sent, err := c.Server.Webhooks.Deliveries(t.Context(), c.Principal, contract.DeliveryList{WebhookPath: hook.Path()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range sent.Items {
		got = append(got, one.Event)
	}
	slices.Sort(got)
	want := []string{"group.changed", "group.changed", "user.created", "user.deleted", "user.frozen"}
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestSCIM_sharedAddress provisions two users with one address, and keeps the parts of a name as they were sent.
func TestSCIM_sharedAddress(t *testing.T) {
	t.Parallel()
	c := newClient(t, controlplane.NewFixture(t, state.OpenSQLite(t)), "shop")
	const emails = `"emails":[{"value":"team@example.com","primary":true}]`
	const name = `"name":{"givenName":"Juan Carlos","familyName":"de la Cruz"}`
	first := c.call(t, 201, http.MethodPost, "/Users", `{"userName":"juan",`+emails+`,`+name+`}`)
	c.call(t, 201, http.MethodPost, "/Users", `{"userName":"bea",`+emails+`}`)
	c.total(t, "/Users", `emails.value eq "team@example.com"`, "", 2)
	c.total(t, "/Users", `userName eq "bea"`, "", 1)
	third := c.call(t, 201, http.MethodPost, "/Users", `{"userName":"eve@example.com"}`)
	c.call(t, 200, http.MethodPatch, "/Users/"+third.Body["id"].(string),
		`{"Operations":[{"op":"replace","path":"emails","value":[{"value":"team@example.com"}]}]}`)
	taken := c.call(t, 409, http.MethodPost, "/Users", `{"userName":"juan","emails":[{"value":"new@example.com"}]}`)
	has(t, taken, map[string]any{"scimType": "uniqueness"})

	whole := map[string]any{
		"formatted": "Juan Carlos de la Cruz", "givenName": "Juan Carlos", "familyName": "de la Cruz",
	}
	shown := c.call(t, 200, http.MethodGet, "/Users/"+first.Body["id"].(string), "")
	if !reflect.DeepEqual(shown.Body["name"], any(whole)) {
		t.Errorf("name is %v, want %v", shown.Body["name"], whole)
	}
}
