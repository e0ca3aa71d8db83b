package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// Who is in several teams says which of them a webhook is for; the choice is
// checked like any other field.
func TestAWebhooksTeamIsChosen(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		page := func() string { return call(t, o.handler, "GET", "/settings/webhooks", "", "", o.owner...).raw }
		if strings.Contains(page(), `id="webhook-team"`) {
			t.Error("asks who has one team")
		}
		second, _ := call(t, o.handler, "POST", "/api/v1/teams", "", `{"name":"Second"}`, o.owner...).body["id"].(string)
		if text := page(); second == "" || !strings.Contains(text, `id="webhook-team"`) || !strings.Contains(text, `<option value="`+second+`"`) {
			t.Fatalf("does not offer %q", second)
		}
		post := func(team string) answer {
			body := "url=http://8.8.8.8/hook&events=key.frozen&team=" + team
			return o.ask(t, http.MethodPost, "/settings/webhooks", body, o.owner)
		}
		if got := post(second); got.status != 303 {
			t.Fatalf("%d %.300s", got.status, got.raw)
		}
		if got := post(o.strangers.team); got.status != 404 {
			t.Errorf("another's team: %d", got.status)
		}
		if got := call(t, o.handler, "GET", "/api/v1/webhooks", "", "", o.owner...); !strings.Contains(got.raw, second) {
			t.Errorf("it is not the team's: %s", got.raw)
		}
	})
}

func TestAWebhookIsDeletedOnceThatIsConfirmed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		path := s.makes("/settings/webhooks", "url", "http://8.8.8.8/hook", "events", "key.frozen").
			is(200, "Webhook added").
			Find("main a.btn").
			AttrOr("href", "")
		s.post(path+"/delete").is(422, "http://8.8.8.8/hook").says("[role=alert]", "Tick the box")
		s.post(path+"/delete", "confirm", "true").leadsTo("/settings/webhooks")
		s.get("/settings/webhooks").says("[data-flash]", "deleted").says("main", "No webhooks yet")
	})
}
