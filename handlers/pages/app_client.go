package pages

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/login"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func (h *Handler) showAppClient(v *visit) (web.Answer, error) {
	return h.appClientNow(v, func(*projects.AppClient) {}, http.StatusOK)
}

// appClientNow shows the page of the app client in the address, as it is now, with what
// mark adds to it.
func (h *Handler) appClientNow(v *visit, mark func(*projects.AppClient), status int) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.appClientWith(v, p, c, mark, status)
}

// appClientWith shows an app client's page with what mark adds to it.
func (h *Handler) appClientWith(
	v *visit, p rules.Project, c login.Client, mark func(*projects.AppClient), status int,
) (web.Answer, error) {
	offered, err := h.Login.ProvidersOf(v.ctx(), v.who, c.ID)
	if err != nil {
		return web.Answer{}, err
	}
	m := h.appClientModel(v, p, c, offered)
	if m.Preview, err = h.previewOf(v, c, offered); err != nil {
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
	v *visit, p rules.Project, c login.Client, offered []login.Provider,
) projects.AppClient {
	path, issuer := appClientPath(p, c.ID), h.Login.Issuer(c.ID)
	may := v.mayChange(p, access.LoginUpdate)
	m := projects.AppClient{
		Page: v.shell("App client "+c.Name, path, projectsCrumb(), projectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name}),
		Name:         c.Name,
		ClientID:     c.ID,
		Issuer:       issuer,
		AuthorizeURL: issuer + "/authorize",
		Facts:        clientFacts(c),
		Frozen:       c.Frozen,
		BackURL:      loginPath(p),
		Providers:    h.providerRows(path, offered, may),
	}
	if !may {
		return m
	}
	m.TestAction, m.TestProblem = path+"/test", testProblem(c.Frozen, offered)
	m.Settings, m.Branding = settingsOf(c).view(path, &formErrors{}), brandingOf(c).view(path, &formErrors{})
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
	n, err := h.Login.SignInsToday(v.ctx(), v.who, c.ID)
	m.Delete.Impact = append(v.figure(signInsText(n, "through"), err),
		countText(int64(len(offered)), "provider")+" and the signing keys go along, and its users are signed out.",
		"The users of the tenant stay.")
	return m
}

// testProblem returns why users cannot sign in yet, "" if they can.
func testProblem(frozen bool, offered []login.Provider) string {
	if frozen {
		return "The app client is frozen, so users cannot sign in. Unfreeze it below."
	}
	if slices.ContainsFunc(offered, func(o login.Provider) bool { return o.Enabled }) {
		return ""
	}
	return "No provider is on, so users cannot sign in yet. Set one up below."
}

func clientFacts(c login.Client) []ui.Fact {
	refresh := "cannot be refreshed"
	if c.Refresh > 0 {
		refresh = "can be refreshed for " + lifetimeText(int64(c.Refresh/time.Second))
	}
	return []ui.Fact{
		{Label: "Kind", Value: clientKind(c)},
		{
			Label: "Redirect URIs",
			Value: cmp.Or(strings.Join(c.RedirectURIs, " "), "none: users cannot sign in"),
			Mono:  len(c.RedirectURIs) > 0,
		},
		{
			Label: "Tokens",
			Value: "last " + lifetimeText(int64(c.Access/time.Second)) + ", signed with " + c.Algorithm +
				"; a login " + refresh,
		},
	}
}

// algorithms are the options for the signature of tokens.
var algorithms = []ui.Option{
	{Value: login.RS256, Title: "RS256", Text: "Understood everywhere."},
	{Value: login.ES256, Title: "ES256", Text: "Smaller tokens. Strict OpenID Connect clients expect RS256."},
	{
		Value: login.EdDSA,
		Title: "EdDSA",
		Text:  "Smallest and fastest. Some libraries lack it, and strict OpenID Connect clients expect RS256.",
	},
}

// pkceModes are the options for PKCE of a confidential app client.
var pkceModes = []ui.Option{
	{Value: login.PKCERequired, Title: "Required", Text: "Every sign-in needs a code challenge."},
	{
		Value: login.PKCEWhenSent,
		Title: "When sent",
		Text:  "For libraries that send no code challenge. The client secret alone protects their codes.",
	},
}

// chosenOf returns the options with one of them chosen.
func chosenOf(options []ui.Option, value string) []ui.Option {
	out := slices.Clone(options)
	choose(out, value)
	return out
}

// clientSettings holds the fields of the settings form of an app client, as typed.
type clientSettings struct {
	revision, name, redirects, logouts, backchannel, access, refresh, algorithm string

	pkce string // "" where it cannot be chosen: a public client
}

func settingsOf(c login.Client) clientSettings {
	f := clientSettings{
		revision:    c.ETag,
		name:        c.Name,
		redirects:   strings.Join(c.RedirectURIs, "\n"),
		logouts:     strings.Join(c.LogoutURIs, "\n"),
		backchannel: c.Backchannel,
		access:      typedUnits(c.Access, time.Minute),
		refresh:     typedUnits(c.Refresh, 24*time.Hour),
		algorithm:   c.Algorithm,
	}
	if c.Confidential {
		f.pkce = c.PKCE
	}
	return f
}

func (f clientSettings) view(action string, wrong *formErrors) *projects.AppClientSettings {
	m := &projects.AppClientSettings{
		Action:      action,
		Revision:    f.revision,
		Name:        wrong.value("/name", f.name),
		Redirects:   ui.Value{Text: f.redirects, Error: wrong.takeLines("/redirect_uris", lines(f.redirects))},
		Logouts:     ui.Value{Text: f.logouts, Error: wrong.takeLines("/logout_uris", lines(f.logouts))},
		Backchannel: wrong.value("/backchannel_logout_uri", f.backchannel),
		Access:      wrong.value("/access_token_seconds", f.access),
		Refresh:     wrong.value("/refresh_token_seconds", f.refresh),
		Algorithms:  chosenOf(algorithms, f.algorithm),
		Algorithm:   wrong.take("/algorithm"),
	}
	if f.pkce != "" {
		m.PKCE, m.PKCEError = chosenOf(pkceModes, f.pkce), wrong.take("/pkce")
	}
	if m.Access.Error != "" { // the rule speaks of seconds
		m.Access.Error = "Give 1 to 1440 minutes."
	}
	if m.Refresh.Error != "" {
		m.Refresh.Error = "Give 0 to 90 days."
	}
	m.Error = wrong.rest()
	return m
}

// typedUnits formats a duration in units, as the form shows it. The API sets durations to
// the second; six decimals keep that when the form is saved again.
func typedUnits(d, unit time.Duration) string {
	text := strconv.FormatFloat(float64(d)/float64(unit), 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// readUnits parses a duration in units. It returns a negative one, which the rule refuses
// together with other invalid fields, for text that is no duration.
func readUnits(text string, unit time.Duration) *time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	seconds := math.Round(n * unit.Seconds())
	d := -time.Second
	if err == nil && seconds >= 0 && seconds < math.MaxInt32 { // NaN is neither
		d = time.Duration(seconds) * time.Second
	}
	return &d
}

func (h *Handler) saveAppClient(v *visit) (web.Answer, error) {
	f := clientSettings{
		revision:    v.posted("revision"),
		name:        strings.TrimSpace(v.posted("name")),
		redirects:   v.posted("redirect_uris"),
		logouts:     v.posted("logout_uris"),
		backchannel: strings.TrimSpace(v.posted("backchannel_logout_uri")),
		access:      v.posted("access_minutes"),
		refresh:     v.posted("refresh_days"),
		algorithm:   v.posted("algorithm"),
		pkce:        v.posted("pkce"),
	}
	redirects, logouts := lines(f.redirects), lines(f.logouts)
	in := login.ClientInput{
		Name:         &f.name,
		RedirectURIs: &redirects,
		LogoutURIs:   &logouts,
		Backchannel:  &f.backchannel,
		Access:       readUnits(f.access, time.Minute),
		Refresh:      readUnits(f.refresh, 24*time.Hour),
		Algorithm:    &f.algorithm,
	}
	if f.pkce != "" {
		in.PKCE = &f.pkce
	}
	return h.changeAppClient(v, f, f.revision, in)
}

func (f clientSettings) mark(m *projects.AppClient, wrong *formErrors) {
	m.Settings = f.view(m.Settings.Action, wrong)
}

func (f clientSettings) compare(m *projects.Conflict, c login.Client) {
	now := settingsOf(c)
	m.What = "The app client"
	for _, row := range [][4]string{
		{"Name", "name", f.name, now.name},
		{"Redirect URIs", "redirect_uris", f.redirects, now.redirects},
		{"After signing out", "logout_uris", f.logouts, now.logouts},
		{"Told of ended sessions", "backchannel_logout_uri", f.backchannel, now.backchannel},
		{"Tokens last, in minutes", "access_minutes", f.access, now.access},
		{"Stay signed in, in days", "refresh_days", f.refresh, now.refresh},
		{"Signature", "algorithm", f.algorithm, now.algorithm},
		{"PKCE", "pkce", f.pkce, now.pkce},
	} {
		if row[1] == "pkce" && f.pkce == "" {
			continue
		}
		m.Rows = append(m.Rows, projects.Difference{
			Label:  row[0],
			Yours:  textOrNone(row[2]),
			Theirs: textOrNone(row[3]),
		})
		m.Hidden = append(m.Hidden, projects.Pair{Name: row[1], Value: row[2]})
	}
}

// appClientChange is one of the forms of an app client: how its page looks when it is
// refused, and how it compares with what was saved meanwhile.
type appClientChange interface {
	mark(*projects.AppClient, *formErrors)
	compare(*projects.Conflict, login.Client)
}

func (h *Handler) changeAppClient(
	v *visit, form appClientChange, revision string, in login.ClientInput,
) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	_, err = h.Login.UpdateClient(v.ctx(), v.who, c.ID, revision, in)
	if err == nil {
		return v.done("app_client", appClientPath(p, c.ID), c.Name)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.appClientConflict(v, form)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.appClientWith(v, p, c, func(m *projects.AppClient) { form.mark(m, wrong) }, wrong.status)
}

func (h *Handler) appClientConflict(v *visit, form appClientChange) (web.Answer, error) {
	p, c, err := h.appClientOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := appClientPath(p, c.ID)
	m := projects.Conflict{
		Page: v.shell("Changed meanwhile", path, projectsCrumb(), projectCrumb(p), loginCrumb(p), ui.Crumb{
			Text: c.Name,
			URL:  path,
		}),
		BackURL: path,
		Action:  v.c.Request.URL.Path,
		Hidden:  []projects.Pair{{Name: "revision", Value: c.ETag}},
	}
	form.compare(&m, c)
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
