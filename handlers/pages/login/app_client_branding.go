package login

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/a-h/templ"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/appclients"
	pages "postern/views/login"
	"postern/views/projects"
)

func clientBrandingForm(path string, f url.Values, wrong *page.Errors) *projects.Branding {
	m := &projects.Branding{
		Action:     path + "/branding",
		PreviewURL: path + "/preview",
		Revision:   f.Get("revision"),
		Title:      wrong.Value("/branding/title", f.Get("title")),
		Welcome:    wrong.Value("/branding/welcome", f.Get("welcome")),
		LogoURL:    wrong.Value("/branding/logo_url", f.Get("logo_url")),
		Color:      wrong.Value("/branding/color", strings.ToLower(f.Get("color"))),
	}
	m.Error = wrong.Rest()
	return m
}

var clientBranding = clientForm{
	[]string{"title", "welcome", "logo_url", "color"},
	func(m *projects.AppClient, f url.Values, wrong *page.Errors) {
		m.Branding = clientBrandingForm(strings.TrimSuffix(m.Branding.Action, "/branding"), f, wrong)
	},
}

func (h *Handler) saveBranding(v *page.Visit) (web.Answer, error) {
	var in contract.AppClientChange
	v.Fill(&in, clientBranding.fields...)
	return h.changeAppClient(v, clientBranding, in)
}

// previewOf is the preview of the sign-in page, with the providers that are on.
func (h *Handler) previewOf(v *page.Visit, c contract.AppClient, offered []contract.Provider) (templ.Component, error) {
	title, err := h.Login.DefaultTitle(v.Ctx(), c.ID)
	return pages.Preview(h.previewModel(v, title, c.Branding, offered)), err
}

func (h *Handler) previewModel(
	v *page.Visit,
	title string,
	b contract.Branding,
	offered []contract.Provider,
) pages.Choose {
	m := pages.Choose{
		Shell: pages.Shell{
			Title:   "Preview",
			App:     b.Title,
			Welcome: b.Welcome,
			LogoURL: b.LogoURL,
			Theme:   h.Web.Theme(v.Gin.Request),
		},
	}
	if m.Shell.App == "" {
		m.Shell.App = title
	}
	if hexColor.MatchString(b.Color) {
		m.Shell.Brand = "/brand/" + strings.TrimPrefix(b.Color, "#")
	}
	if u, err := url.Parse(b.LogoURL); err == nil && u.Host != "" {
		web.AllowSource(v.Gin.Writer.Header(), "img-src 'self' data:", u.Scheme+"://"+u.Host)
	}
	for _, o := range offered {
		if o.Enabled {
			m.Providers = append(m.Providers, pages.Provider{Type: o.Type, Label: o.ShownLabel()})
			m.AsksAddress = m.AsksAddress || len(o.SignInDomains) > 0
		}
	}
	return m
}

// previewBranding shows the typed branding before it is saved: part of the page for a script, its own page without one.
// It changes nothing. Values that the rule would refuse are left out, because the logo's address becomes part of the
// content security policy.
func (h *Handler) previewBranding(v *page.Visit) (web.Answer, error) {
	_, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	offered, err := h.AppClients.ProvidersOf(v.Ctx(), v.Who, c.Path())
	if err != nil {
		return web.Answer{}, err
	}
	var in contract.AppClientChange
	v.Fill(&in, clientBranding.fields...)
	typed := appclients.FittingBranding(in.Branding)
	title, err := h.Login.DefaultTitle(v.Ctx(), c.ID)
	if err != nil {
		return web.Answer{}, err
	}
	m := h.previewModel(v, title, typed, offered.Items)
	if v.Gin.GetHeader("HX-Request") == "" {
		return web.Show(pages.ChoosePage(m)), nil
	}
	if typed.LogoURL != c.Branding.LogoURL {
		m.Shell.LogoURL = "" // the policy of the page around it admits the saved one alone
	}
	return web.Show(pages.Preview(m)), nil
}

var hexColor = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// showBrand serves a style sheet with the color, for previews.
func (h *Handler) showBrand(v *page.Visit) (web.Answer, error) {
	color := "#" + v.Param("color")
	if !hexColor.MatchString(color) {
		return web.Answer{}, web.NotFound()
	}
	web.WriteBrandCSS(v.Gin.Writer, color)
	return web.Answer{}, nil
}

func (h *Handler) changeClientSecret(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	confidential := v.Posted("kind") == "confidential"
	var made contract.SavedAppClient
	err = v.Allowed(p, access.LoginUpdate)
	if err == nil && c.Confidential {
		err = v.Confirmed("Check the box to confirm that the current secret will stop working.")
	}
	if err == nil {
		change := contract.AppClientSettings{Confidential: &confidential}.Of(c.ID)
		change.IfMatch = v.State
		made, err = h.AppClients.UpdateClient(v.Ctx(), v.Who, change)
		err = page.OutdatedForm(err)
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.appClientNow(v, func(m *projects.AppClient) {
			if m.Secret != nil {
				m.Secret.Error = wrong.Rest()
			}
		}, wrong.Status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if made.ClientSecret != "" {
		return v.Disclose(clientSecretPath(p, c.ID), page.Disclosed{Secret: made.ClientSecret.Reveal()})
	}
	return v.Done("app_client", appClientPath(p, c.ID), c.Name)
}

func (h *Handler) deleteAppClient(v *page.Visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.Allowed(p, access.LoginUpdate)
	if err == nil {
		err = v.Named("app client", c.Name)
	}
	if err == nil {
		_, err = h.AppClients.DeleteClient(v.Ctx(), v.Who, c.Path())
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.appClientWith(v, p, c, func(m *projects.AppClient) { v.Mark(m.Delete, wrong) }, wrong.Status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("app_client_gone", loginPath(p), c.Name)
}
