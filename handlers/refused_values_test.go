package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/core/contract"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

// badValues are tried in a field one after the other until the form is refused.
var badValues = []string{strings.Repeat("ø!", 3000), "~ invalid ~", "-1", ""}

// notRefused are the fields that are not refused by themselves, by route and name.
var notRefused = map[string]string{
	"/search q":                                 "everything can be searched for",
	"/signin email":                             "which of the two is wrong is not said",
	"/signin password":                          "which of the two is wrong is not said",
	"/imports/preview name":                     "a zip comes with it; see TestImportPage",
	"/projects/:project/export password":        "this server has no secrets key",
	accessRoute + " introspection_secret_token": "it is for a test of the endpoint",
	certificateRoute + " private_key":           "the certificate is read first",
}

const (
	accessRoute      = "/projects/:project/versions/:version/access"
	certificateRoute = "/projects/:project/versions/:version/environments/:environment/client-certificate"
)

// creates are the last parts of addresses of forms that create something. They have a nonce, so
// that a second click does not create it again.
var creates = regexp.MustCompile(`/(new|versions|environments|keys|key-types|domains|login|providers|` +
	`group-mappings|relations|import|preview|api-scopes|upstream-headers|tenants|product|products|users|groups|` +
	`approvals|invitations|tokens|webhooks|teams|export)$`)

// joins are the forms that change nothing when they are sent again.
var joins = []string{
	"/users/:user/groups", "/projects/:project/relations/import", "/projects/:project/keys/import/preview",
}

// notWalked are the forms that no page of this walk has.
var notWalked = map[string]string{
	"/as-code":                       "it is not a form: scripts send the typed text",
	"/imports":                       "a zip comes with it; see TestImportPage",
	"/projects/:project/keys/import": "a button of the form of its preview, which is walked",
	"/projects/:project/login/:client/preview": "a button of the branding form, which is walked",
	"/projects/:project/relations/forget":      "its page asks about a relation; see TestRelations_page",
	"/signin/:provider/callback":               "a provider has the browser send it",
	"/email/:code":                             "its page needs a mail, and it has no fields",
	"/recover":                                 "its page needs a mail server; see TestRecovery",
	"/recover/:code":                           "its page needs a mail; see TestRecovery",
	"/signup":                                  "this server has an account; see TestSignUp",
	"/welcome/:code":                           "this server has an account; see TestWelcome",
}

// formStates are states of objects in which pages have forms that they lack otherwise.
var formStates = map[string][]string{
	"/groups/:group":                       {"member", "group owner", "nested"},
	"/imports/:import":                     {"applied"},
	"/projects/:project/call-signing":      {"call signing"},
	"/projects/:project/delete":            {"deleted"},
	certificateRoute:                       {"https target", "client certificate"},
	"/projects/:project/keys/:key":         {"frozen"},
	"/projects/:project/login/:client":     {"frozen client"},
	"/projects/:project/versions/:version": {"two versions"},
	"/projects/:project/versions/:version/environments/:environment": {"two environments", "https target"},
	"/tenants/:tenant": {"shared"},
	"/users/:user":     {"signed in", "frozen user"},
}

// TestForms_keptValues fills in every form of every page, with one field after the
// other wrong, or a confirmation without its tick. A form that is refused says so at the
// field, and holds what was typed and chosen, except secrets.
func TestForms_keptValues(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	walk := refusals{o: o, sent: map[string]bool{}, reached: map[string]bool{}}
	for _, route := range controlplane.Routes(o.Server) {
		want := guards[route.Method+" "+route.Path]
		if route.Method != http.MethodGet || controlplane.IsAPI(route.Path) || want.operator ||
			strings.HasPrefix(route.Path, "/oauth/") {
			continue
		}
		for _, state := range append([]string{want.needs}, formStates[route.Path]...) {
			walk.page(t, refusedPage{route.Path, state, o.Owner})
		}
		if want.open {
			walk.page(t, refusedPage{route.Path, want.needs, nil})
		}
	}
	for key := range notRefused {
		if !walk.sent[key] {
			t.Errorf("notRefused has %s, which no page has", key)
		}
	}
	for _, route := range controlplane.Routes(o.Server) {
		want := guards[route.Method+" "+route.Path]
		if route.Method != http.MethodPost || controlplane.IsAPI(route.Path) || want.operator ||
			strings.HasPrefix(route.Path, "/oauth/") || strings.HasPrefix(route.Path, "/scim/") {
			continue
		}
		if reached := walk.reached[route.Path]; reached == (notWalked[route.Path] != "") {
			t.Errorf("POST %s: found on a page %v, left out because %q", route.Path, reached, notWalked[route.Path])
		}
	}
}

// refusals is a walk through the forms of all pages.
type refusals struct {
	o       *controlplane.Fixture
	sent    map[string]bool // forms, by route and fields
	reached map[string]bool // routes of forms
}

// refusedPage is a page with the state of the objects that it shows, and who opens it.
type refusedPage struct {
	route, needs string
	caller       []string
}

func (w refusals) page(t *testing.T, at refusedPage) {
	t.Helper()
	has := w.o.NewAllObjects(t, at.needs, at.route)
	path := has.Path(at.route)
	forms := parsed(t, w.o.Do(t, http.MethodGet, path, "", at.caller).Raw).Find("form[method=post]")
	for i := range forms.Length() {
		form := forms.Eq(i)
		action, _, _ := strings.Cut(form.AttrOr("action", path), "?")
		route := w.routeOf(action, has)
		w.reached[route] = true
		if form.Find("[data-nonce]").Length() == 0 && creates.MatchString(route) && !slices.Contains(joins, route) {
			t.Errorf("POST %s creates something, and its form on %s has no nonce", route, at.route)
		}
		for _, name := range wrongFields(form) {
			key := route + " " + name
			if !w.sent[key] && notRefused[key] == "" {
				w.refuse(t, at, &has, i, route, name)
			}
			w.sent[key] = true
		}
	}
}

// routeOf is the route of a form's action.
func (w refusals) routeOf(action string, has controlplane.Objects) string {
	for _, route := range controlplane.Routes(w.o.Server) {
		if route.Method == http.MethodPost && !controlplane.IsAPI(route.Path) && has.Path(route.Path) == action {
			return route.Path
		}
	}
	for _, route := range pageRoutes(w.o, http.MethodPost) {
		if route.path.MatchString(action) {
			return route.pattern
		}
	}
	return action
}

// refuse sends the form with each bad value in the field until it is refused, and looks at
// the answer. The objects are other ones after a form that is not refused.
func (w refusals) refuse(t *testing.T, at refusedPage, has *controlplane.Objects, i int, route, name string) {
	t.Helper()
	for _, bad := range badValues {
		path := has.Path(at.route)
		form := parsed(t, w.o.Do(t, http.MethodGet, path, "", at.caller).Raw).Find("form[method=post]").Eq(i)
		if form.Find("[data-slug][name='"+name+"']").Length() > 0 && contract.IsName(contract.Slug(bad)) {
			continue // the page makes a name of it
		}
		action := form.AttrOr("action", path)
		values := typedInto(form)
		if name != "confirm" || values.Has(name) {
			values[name] = append([]string{bad}, values[name][1:]...)
		}
		if name == "openapi_document" {
			values.Set("openapi_url", "") // one of the two
		}
		if strings.HasPrefix(name, "key_in_") {
			values["methods"] = []string{"api_key"} // without which no call has a key
			values["key_in"] = []string{"header"}   // which alone has all fields
		}
		got := w.o.Do(t, http.MethodPost, action, values.Encode(), at.caller)
		w.o.KeepSession(got)
		if got.Status >= 400 {
			t.Run(fmt.Sprintf("%s %s=%.12q", route, name, bad), func(t *testing.T) {
				keepsValues(t, got, action, name, values)
			})
			return
		}
		if again := w.o.Do(t, http.MethodPost, action, values.Encode(), at.caller); values.Has(ui.NonceField) &&
			again.Header.Get("Location") != got.Header.Get("Location") {
			t.Errorf("POST %s leads to %s, and sent again to %s, %d", route, got.Header.Get("Location"),
				again.Header.Get("Location"), again.Status)
		}
		*has = w.o.NewAllObjects(t, at.needs, at.route)
	}
	t.Errorf("%s: the field %s is never refused", route, name)
}

// keepsValues looks for the form in an answer that refuses it.
func keepsValues(t *testing.T, got controlplane.Response, action, name string, sent url.Values) {
	t.Helper()
	answer := parsed(t, got.Raw)
	form := answer.Find("form[method=post]:has([name='" + name + "'])").FilterFunction(
		func(_ int, form *goquery.Selection) bool { return form.AttrOr("action", action) == action },
	).First()
	said := controlplane.Clean(answer.Find("[role=alert], .wrong").Text())
	if form.Length() == 0 {
		t.Fatalf("%d without the form: %.200s", got.Status, said)
	}
	kept := valuesIn(form)
	for _, other := range slices.Sorted(maps.Keys(sent)) {
		secret := form.Find("[type=password][name='"+other+"']").Length() > 0 || strings.Contains(other, "secret") ||
			other == "private_key"
		if secret || other == ui.NonceField || other == "revision" {
			continue
		}
		slugged := form.Find("[data-slug][name='"+other+"']").Length() > 0
		if slugged && kept.Get(other) == contract.Slug(sent.Get(other)) {
			continue
		}
		if !slices.Equal(sent[other], kept[other]) {
			t.Errorf("%d, the field %s holds %.60q, want %.60q", got.Status, other, kept[other], sent[other])
		}
	}
	if name != "confirm" && form.Find("[name='"+name+"'][aria-invalid=true]").Length() == 0 {
		t.Errorf("%d without an error at the field: %.200s", got.Status, said)
	}
	if said == "" {
		t.Errorf("%d without a word", got.Status)
	}
}

// wrongFields are the fields of a form that can be wrong: those for text, and the box of a
// confirmation.
func wrongFields(form *goquery.Selection) (names []string) {
	for _, field := range form.Find("input[name], textarea[name]").EachIter() {
		name := field.AttrOr("name", "")
		choice := slices.Contains([]string{"hidden", "checkbox", "radio", "file"}, field.AttrOr("type", "text"))
		if (!choice || name == "confirm") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// typedValues are the values for fields that don't accept other texts.
var typedValues = map[string]string{
	"allowed_cidrs": "203.0.113.0/24", "scopes": "openid email", "recipient": "", "openapi_document": "",
}

// typedInto returns the values of a form after someone has filled in and changed all of it,
// without ticking the box of a confirmation.
func typedInto(form *goquery.Selection) url.Values {
	values := url.Values{}
	for _, field := range form.Find("input[name], textarea[name], select[name]").EachIter() {
		name := field.AttrOr("name", "")
		if field.Closest("fieldset[disabled]").Length() > 0 || field.Is("[disabled]") {
			continue
		}
		_, checked := field.Attr("checked")
		switch kind := field.AttrOr("type", "text"); {
		case field.Is("select"):
			values.Add(name, field.Find("option:not([disabled])").Last().AttrOr("value", ""))
		case kind == "hidden":
			values.Add(name, field.AttrOr("value", ""))
		case kind == "radio":
			if values.Get(name) != "own" { // with its own fields
				values.Set(name, field.AttrOr("value", "on"))
			}
		case kind == "checkbox":
			if !checked && name != "confirm" {
				values.Add(name, field.AttrOr("value", "on"))
			}
		case kind == "file":
		default:
			values.Add(name, typed(field, name))
		}
	}
	return values
}

// typed is the text that is typed into a field.
func typed(field *goquery.Selection, name string) string {
	if text, ok := typedValues[name]; ok {
		return text
	}
	kind := field.AttrOr("type", "text")
	switch {
	case kind == "date":
		return "2031-02-03"
	case kind == "email" || strings.Contains(name, "email"):
		return "typed@example.com"
	case kind == "url" || field.AttrOr("inputmode", "") == "url",
		strings.Contains(name, "url"), strings.Contains(name, "uri"):
		return "http://127.0.0.1:9/typed"
	case kind == "number" || field.AttrOr("inputmode", "") == "numeric":
		return "7"
	}
	return "typed-" + strings.ReplaceAll(name, "_", "-")
}

// valuesIn returns what a browser sends of an unchanged form.
func valuesIn(form *goquery.Selection) url.Values {
	values := url.Values{}
	for _, field := range form.Find("input[name], textarea[name], select[name]").EachIter() {
		name := field.AttrOr("name", "")
		_, checked := field.Attr("checked")
		switch kind := field.AttrOr("type", "text"); {
		case field.Closest("fieldset[disabled]").Length() > 0 || field.Is("[disabled]") || kind == "file":
		case field.Is("select"):
			chosen := field.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = field.Find("option:not([disabled])").First()
			}
			values.Add(name, chosen.Last().AttrOr("value", ""))
		case field.Is("textarea"):
			values.Add(name, strings.TrimPrefix(field.Text(), "\n"))
		case kind == "radio" || kind == "checkbox":
			if checked {
				values.Add(name, field.AttrOr("value", "on"))
			}
		default:
			values.Add(name, field.AttrOr("value", ""))
		}
	}
	return values
}
