package handlers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestForms_impact checks the figures in the questions before something is taken away: of
// calls with a key of the project, of calls of a user of the tenant, and of a user's sign-in.
func TestForms_impact(t *testing.T) {
	t.Parallel()
	const called, quiet = "from 3 owners", "No calls since"
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		has := o.NewAllObjects(t, "signed in", "/users/:user/sessions/:session/end")
		at := func(route string) string { return has.Path("/projects/:project" + route) }
		id := func(route string) string { return strings.TrimPrefix(has.Path(route), "/users/") }
		environment := strings.TrimPrefix(at("/environments/:environment"), at("/environments/"))
		hour := time.Now().Unix() / 3600
		rows := []models.UsageHour{
			{Owner: "billing", KeyID: has.Key, Calls: 7, Hour: hour},
			{Owner: id("/users/:user"), Calls: 5, Hour: hour - 1},
			{Owner: "sub (https://issuer.example)", Calls: 1, Hour: hour}, // of no tenant
			{Owner: "nightly", Calls: 90, Hour: hour - 2},                 // too long ago
		}
		for i := range rows {
			rows[i].ProjectID, rows[i].EnvironmentID, rows[i].StatusClass = has.Project, environment, 2
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddUsage(rows) }); err != nil {
			t.Fatal(err)
		}
		other := o.NewAllObjects(t, "attached", "/projects/:project/tenants/:tenant")
		for _, tt := range []struct{ name, page, want string }{
			{"project", at("/delete"), called},
			{"host name, by its environment", at("/domains/:domain"), called},
			{"tenant", at("/tenants/:tenant"), "from 2 owners"},
			{"app client", at("/login/:client"), "1 user signed in to this app client today"},
			{"provider", at("/login/:client/providers/:provider"), "1 user signed in with this provider today"},
			{"user", has.Path("/users/:user"), "1 session will end"},
			{"another project", other.Path("/projects/:project/delete"), quiet},
			{"another tenant", other.Path("/projects/:project/tenants/:tenant"), quiet},
			{"the page of another tenant", other.Path("/tenants/:tenant"), quiet},
			{"another app client", other.Path("/projects/:project/login/:client"), "No users signed in"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				got := o.Do(t, http.MethodGet, tt.page, "", o.Owner)
				said := controlplane.Clean(parsed(t, got.Raw).Find("[data-impact]").Text())
				if !strings.Contains(said, tt.want) {
					t.Errorf("%d, it says %q, want %q", got.Status, said, tt.want)
				}
			})
		}
	})
}
