package handlers_test

import (
	"net/http"
	"net/url"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Whoever may not do it learns that, and not what is wrong with their form: they
// would mend it for nothing.
func TestWhoMayNotIsToldBeforeTheirFormIsRead(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		asked := 0
		for _, route := range o.Server.Routes() {
			want := guards[route.Method+" "+route.Path]
			if route.Method != http.MethodPost || controlplane.IsAPI(route.Path) || want.open || want.personal() ||
				access.Can(access.Viewer, want.action) {
				continue
			}
			asked++
			has := o.NewObjects(t, want.needs, route.Path)
			for _, form := range []string{"team=" + o.Team, spoilt(t, o.FillBody(t, has, want.body))} {
				if got := o.Do(t, route.Method, has.Path(route.Path), form, o.Members[access.Viewer]); got.Status != http.StatusForbidden {
					t.Errorf("POST %s with %q: %d, want 403", route.Path, form, got.Status)
				}
			}
		}
		if asked < 30 {
			t.Errorf("only %d forms were tried", asked)
		}
	})
}

// spoilt is a form where nothing fits but what says where it goes.
func spoilt(t *testing.T, form string) string {
	t.Helper()
	values, err := url.ParseQuery(form)
	if err != nil {
		t.Fatal(err)
	}
	for name := range values {
		if name != "team" {
			values.Set(name, "~ not this ~")
		}
	}
	for _, name := range []string{"days", "expires_on", "grace", "limits_hour", "allowed", "token_issuers"} {
		values.Set(name, "~ not this ~")
	}
	values.Set("limits_of", "own")
	values.Add("methods", "jwt")
	return values.Encode()
}
