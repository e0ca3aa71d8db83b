package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// An account in several teams chooses the team of a webhook; the choice is checked like any other field.
func TestWebhook_team(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	page := func() string {
		return controlplane.Call(t, o.Handler, "GET", "/settings/webhooks", "", "", o.Owner...).Raw
	}
	if strings.Contains(page(), `id="webhook-team"`) {
		t.Error("asks who has one team")
	}
	created := controlplane.Call(t, o.Handler, "POST", "/api/v1/teams", "", `{"name":"Second"}`, o.Owner...)
	second, _ := created.Body["id"].(string)
	if second == "" {
		t.Fatalf("POST /api/v1/teams: %d %s", created.Status, created.Raw)
	}
	text := page()
	if !strings.Contains(text, `id="webhook-team"`) || !strings.Contains(text, `<option value="`+second+`"`) {
		t.Fatalf("does not offer %q", second)
	}
	post := func(team string) controlplane.Response {
		body := "url=http://8.8.8.8/hook&events=key.frozen&team=" + team
		return o.Do(t, http.MethodPost, "/settings/webhooks", body, o.Owner)
	}
	if got := post(second); got.Status != 303 {
		t.Fatalf("%d %.300s", got.Status, got.Raw)
	}
	if got := post(o.OutsiderObjects.Team); got.Status != 404 {
		t.Errorf("another's team: %d", got.Status)
	}
	list := controlplane.Call(t, o.Handler, "GET", "/api/v1/webhooks", "", "", o.Owner...)
	if !strings.Contains(list.Raw, second) {
		t.Errorf("it is not the team's: %s", list.Raw)
	}
}

func TestWebhook_delete(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	path := s.Submit("/settings/webhooks", "url", "http://8.8.8.8/hook", "events", "key.frozen").
		Shows(200, "Webhook added").
		Find("main a.btn").
		AttrOr("href", "")
	s.Post(path+"/delete").Shows(422, "http://8.8.8.8/hook").Says("[role=alert]", "Check the box")
	s.Post(path+"/delete", "confirm", "true").LeadsTo("/settings/webhooks")
	s.Get("/settings/webhooks").Says("[data-flash]", "Deleted").Says("main", "No webhooks yet")
}
