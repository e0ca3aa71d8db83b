package handlers_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

func TestClaimingInTheDashboard(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		made := call(t, s.server.Handler(), "POST", "/proxy", "", shop)
		path := "/claim/" + made.body["claim"].(map[string]any)["code"].(string)
		if names := clean(s.get(path).is(200, "Claim this workspace").Find("main ul").Text()); names != "shop" {
			t.Errorf("would claim %q", names)
		}
		s.post(path, "team", "").is(422, "This request could not be answered")
		s.post(path, "team", "new").leadsTo("/projects")
		if text := clean(s.get("/projects").is(200, "Projects").Find("main").Text()); !strings.Contains(text, "shop") {
			t.Errorf("the claimed project is missing: %s", text)
		}
		s.get(path).is(409, "There is nothing to claim")
		s.get("/claim/nonsense").is(404, "There is nothing to claim")
	})
}
