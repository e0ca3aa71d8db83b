package login

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/login"
	"postern/views/projects"
	"postern/views/ui"
)

// startTestLogin starts a test login of an app client in the visitor's browser. The dashboard
// takes the application's place.
func (h *Handler) startTestLogin(v *page.Visit) (web.Answer, error) {
	_, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	browser := login.NewBrowser()
	attempt, err := h.Login.StartTestLogin(v.Ctx(), v.Who, c.ID, browser)
	if err != nil {
		return web.Answer{}, err
	}
	h.Web.KeepLogin(v.Gin.Writer, v.Gin.Request, attempt, browser)
	return web.Redirect("/oauth/" + url.PathEscape(c.ID) + "/login/" + attempt), nil
}

// showTestLogin shows the outcome of a test login. Visitors without a session are redirected
// to sign-in without the code, which must not end up in another address.
func (h *Handler) showTestLogin(v *page.Visit) (web.Answer, error) {
	signedIn, err := v.Authenticate()
	if err != nil {
		return web.Answer{}, err
	}
	if !signedIn {
		return web.Redirect("/signin"), nil
	}
	got := web.ParseOAuthParams(v.Gin.Request.URL.Query())
	v.Gin.Header("Referrer-Policy", "no-referrer")
	in := login.TestLoginResponse{
		ClientID: v.Param("client"),
		Code:     got.Get("code"),
		State:    got.Get("state"),
		Error:    got.Get("error"),
	}
	attempt, _, _ := strings.Cut(in.State, ".")
	result, err := h.Login.FinishTestLogin(v.Ctx(), v.Who, in, h.Web.LoginSecret(v.Gin.Request, attempt))
	if code := fault.CodeOf(err); err != nil && code != login.CodeTestLoginOver && code != login.CodeTestLoginRefused {
		return web.Answer{}, err
	}
	m, modelErr := h.testLoginModel(v)
	if modelErr != nil {
		return web.Answer{}, modelErr
	}
	if err != nil {
		h.Web.Log.InfoContext(v.Ctx(), "a login failed",
			"request", web.RequestID(v.Ctx()), "client", v.Param("client"), "error", err)
		m.Problem = web.ProblemOf(err, "").Detail
		return web.Answer{Status: http.StatusForbidden, Page: projects.TestLoginPage(m)}, nil
	}
	m.Facts, m.ID, m.Access = testLoginFacts(result), claimFacts(result.ID), claimFacts(result.Access)
	m.Stated, m.Groups = statedFacts(result.Stated), mappingOutcomes(result.Stated.Mappings)
	return web.Show(projects.TestLoginPage(m)), nil
}

// testLoginModel is the page without the outcome.
func (h *Handler) testLoginModel(v *page.Visit) (projects.TestLogin, error) {
	c, err := h.AppClients.Client(v.Ctx(), v.Who, appClientIn(v))
	if err != nil {
		return projects.TestLogin{}, err
	}
	t, err := h.Projects.Tenant(v.Ctx(), v.Who, contract.TenantPath{Tenant: c.Tenant})
	if err != nil {
		return projects.TestLogin{}, err
	}
	v.SelectTeam(t.Team)
	title := "Test login to " + c.Name
	m := projects.TestLogin{
		Page: v.Shell(title, "/projects", page.ProjectsCrumb(), ui.Crumb{Text: title}),
		Name: c.Name,
	}
	if len(t.Projects) > 0 {
		m.BackURL = page.ProjectPath(t.Projects[0]) + "/login/" + url.PathEscape(c.ID)
	}
	return m, nil
}

func testLoginFacts(t login.TestLogin) []ui.Fact {
	return []ui.Fact{
		{Label: "Signed in", Value: cmp.Or(t.Name, t.Email, t.Subject)},
		{Label: "Provider", Value: t.Provider},
		{Label: "User", Value: t.Subject, Mono: true},
		{Label: "Scopes", Value: t.Scopes, Mono: true},
		{Label: "Tokens", Value: tokenTexts[t.Types].Text},
	}
}

func mappingOutcomes(list []login.MappingOutcome) []projects.MappingOutcome {
	var out []projects.MappingOutcome
	for _, one := range list {
		row := projects.MappingOutcome{
			Rule:   mappingText(one.GroupMapping),
			Group:  one.GroupName,
			Values: cmp.Or(strings.Join(one.Values, ", "), "not sent"),
			State:  ui.Badge{Tone: ui.Cold, Text: "doesn't match"},
		}
		switch {
		case one.More > 0 && len(one.Values) == 0:
			row.Values = fmt.Sprintf("too long to show (values: %d)", one.More)
		case one.More > 0:
			row.Values += fmt.Sprintf(", and %d more", one.More)
		}
		switch {
		case one.Holds:
			row.State = ui.Badge{Tone: ui.Good, Text: "matches"}
		case one.Unavailable:
			row.Values = "not available (the provider failed, so the group keeps its members)"
		case one.Withheld:
			row.Values += " (withheld by the provider)"
		}
		out = append(out, row)
	}
	return out
}

// statedFacts are the claims of a provider, with a last line for those that are not shown.
func statedFacts(stated login.Stated) []ui.Fact {
	out := claimFacts(stated.Claims)
	if stated.More > 0 {
		out = append(out, ui.Fact{Label: "Not shown", Value: english.Plural(stated.More, "claim", "")})
	}
	return out
}

func claimFacts(members []login.Member) []ui.Fact {
	var out []ui.Fact
	for _, one := range members {
		out = append(out, ui.Fact{Label: one.Name, Value: one.Value, Mono: true})
	}
	return out
}
