package pages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-jose/go-jose/v4"

	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

func TestSettings_save(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/settings").Shows(200, "Settings")
	settings, revision := page.Action("display_name"), page.Value("form:has([name=display_name]) [name=revision]")
	s.Post(settings, "revision", revision, "display_name", "Storefront API").LeadsTo(settings)
	s.Get(settings).Shows(200, "Settings").Holds("display_name", "Storefront API").
		Says("#project-name", "shop").
		Says("[data-flash]", "Saved the settings for shop.")
	s.Get(settings).Lacks("[data-flash]")
	long := strings.Repeat("x", 81)
	fresh := s.Get(settings).Value("form:has([name=display_name]) [name=revision]")
	s.Post(settings, "revision", fresh, "display_name", long).
		Shows(422, "Settings").
		Holds("display_name", long).
		Says("#display-name-error", "80 characters")

	// The first revision is out of date: the settings were saved since.
	conflict := s.Post(settings, "revision", revision, "display_name", "Mine").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "Storefront API").
		Says("tbody", "Mine")
	s.Post(conflict.Action("display_name"),
		"revision", conflict.Value("[name=revision]"),
		"display_name", conflict.Value("[name=display_name]"),
	).LeadsTo(settings)
	s.Get(settings).Holds("display_name", "Mine")
}

func TestSettings_refusedRevision(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop")
	action, opened := page.Action("target"), page.Value("form:has([name=target]) [name=revision]")
	s.Post(action, "revision", opened, "target", "http://127.0.0.1:10").LeadsTo("/projects/shop")
	again := s.Post(action, "revision", opened, "target", "nonsense").Shows(422, "shop")
	s.Post(action,
		"revision", again.Value("form:has([name=target]) [name=revision]"),
		"target", "http://127.0.0.1:11",
	).Shows(412, "Changed since you opened this page").
		Says("tbody", "http://127.0.0.1:10").
		Says("tbody", "http://127.0.0.1:11")
}

func TestAccess_saveOnce(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/versions/1.0.0/access")
	action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
	s.Post(action, "revision", revision, "mode", "authenticate", "keyless", "reject").Shows(422,
		"Access to version 1.0.0").
		Says("main fieldset:has([name=methods])", "at least one method").
		Lacks("[name=methods][checked]")
	s.Post(action,
		"revision", revision, "mode", "passthrough", "methods", "api_key",
		"keyless", "owner_fallback", "fallback_owner", "ä",
	).Shows(422, "Access to version 1.0.0").
		Holds("fallback_owner", "ä").
		Says("main", "printable ASCII")
	if got := s.Get("/projects/shop/versions/1.0.0/access").Value("[name=mode][checked]"); got != "authenticate" {
		t.Errorf("a refused form changed the mode to %s", got)
	}
	s.Post(action,
		"revision", revision, "mode", "passthrough", "methods", "api_key",
		"keyless", "owner_fallback", "fallback_owner", "billing",
	).LeadsTo(action)
	now := s.Get(action).
		Holds("fallback_owner", "billing").
		Says("[data-flash]", "Saved the access policy for shop")
	s.Get("/projects/shop").Says("main", "Keys optional")
	for name, want := range map[string]string{
		"mode":    "passthrough",
		"methods": "api_key",
		"keyless": "owner_fallback",
	} {
		if got := now.Value("[name=" + name + "][checked]"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	conflict := s.Post(action,
		"revision", revision, "mode", "authenticate", "methods", "api_key",
		"keyless", "owner_fallback", "fallback_owner", "mine",
	).Shows(412, "Changed since you opened this page").
		Says("tbody", "Authenticate").
		Says("tbody", "billing").
		Says("tbody", "mine")
	s.Post(conflict.Action("mode"),
		"revision", conflict.Value("[name=revision]"), "mode", conflict.Value("[name=mode]"),
		"methods", conflict.Value("[name=methods]"),
		"keyless", conflict.Value("[name=keyless]"),
		"fallback_owner", conflict.Value("[name=fallback_owner]"),
	).LeadsTo(action)
	s.Get(action).Holds("fallback_owner", "mine")
}

func TestEnvironments_targetCheck(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop").Holds("target", "http://127.0.0.1:9/base")
	action, revision := page.Action("target"), page.Value("form:has([name=target]) [name=revision]")
	s.Post(action, "revision", revision, "target", "http://10.0.0.1").
		Shows(422, "shop").
		Holds("target", "http://10.0.0.1").
		Says("form:has([name=target])", "t a public address")
	s.Post(action, "revision", revision, "target", "http://127.0.0.1:10").LeadsTo("/projects/shop")
	s.Get("/projects/shop").Holds("target", "http://127.0.0.1:10").Says("[data-flash]", "Saved the target for shop")
	s.Post("/projects/shop/versions/1.0.0/environments/env_none/target", "target", "http://127.0.0.1:10").
		Shows(404, "Page not found")
}

func TestTokenIssuers_save(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/versions/1.0.0/access")
	action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
	send := func(more ...string) *controlplane.Page {
		return s.Post(action, append([]string{
			"revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject",
		}, more...)...)
	}
	send("issuer", "https://8.8.8.8", "issuer_audience", "").Shows(422, "Access to version 1.0.0").
		Holds("issuer", "https://8.8.8.8").
		Says("main", "Enter the audience")
	send("issuer", "http://8.8.8.8", "issuer_audience", "shop").Shows(422, "Access to version 1.0.0").
		Says("main", "Use an https URL")
	send(
		"issuer", "https://8.8.8.8", "issuer_audience", "shop", "issuer_jwks_url", "", "issuer_tenant", "",
		"issuer_removed", "",
		"issuer", "", "issuer_audience", "", "issuer_jwks_url", "", "issuer_tenant", "", "issuer_removed", "",
		"issuer", "https://9.9.9.9", "issuer_audience", "shop", "issuer_jwks_url", "", "issuer_tenant", "",
		"issuer_removed", "true",
		"issuer", "https://1.1.1.1", "issuer_audience", "shop", "issuer_jwks_url", "", "issuer_tenant", "default",
		"issuer_removed", "",
	).LeadsTo(action)
	saved := s.Get(action)
	var got []string
	for _, name := range []string{"issuer", "issuer_audience", "issuer_tenant"} {
		saved.Find("[name=" + name + "]").Each(func(_ int, field *goquery.Selection) {
			got = append(got, field.AttrOr("value", ""))
		})
	}
	want := []string{"https://8.8.8.8", "https://1.1.1.1", "shop", "shop", "", "default"}
	if !slices.Equal(got, want) {
		t.Errorf("the page shows %q, want %q: neither the empty nor the removed row", got, want)
	}
	if got := saved.Value("[name=methods][checked]"); got != "jwt" {
		t.Errorf("the method is %q, want jwt", got)
	}
}

// keyPlace is a row of the form.
func keyPlace(kind, name, prefix, use string) []string {
	return []string{"key_in", kind, "key_in_name", name, "key_in_prefix", prefix, "key_in_prefix_use", use}
}

func TestKeyPlaces_save(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/versions/1.0.0/access").Holds("key_in_name", "X-API-Key")
	action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
	send := func(more ...string) *controlplane.Page {
		return s.Post(action, append([]string{
			"revision", revision, "mode", "authenticate", "methods", "api_key", "keyless", "reject",
		}, more...)...)
	}
	send(keyPlace("header", "Host", "", "required")...).Shows(422, "Access to version 1.0.0").
		Holds("key_in_name", "Host").Says("main", "Use 1 to 64 letters")
	rows := slices.Concat(keyPlace("header", "Authorization", "Bearer", "optional"),
		keyPlace("header", "", "", "required"), keyPlace("query", "api_key", "", "required"),
		keyPlace("websocket_protocol", "", "", "required"))
	if n := send(append(rows, "do", "add-place")...).Find("[name=key_in]").Length(); n != 5 {
		t.Errorf("add: %d rows, want 5", n)
	}
	if n := send(append(rows, "do", "remove-place 0")...).Find("[name=key_in]").Length(); n != 3 {
		t.Errorf("remove: %d rows, want 3", n)
	}
	send(rows...).LeadsTo(action)
	saved := s.Get(action)
	var got []string
	for _, selector := range []string{"[name=key_in_name]", "[name=key_in_prefix]"} {
		saved.Find(selector).Each(func(_ int, field *goquery.Selection) {
			got = append(got, field.AttrOr("value", ""))
		})
	}
	saved.Find("[name=key_in] [selected], [name=key_in_prefix_use] [selected]").Each(
		func(_ int, option *goquery.Selection) { got = append(got, option.AttrOr("value", "")) })
	want := []string{
		"Authorization", "api_key", "", "Bearer", "", "",
		"header", "optional", "query", "required", "websocket_protocol", "required",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page shows %q, want %q", got, want)
	}
	s.Get("/projects/shop").Says("main", "accepts keys in the query")
}

func TestSendMetadata_save(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	action := s.Get("/projects/shop/versions/1.0.0/access").Action("mode")
	for _, tc := range []struct {
		fields  []string
		checked int
	}{
		{[]string{"methods", "api_key", "key_send_metadata", "true"}, 1},
		{[]string{"methods", "api_key"}, 0},
		{[]string{ // the form hides it
			"methods", "jwt", "issuer", "http://127.0.0.1:9/", "issuer_audience", "shop", "issuer_jwks_url", "",
			"issuer_tenant", "", "key_send_metadata", "true",
		}, 0},
	} {
		page := s.Get(action)
		s.Post(action, append([]string{
			"revision", page.Value("form:has([name=mode]) [name=revision]"), "mode", "authenticate",
			"keyless", "reject",
		}, tc.fields...)...).LeadsTo(action)
		if n := s.Get(action).Find("[name=key_send_metadata][checked]").Length(); n != tc.checked {
			t.Errorf("%q: %d checked, want %d", tc.fields, n, tc.checked)
		}
	}
}

// TestTokenIssuers_rows presses the buttons of the form that do not save it, as a browser without scripts does.
func TestTokenIssuers_rows(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	of := idp.StartIssuer(t, time.Now(), idp.KeyOf(jose.ES256, "e"))
	page := s.Get("/projects/shop/versions/1.0.0/access")
	action := page.Action("mode")
	press := func(do string, more ...string) *controlplane.Page {
		return s.Post(action, append([]string{
			"revision", "41", "mode", "authenticate", "methods", "jwt", "keyless", "reject", "do", do,
		}, more...)...)
	}
	row := []string{
		"issuer", of.URL, "issuer_audience", "shop", "issuer_jwks_url", "", "issuer_tenant", "",
		"issuer_removed", "",
	}
	if n := press("add", row...).Shows(200, "Access to version 1.0.0").Find("[name=issuer]").Length(); n != 2 {
		t.Errorf("add: %d rows, want 2", n)
	}
	press("remove 0", row...).Shows(200, "Access to version 1.0.0").
		Holds("issuer", of.URL).Holds("issuer_removed", "true").Says("main", "removed when you save")
	press("keep 0", row...).Holds("issuer_removed", "")
	press("test 0", row...).Shows(200, "Access to version 1.0.0").
		Says("[role=status]", "1 of 1 keys can verify tokens. Algorithms: ES256").Holds("revision", "41")
	press("test 0", "issuer", of.URL+"/other", "issuer_audience", "shop").
		Says("[role=status]", "The response has status 404.")
	press("test 0", "issuer", "nonsense", "issuer_audience", "shop").Shows(422, "Access to version 1.0.0").
		Says("main", "Use an https URL")
	token := idp.KeyOf(jose.ES256, "e").Sign(t, nil, of.Claims())
	tested := press("test 0", append(row, "secret_token", token)...).Says("[role=status]", "not shop").
		Says("[role=status]", "401 invalid_token")
	if strings.Contains(tested.Raw, token) {
		t.Error("the page repeats the token")
	}
	press("remove 7", row...).Shows(404, "Page not found")
	press("test-introspection", "introspection", of.URL+"/introspect").Says("[role=status]", "it returned 404")
	if got := s.Get(action).Find("[name=issuer]").Length(); got != 0 {
		t.Errorf("a button that saves nothing saved %d issuers", got)
	}
}
