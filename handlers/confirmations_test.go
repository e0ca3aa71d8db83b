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

// confirming are the fields of a body that confirm.
var confirming = regexp.MustCompile(`&?(confirm|typed_name)=\w+`)

// undone are forms that ask in another way. They have their own test.
var undone = map[string]string{
	"/account/delete": "it asks for the email address and the password of the account; see TestAccount_delete",
}

// sentBefore are the forms that make what a form takes away, with the same fields, where the objects lack it.
var sentBefore = map[string]string{"/projects/:project/relations/forget": "/projects/:project/relations"}

// TestForms_confirmation sends every form that destroys something without its tick or typed name: it is
// refused, and the page asks for the confirmation.
func TestForms_confirmation(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		asked := 0
		for _, route := range controlplane.Routes(o.Server) {
			if route.Method != http.MethodPost || controlplane.IsAPI(route.Path) || !destroys.MatchString(route.Path) ||
				undone[route.Path] != "" || strings.HasPrefix(route.Path, "/oauth/") {
				continue
			}
			t.Run(route.Path, func(t *testing.T) {
				of := guards["POST "+route.Path]
				has := o.NewAllObjects(t, of.needs, route.Path)
				body := confirming.ReplaceAllString(o.FillBody(t, has, of.body), "")
				if first := sentBefore[route.Path]; first != "" {
					o.Do(t, http.MethodPost, has.Path(first), body, o.Owner)
				}
				got := o.Do(t, http.MethodPost, has.Path(route.Path), body, o.Owner)
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
		if asked < 30 {
			t.Errorf("asked %d forms, want all", asked)
		}
	})
}
