package handlers_test

import (
	"fmt"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestGroupings_team creates products and tenants in one of several teams.
func TestGroupings_team(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	created := controlplane.Call(t, o.Handler, "POST", "/api/v1/teams", "", `{"name":"Second"}`, o.Owner...)
	second, _ := created.Body["id"].(string)
	for _, path := range []string{"/api/v1/products", "/api/v1/tenants"} {
		for _, tt := range []struct {
			team   string
			status int
			in     any
		}{
			{"", 201, o.Team}, {`,"team":""`, 422, nil}, {fmt.Sprintf(`,"team":%q`, second), 201, second},
			{fmt.Sprintf(`,"team":%q`, o.OutsiderObjects.Team), 404, nil}, {`,"team":"team_none"`, 404, nil},
		} {
			body := `{"name":"acme"` + tt.team + `}`
			got := controlplane.Call(t, o.Handler, "POST", path, "", body, o.Owner...)
			if got.Status != tt.status || got.Body["team"] != tt.in {
				t.Errorf(
					"POST %s for the team %q: %d in %v, want %d in %v", path, tt.team, got.Status,
					got.Body["team"], tt.status, tt.in,
				)
			}
		}
	}
}
