package pages

import (
	"net/http"
	"net/url"
	"slices"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/login"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func loginPath(p rules.Project) string { return projectPath(p.Name) + "/login" }

func appClientPath(p rules.Project, client string) string {
	return loginPath(p) + "/" + url.PathEscape(client)
}

func loginCrumb(p rules.Project) ui.Crumb { return ui.Crumb{Text: "Login", URL: loginPath(p)} }

func (h *Handler) showLoginTab(v *visit) (web.Answer, error) {
	return h.loginTabWith(v, nil, &formErrors{})
}

// loginTabWith shows the list of app clients, with the form as typed.
func (h *Handler) loginTabWith(v *visit, form url.Values, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	list := &listing{
		path:   loginPath(p),
		one:    "app client",
		search: "Name",
		orders: []listOrder{{by: "name"}},
	}
	page := list.read(v).page()
	page.Sort = list.sort()
	found, err := h.Login.Served(v.ctx(), v.who, p.ID, page)
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	m := projects.Login{
		Page: v.shell("Login of "+p.DisplayName, loginPath(p), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Login"}),
		Head: v.headOf(p),
		List: listView(list, found),
		API: projects.LoginAPI{
			URL:      apiScopesPath(p),
			Scopes:   scopeCount(len(p.API.Scopes)),
			Audience: p.API.Audience,
		},
	}
	if m.Warnings, err = warningTexts(h.Login.Warnings(v.ctx(), v.who, p.ID)); err != nil {
		return web.Answer{}, err
	}
	for _, c := range found.Items {
		m.Rows = append(m.Rows, appClientRow(p, c))
	}
	if v.mayChange(p, access.LoginUpdate) {
		if m.Create, err = h.appClientCreate(v, p, form, wrong); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.LoginPage(m)}, nil
}

func appClientRow(p rules.Project, c login.ServedClient) projects.AppClientRow {
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
	v *visit, p rules.Project, form url.Values, wrong *formErrors,
) (*projects.AppClientCreate, error) {
	tenants, err := h.Projects.Served(v.ctx(), v.who, p.ID, models.Page{Limit: models.MaxLimit})
	if err != nil {
		return nil, err
	}
	m := &projects.AppClientCreate{
		Open:         wrong.status != 0,
		Action:       loginPath(p),
		Name:         wrong.value("/name", form.Get("name")),
		Confidential: form.Get("confidential") == "true",
		Redirects:    wrong.lines("/redirect_uris", form.Get("redirect_uris")),
	}
	for _, t := range tenants.Items {
		m.Tenants = append(m.Tenants, ui.Option{
			Value:  t.ID,
			Title:  t.DisplayName,
			Chosen: t.ID == form.Get("tenant") || (form.Get("tenant") == "" && textOf(t.Project) == p.ID),
		})
	}
	m.Error = wrong.rest()
	return m, nil
}

func (h *Handler) createAppClient(v *visit) (web.Answer, error) {
	in := contract.AppClientCreation{TenantPath: contract.TenantPath{Tenant: v.posted("tenant")}}
	v.fill(&in.Body, "name", "redirect_uris")
	if v.posted("confidential") == "true" {
		v.fill(&in.Body, "confidential")
	}
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if err := v.allowed(p, access.LoginUpdate); err != nil {
		return web.Answer{}, err
	}
	if err := h.serves(v, p, in.Tenant); err != nil {
		return web.Answer{}, err
	}
	made, err := h.Login.CreateClient(v.ctx(), v.who, in)
	if wrong, ok := formErrorsIn(err); ok {
		return h.loginTabWith(v, v.c.Request.PostForm, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if made.ClientSecret != "" {
		return v.disclose(clientSecretPath(p, made.ID), disclosed{Secret: made.ClientSecret.Reveal()})
	}
	return v.done("app_client_made", appClientPath(p, made.ID)+"#providers", made.Name)
}

// serves returns a not-found error unless the project serves the tenant: the page of one
// project must not lead to objects of another.
func (h *Handler) serves(v *visit, p rules.Project, tenant string) error {
	t, err := h.Projects.Tenant(v.ctx(), v.who, contract.TenantPath{Tenant: tenant})
	if err != nil {
		return err
	}
	if !slices.Contains(t.Projects, p.Name) {
		return web.NotFound()
	}
	return nil
}

// appClientIn is the app client in the page's address.
func appClientIn(v *visit) contract.AppClientPath {
	return contract.AppClientPath{Client: v.param("client")}
}

// appClientOf finds the app client in the address and its project.
func (h *Handler) appClientOf(v *visit) (rules.Project, contract.AppClient, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return p, contract.AppClient{}, err
	}
	c, err := h.Login.Client(v.ctx(), v.who, appClientIn(v))
	if err != nil {
		return p, c, err
	}
	v.selectTeam(p.Team)
	return p, c, h.serves(v, p, c.Tenant)
}

func clientSecretPath(p rules.Project, client string) string {
	return appClientPath(p, client) + "/secret"
}

// showClientSecret shows an app client's new secret once.
func (h *Handler) showClientSecret(v *visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	back, path := appClientPath(p, c.ID), clientSecretPath(p, c.ID)
	found, err := v.disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.NewSecret{
		Page: v.shell("Client secret", path, projectsCrumb(), projectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name, URL: back}, ui.Crumb{Text: "Secret"}),
		Title: "Client secret of " + c.Name,
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
