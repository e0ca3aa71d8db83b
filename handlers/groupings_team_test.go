package handlers_test

import (
	"fmt"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// Who is in several teams says of which of them a product or a tenant is.
func TestProductsAndTenantsGoToTheTeamThatIsNamed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		second, _ := call(t, o.handler, "POST", "/api/v1/teams", "", `{"name":"Second"}`, o.owner...).body["id"].(string)
		for _, path := range []string{"/api/v1/products", "/api/v1/tenants"} {
			for _, tt := range []struct {
				team   string
				status int
				in     any
			}{{"", 201, o.team}, {second, 201, second}, {o.strangers.team, 404, nil}, {"team_none", 404, nil}} {
				got := call(t, o.handler, "POST", path, "", fmt.Sprintf(`{"name":"acme","team":%q}`, tt.team), o.owner...)
				if got.status != tt.status || got.body["team"] != tt.in {
					t.Errorf("POST %s for the team %q: %d in %v, want %d in %v", path, tt.team, got.status, got.body["team"], tt.status, tt.in)
				}
			}
		}
	})
}
