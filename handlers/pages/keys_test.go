package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// callAPI sends a JSON request with the browser's session and fails the test unless it succeeds.
func callAPI(s *controlplane.Browser, method, path, body string) {
	s.T.Helper()
	got := s.Do(method, path, body, []string{"Content-Type", "application/json", "Accept", "application/json"})
	if got.Status >= 300 {
		s.T.Fatalf("%s %s: %d %s", method, path, got.Status, got.Raw)
	}
}

// serveTenant creates a tenant and a product of the team and adds both to the project shop.
func serveTenant(s *controlplane.Browser, tenant, product string) {
	s.T.Helper()
	callAPI(s, "POST", "/api/v1/products", `{"name":"`+product+`"}`)
	callAPI(s, "POST", "/api/v1/tenants", `{"name":"`+tenant+`"}`)
	callAPI(s, "PUT", "/api/v1/projects/shop/tenants/"+tenant, "")
	callAPI(s, "PATCH", "/api/v1/projects/shop", `{"product":"`+product+`"}`)
}

func TestKey_createWithAllFields(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Get("/projects/shop/keys").Lacks("#key-tenant").Lacks("[name=product]").Lacks("#filter-tenant")
	serveTenant(s, "acme", "storefront")
	page := s.Get("/projects/shop/keys").Says("form:has(#key-owner)", "Valid for every project in storefront")
	if got := page.Value("#key-tenant option[selected]"); got != "default" {
		t.Errorf("the form begins with tenant %s", got)
	}
	action := page.Action("owner")
	form := []string{
		"owner",
		"billing",
		"key_type",
		"full",
		"tenant",
		"acme",
		"product",
		"storefront",
		"limits_of",
		"own",
		"limits_minute",
		"60",
		"limits_day",
		"1000",
	}

	ranges := "10.0.0.0/8\r\n\r\nlocalhost"
	wrong := s.Post(action, append(form, "limits_hour", "5", "limits_year", "many", "allowed_cidrs", ranges)...).
		Shows(422, "Keys").
		Says("#key-limit-hour-error", "Use 60 or more").
		Says("#key-limit-year-error", "Use a whole number of 1 or more, or leave the field empty.").
		Says("#key-allowed-error", "localhost: Use an address range").
		Holds("limits_minute", "60").
		Holds("limits_hour", "5").
		Holds("limits_year", "many").
		Says("#key-allowed", "10.0.0.0/8 localhost")
	if strings.Contains(wrong.Find("#key-allowed-error").Text(), "10.0.0.0/8:") {
		t.Error("a range that is right is called wrong")
	}
	for selector, want := range map[string]string{
		"#key-tenant option[selected]":     "acme",
		"#key-product-storefront[checked]": "storefront",
		"[name=limits_of][checked]":        "own",
	} {
		if got := wrong.Value(selector); got != want {
			t.Errorf("the refused form holds %q at %s, want %q", got, selector, want)
		}
	}
	s.Submit(action, append(form, "allowed_cidrs", "10.0.0.0/8\n 192.0.2.1 ")...).Shows(200, "Key created").
		Says("dl", "every project in storefront").
		Says("dl", "60 per minute, 1,000 per day (set on this key)").
		Says("dl", "10.0.0.0/8, 192.0.2.1/32").Says("dl", "acme")
	s.Get("/projects/shop/keys").Says("#keys tbody tr:first-child", "Valid for every project in storefront")
	s.Post(action, "owner", "billing", "tenant", "unknown", "product", "another").Shows(422, "Keys").
		Says("#key-tenant-error", "doesn't serve the tenant").Says("#key-product-error", "storefront")
}

func TestKey_update(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Get("/projects/shop/keys").Find("#keys tbody a").AttrOr("href", "")
	opened := s.Get(path).
		Shows(200, "Key for bootstrap").
		Says("dl", "anywhere").
		Says("dl", "this project").
		Value("[name=revision]")
	form := func(revision string, more ...string) []string {
		return append(
			[]string{"revision", revision, "description", "For the night", "expires_at", "2090-01-02"},
			more...)
	}
	s.Post(
		path,
		form(opened, "limits_of", "own", "limits_hour", "7", "limits_day", "9", "allowed_cidrs", "2001:db8::/32")...,
	).LeadsTo(path)
	saved := s.Get(path).
		Says("[data-flash]", "for bootstrap. The change").
		Says("dl", "For the night").
		Says("dl time[title='2 Jan 2090, 23:59 UTC']", "in ").
		Says("dl", "7 per hour, 9 per day (set on this key)").
		Says("dl", "2001:db8::/32").
		Holds("limits_hour", "7").
		Holds("expires_at", "2090-01-02")

	// A mistake keeps what was typed, and the revision it was typed on.
	revision := saved.Value("[name=revision]")
	s.Post(path, form(revision, "limits_of", "own", "limits_hour", "0", "allowed_cidrs", "here")...).
		Shows(422, "Key for bootstrap").
		Says("#edit-limit-hour-error", "Use a whole number of 1 or more, or leave the field empty.").
		Says("#edit-allowed-error", "here:").
		Says("#edit-allowed", "here").
		Holds("limits_hour", "0")

	// Nothing but the choice is read of numbers that the form hides.
	s.Post(path, form(revision, "limits_of", "none", "limits_hour", "many", "allowed_cidrs", "here")...).
		Shows(422, "Key for bootstrap").
		Says("#edit-allowed-error", "here:").
		Lacks("#edit-limit-hour-error")
	s.Post(path, form(revision, "limits_of", "none", "limits_hour", "many")...).LeadsTo(path)
	s.Get(path).
		Says("dl", "none for this key, regardless of the key type").
		Says("main", "Replaces the key type's limits and the project's limits for each key. The project's limits for "+
			"owners, addresses and the entire project still apply.").
		Says("main", "No limits for this key. The project's limits for owners, addresses and the entire project still "+
			"apply.").
		Says("dl time[title^='2 Jan 2090']", "in ").
		Says("dl", "anywhere")

	conflict := s.Post(path, form(opened, "limits_of", "type", "allowed_cidrs", "192.0.2.1")...).
		Shows(412, "Changed since you opened this page").
		Says("tbody", "same as the key type").
		Says("tbody", "anywhere").
		Says("tbody", "192.0.2.1")
	var mine []string
	for _, name := range []string{"revision", "description", "expires_at", "limits_of", "allowed_cidrs"} {
		mine = append(mine, name, conflict.Value("form:has([name=limits_of]) [name="+name+"]"))
	}
	s.Post(path, mine...).LeadsTo(path)
	s.Get(path).Says("dl", "192.0.2.1/32")
	if got := s.Get(path).Value("[name=limits_of][checked]"); got != "type" {
		t.Errorf("the limits are of %s after mine was saved", got)
	}

	s.Post(path+"/revoke", "confirm", "true").LeadsTo(path)
	s.Get(path).Lacks("[data-panel] form")
	s.Post(path, form("")...).Shows(409, "Key for bootstrap").Says("[role=alert]", "revoked")
}

// A form knows the day of an expiry only: saving it again must not move the end.
func TestKey_keptExpiry(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Get("/projects/shop/keys").Find("#keys tbody a").AttrOr("href", "")
	id := path[strings.LastIndex(path, "/")+1:]
	callAPI(s, "PATCH", "/api/v1/keys/"+id, `{"expires_at":"2090-01-02T03:04:00Z"}`)
	revision := s.Get(path).Value("[name=revision]")
	s.Post(path, "revision", revision, "description", "x", "expires_at", "2090-01-02").LeadsTo(path)
	again := s.Get(path).Says("dl time[title='2 Jan 2090, 03:04 UTC']", "in ").Value("[name=revision]")
	s.Post(path, "revision", again, "expires_at", "").LeadsTo(path)
	s.Get(path).Holds("expires_at", "")
}

func TestKeys_filters(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		action := s.Get("/projects/shop/keys").Action("owner")
		for range 51 {
			s.Submit(
				action,
				"owner", "billing",
				"key_type", "read-only",
				"environment", "prod",
				"description", "Nightly run",
			).Shows(200, "Key created")
		}
		const filter = "keys_owner=billing&keys_type=read-only&keys_environment=prod" +
			"&keys_state=active&keys_text=nightly"
		first := s.Get("/projects/shop/keys?"+filter).
			Says("#keys", "50 of 51 keys").
			Holds("keys_owner", "billing").
			Holds("keys_text", "nightly")
		for _, name := range []string{"type", "environment", "state"} {
			if first.Find("[name=keys_"+name+"] option[selected]").AttrOr("value", "") == "" {
				t.Errorf("the form forgot the %s", name)
			}
		}
		older, _, _ := strings.Cut(first.Find("a:contains('More keys')").AttrOr("href", ""), "#")
		second := s.Get(older).
			Says("#keys tbody", "billing").
			Holds("keys_owner", "billing").
			Lacks("a:contains('More keys')")
		if rows := second.Find("#keys tbody tr").Length(); rows != 1 {
			t.Errorf("%d rows on the second page, want the one that fits", rows)
		}
		newest, err := url.Parse(second.Find("a:contains('First page')").AttrOr("href", ""))
		if err != nil || newest.Query().Get("keys_owner") != "billing" || newest.Query().Has("keys_after") {
			t.Errorf("the first keys are at %v (%v)", newest, err)
		}
		s.Submit(action, "owner", "everywhere", "key_type", "full").Shows(200, "Key created")
		s.Get("/projects/shop/keys?keys_environment=all").Says("#keys", "1 key").Says("#keys tbody", "everywhere")
		s.Get("/projects/shop/keys?keys_state=frozen").
			Says("#keys", "No keys found").
			Lacks("#keys tbody").
			Says("form[role=search] a", "Clear")
	})
}

// A key of a product is listed in each of its projects, and leads to its own.
func TestKey_ofProduct(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	serveTenant(s, "acme", "storefront")
	s.Submit(s.Get("/projects/shop/keys").Action("owner"), "owner", "wide", "product", "storefront").
		Shows(200, "Key created")
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "books").Shows(200, "books is ready")
	callAPI(s, "PATCH", "/api/v1/projects/books", `{"product":"storefront"}`)
	list := s.Get("/projects/books/keys").Says("#keys tbody", "wide")
	s.Get(list.Find("#keys tbody a").AttrOr("href", "")).
		Shows(200, "Key for wide").
		Says("dl", "every project in storefront")
}

func TestKey_metadata(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	const list = "/projects/shop/keys"
	for typed, want := range map[string]string{
		"{plan: gold}": "Use a JSON object",
		"[1]":          "Use a JSON object",
		`"gold"`:       "Use a JSON object",
		"{} {}":        "Use a JSON object",
		`{"a":"` + strings.Repeat("x", 4096) + `"}`: "Use at most 4,096 bytes",
	} {
		got := s.Post(list, "owner", "billing", "metadata", typed).Shows(422, "Keys").
			Says("#key-metadata-error", want).Find("#key-metadata").Text()
		if got != typed {
			t.Errorf("the refused form holds %.50q, want %.50q", got, typed)
		}
	}
	const typed = "{ \"plan\":\n \"gold\", \"no\": 12345678901234567890 }"
	s.Submit(list, "owner", "billing", "metadata", typed).Shows(200, "Key created")
	path := s.Get(list).Find("#keys tbody tr:first-child a").AttrOr("href", "")
	opened := s.Get(path).Shows(200, "Key for billing").Says("dl", `{"plan":"gold","no":12345678901234567890}`)
	const indented = "{\n  \"plan\": \"gold\",\n  \"no\": 12345678901234567890\n}"
	if got := opened.Find("#edit-metadata").Text(); got != indented {
		t.Errorf("the form has %q, want %q", got, indented)
	}
	s.Get(list+"?keys_text=GOLD").Says("#keys", "1 key").Says("#keys tbody", "billing")
	revision := opened.Value("[name=revision]")
	s.Post(path, "revision", revision, "metadata", "gold").Shows(422, "Key for billing").
		Says("#edit-metadata-error", "Use a JSON object").Says("#edit-metadata", "gold")
	s.Post(path, "revision", revision, "metadata", `{"plan": "silver"}`).LeadsTo(path)
	s.Get(path).Says("dl", `{"plan":"silver"}`)
	s.Post(path, "revision", revision, "metadata", `{"plan": "bronze"}`).
		Shows(412, "Changed since you opened this page").
		Says("main", `{"plan":"silver"}`).
		Says("main", `{"plan":"bronze"}`).
		Holds("metadata", `{"plan": "bronze"}`)
	s.Post(path, "revision", s.Get(path).Value("[name=revision]"), "metadata", " ").LeadsTo(path)
	s.Get(path).Lacks("dd.font-mono:contains(silver)")
}
