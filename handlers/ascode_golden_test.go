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
	"time"

	"github.com/PuerkitoBio/goquery"

	"postern/handlers/pages/ascode"
	"postern/models"
	"postern/service/access"
	"postern/service/usage"
	"postern/testkit/controlplane"
	"postern/testkit/golden"
	"postern/testkit/state"
)

// typedCode is what is typed into fields whose text becomes more than a text in the lines.
var typedCode = map[string][]string{
	"access_minutes": {"10"},
	"headers":        {"Content-Type\nX-Request-Id"},
	"methods":        {"GET", "POST"},
	"origins":        {"https://app.example.com\nhttp://localhost:3000"},
	"expires_in":     {"90"},
	"ip_allow":       {"203.0.113.0/24\n2001:db8::/32"},
	"ip_deny":        {"203.0.113.7"},
	"limits_of":      {"own"},
	"map":            {"apiKey=key\nplan=-"},
	"max_age":        {"600"},
	"refresh_days":   {"30"},
	"rules": {"GET,HEAD /orders/{id} scopes=orders:read owner=order:{id}\n" +
		"POST /orders groups=staff role=admin remember=order:{response.id} mode=shadow"},
	"transforms": {"request add X-Source: shop\nquery rename page:p\nresponse-body add number total:2"},
	"typed_name": {"shop"},
}

// codeForms are values of forms that no page of the walk leads to, or that scripts and links add fields to, by route.
var codeForms = map[string][]url.Values{
	"/groups/:group/members":         {{"email": {"ana@example.com"}}},
	"/projects/:project/keys":        {{"owner": {"billing-service"}, "metadata": {`{"plan": "gold"}`}}},
	"/projects/:project/keys/:key":   {{"metadata": {`{"plan": "gold"}`}}, {"metadata": {""}}},
	"/groups/:group/owners":          {{"owner": {"billing-service"}}},
	"/groups/:group/owners/remove":   {{"owner": {"billing-service"}}},
	"/imports":                       {{"name": {"shop"}}},
	"/products/:product/delete":      {{"typed_name": {"store"}}},
	"/projects/:project/delete":      {{"typed_name": {"shop"}}},
	"/projects/:project/keys/change": {{"do": {"revoke"}, "key": {"key_1"}}, {"do": {"unfreeze"}, "key": {"key_1"}}},
	"/projects/:project/keys/import": {{"key_type": {"full"}, "map": {"apiKey=key\nUser ID=owner"}}},
	"/projects/:project/limits": {{
		"limit_of": {"key", "ip"}, "limit_window": {"minute", "second"}, "limit_calls": {"60", "5"},
	}},
	"/projects/:project/login/:client/providers":  {{"type": {"oidc"}, "issuer": {"https://id.example.com"}}},
	"/projects/:project/login/:client/secret":     {{"kind": {"public"}}},
	"/projects/:project/relations/forget":         {{"user": {"billing"}, "object": {"order:42"}}},
	"/projects/:project/versions/:version/access": {accessValues},
	"/projects/:project/versions/:version/delete": {{"typed_name": {"1.0.0"}}},

	"/projects/:project/versions/:version/environments/:environment/delete": {{"typed_name": {"prod"}}},
}

var accessValues = url.Values{
	"mode": {"authenticate"}, "methods": {"api_key", "jwt", "opaque"}, "keyless": {"reject"},
	"key_in": {"header", "query", "websocket_protocol"}, "key_in_name": {"Authorization", "api_key", ""},
	"key_in_prefix": {"Bearer", "", ""}, "key_in_prefix_use": {"optional", "required", "required"},
	"key_send_metadata": {"true"},
	"issuer":            {"https://id.example.com"}, "issuer_audience": {"orders"},
	"issuer_jwks_url": {"https://id.example.com/keys"}, "issuer_tenant": {"default"},
	"introspection": {"https://id.example.com/introspect"}, "introspection_method": {"client_secret_post"},
	"introspection_client": {"shop"}, "introspection_secret": {"s3cret"},
	"introspection_issuer": {"https://id.example.com"}, "introspection_audience": {"orders"},
}

// TestAsCode_golden compares the lines that "As code" shows with testdata/ascode: in pages those of every page as it is
// opened, with those of its forms; in forms those of every form after it was filled in.
func TestAsCode_golden(t *testing.T) {
	t.Parallel()
	w := codeWalk{
		o:       controlplane.NewFixture(t, state.OpenSQLite(t)),
		table:   ascode.NewTable(ascode.Readers{}),
		objects: map[string]controlplane.Objects{},
		pages:   map[string]string{},
		forms:   map[codeForm]string{},
	}
	for route, all := range codeForms {
		for _, values := range all {
			w.form(t, w.of(t, "", "").Path(route), values)
		}
	}
	for _, route := range controlplane.Routes(w.o.Server) {
		if _, has := w.table.Pages[route.Path]; has && route.Method == http.MethodGet {
			for _, needs := range append([]string{guards["GET "+route.Path].needs}, formStates[route.Path]...) {
				w.page(t, route.Path, needs)
			}
		}
	}
	golden.CompareDir(t, "testdata/ascode", map[string]string{"pages": joined(w.pages), "forms": w.allForms(t)})
}

// codeWalk collects the lines of pages and forms.
type codeWalk struct {
	o       *controlplane.Fixture
	table   ascode.Table
	objects map[string]controlplane.Objects
	pages   map[string]string // by route, with the state if it is not the first
	forms   map[codeForm]string
}

// codeForm is one of the calls that the table has for a form.
type codeForm struct {
	route string
	call  int
}

// of returns objects in a state, for a route. One set of them is enough, because nothing is changed.
func (w codeWalk) of(t *testing.T, needs, route string) controlplane.Objects {
	t.Helper()
	names := strings.TrimPrefix(allObjects, "/invite") // the code is that of a workspace
	if strings.HasPrefix(route, "/invite/") {
		names = allObjects
	}
	if _, made := w.objects[needs+names]; !made {
		w.objects[needs+names] = w.o.NewAllObjects(t, needs, names)
	}
	return w.objects[needs+names]
}

// page opens a page, and fills in its forms.
func (w codeWalk) page(t *testing.T, route, needs string) {
	t.Helper()
	has := w.of(t, needs, route)
	path := has.Path(route) + w.o.FillBody(t, has, guards["GET "+route].query)
	switch route {
	case "/claimed":
		w.claim(t)
	case "/projects/:project/requests/:request":
		path = w.call(t, has)
	}
	answer := w.o.Do(t, http.MethodGet, path, "", w.o.Owner)
	if answer.Status != http.StatusOK {
		t.Fatalf("GET %s: %d", path, answer.Status)
	}
	document := parsed(t, answer.Raw)
	name := "GET " + route
	if _, done := w.pages[name]; done {
		name += ", " + needs
	}
	text := codeIn(document.Find("#as-code"))
	if settings := codeSettings.FindString(text); settings != "" {
		w.pages["Every page"] = settings
		text = strings.TrimPrefix(text, settings)
	}
	w.pages[name] = text
	for _, form := range document.Find("form[method=post]").EachIter() {
		action, _, _ := strings.Cut(form.AttrOr("action", path), "?")
		filled := typedInto(form)
		for name, texts := range typedCode {
			if form.Find("[name='"+name+"']").Length() > 0 {
				filled[name] = texts
			}
		}
		for _, values := range []url.Values{filled, valuesIn(form)} {
			w.form(t, action, values)
		}
	}
}

// claim has the owner claim a workspace with a product that is renamed, which the page after that says.
func (w codeWalk) claim(t *testing.T) {
	t.Helper()
	created := w.o.CreateProject(t, access.Principal{}, "")
	found, err := w.o.DB.Read(t.Context()).ProjectByName(created.Project.Name)
	check(t, err)
	now := models.Now()
	check(t, w.o.DB.Write(t.Context(), func(tx *models.Tx) error {
		product := models.Product{ID: models.NewID("prd"), TeamID: w.o.Team, Name: "store"}
		product.CreatedAt, product.UpdatedAt = now, now
		other := product
		other.ID, other.TeamID = models.NewID("prd"), found.TeamID
		return tx.Insert(&product, &other)
	}))
	path := "/claim/" + created.Workspace.ClaimCode
	w.o.KeepSession(w.o.Do(t, http.MethodPost, path, "team="+w.o.Team, w.o.Owner))
}

// call puts a call of the project into the live log, and returns the path of its page.
func (w codeWalk) call(t *testing.T, has controlplane.Objects) string {
	t.Helper()
	w.o.Server.Usage.Recorder.Observe(usage.Call{
		ProjectID: has.Project, Method: "GET", Path: "/orders", Status: 200, Step: "forward", Forwarded: true,
		Start: time.Now(),
	})
	requests := has.Path("/projects/:project/requests")
	list := parsed(t, w.o.Do(t, http.MethodGet, requests, "", w.o.Owner).Raw)
	return list.Find("a[href^='"+requests+"/']").AttrOr("href", "")
}

// form asks for the lines of a form that is filled in, as the script of a page does. The first values that lead to
// lines count.
func (w codeWalk) form(t *testing.T, action string, values url.Values) {
	t.Helper()
	call, ok := w.table.Form(action, values)
	if !ok {
		return // it is for a browser alone
	}
	route, _, _ := strings.Cut(call.Kind, " ")
	index := slices.IndexFunc(w.table.Forms[route], func(one ascode.Call) bool {
		return one.When == nil || one.When(values)
	})
	if w.forms[codeForm{route, index}] != "" {
		return
	}
	answer := w.o.Do(t, http.MethodPost, "/as-code?form="+url.QueryEscape(action), values.Encode(), w.o.Owner)
	if answer.Status != http.StatusOK {
		t.Fatalf("the lines of POST %s: %d", action, answer.Status)
	}
	w.forms[codeForm{route, index}] = codeIn(parsed(t, answer.Raw).Selection)
}

// allForms returns the lines of every form. All that the table has must be there.
func (w codeWalk) allForms(t *testing.T) string {
	t.Helper()
	out := map[string]string{}
	for route, calls := range w.table.Forms {
		text := "Only in a browser.\n"
		if len(calls) > 0 {
			text = ""
		}
		for i := range calls {
			lines := w.forms[codeForm{route, i}]
			if lines == "" {
				t.Errorf("POST %s: no form was filled in so that call %d of its lines is shown", route, i)
			}
			text += lines
		}
		out["POST "+route] = text
	}
	return joined(out)
}

// joined returns texts with their names above them.
func joined(texts map[string]string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&out, "==== %s\n\n%s\n", name, texts[name])
	}
	return out.String()
}

// codeIn returns the headings, lines and notes in a part of a page.
func codeIn(part *goquery.Selection) string {
	var out strings.Builder
	for _, one := range part.Find("h3, h4, code, p").EachIter() {
		switch text := strings.TrimSpace(one.Text()); {
		case one.Is("h3"):
			fmt.Fprintln(&out, "-- "+text)
		case one.Is("h4"):
			fmt.Fprintln(&out, "# "+text)
		default:
			fmt.Fprintln(&out, text)
		}
	}
	return stable(out.String())
}

var (
	codeSettings = regexp.MustCompile(`^Set these once.*\n(export .*\n)+`)
	randomID     = regexp.MustCompile(`\b([a-z]{2,5})_[0-9A-Za-z]{16,}\b`)
	numberedBy   = regexp.MustCompile(`\b(shop|product|tenant|api)-\d+\b`) // by Fixture
	requestID    = regexp.MustCompile(`(/requests/|requests show shop )\w+-\d+`)
	usageFrom    = regexp.MustCompile(`(from[= ])\d[^ &']*`)
)

// stable replaces what differs between runs: ids by the order in which they occur, and names that count objects.
func stable(text string) string {
	ids, count := map[string]string{}, map[string]int{}
	text = randomID.ReplaceAllStringFunc(text, func(id string) string {
		if ids[id] == "" {
			kind, _, _ := strings.Cut(id, "_")
			count[kind]++
			ids[id] = fmt.Sprintf("%s_%d", kind, count[kind])
		}
		return ids[id]
	})
	text = numberedBy.ReplaceAllString(text, "$1")
	text = requestID.ReplaceAllString(text, "${1}REQUEST")
	return usageFrom.ReplaceAllString(text, "${1}TIME")
}
