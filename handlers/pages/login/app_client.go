package login

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func (h *Handler) showAppClient(v *page.Visit) (web.Answer, error) {
	return h.appClientNow(v, func(*projects.AppClient) {}, http.StatusOK)
}

// appClientNow shows the page of the app client in the address, as it is now, with what
// mark adds to it.
func (h *Handler) appClientNow(v *page.Visit, mark func(*projects.AppClient), status int) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.appClientWith(v, p, c, mark, status)
}

// appClientWith shows an app client's page with what mark adds to it.
func (h *Handler) appClientWith(
	v *page.Visit, p rules.Project, c contract.AppClient, mark func(*projects.AppClient), status int,
) (web.Answer, error) {
	offered, err := h.AppClients.ProvidersOf(v.Ctx(), v.Who, c.Path())
	if err != nil {
		return web.Answer{}, err
	}
	m := h.appClientModel(v, p, c, offered.Items)
	if m.Preview, err = h.previewOf(v, c, offered.Items); err != nil {
		return web.Answer{}, err
	}
	if m.API, err = h.accessModel(v, p, c); err != nil {
		return web.Answer{}, err
	}
	if m.Settings != nil {
		path := appClientPath(p, c.ID)
		m.API.Action = path + "/access"
		if m.Keys, err = h.clientKeysModel(v, path, c); err != nil {
			return web.Answer{}, err
		}
	}
	mark(&m)
	return web.Answer{Status: status, Page: projects.AppClientPage(m)}, nil
}

func (h *Handler) appClientModel(
	v *page.Visit, p rules.Project, c contract.AppClient, offered []contract.Provider,
) projects.AppClient {
	path := appClientPath(p, c.ID)
	may := v.MayChange(p, access.LoginUpdate)
	m := projects.AppClient{
		Page: v.Shell("App client "+c.Name, path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name}),
		Name:         c.Name,
		ClientID:     c.ID,
		Issuer:       c.Issuer,
		AuthorizeURL: c.AuthorizeURL,
		Facts:        clientFacts(c),
		Frozen:       c.Frozen,
		BackURL:      loginPath(p),
		Providers:    h.providerRows(path, offered, may),
	}
	if !may {
		return m
	}
	m.TestAction, m.TestProblem = path+"/test", testProblem(c.Frozen, offered)
	m.Settings = clientSettingsForm(path, clientTexts(c), &page.Errors{})
	m.Branding = clientBrandingForm(path, clientTexts(c), &page.Errors{})
	m.Secret = &projects.AppClientSecret{
		Action:       path + "/secret",
		ETag:         c.ETag,
		Confidential: c.Confidential,
	}
	m.Freeze = &projects.ClientFreeze{Action: path + "/freeze", Frozen: c.Frozen}
	if c.Frozen {
		m.Freeze.Action = path + "/unfreeze"
	}
	m.Delete = &ui.Confirmation{
		ID:     "delete-confirm",
		Action: path + "/delete",
		Verb:   "Delete",
		Kind:   "app client",
		Name:   c.Name,
		Type:   c.Name,
	}
	n, err := h.AppClients.SignInsToday(v.Ctx(), v.Who, c.ID)
	m.Delete.Impact = append(v.Figure(page.SignInsText(n, "to this app client"), err),
		"This will also delete "+page.CountText(int64(len(offered)), "provider")+" and the signing keys, and sign out "+
			"the app client's users.",
		"The tenant's users won't be deleted.")
	return m
}

// testProblem returns why users cannot sign in yet, "" if they can.
func testProblem(frozen bool, offered []contract.Provider) string {
	if frozen {
		return "The app client is frozen, so users can't sign in. Unfreeze it below."
	}
	if slices.ContainsFunc(offered, func(o contract.Provider) bool { return o.Enabled }) {
		return ""
	}
	return "No provider is turned on, so users can't sign in yet. Set up a provider below."
}

func clientFacts(c contract.AppClient) []ui.Fact {
	stay := "Users must sign in again when their token expires."
	if c.RefreshTokenSeconds > 0 {
		stay = "Users stay signed in for up to " + page.LifetimeText(c.RefreshTokenSeconds) + "."
	}
	return []ui.Fact{
		{Label: "Kind", Value: clientKind(c)},
		{
			Label: "Redirect URIs",
			Value: cmp.Or(strings.Join(c.RedirectURIs, " "), "none, so users can't sign in"),
			Mono:  len(c.RedirectURIs) > 0,
		},
		{
			Label: "Tokens",
			Value: "Valid for " + page.LifetimeText(c.AccessTokenSeconds) + ", signed with " + c.Algorithm +
				". " + stay,
		},
	}
}

// algorithms are the options for the signature of tokens.
var algorithms = []ui.Option{
	{Value: contract.RS256, Title: "RS256", Text: "Supported everywhere."},
	{Value: contract.ES256, Title: "ES256", Text: "Smaller tokens. Strict OpenID Connect clients expect RS256."},
	{
		Value: contract.EdDSA,
		Title: "EdDSA",
		Text:  "Smallest and fastest. Some libraries don't support it, and strict OpenID Connect clients expect RS256.",
	},
}

// pkceModes are the options for PKCE of a confidential app client.
var pkceModes = []ui.Option{
	{Value: contract.PKCERequired, Title: "Required", Text: "Every sign-in requires a code challenge."},
	{
		Value: contract.PKCEWhenSent,
		Title: "Optional",
		Text:  "For libraries that can't send a code challenge. Only the client secret protects their codes.",
	},
}

// chosenOf returns the options with one of them chosen.
func chosenOf(options []ui.Option, value string) []ui.Option {
	out := slices.Clone(options)
	page.Choose(out, value)
	return out
}

// The units of the forms, in seconds.
const (
	ofMinute = 60
	ofDay    = 24 * 60 * ofMinute
)

// clientTexts has the fields of all forms of an app client before anything is typed.
func clientTexts(c contract.AppClient) url.Values {
	out := url.Values{"revision": {c.ETag}, "grant_types": c.GrantTypes}
	for name, text := range map[string]string{
		"name":                   c.Name,
		"redirect_uris":          strings.Join(c.RedirectURIs, "\n"),
		"logout_uris":            strings.Join(c.LogoutURIs, "\n"),
		"backchannel_logout_uri": c.BackchannelLogoutURI,
		"access_minutes":         typedUnits(c.AccessTokenSeconds, ofMinute),
		"refresh_days":           typedUnits(c.RefreshTokenSeconds, ofDay),
		"algorithm":              c.Algorithm,
		"api_scopes":             strings.Join(c.APIScopes, "\n"),
		"title":                  c.Branding.Title,
		"welcome":                c.Branding.Welcome,
		"logo_url":               c.Branding.LogoURL,
		"color":                  c.Branding.Color,
	} {
		out.Set(name, text)
	}
	if c.Confidential { // a public client always has to send a challenge
		out.Set("pkce", c.PKCE)
	}
	return out
}

func clientSettingsForm(action string, f url.Values, wrong *page.Errors) *projects.AppClientSettings {
	m := &projects.AppClientSettings{
		Action:               action,
		Revision:             f.Get("revision"),
		Name:                 wrong.Value("/name", f.Get("name")),
		Redirects:            wrong.Lines("/redirect_uris", f.Get("redirect_uris")),
		Logouts:              wrong.Lines("/logout_uris", f.Get("logout_uris")),
		BackchannelLogoutURI: wrong.Value("/backchannel_logout_uri", f.Get("backchannel_logout_uri")),
		Access:               wrong.Units("/access_token_seconds", f.Get("access_minutes"), "Use 1 to 1,440 minutes."),
		Refresh:              wrong.Units("/refresh_token_seconds", f.Get("refresh_days"), "Use 0 to 90 days."),
		Algorithms:           chosenOf(algorithms, f.Get("algorithm")),
		Algorithm:            wrong.Take("/algorithm"),
	}
	if f.Get("pkce") != "" {
		m.PKCE, m.PKCEError = chosenOf(pkceModes, f.Get("pkce")), wrong.Take("/pkce")
	}
	m.Error = wrong.Rest()
	return m
}

// typedUnits formats seconds in units, as the form shows them. The API sets durations to the second; six decimals keep
// that when the form is saved again.
func typedUnits(seconds, unit int64) string {
	text := strconv.FormatFloat(float64(seconds)/float64(unit), 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// readUnits returns the seconds of a number of units, page.NoNumber for text that isn't a duration.
func readUnits(text string, unit int64) *int64 {
	n, ok := page.DecimalNumber(text)
	seconds := math.Round(n * float64(unit))
	if ok && seconds >= 0 && seconds < math.MaxInt32 {
		return new(int64(seconds))
	}
	return new(int64(page.NoNumber))
}

// clientForm is one of the forms of an app client: its fields, and how its page looks when it is refused.
type clientForm struct {
	fields []string
	mark   func(m *projects.AppClient, f url.Values, wrong *page.Errors)
}

var clientSettings = clientForm{
	[]string{
		"name", "redirect_uris", "logout_uris", "backchannel_logout_uri", "access_minutes", "refresh_days", "algorithm",
		"pkce",
	},
	func(m *projects.AppClient, f url.Values, wrong *page.Errors) {
		m.Settings = clientSettingsForm(m.Settings.Action, f, wrong)
	},
}

func (h *Handler) saveAppClient(v *page.Visit) (web.Answer, error) {
	var in contract.AppClientChange
	v.Fill(&in, "name", "redirect_uris", "logout_uris", "backchannel_logout_uri", "algorithm")
	in.AccessTokenSeconds = readUnits(v.Posted("access_minutes"), ofMinute)
	in.RefreshTokenSeconds = readUnits(v.Posted("refresh_days"), ofDay)
	if v.Posted("pkce") != "" {
		v.Fill(&in, "pkce")
	}
	return h.changeAppClient(v, clientSettings, in)
}

func (h *Handler) changeAppClient(v *page.Visit, form clientForm, in contract.AppClientChange) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	_, err = h.AppClients.UpdateClient(v.Ctx(), v.Who, contract.AppClientUpdate{
		AppClientPath: c.Path(), Condition: v.Condition(), Body: in,
	})
	if err == nil {
		return v.Done("app_client", appClientPath(p, c.ID), c.Name)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.appClientConflict(v, form)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.appClientWith(v, p, c, func(m *projects.AppClient) {
		form.mark(m, v.Gin.Request.PostForm, wrong)
	}, wrong.Status)
}

// appClientConflict shows what was saved since the form was opened next to what was typed.
func (h *Handler) appClientConflict(v *page.Visit, form clientForm) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := appClientPath(p, c.ID)
	m := projects.Conflict{
		Page: v.Shell(
			"Changed since you opened this page",
			path,
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			loginCrumb(p),
			ui.Crumb{
				Text: c.Name,
				URL:  path,
			},
		),
		What:    "The app client",
		BackURL: path,
		Action:  v.Gin.Request.URL.Path,
		Hidden:  []projects.Pair{{Name: "revision", Value: c.ETag}},
	}
	yours, theirs := v.Gin.Request.PostForm, clientTexts(c)
	for _, name := range form.fields {
		if name == "pkce" && !yours.Has(name) {
			continue
		}
		m.Rows = append(m.Rows, projects.Difference{
			Label:  page.FieldLabel(name),
			Yours:  clientText(name, yours[name]),
			Theirs: clientText(name, theirs[name]),
		})
		for _, value := range yours[name] {
			m.Hidden = append(m.Hidden, projects.Pair{Name: name, Value: value})
		}
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// clientText is the text of a field.
func clientText(name string, values []string) string {
	if name == "grant_types" {
		return grantTypeTitles(values)
	}
	return page.ScopesText(strings.Join(values, " "))
}
