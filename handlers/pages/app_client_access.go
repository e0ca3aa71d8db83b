package pages

import (
	"slices"
	"strings"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/login"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// grantTypes are the options for how an app client gets tokens.
var grantTypes = []ui.Option{
	{Value: "authorization_code", Title: "Users sign in", Text: "Authorization code with PKCE."},
	{
		Value: "refresh_token",
		Title: "Users stay signed in",
		Text:  "Refresh tokens, as long as the settings say.",
	},
	{
		Value: snapshot.ClientCredentials,
		Title: "For itself",
		Text:  "Client credentials for machines, without a user. Needs a client secret.",
	},
}

func grantTypeTitles(values []string) string {
	var out []string
	for _, one := range grantTypes {
		if slices.Contains(values, one.Value) {
			out = append(out, one.Title)
		}
	}
	return textOrNone(strings.Join(out, ", "))
}

// clientAccess holds the fields of the API access form of an app client, as typed.
type clientAccess struct {
	revision string
	grants   []string
	scopes   string
}

func accessOf(c login.Client) clientAccess {
	return clientAccess{revision: c.ETag, grants: c.GrantTypes, scopes: strings.Join(c.APIScopes, "\n")}
}

// view returns the form. What it shows besides what was typed is of the page.
func (f clientAccess) view(action string, wrong *formErrors) *projects.ClientAccess {
	m := &projects.ClientAccess{
		Action:   action,
		Revision: f.revision,
		Grant:    wrong.take("/grant_types"),
		Scopes:   ui.Value{Text: f.scopes, Error: wrong.takeLines("/api_scopes", strings.Fields(f.scopes))},
	}
	for _, one := range grantTypes {
		one.Chosen = slices.Contains(f.grants, one.Value)
		m.Grants = append(m.Grants, one)
	}
	m.Error = wrong.rest()
	return m
}

// accessModel is the form of an app client with the API scopes that it can be allowed.
func (h *Handler) accessModel(v *visit, p rules.Project, c login.Client) (*projects.ClientAccess, error) {
	declared, err := h.Login.DeclaredFor(v.ctx(), v.who, c.ID)
	if err != nil {
		return nil, err
	}
	m := accessOf(c).view("", &formErrors{})
	m.ScopesURL = apiScopesPath(p)
	for _, one := range declared {
		text := one.Description
		if p.DisplayName != one.Project {
			text = strings.TrimPrefix(text+" (project "+one.Project+")", " ")
		}
		m.Declared = append(m.Declared, ui.Fact{Label: one.Name, Value: text})
	}
	return m, nil
}

func (f clientAccess) mark(m *projects.AppClient, wrong *formErrors) {
	typed := f.view(m.API.Action, wrong)
	typed.Declared, typed.ScopesURL = m.API.Declared, m.API.ScopesURL
	m.API = typed
}

func (f clientAccess) compare(m *projects.Conflict, c login.Client) {
	now := accessOf(c)
	m.What = "The app client"
	m.Rows = []projects.Difference{
		{Label: "How it gets tokens", Yours: grantTypeTitles(f.grants), Theirs: grantTypeTitles(now.grants)},
		{Label: "API scopes", Yours: scopesText(f.scopes), Theirs: scopesText(now.scopes)},
	}
	for _, one := range f.grants {
		m.Hidden = append(m.Hidden, projects.Pair{Name: "grant_types", Value: one})
	}
	m.Hidden = append(m.Hidden, projects.Pair{Name: "api_scopes", Value: f.scopes})
}

func (h *Handler) saveClientAccess(v *visit) (web.Answer, error) {
	f := clientAccess{
		revision: v.posted("revision"),
		grants:   append([]string{}, v.c.Request.PostForm["grant_types"]...),
		scopes:   v.posted("api_scopes"),
	}
	scopes := strings.Fields(f.scopes)
	return h.changeAppClient(v, f, f.revision, login.ClientInput{GrantTypes: &f.grants, APIScopes: &scopes})
}

func (h *Handler) freezeAppClient(v *visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if _, err := h.Login.FreezeClient(v.ctx(), v.who, c.ID); err != nil {
		return web.Answer{}, err
	}
	return v.doneUndo("app_client_frozen", appClientPath(p, c.ID), appClientPath(p, c.ID)+"/unfreeze", c.Name)
}

func (h *Handler) unfreezeAppClient(v *visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if _, err := h.Login.UnfreezeClient(v.ctx(), v.who, c.ID); err != nil {
		return web.Answer{}, err
	}
	return v.doneUndo("app_client_thawed", appClientPath(p, c.ID), appClientPath(p, c.ID)+"/freeze", c.Name)
}

func (h *Handler) rotateClientKey(v *visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	_, err = h.Login.RotateSigningKey(v.ctx(), v.who, c.ID)
	if err == nil {
		return v.done("app_client_key", appClientPath(p, c.ID), c.Name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.appClientWith(v, p, c, func(m *projects.AppClient) { m.Keys.Error = wrong.rest() }, wrong.status)
}

// clientKeysModel lists the signing keys of an app client.
func (h *Handler) clientKeysModel(v *visit, path string, c login.Client) (*projects.ClientKeys, error) {
	keys, err := h.Login.SigningKeys(v.ctx(), v.who, c.ID)
	if err != nil {
		return nil, err
	}
	m := &projects.ClientKeys{Action: path + "/signing-keys"}
	for _, k := range keys {
		row := projects.SigningKeyRow{ID: k.ID, From: moment(k.SignsFrom)}
		if k.PublishedUntil != nil {
			row.Until = moment(*k.PublishedUntil)
		}
		m.Rows = append(m.Rows, row)
	}
	return m, nil
}
