package login

import (
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
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
		Text:  "Refresh tokens, for as long as the settings allow.",
	},
	{
		Value: snapshot.ClientCredentials,
		Title: "Without a user",
		Text:  "Client credentials, for machines. Requires a client secret.",
	},
}

func grantTypeTitles(values []string) string {
	var out []string
	for _, one := range grantTypes {
		if slices.Contains(values, one.Value) {
			out = append(out, one.Title)
		}
	}
	return page.TextOrNone(strings.Join(out, ", "))
}

// clientAccessForm returns the form. Everything but its fields is from the page.
func clientAccessForm(action string, f url.Values, wrong *page.Errors) *projects.ClientAccess {
	scopes := f.Get("api_scopes")
	m := &projects.ClientAccess{
		Action:   action,
		Revision: f.Get("revision"),
		Grant:    wrong.Take("/grant_types"),
		Scopes:   ui.Value{Text: scopes, Error: wrong.TakeLines("/api_scopes", strings.Fields(scopes))},
	}
	for _, one := range grantTypes {
		one.Chosen = slices.Contains(f["grant_types"], one.Value)
		m.Grants = append(m.Grants, one)
	}
	m.Error = wrong.Rest()
	return m
}

// accessModel is the form of an app client with the API scopes that it can be allowed.
func (h *Handler) accessModel(v *page.Visit, p rules.Project, c contract.AppClient) (*projects.ClientAccess, error) {
	declared, err := h.AppClients.DeclaredFor(v.Ctx(), v.Who, c.ID)
	if err != nil {
		return nil, err
	}
	m := clientAccessForm("", clientTexts(c), &page.Errors{})
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

var clientAccess = clientForm{
	[]string{"grant_types", "api_scopes"},
	func(m *projects.AppClient, f url.Values, wrong *page.Errors) {
		typed := clientAccessForm(m.API.Action, f, wrong)
		typed.Declared, typed.ScopesURL = m.API.Declared, m.API.ScopesURL
		m.API = typed
	},
}

func (h *Handler) saveClientAccess(v *page.Visit) (web.Answer, error) {
	var in contract.AppClientChange
	v.Fill(&in, "grant_types")
	scopes := strings.Fields(v.Posted("api_scopes"))
	in.APIScopes = &scopes
	return h.changeAppClient(v, clientAccess, in)
}

func (h *Handler) freezeAppClient(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if _, err := h.AppClients.FreezeClient(v.Ctx(), v.Who, c.Path()); err != nil {
		return web.Answer{}, err
	}
	return v.DoneUndo("app_client_frozen", appClientPath(p, c.ID), appClientPath(p, c.ID)+"/unfreeze", c.Name)
}

func (h *Handler) unfreezeAppClient(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if _, err := h.AppClients.UnfreezeClient(v.Ctx(), v.Who, c.Path()); err != nil {
		return web.Answer{}, err
	}
	return v.DoneUndo("app_client_thawed", appClientPath(p, c.ID), appClientPath(p, c.ID)+"/freeze", c.Name)
}

func (h *Handler) rotateClientKey(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	_, err = h.Login.RotateSigningKey(v.Ctx(), v.Who, c.Path())
	if err == nil {
		return v.Done("app_client_key", appClientPath(p, c.ID), c.Name)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.appClientWith(v, p, c, func(m *projects.AppClient) { m.Keys.Error = wrong.Rest() }, wrong.Status)
}

// clientKeysModel lists the signing keys of an app client.
func (h *Handler) clientKeysModel(v *page.Visit, path string, c contract.AppClient) (*projects.ClientKeys, error) {
	found, err := h.Login.SigningKeys(v.Ctx(), v.Who, c.Path())
	if err != nil {
		return nil, err
	}
	m := &projects.ClientKeys{Action: path + "/signing-keys"}
	for _, k := range found.Keys {
		row := projects.SigningKeyRow{ID: k.ID, From: k.SignsFrom, Until: page.TimeOf(k.PublishedUntil)}
		m.Rows = append(m.Rows, row)
	}
	return m, nil
}
