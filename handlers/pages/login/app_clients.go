package login

import (
	"net/http"
	"net/url"
	"slices"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/appclients"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func loginPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/login" }

func appClientPath(p rules.Project, client string) string {
	return loginPath(p) + "/" + url.PathEscape(client)
}

func loginCrumb(p rules.Project) ui.Crumb { return ui.Crumb{Text: "Login", URL: loginPath(p)} }

func (h *Handler) showLoginTab(v *page.Visit) (web.Answer, error) {
	return h.loginTabWith(v, nil, &page.Errors{})
}

// loginTabWith shows the list of app clients, with the form as typed.
func (h *Handler) loginTabWith(v *page.Visit, form url.Values, wrong *page.Errors) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	list := &page.Listing{
		Path:   loginPath(p),
		One:    "app client",
		Search: "Name",
		Orders: []page.ListOrder{{By: "name"}},
	}
	shown := list.Read(v).Page()
	shown.Sort = list.Sort()
	found, err := h.AppClients.Served(v.Ctx(), v.Who, p.ID, shown)
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	m := projects.Login{
		Page: v.Shell(ui.TitleOf("Login", p.DisplayName), loginPath(p), page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Login"}),
		Head: v.HeadOf(p),
		List: page.ListView(list, found),
		API: projects.LoginAPI{
			URL:      apiScopesPath(p),
			Scopes:   scopeCount(len(p.API.Scopes)),
			Audience: p.API.Audience,
		},
	}
	warnings, err := h.AppClients.Warnings(v.Ctx(), v.Who, p.ID)
	if err != nil {
		return web.Answer{}, err
	}
	m.Warnings = clientNotices(p, warnings)
	for _, c := range found.Items {
		m.Rows = append(m.Rows, appClientRow(p, c))
	}
	if v.MayChange(p, access.LoginUpdate) {
		if m.Create, err = h.appClientCreate(v, p, form, wrong); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.LoginPage(m)}, nil
}

// clientLinks are what changes the cause of a warning about an app client by its code: a part of the client's page, and
// the text of the link.
var clientLinks = map[string]ui.Link{
	appclients.WarnNoRedirectURI: {URL: "#settings", Text: "Add a redirect URI"},
	appclients.WarnNoProvider:    {URL: "#providers", Text: "Set up a provider"},
	appclients.WarnNoSecret:      {URL: "#providers", Text: "Set the client secret"},
	appclients.WarnOpaqueTokens:  {URL: "#providers", Text: "Set the client secret"},
}

// clientNotices returns warnings about app clients with links to them.
func clientNotices(p rules.Project, list []contract.Warning) (out []ui.Notice) {
	for _, one := range list {
		n := ui.Notice{Tone: ui.Warn, Text: one.Detail}
		if to, ok := clientLinks[one.Code]; ok {
			n.Link = ui.Link{URL: appClientPath(p, one.About) + to.URL, Text: to.Text}
		}
		out = append(out, n)
	}
	return out
}

func appClientRow(p rules.Project, c appclients.ServedClient) projects.AppClientRow {
	row := projects.AppClientRow{
		Name:      c.Name,
		URL:       appClientPath(p, c.ID),
		Tenant:    c.TenantName,
		Kind:      clientKind(c.AppClient),
		Frozen:    c.Frozen,
		Redirects: c.RedirectURIs,
	}
	for _, o := range c.Providers {
		row.Providers = append(row.Providers, o.Label)
	}
	return row
}

func clientKind(c contract.AppClient) string {
	if c.Confidential {
		return "confidential"
	}
	return "public"
}

func (h *Handler) appClientCreate(
	v *page.Visit, p rules.Project, form url.Values, wrong *page.Errors,
) (*projects.AppClientCreate, error) {
	tenants, err := h.Projects.Served(v.Ctx(), v.Who, p.ID, models.Page{Limit: models.MaxLimit})
	if err != nil {
		return nil, err
	}
	m := &projects.AppClientCreate{
		Open:         wrong.Status != 0,
		Action:       loginPath(p),
		Name:         wrong.Value("/name", form.Get("name")),
		Confidential: form.Get("confidential") == "true",
		Redirects:    wrong.Lines("/redirect_uris", form.Get("redirect_uris")),
	}
	for _, t := range tenants.Items {
		m.Tenants = append(m.Tenants, ui.Option{
			Value:  t.ID,
			Title:  page.ChoiceTitle(t.DisplayName, t.Name),
			Chosen: t.ID == form.Get("tenant") || (form.Get("tenant") == "" && page.TextOf(t.Project) == p.ID),
		})
	}
	m.Error = wrong.Rest()
	return m, nil
}

func (h *Handler) createAppClient(v *page.Visit) (web.Answer, error) {
	in := contract.AppClientCreation{TenantPath: contract.TenantPath{Tenant: v.Posted("tenant")}}
	v.Fill(&in.Body, "name", "redirect_uris")
	if v.Posted("confidential") == "true" {
		v.Fill(&in.Body, "confidential")
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if err := v.Allowed(p, access.LoginUpdate); err != nil {
		return web.Answer{}, err
	}
	if err := h.serves(v, p, in.Tenant); err != nil {
		return web.Answer{}, err
	}
	made, err := h.AppClients.CreateClient(v.Ctx(), v.Who, in)
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.loginTabWith(v, v.Gin.Request.PostForm, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if made.ClientSecret != "" {
		return v.Disclose(clientSecretPath(p, made.ID), page.Disclosed{Secret: made.ClientSecret.Reveal()})
	}
	return v.Done("app_client_made", appClientPath(p, made.ID)+"#providers", made.Name)
}

// serves returns a not-found error unless the project serves the tenant: the page of one
// project must not lead to objects of another.
func (h *Handler) serves(v *page.Visit, p rules.Project, tenant string) error {
	t, err := h.Projects.Tenant(v.Ctx(), v.Who, contract.TenantPath{Tenant: tenant})
	if err != nil {
		return err
	}
	if !slices.Contains(t.Projects, p.Name) {
		return web.NotFound()
	}
	return nil
}

// appClientIn is the app client in the page's URL.
func appClientIn(v *page.Visit) contract.AppClientPath {
	return contract.AppClientPath{Client: v.Param("client")}
}

// appClientOf finds the app client in the address and its project.
func (h *Handler) appClientOf(v *page.Visit) (rules.Project, contract.AppClient, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return p, contract.AppClient{}, err
	}
	c, err := h.AppClients.Client(v.Ctx(), v.Who, appClientIn(v))
	if err != nil {
		return p, c, err
	}
	v.SelectTeam(p.Team)
	return p, c, h.serves(v, p, c.Tenant)
}

func clientSecretPath(p rules.Project, client string) string {
	return appClientPath(p, client) + "/secret"
}

// showClientSecret shows an app client's new secret once.
func (h *Handler) showClientSecret(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	back, path := appClientPath(p, c.ID), clientSecretPath(p, c.ID)
	found, err := v.Disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.NewSecret{
		Page: v.Shell("Client secret", path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name, URL: back}, ui.Crumb{Text: "Secret"}),
		Title: "Client secret for " + c.Name,
		Back:  back,
		Facts: []ui.Fact{{
			Label: "Client ID",
			Value: c.ID,
			Mono:  true,
		}, {Label: "Issuer", Value: c.Issuer, Mono: true}},
	}
	if found != nil {
		m.Secret = found.Secret
	}
	return web.Show(projects.NewSecretPage(m)), nil
}
