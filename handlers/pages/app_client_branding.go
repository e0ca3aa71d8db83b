package pages

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/a-h/templ"

	"postern/handlers/web"
	"postern/service/access"
	"postern/service/login"
	pages "postern/views/login"
	"postern/views/projects"
)

// clientBranding holds the fields of the branding form of an app client, as typed.
type clientBranding struct{ revision, title, welcome, logo, color string }

func postedBranding(v *visit) clientBranding {
	return clientBranding{
		revision: v.posted("revision"),
		title:    strings.TrimSpace(v.posted("title")),
		welcome:  strings.TrimSpace(v.posted("welcome")),
		logo:     strings.TrimSpace(v.posted("logo_url")),
		color:    strings.ToLower(strings.TrimSpace(v.posted("color"))),
	}
}

func brandingOf(c login.Client) clientBranding {
	b := c.Branding
	return clientBranding{revision: c.ETag, title: b.Title, welcome: b.Welcome, logo: b.LogoURL, color: b.Color}
}

func (f clientBranding) view(path string, wrong *formErrors) *projects.Branding {
	m := &projects.Branding{
		Action:     path + "/branding",
		PreviewURL: path + "/preview",
		Revision:   f.revision,
		Title:      wrong.value("/branding/title", f.title),
		Welcome:    wrong.value("/branding/welcome", f.welcome),
		LogoURL:    wrong.value("/branding/logo_url", f.logo),
		Color:      wrong.value("/branding/color", f.color),
	}
	m.Error = wrong.rest()
	return m
}

func (f clientBranding) mark(m *projects.AppClient, wrong *formErrors) {
	m.Branding = f.view(strings.TrimSuffix(m.Branding.Action, "/branding"), wrong)
}

func (f clientBranding) compare(m *projects.Conflict, c login.Client) {
	m.What = "The app client"
	for _, row := range [][4]string{
		{"Title", "title", f.title, c.Branding.Title},
		{"Welcome", "welcome", f.welcome, c.Branding.Welcome},
		{"Logo", "logo_url", f.logo, c.Branding.LogoURL},
		{"Colour", "color", f.color, c.Branding.Color},
	} {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  row[0],
			Yours:  textOrNone(row[2]),
			Theirs: textOrNone(row[3]),
		})
		m.Hidden = append(m.Hidden, projects.Pair{Name: row[1], Value: row[2]})
	}
}

func (h *Handler) saveBranding(v *visit) (web.Answer, error) {
	f := postedBranding(v)
	return h.changeAppClient(v, f, f.revision, login.ClientInput{
		Title:   &f.title,
		Welcome: &f.welcome,
		LogoURL: &f.logo,
		Color:   &f.color,
	})
}

// previewOf is the preview of the sign-in page, with the providers that are on.
func (h *Handler) previewOf(v *visit, c login.Client, offered []login.Provider) (templ.Component, error) {
	title, err := h.Login.DefaultTitle(v.ctx(), c.ID)
	return pages.Preview(h.previewModel(v, title, c.Branding, offered)), err
}

func (h *Handler) previewModel(v *visit, title string, b login.Branding, offered []login.Provider) pages.Choose {
	m := pages.Choose{
		Shell: pages.Shell{
			Title:   "Preview",
			App:     b.Title,
			Welcome: b.Welcome,
			LogoURL: b.LogoURL,
			Theme:   h.Web.Theme(v.c.Request),
		},
	}
	if m.Shell.App == "" {
		m.Shell.App = title
	}
	if hexColor.MatchString(b.Color) {
		m.Shell.Brand = "/brand/" + strings.TrimPrefix(b.Color, "#")
	}
	if u, err := url.Parse(b.LogoURL); err == nil && u.Host != "" {
		web.AllowSource(v.c.Writer.Header(), "img-src 'self' data:", u.Scheme+"://"+u.Host)
	}
	for _, o := range offered {
		if o.Enabled {
			m.Providers = append(m.Providers, pages.Provider{Type: o.Type, Label: login.ProviderLabel(o)})
			m.AsksAddress = m.AsksAddress || len(o.SignInDomains) > 0
		}
	}
	return m
}

// previewBranding shows the typed branding before it is saved: part of the page for a
// script, a page of its own without one. It changes nothing. Values that the rule would
// refuse are left out, because the logo's address becomes part of the content security
// policy.
func (h *Handler) previewBranding(v *visit) (web.Answer, error) {
	_, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	offered, err := h.Login.ProvidersOf(v.ctx(), v.who, c.ID)
	if err != nil {
		return web.Answer{}, err
	}
	f := postedBranding(v)
	typed := login.FittingBranding(login.Branding{Title: f.title, Welcome: f.welcome, LogoURL: f.logo, Color: f.color})
	title, err := h.Login.DefaultTitle(v.ctx(), c.ID)
	if err != nil {
		return web.Answer{}, err
	}
	m := h.previewModel(v, title, typed, offered)
	if v.c.GetHeader("HX-Request") == "" {
		return web.Show(pages.ChoosePage(m)), nil
	}
	if typed.LogoURL != c.Branding.LogoURL {
		m.Shell.LogoURL = "" // the policy of the page around it admits the saved one alone
	}
	return web.Show(pages.Preview(m)), nil
}

var hexColor = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// showBrand serves a style sheet with the color, for previews.
func (h *Handler) showBrand(v *visit) (web.Answer, error) {
	color := "#" + v.param("color")
	if !hexColor.MatchString(color) {
		return web.Answer{}, web.NotFound()
	}
	web.WriteBrandCSS(v.c.Writer, color)
	return web.Answer{}, nil
}

func (h *Handler) changeClientSecret(v *visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	confidential := v.posted("kind") == "confidential"
	var made login.NewClient
	err = v.allowed(p, access.LoginUpdate)
	if err == nil && c.Confidential {
		err = v.confirmed("Tick the box: the secret in use stops working at once.")
	}
	if err == nil {
		made, err = h.Login.UpdateClient(v.ctx(), v.who, c.ID, v.state, login.ClientInput{Confidential: &confidential})
		err = rotatedMeanwhile(err)
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.appClientNow(v, func(m *projects.AppClient) {
			if m.Secret != nil {
				m.Secret.Error = wrong.rest()
			}
		}, wrong.status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if made.Secret != "" {
		return h.disclose(v, clientSecretPath(p, c.ID), disclosed{Secret: made.Secret.Reveal()})
	}
	return v.done("app_client", appClientPath(p, c.ID), c.Name)
}

func (h *Handler) deleteAppClient(v *visit) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.allowed(p, access.LoginUpdate)
	if err == nil {
		err = v.named("app client", c.Name)
	}
	if err == nil {
		err = h.Login.DeleteClient(v.ctx(), v.who, c.ID)
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.appClientWith(v, p, c, func(m *projects.AppClient) { v.mark(m.Delete, wrong) }, wrong.status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("app_client_gone", loginPath(p), c.Name)
}
