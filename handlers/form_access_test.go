package handlers_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestForms_permissionFirst sends forms with invalid fields as a viewer: the answer is
// 403, not the errors of the fields, which the viewer would correct in vain. No page sends
// fields that a form doesn't have, so these are left out.
func TestForms_permissionFirst(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	asked := 0
	for _, route := range controlplane.Routes(o.Server) {
		want := guards[route.Method+" "+route.Path]
		if route.Method != http.MethodPost || controlplane.IsAPI(route.Path) || want.open || want.personal() ||
			access.Can(access.Viewer, want.action) {
			continue
		}
		asked++
		has := o.NewObjects(t, want.needs, route.Path)
		for _, form := range []string{"team=" + o.Team, invalidate(t, o.FillBody(t, has, want.body))} {
			got := o.Do(t, route.Method, has.Path(route.Path), form, o.Members[access.Viewer])
			if got.Status == http.StatusUnprocessableEntity {
				form = withoutUnknown(t, form, got.Raw)
				got = o.Do(t, route.Method, has.Path(route.Path), form, o.Members[access.Viewer])
			}
			if got.Status != http.StatusForbidden {
				t.Errorf("POST %s with %q: %d, want 403", route.Path, form, got.Status)
			}
		}
	}
	if asked < 30 {
		t.Errorf("only %d forms were tried", asked)
	}
}

var unknownFields = regexp.MustCompile(`The form has unknown fields: ("[^.]*")\.`)

// withoutUnknown returns a form without the fields that a refusal of it calls unknown.
func withoutUnknown(t *testing.T, form, refusal string) string {
	t.Helper()
	values, err := url.ParseQuery(form)
	if err != nil {
		t.Fatal(err)
	}
	said := unknownFields.FindStringSubmatch(html.UnescapeString(refusal))
	if said == nil {
		t.Fatalf("the form is refused for another reason: %s", refusal)
	}
	for name := range strings.SplitSeq(said[1], ", ") {
		values.Del(strings.Trim(name, `"`))
	}
	return values.Encode()
}

// invalidate returns a form with invalid values in all fields but the team.
func invalidate(t *testing.T, form string) string {
	t.Helper()
	values, err := url.ParseQuery(form)
	if err != nil {
		t.Fatal(err)
	}
	for name := range values {
		if name != "team" {
			values.Set(name, "~ invalid ~")
		}
	}
	for _, name := range []string{
		"expires_in", "expires_at", "expires_on", "grace", "limits_hour", "allowed_cidrs", "issuer",
	} {
		values.Set(name, "~ invalid ~")
	}
	values.Set("limits_of", "own")
	values.Add("methods", "jwt")
	return values.Encode()
}
