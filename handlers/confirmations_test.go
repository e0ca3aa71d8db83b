package handlers_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// destroys are the last parts of addresses of forms that take something away.
var destroys = regexp.MustCompile(
	`/(delete|remove|revoke|rotate|leave|detach|forget|disable|unlink|withdraw|cancel|end|end-all|end-others)$`)

// undone are the forms among them that ask for no confirmation, with the reason.
var undone = map[string]string{
	"/account/delete":                        "the last owner of a team is refused before; see its own test",
	"/projects/:project/relations/forget":    "it asks for a relation that exists; see its own test",
	"/account/sessions/:session/end":         "one signs in again",
	"/account/sessions/end-others":           "one signs in again",
	"/users/:user/sessions/:session/end":     "the user signs in again",
	"/users/:user/sessions/end-all":          "the user signs in again",
	"/users/:user/consents/:client/withdraw": "the user is asked again",
	"/account/signins/:identity/unlink":      "one links it again",
	"/exports/:export/cancel":                "one exports again",
	"/projects/:project/keys/:key/rotate":    "the old secret goes on working for the time that the form asks for",
	"/projects/:project/call-signing/rotate": "the old key stays published",
	"/settings/webhooks/:webhook/rotate":     "the old secret goes on signing for a day",
	"/groups/:group/children/:child/remove":  "one nests it again, and the groups keep their members",
}

// TestForms_confirmation sends every form that destroys something without its tick or typed name: it is
// refused, and the page asks for the confirmation.
func TestForms_confirmation(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		asked := 0
		for _, route := range o.Server.Routes() {
			if route.Method != http.MethodPost || controlplane.IsAPI(route.Path) || !destroys.MatchString(route.Path) ||
				undone[route.Path] != "" || strings.HasPrefix(route.Path, "/oauth/") {
				continue
			}
			t.Run(route.Path, func(t *testing.T) {
				has := o.NewAllObjects(t, guards["POST "+route.Path].needs, route.Path)
				got := o.Do(t, http.MethodPost, has.Path(route.Path), "object=order:1&user=ana", o.Owner)
				asked++
				if got.Status != http.StatusUnprocessableEntity && got.Status != http.StatusOK {
					t.Fatalf("without a confirmation it answers %d, want a page that asks for it", got.Status)
				}
				form := parsed(t, got.Raw).Find("form:has([data-undo]):has([name=confirm], [name=typed_name])")
				if form.Length() == 0 {
					t.Fatal("the page has no confirmation")
				}
				if said := form.Find("[data-impact] li"); said.Length() < 2 {
					t.Errorf("it says %q, want what that does and whether it can be undone", said.Text())
				}
			})
		}
		if asked < 15 {
			t.Errorf("asked %d forms, want all", asked)
		}
	})
}
