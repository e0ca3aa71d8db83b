package handlers_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// The calls of a provisioning system that finds nobody, makes a user and a group,
// changes and deactivates, in the order in which it sends them.
func TestSCIMProvisionsUsersAndGroups(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		project := o.create(t, o.principal, "shop")
		tenant, _, _ := o.loginOf(t, project.Project.ID)
		base := "/api/v1/tenants/" + tenant + "/scim/v2"
		ask := func(status int, method, path, body string) answer {
			t.Helper()
			header := append([]string{"Content-Type", "application/scim+json", "Accept", "application/scim+json"}, o.owner...)
			got := call(t, o.handler, method, base+path, "", body, header...)
			if got.status != status {
				t.Fatalf("%s %s: %d, want %d: %s", method, path, got.status, status, got.raw)
			}
			return got
		}
		by := func(filter string) string { return "?filter=" + url.QueryEscape(filter) }
		if got := ask(200, http.MethodGet, "/Users"+by(`userName eq "Ana@Example.com"`)+"&startIndex=1&count=100", ""); got.body["totalResults"] != 0.0 {
			t.Errorf("%s", got.raw)
		}
		user := ask(201, http.MethodPost, "/Users", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"Ana@Example.com","externalId":"00u1",
			"name":{"givenName":"Ana","familyName":"Ark"},"emails":[{"primary":true,"type":"work","value":"ana@example.com"}],"password":"secret","active":true}`)
		id, _ := user.body["id"].(string)
		if user.body["userName"] != "ana@example.com" || user.body["displayName"] != "Ana Ark" || user.body["active"] != true || user.body["externalId"] != "00u1" || user.body["password"] != nil {
			t.Errorf("%s", user.raw)
		}
		if got := ask(409, http.MethodPost, "/Users", `{"userName":"ANA@example.com"}`); got.body["scimType"] != "uniqueness" || got.body["status"] != "409" {
			t.Errorf("%s", got.raw)
		}
		if got := ask(200, http.MethodGet, "/Users"+by(`externalId eq "00u1"`), ""); got.body["totalResults"] != 1.0 {
			t.Errorf("%s", got.raw)
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
			if got := ask(200, http.MethodGet, "/Users"+by(filter), ""); got.body["totalResults"] != total {
				t.Errorf("%s: %s", filter, got.raw)
			}
		}
		if got := ask(400, http.MethodGet, "/Users"+by(`title co "boss"`), ""); got.body["scimType"] != "invalidFilter" {
			t.Errorf("%s", got.raw)
		}
		group := ask(201, http.MethodPost, "/Groups", `{"displayName":"The Engineers","members":[{"value":"`+id+`"}]}`)
		gid, _ := group.body["id"].(string)
		if members, _ := group.body["members"].([]any); len(members) != 1 {
			t.Errorf("%s", group.raw)
		}
		if got := ask(200, http.MethodGet, "/Groups"+by(`displayName eq "the engineers"`)+"&excludedAttributes=members", ""); got.body["totalResults"] != 1.0 || strings.Contains(got.raw, id) {
			t.Errorf("%s", got.raw)
		}
		for filter, total := range map[string]float64{ // how Entra ID asks whether somebody is in a group
			`id eq "` + gid + `" and members eq "` + id + `"`: 1,
			`id eq "` + gid + `" and members eq "usr_other"`:  0,
			`id eq "grp_other" and members eq "` + id + `"`:   0,
		} {
			if got := ask(200, http.MethodGet, "/Groups"+by(filter)+"&excludedAttributes=members", ""); got.body["totalResults"] != total {
				t.Errorf("%s: %s", filter, got.raw)
			}
		}
		if got := ask(200, http.MethodPatch, "/Groups/"+gid, `{"Operations":[{"op":"remove","path":"members[value eq \"`+id+`\"]"}]}`); got.body["members"] != nil {
			t.Errorf("%s", got.raw)
		}
		if got := ask(200, http.MethodPatch, "/Users/"+id, `{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`); got.body["active"] != false {
			t.Errorf("%s", got.raw)
		}
		if got := ask(200, http.MethodPut, "/Users/"+id, `{"userName":"ana@example.com","displayName":"Ana"}`); got.body["active"] != false || got.body["externalId"] != nil || got.body["displayName"] != "Ana" {
			t.Errorf("who is frozen stays so unless it is said, and what is left out goes: %s", got.raw)
		}
		if got := ask(404, http.MethodGet, "/Users/usr_nobody", ""); got.body["status"] != "404" {
			t.Errorf("%s", got.raw)
		}
		ask(204, http.MethodDelete, "/Users/"+id, "")
		ask(404, http.MethodGet, "/Users/"+id, "")
		ask(204, http.MethodDelete, "/Groups/"+gid, "")

		other := o.create(t, o.principal, "other")
		elsewhere, _, _ := o.loginOf(t, other.Project.ID)
		theirs := ask(201, http.MethodPost, "/Users", `{"userName":"bob@example.com"}`)
		base = "/api/v1/tenants/" + elsewhere + "/scim/v2"
		ask(404, http.MethodGet, "/Users/"+theirs.body["id"].(string), "")
		ask(404, http.MethodDelete, "/Users/"+theirs.body["id"].(string), "")
	})
}

// A client's mistake is no fault of ours that somebody should be woken by.
func TestMistakesOfSCIMClientsAreNoFaults(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o, book := newOffice(t, db), &logbook{}
		project := o.create(t, o.principal, "shop")
		tenant, _, _ := o.loginOf(t, project.Project.ID)
		o.server.Log = slog.New(slog.NewTextHandler(book, nil))
		handler, base := o.server.Handler(), "/api/v1/tenants/"+tenant+"/scim/v2/Users"
		header := append([]string{"Content-Type", "application/scim+json"}, o.owner...)
		for path, body := range map[string]string{"?filter=" + url.QueryEscape(`userName co "%"`): "", "?startIndex=x": "", "": "{"} {
			method := http.MethodGet
			if body != "" {
				method = http.MethodPost
			}
			if got := call(t, handler, method, base+path, "", body, header...); got.status != 400 {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.raw)
			}
		}
		if log := book.String(); strings.Contains(log, "level=ERROR") {
			t.Errorf("the log has errors:\n%s", log)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := call(t, handler, http.MethodGet, base, "", "", header...); got.status != 500 && got.status != 503 {
			t.Errorf("without a database: %d %s", got.status, got.raw)
		}
		if log := book.String(); !strings.Contains(log, "level=ERROR") {
			t.Errorf("a fault of ours is not in the log:\n%s", log)
		}
	})
}
