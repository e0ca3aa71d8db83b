package scim_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestSCIM_provisioning sends the requests of a provisioning system in its order: find no
// user, create a user and a group, change and deactivate them.
func TestSCIM_provisioning(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		project := o.CreateProject(t, o.Principal, "shop")
		tenant, _, _ := o.CreateAppClient(t, project.Project.ID)
		base := "/api/v1/tenants/" + tenant + "/scim/v2"
		ask := func(status int, method, path, body string) controlplane.Response {
			t.Helper()
			header := append(
				[]string{"Content-Type", "application/scim+json", "Accept", "application/scim+json"},
				o.Owner...)
			got := controlplane.Call(t, o.Handler, method, base+path, "", body, header...)
			if got.Status != status {
				t.Fatalf("%s %s: %d, want %d: %s", method, path, got.Status, status, got.Raw)
			}
			return got
		}
		by := func(filter string) string { return "?filter=" + url.QueryEscape(filter) }
		if got := ask(200, http.MethodGet, "/Users"+by(`userName eq "Ana@Example.com"`)+"&startIndex=1&count=100", ""); got.Body["totalResults"] != 0.0 {
			t.Errorf("%s", got.Raw)
		}
		user := ask(
			201,
			http.MethodPost,
			"/Users",
			`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"Ana@Example.com","externalId":"00u1",
			"name":{"givenName":"Ana","familyName":"Ark"},"emails":[{"primary":true,"type":"work","value":"ana@example.com"}],"password":"secret","active":true}`,
		)
		id, _ := user.Body["id"].(string)
		if user.Body["userName"] != "ana@example.com" || user.Body["displayName"] != "Ana Ark" ||
			user.Body["active"] != true ||
			user.Body["externalId"] != "00u1" ||
			user.Body["password"] != nil {
			t.Errorf("%s", user.Raw)
		}
		if got := ask(409, http.MethodPost, "/Users", `{"userName":"ANA@example.com"}`); got.Body["scimType"] != "uniqueness" ||
			got.Body["status"] != "409" {
			t.Errorf("%s", got.Raw)
		}
		if got := ask(200, http.MethodGet, "/Users"+by(`externalId eq "00u1"`), ""); got.Body["totalResults"] != 1.0 {
			t.Errorf("%s", got.Raw)
		}
		for filter, total := range map[string]float64{
			`userName eq "ANA@example.com" and active eq true`:                         1,
			`userName eq "ana@example.com" and active eq false`:                        0,
			`active eq true and active eq false`:                                       0,
			`externalId eq "00u1" and externalId eq "00u2"`:                            0,
			`id eq "` + id + `" and emails[type eq "work"].value eq "ana@example.com"`: 1,
			`id eq "usr_other" and userName eq "ana@example.com"`:                      0,
			`userName eq "" and active eq true`:                                        0,
		} {
			if got := ask(200, http.MethodGet, "/Users"+by(filter), ""); got.Body["totalResults"] != total {
				t.Errorf("%s: %s", filter, got.Raw)
			}
		}
		if got := ask(400, http.MethodGet, "/Users"+by(`title co "boss"`), ""); got.Body["scimType"] != "invalidFilter" {
			t.Errorf("%s", got.Raw)
		}
		group := ask(201, http.MethodPost, "/Groups", `{"displayName":"The Engineers","members":[{"value":"`+id+`"}]}`)
		gid, _ := group.Body["id"].(string)
		if members, _ := group.Body["members"].([]any); len(members) != 1 {
			t.Errorf("%s", group.Raw)
		}
		if got := ask(200, http.MethodGet, "/Groups"+by(`displayName eq "the engineers"`)+"&excludedAttributes=members", ""); got.Body["totalResults"] != 1.0 ||
			strings.Contains(got.Raw, id) {
			t.Errorf("%s", got.Raw)
		}
		for filter, total := range map[string]float64{ // how Entra ID reads a membership
			`id eq "` + gid + `" and members eq "` + id + `"`: 1,
			`id eq "` + gid + `" and members eq "usr_other"`:  0,
			`id eq "grp_other" and members eq "` + id + `"`:   0,
		} {
			if got := ask(200, http.MethodGet, "/Groups"+by(filter)+"&excludedAttributes=members", ""); got.Body["totalResults"] != total {
				t.Errorf("%s: %s", filter, got.Raw)
			}
		}
		if got := ask(200, http.MethodPatch, "/Groups/"+gid, `{"Operations":[{"op":"remove","path":"members[value eq \"`+id+`\"]"}]}`); got.Body["members"] != nil {
			t.Errorf("%s", got.Raw)
		}
		if got := ask(200, http.MethodPatch, "/Users/"+id, `{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`); got.Body["active"] != false {
			t.Errorf("%s", got.Raw)
		}
		if got := ask(200, http.MethodPut, "/Users/"+id, `{"userName":"ana@example.com","displayName":"Ana"}`); got.Body["active"] != false ||
			got.Body["externalId"] != nil ||
			got.Body["displayName"] != "Ana" {
			t.Errorf("who is frozen stays so unless it is said, and what is left out goes: %s", got.Raw)
		}
		if got := ask(404, http.MethodGet, "/Users/usr_nobody", ""); got.Body["status"] != "404" {
			t.Errorf("%s", got.Raw)
		}
		ask(204, http.MethodDelete, "/Users/"+id, "")
		ask(404, http.MethodGet, "/Users/"+id, "")
		ask(204, http.MethodDelete, "/Groups/"+gid, "")

		other := o.CreateProject(t, o.Principal, "other")
		elsewhere, _, _ := o.CreateAppClient(t, other.Project.ID)
		theirs := ask(201, http.MethodPost, "/Users", `{"userName":"bob@example.com"}`)
		base = "/api/v1/tenants/" + elsewhere + "/scim/v2"
		ask(404, http.MethodGet, "/Users/"+theirs.Body["id"].(string), "")
		ask(404, http.MethodDelete, "/Users/"+theirs.Body["id"].(string), "")
	})
}

// TestSCIM_clientMistakes checks that mistakes of a client are not logged as errors.
func TestSCIM_clientMistakes(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
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
	})
}
