package login

import (
	"cmp"
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/login/providers"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func providerPath(client, provider string) string {
	return client + "/providers/" + url.PathEscape(provider)
}

// providerRows returns a row for each provider, and one for each kind without a provider.
// There can always be another custom issuer.
func (h *Handler) providerRows(client string, offered []contract.Provider, may bool) []projects.ProviderRow {
	var rows []projects.ProviderRow
	for _, kind := range providers.Kinds() {
		found := 0
		for _, o := range offered {
			if o.Type == kind {
				rows, found = append(rows, providerRow(client, o, may)), found+1
			}
		}
		if found == 0 || (may && kind == providers.OIDC) {
			rows = append(rows, h.missingRow(client, kind, found, may))
		}
	}
	return rows
}

func providerRow(client string, o contract.Provider, may bool) projects.ProviderRow {
	path := providerPath(client, o.ID)
	row := projects.ProviderRow{
		ID:    o.ID,
		Type:  o.Type,
		Label: o.ShownLabel(),
		Text:  "Client ID " + o.ClientID,
		URL:   path,
		On:    o.Enabled,
		State: ui.Badge{Tone: ui.Cold, Text: "off"},
	}
	switch {
	case o.Managed:
		row.Text = "The installation's shared app"
	case o.ClientID == "":
		row.Text, row.State = "Paste its client ID, then turn it on.", ui.Badge{Tone: ui.Warn, Text: "incomplete"}
	}
	if o.Enabled {
		row.State = ui.Badge{Tone: ui.Good, Text: "on"}
	}
	if may {
		row.Switch = path + "/switch"
	}
	return row
}

// missingRow is a kind that is not set up. A kind that needs no input is created at once.
func (h *Handler) missingRow(client, kind string, found int, may bool) projects.ProviderRow {
	traits, _ := providers.TraitsOf(kind)
	row := projects.ProviderRow{Label: traits.Label, Text: "Not set up", Type: kind}
	if kind == providers.OIDC {
		row.Text = "Any issuer with a discovery document"
	}
	if found > 0 {
		row.Label = "Another " + traits.Label + " provider"
	}
	switch {
	case !may:
	case traits.NeedsIssuer || traits.TakesIssuer:
		row.SetUp = client + "/providers?" + url.Values{"type": {kind}}.Encode()
	default:
		row.Add = client + "/providers"
	}
	return row
}

func (h *Handler) showNewProvider(v *page.Visit) (web.Answer, error) {
	in := contract.NewProvider{Type: cmp.Or(v.Gin.Query("type"), providers.OIDC), Managed: true}
	return h.newProviderWith(v, in, &page.Errors{})
}

// newProviderWith shows the form of a new provider, as typed.
func (h *Handler) newProviderWith(v *page.Visit, in contract.NewProvider, wrong *page.Errors) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if err := access.Check(v.Who, p.Team, access.LoginUpdate); err != nil {
		return web.Answer{}, err
	}
	traits, ok := providers.TraitsOf(in.Type)
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	path := appClientPath(p, c.ID)
	m := projects.ProviderNew{
		Page: v.Shell(
			"Set up "+traits.Label, path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name, URL: path}, ui.Crumb{Text: traits.Label},
		),
		Label:   traits.Label,
		Type:    in.Type,
		Action:  path + "/providers",
		BackURL: path + "#providers",
	}
	if in.Type == providers.GitHub && h.AppClients.Shared.ClientID != "" {
		m.Managed = []ui.Option{
			{
				Value:  "true",
				Title:  "The installation's shared app",
				Text:   "Works right away. Confirms who the user is, but doesn't pass on tokens.",
				Chosen: in.Managed,
			},
			{
				Value:  "false",
				Title:  "Your own app",
				Text:   "An OAuth app that you register with GitHub.",
				Chosen: !in.Managed,
			},
		}
		m.Wrong = wrong.Take("/managed")
	}
	m.Issuer = issuerField(in.Type, traits, wrong.Value("/issuer", in.Issuer))
	m.Error = wrong.Rest()
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.ProviderNewPage(m)}, nil
}

// issuerField asks for the issuer. It returns nil for a kind with a fixed issuer.
func issuerField(kind string, traits providers.Traits, value ui.Value) *ui.Field {
	f := ui.Field{
		ID:           "provider-issuer",
		Name:         "issuer",
		Value:        value,
		Required:     traits.NeedsIssuer,
		Mono:         true,
		Autocomplete: "off",
	}
	switch {
	case kind == providers.Auth0:
		f.Label, f.Placeholder = "Domain", "example.eu.auth0.com"
		f.Hint = "Your Auth0 tenant's domain, as shown in its settings."
	case kind == providers.GitHub:
		f.Label, f.Placeholder = "GitHub Enterprise server", "https://github.example.com"
		f.Hint = "For your own server. Leave empty for github.com."
	case kind == providers.Microsoft:
		f.Label, f.Placeholder = "Tenant issuer", "https://login.microsoftonline.com/…/v2.0"
		f.Hint = "Limits sign-in to one Microsoft tenant. Leave empty to accept every Microsoft account."
	case traits.NeedsIssuer:
		f.Label, f.Placeholder = "Issuer", "https://login.example.com"
		f.Hint = "Exactly as in the provider's discovery document."
	default:
		return nil
	}
	return &f
}

// createProvider adds a provider that is off: the customer needs its callback URL before
// there is a client id to paste. A managed one is on at once.
func (h *Handler) createProvider(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	var in contract.NewProvider
	v.Fill(&in, "type", "managed", "issuer")
	in.Enabled = new(in.Managed)
	made, err := h.AppClients.CreateProvider(v.Ctx(), v.Who, in.In(c.ID))
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.newProviderWith(v, in, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if made.Managed {
		return v.Done("provider", appClientPath(p, c.ID)+"#providers", made.ShownLabel())
	}
	return v.Done("provider_made", providerPath(appClientPath(p, c.ID), made.ID), made.ShownLabel())
}

// providerOf finds the provider in the address, its app client and its project.
func (h *Handler) providerOf(v *page.Visit) (rules.Project, contract.AppClient, contract.Provider, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return p, c, contract.Provider{}, err
	}
	o, err := h.AppClients.Provider(v.Ctx(), v.Who, contract.ProviderPath{Provider: v.Param("provider")})
	if err == nil && o.AppClient != c.ID {
		err = web.NotFound()
	}
	return p, c, o, err
}

func (h *Handler) switchProvider(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	var in contract.ProviderSettings
	v.Fill(&in, "enabled")
	_, err = h.AppClients.UpdateProvider(v.Ctx(), v.Who, in.Of(o.ID))
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.appClientWith(v, p, c, func(m *projects.AppClient) {
			for i := range m.Providers {
				if m.Providers[i].ID == o.ID {
					m.Providers[i].Error = wrong.Rest()
				}
			}
		}, wrong.Status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if *in.Enabled {
		return v.Done("provider_on", appClientPath(p, c.ID)+"#providers", o.ShownLabel())
	}
	return v.Done("provider_off", appClientPath(p, c.ID)+"#providers", o.ShownLabel())
}

func (h *Handler) deleteProvider(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.Allowed(p, access.LoginUpdate)
	if err == nil {
		err = v.Confirmed("Check the box to remove the provider.")
	}
	if err == nil {
		_, err = h.AppClients.DeleteProvider(v.Ctx(), v.Who, o.Path())
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		m := h.providerModel(v, p, c, o, providerTexts(o), &page.Errors{})
		v.Mark(m.Delete, wrong)
		return web.Answer{Status: wrong.Status, Page: projects.ProviderPage(m)}, nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("provider_gone", appClientPath(p, c.ID)+"#providers", o.ShownLabel())
}

// testProvider tests a provider as it is saved, and shows the report on its page.
func (h *Handler) testProvider(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	report, err := h.Diagnostics.Provider(v.Ctx(), v.Who, o.Path())
	shown, status, err := page.Diagnosed("provider-report", o.ShownLabel(), report, err)
	if err != nil {
		return web.Answer{}, err
	}
	m := h.providerModel(v, p, c, o, providerTexts(o), &page.Errors{})
	m.Report = &shown
	return web.Answer{Status: status, Page: projects.ProviderPage(m)}, nil
}
