package handlers_test

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/handlers/pages/ascode"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// unknownField is in no form.
const unknownField = "zz_unknown"

// TestForms_unknownFields sends every form with all of its fields and one that it does not have: that one is refused by
// name, and no other. So are forms that no page of the walk has.
func TestForms_unknownFields(t *testing.T) {
	t.Parallel()
	w := fieldWalk{
		codeWalk: codeWalk{
			o:       controlplane.NewFixture(t, state.OpenSQLite(t)),
			table:   ascode.NewTable(ascode.Readers{}),
			objects: map[string]controlplane.Objects{},
		},
		sent: map[string]bool{},
	}
	for route, all := range codeForms {
		for _, values := range all {
			w.refuses(t, w.of(t, "", "").Path(route), values, w.o.Owner)
		}
	}
	for _, route := range controlplane.Routes(w.o.Server) {
		guard := guards[route.Method+" "+route.Path]
		if controlplane.IsAPI(route.Path) || guard.operator || strings.HasPrefix(route.Path, "/oauth/") {
			continue
		}
		switch route.Method {
		case http.MethodGet:
			for _, needs := range append([]string{guard.needs}, formStates[route.Path]...) {
				w.page(t, route.Path, needs)
			}
		case http.MethodPost:
			isCallback := strings.HasSuffix(route.Path, "/callback") // whose form a provider fills in
			if route.Path != "/as-code" && !isCallback && !strings.HasPrefix(route.Path, "/scim/") {
				w.refuses(t, w.of(t, guard.needs, route.Path).Path(route.Path), url.Values{}, w.o.Owner)
			}
		}
	}
	if len(w.sent) < 150 {
		t.Errorf("only %d forms were sent", len(w.sent))
	}
}

// fieldWalk sends forms, each set of fields once.
type fieldWalk struct {
	codeWalk
	sent map[string]bool
}

func (w fieldWalk) page(t *testing.T, route, needs string) {
	t.Helper()
	has := w.of(t, needs, route)
	path := has.Path(route) + w.o.FillBody(t, has, guards["GET "+route].query)
	for _, caller := range [][]string{w.o.Owner, nil} {
		document := parsed(t, w.o.Do(t, http.MethodGet, path, "", caller).Raw)
		for _, form := range document.Find("form[method=post]:not([enctype])").EachIter() {
			action, _, _ := strings.Cut(form.AttrOr("action", path), "?")
			if strings.HasPrefix(action, "/oauth/") {
				continue
			}
			w.refuses(t, action, allFields(document, form), caller)
		}
	}
}

// allFields returns the fields of a form, also those that are empty, off or not ticked.
func allFields(document *goquery.Document, form *goquery.Selection) url.Values {
	fields := form.Find("[name]")
	if id := form.AttrOr("id", ""); id != "" {
		fields = fields.AddSelection(document.Find("[name][form='" + id + "']"))
	}
	out := url.Values{}
	for _, one := range fields.EachIter() {
		out.Set(one.AttrOr("name", ""), one.AttrOr("value", ""))
	}
	return out
}

// refuses sends a form with another field, which is all that the answer complains of.
func (w fieldWalk) refuses(t *testing.T, action string, values url.Values, caller []string) {
	t.Helper()
	fields := slices.Sorted(maps.Keys(values))
	key := action + " " + strings.Join(fields, " ")
	if w.sent[key] {
		return
	}
	w.sent[key] = true
	body := maps.Clone(values)
	body.Set(unknownField, "x")
	got := w.o.Do(t, http.MethodPost, action, body.Encode(), caller)
	text := html.UnescapeString(got.Raw)
	if got.Status != http.StatusUnprocessableEntity ||
		!strings.Contains(text, `The form has unknown fields: "`+unknownField+`".`) {
		_, said, _ := strings.Cut(text, "The form has unknown fields")
		t.Errorf("POST %s with %v: %d %.200s", action, fields, got.Status, said)
	}
}
