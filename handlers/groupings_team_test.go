package handlers_test

import (
	"fmt"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Who is in several teams says of which of them a product or a tenant is.
func TestProductsAndTenantsGoToTheTeamThatIsNamed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		second, _ := controlplane.Call(t, o.Handler, "POST", "/api/v1/teams", "", `{"name":"Second"}`, o.Owner...).Body["id"].(string)
		for _, path := range []string{"/api/v1/products", "/api/v1/tenants"} {
			for _, tt := range []struct {
				team   string
				status int
				in     any
			}{{"", 201, o.Team}, {second, 201, second}, {o.OutsiderObjects.Team, 404, nil}, {"team_none", 404, nil}} {
				got := controlplane.Call(
					t,
					o.Handler,
					"POST",
					path,
					"",
					fmt.Sprintf(`{"name":"acme","team":%q}`, tt.team),
					o.Owner...)
				if got.Status != tt.status || got.Body["team"] != tt.in {
					t.Errorf(
						"POST %s for the team %q: %d in %v, want %d in %v", path, tt.team, got.Status,
						got.Body["team"], tt.status, tt.in,
					)
				}
			}
		}
	})
}
