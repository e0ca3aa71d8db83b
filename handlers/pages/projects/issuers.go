package projects

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/views/projects"
	"postern/views/ui"
)

const (
	issuersPointer    = "/requests_auth/jwt/allowed_pairs"
	maxPostedIssuers  = 100 // rows that are read of a form; the rule allows fewer
	doAdd             = "add"
	doRemove          = "remove"
	doKeep            = "keep"
	doTest            = "test"
	doTestIntrospects = "test-introspection"
)

// issuerForm is a row of issuers, as typed.
type issuerForm struct {
	pair    snapshot.TokenIssuer
	removed bool
	added   bool
	token   secrets.Secret // to test with; never shown again
}

func (f issuerForm) isEmpty() bool { return f.pair == snapshot.TokenIssuer{} }

// postedIssuers reads the rows of a form. Each has every field, so that the fields with one name are in the order of
// the rows.
func postedIssuers(form url.Values) []issuerForm {
	field := func(name string, i int) string {
		if list := form[name]; i < len(list) {
			return strings.TrimSpace(list[i])
		}
		return ""
	}
	var out []issuerForm
	for i := range min(len(form["issuer"]), maxPostedIssuers) {
		out = append(out, issuerForm{
			pair: snapshot.TokenIssuer{
				Issuer:   field("issuer", i),
				Audience: field("issuer_audience", i),
				JWKSURL:  field("issuer_jwks_url", i),
				Tenant:   field("issuer_tenant", i),
			},
			removed: field("issuer_removed", i) == "true",
			token:   secrets.Given(field("secret_token", i)),
		})
	}
	return out
}

func issuersAsForm(saved []snapshot.TokenIssuer) []issuerForm {
	var out []issuerForm
	for _, pair := range saved {
		out = append(out, issuerForm{pair: pair})
	}
	return out
}

// kept returns the issuers that are saved: rows that are neither removed nor empty.
func kept(rows []issuerForm) []snapshot.TokenIssuer {
	out := []snapshot.TokenIssuer{}
	for _, row := range rows {
		if !row.removed && !row.isEmpty() {
			out = append(out, row.pair)
		}
	}
	return out
}

// issuerRows shows rows with their mistakes, whose pointers count the kept rows only.
func issuerRows(version string, rows []issuerForm, wrong *page.Errors) []projects.IssuerRow {
	var out []projects.IssuerRow
	saved := 0
	for i, row := range rows {
		shown := projects.IssuerRow{
			N:        i,
			ID:       fmt.Sprintf("%s-issuer-%d", version, i),
			Issuer:   ui.Value{Text: row.pair.Issuer},
			Audience: ui.Value{Text: row.pair.Audience},
			JWKSURL:  ui.Value{Text: row.pair.JWKSURL},
			Tenant:   ui.Value{Text: row.pair.Tenant},
			Removed:  row.removed,
			New:      row.added,
		}
		if !row.removed && !row.isEmpty() {
			markIssuer(&shown, wrong, fmt.Sprintf("%s/%d", issuersPointer, saved))
			saved++
		}
		out = append(out, shown)
	}
	return out
}

func markIssuer(row *projects.IssuerRow, wrong *page.Errors, at string) {
	row.Issuer.Error = wrong.Take(at + "/iss")
	row.Audience.Error = wrong.Take(at + "/aud")
	row.JWKSURL.Error = wrong.Take(at + "/jwks_url")
	row.Tenant.Error = wrong.Take(at + "/tenant")
	row.Error = wrong.Take(at)
}

// changeIssuers does what a button of the form asks for, without saving anything: it adds, removes and keeps rows, and
// tests what was typed.
func (h *Handler) changeIssuers(v *page.Visit, form accessForm, do string) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	what, number, _ := strings.Cut(do, " ")
	n, err := strconv.Atoi(number)
	inRows := err == nil && n >= 0 && n < len(form.issuers)
	inPlaces := err == nil && n >= 0 && n < len(form.keyPlaces)
	var test func(*projects.Access) (int, error)
	switch {
	case what == doAddPlace && number == "":
		form.keyPlaces = append(form.keyPlaces, keyPlaceForm{kind: contract.PlaceHeader, added: true})
	case what == doRemovePlace && inPlaces:
		form.keyPlaces = slices.Delete(form.keyPlaces, n, n+1)
	case what == doAdd && number == "":
		form.issuers = append(form.issuers, issuerForm{added: true})
	case what == doRemove && inRows && form.issuers[n].isEmpty():
		form.issuers = slices.Delete(form.issuers, n, n+1)
	case what == doRemove && inRows:
		form.issuers[n].removed = true
	case what == doKeep && inRows:
		form.issuers[n].removed = false
	case what == doTest && inRows:
		test = func(m *projects.Access) (int, error) { return h.testIssuer(v, form, n, m) }
	case what == doTestIntrospects:
		test = func(m *projects.Access) (int, error) { return h.testIntrospection(v, form, m) }
	default:
		return web.Answer{}, web.NotFound()
	}
	m, err := h.configuration(v, p, accessPage)
	if err != nil {
		return web.Answer{}, err
	}
	form.version = m.Versions[0].ID
	form.mark(&m, &page.Errors{})
	status := http.StatusOK
	if test != nil {
		if status, err = test(&m.Versions[0].Access); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Answer{Status: status, Page: accessPage.show(m)}, nil
}

// path is the version whose page the form is on.
func (f accessForm) path(v *page.Visit) contract.VersionPath {
	return contract.VersionPath{ProjectPath: contract.ProjectPath{Project: v.Param("project")}, Version: f.version}
}

func (h *Handler) testIssuer(v *page.Visit, form accessForm, n int, m *projects.Access) (int, error) {
	row, shown := form.issuers[n], &m.Issuers[n]
	report, err := h.Diagnostics.Issuer(v.Ctx(), v.Who, contract.TokenIssuerTest{
		VersionPath: form.path(v),
		Body:        contract.IssuerToTest{TokenIssuer: row.pair, Token: contract.Secret(row.token)},
	})
	if wrong, ok := page.ErrorsIn(err); ok && len(wrong.Fields) > 0 {
		markIssuer(shown, wrong, "")
		return wrong.Status, nil
	}
	found, status, err := page.Diagnosed(shown.ID+"-report", row.pair.Issuer, report, err)
	shown.Report = &found
	return status, err
}

func (h *Handler) testIntrospection(v *page.Visit, form accessForm, m *projects.Access) (int, error) {
	in := form.introspection
	report, err := h.Diagnostics.Introspection(v.Ctx(), v.Who, contract.IntrospectionTest{
		VersionPath: form.path(v),
		Body:        contract.IntrospectionToTest{Opaque: in.test(), Token: contract.Secret(in.token)},
	})
	if wrong, ok := page.ErrorsIn(err); ok && len(wrong.Fields) > 0 {
		form.introspection.mark(&m.Introspection, wrong, "")
		return wrong.Status, nil
	}
	found, status, err := page.Diagnosed("introspection-report", in.Endpoint, report, err)
	m.Introspection.Report = &found
	return status, err
}

// issuerLines formats issuers where two states of a form are compared.
func issuerLines(issuers []snapshot.TokenIssuer) string {
	var lines []string
	for _, one := range issuers {
		lines = append(lines, one.Line())
	}
	return strings.Join(lines, "\n")
}

// issuerPairs are the hidden fields that post the rows again.
func issuerPairs(rows []snapshot.TokenIssuer) []projects.Pair {
	var out []projects.Pair
	for _, one := range rows {
		out = append(out,
			projects.Pair{Name: "issuer", Value: one.Issuer},
			projects.Pair{Name: "issuer_audience", Value: one.Audience},
			projects.Pair{Name: "issuer_jwks_url", Value: one.JWKSURL},
			projects.Pair{Name: "issuer_tenant", Value: one.Tenant},
		)
	}
	return out
}

// introspectionForm has the fields of an introspection endpoint, as typed. Neither secret nor token is shown again.
type introspectionForm struct {
	contract.Introspection
	secret, token secrets.Secret
}

func postedIntrospection(form url.Values) introspectionForm {
	return introspectionForm{
		Introspection: contract.Introspection{
			Endpoint: strings.TrimSpace(form.Get("introspection")),
			Method:   contract.IntrospectionMethod(form.Get("introspection_method")),
			ClientID: strings.TrimSpace(form.Get("introspection_client")),
			Issuer:   strings.TrimSpace(form.Get("introspection_issuer")),
			Audience: strings.TrimSpace(form.Get("introspection_audience")),
		},
		secret: secrets.Given(form.Get("introspection_secret")),
		token:  secrets.Given(form.Get("introspection_secret_token")),
	}
}

func introspectionFormOf(of *snapshot.Introspection) introspectionForm {
	if of == nil {
		return introspectionForm{}
	}
	return introspectionForm{Introspection: of.Introspection}
}

func introspectionOf(of *snapshot.Introspection) projects.Introspection {
	out := projects.Introspection{HasSecret: of != nil && of.HasSecret}
	introspectionFormOf(of).mark(&out, &page.Errors{}, "")
	return out
}

// test returns the endpoint for a test.
func (f introspectionForm) test() *contract.NewIntrospection {
	out := &contract.NewIntrospection{Introspection: f.Introspection}
	if secret := f.input().ClientSecret; secret != nil {
		out.ClientSecret = new(*secret)
	}
	return out
}

// input returns the endpoint. An empty secret keeps the stored one as long as there is a client that it belongs to: the
// page never shows the secret, so the form cannot send it back.
func (f introspectionForm) input() *contract.NewIntrospection {
	out := &contract.NewIntrospection{Introspection: f.Introspection}
	if f.secret != "" || f.ClientID == "" {
		out.ClientSecret = new(contract.Secret(f.secret.Reveal()))
	}
	return out
}

// mark shows the fields as typed, with the mistakes below the pointer.
func (f introspectionForm) mark(m *projects.Introspection, wrong *page.Errors, at string) {
	m.Endpoint = wrong.Value(at+"/endpoint", f.Endpoint)
	m.ClientID = wrong.Value(at+"/client_id", f.ClientID)
	m.Method.Error = wrong.Take(at + "/method")
	m.InForm = f.Method == snapshot.SecretPost
	m.Issuer = wrong.Value(at+"/iss", f.Issuer)
	m.Audience = wrong.Value(at+"/aud", f.Audience)
	m.SecretError = wrong.Take(at + "/client_secret")
}

// line formats the endpoint where two states of a form are compared.
func (f introspectionForm) line() string {
	if f.Endpoint == "" {
		return ""
	}
	return f.Line()
}

// pairs are the hidden fields that post the endpoint again, without the secret, which a page never holds.
func (f introspectionForm) pairs() []projects.Pair {
	return []projects.Pair{
		{Name: "introspection", Value: f.Endpoint},
		{Name: "introspection_client", Value: f.ClientID},
		{Name: "introspection_method", Value: string(f.Method)},
		{Name: "introspection_issuer", Value: f.Issuer},
		{Name: "introspection_audience", Value: f.Audience},
	}
}
