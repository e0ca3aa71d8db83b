package login

import (
	"cmp"
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
	"postern/service/appclients"
	"postern/service/login/providers"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// providerFields are the fields of a provider's form, without the secret, which pages never contain.
var providerFields = []string{
	"client_id", "scopes", "label", "sign_in_domains", "audience", "response_mode", "authoritative_domains",
	"client_token", "upstream_token", "enabled",
}

// providerTexts has the fields of a provider's form before anything is typed.
func providerTexts(o contract.Provider) url.Values {
	out := url.Values{}
	for name, text := range map[string]string{
		"revision":              o.ETag,
		"client_id":             o.ClientID,
		"scopes":                strings.Join(o.Scopes, "\n"),
		"label":                 o.Label,
		"sign_in_domains":       strings.Join(o.SignInDomains, "\n"),
		"audience":              o.Audience,
		"response_mode":         o.ResponseMode,
		"authoritative_domains": strings.Join(o.AuthoritativeDomains, "\n"),
		"client_token":          o.TokenType.Client,
		"upstream_token":        o.TokenType.Upstream,
		"enabled":               strconv.FormatBool(o.Enabled),
	} {
		out.Set(name, text)
	}
	return out
}

// postedProvider reads a provider's form. Managed providers have their app from the installation.
func postedProvider(v *page.Visit, managed bool) contract.ProviderSettings {
	var in contract.ProviderSettings
	v.Fill(&in, "label", "sign_in_domains", "enabled")
	in.TokenType = contract.NewTokenType{Client: v.Posted("client_token"), Upstream: v.Posted("upstream_token")}
	if managed {
		return in
	}
	v.Fill(&in, "client_id", "client_secret", "audience", "authoritative_domains")
	in.Scopes = new(strings.Fields(v.Posted("scopes")))
	if v.Posted("response_mode") != "" { // only the form of a type that takes one has the field
		v.Fill(&in, "response_mode")
	}
	return in
}

// tokenTexts describe the combinations of token types.
var tokenTexts = map[contract.TokenType]ui.Option{
	{Client: contract.ServiceToken, Upstream: contract.ServiceToken}: {
		Title: "Postern's token for both",
		Text:  "The application and the upstream get the same short-lived Postern token.",
	},
	{Client: contract.ServiceToken, Upstream: contract.ProviderAccessToken}: {
		Title: "Upstream: provider's access token",
		Text: "The application gets Postern's token. The upstream gets the provider's access token, which is sealed " +
			"inside Postern's token in transit.",
	},
	{Client: contract.ServiceToken, Upstream: contract.ProviderIDToken}: {
		Title: "Upstream: provider's ID token",
		Text: "The application gets Postern's token. The upstream gets the provider's ID token, which is sealed " +
			"inside Postern's token in transit.",
	},
	{Client: contract.ServiceToken, Upstream: contract.NoToken}: {
		Title: "Upstream: no token",
		Text:  "The application gets Postern's token. The upstream gets only headers that identify the caller.",
	},
	{Client: contract.ProviderToken, Upstream: contract.ProviderAccessToken}: {
		Title: "Provider's access token for both",
		Text: "The application and the upstream get the provider's own token. Postern verifies it on every " +
			"call. Users must sign in again when the token expires.",
	},
	{Client: contract.ProviderToken, Upstream: contract.ProviderIDToken}: {
		Title: "Provider's ID token for both",
		Text: "The application and the upstream get the provider's ID token. Users must sign in " +
			"again when the token expires.",
	},
	{Client: contract.ProviderToken, Upstream: contract.NoToken}: {
		Title: "Provider's token for the application only",
		Text: "The application gets the provider's access token. The upstream gets only headers that identify the " +
			"caller.",
	},
}

// clientTokens and upstreamTokens are the answers to the two questions that a combination is made of.
var (
	clientTokens = []ui.Option{
		{
			Value: contract.ServiceToken, Title: "Postern's token",
			Text: "Short-lived. Stops working immediately when you freeze the user.",
		},
		{
			Value: contract.ProviderToken, Title: "The provider's token",
			Text: "Issued by the provider itself.",
		},
	}
	upstreamTokens = []ui.Option{
		{Value: contract.ServiceToken, Title: "Postern's token", Text: "The token that the application holds."},
		{
			Value: contract.ProviderAccessToken, Title: "Provider's access token",
			Text: "Lets the upstream call the provider's API.",
		},
		{Value: contract.ProviderIDToken, Title: "Provider's ID token", Text: "Identifies the user who signed in."},
		{Value: contract.NoToken, Title: "No token", Text: "Only headers identify the caller."},
	}
)

// tokenChoices asks for a combination. It offers the answers that some combination of the kind has.
func tokenChoices(o contract.Provider, chosen contract.TokenType, wrong string) projects.TokenChoice {
	possible := appclients.TokenChoices(o.Type, o.Managed)
	offered := func(options []ui.Option, of func(contract.TokenType) string) (out []ui.Option) {
		for _, option := range options {
			if slices.ContainsFunc(possible, func(t contract.TokenType) bool { return of(t) == option.Value }) {
				option.Chosen = of(chosen) == option.Value
				out = append(out, option)
			}
		}
		return out
	}
	return projects.TokenChoice{
		Provider: o.ShownLabel(),
		Client:   offered(clientTokens, func(t contract.TokenType) string { return t.Client }),
		Upstream: offered(upstreamTokens, func(t contract.TokenType) string { return t.Upstream }),
		Error:    wrong,
	}
}

func responseModeChoice(chosen, wrong string) *ui.Group {
	options := []ui.Option{
		{Value: providers.Query, Title: "Query", Text: "In the redirect URL. Most providers use this mode."},
		{
			Value: providers.FormPost, Title: "Form post",
			Text: "In a form that the browser submits. Apple requires this mode.",
		},
	}
	for i := range options {
		options[i].Chosen = options[i].Value == chosen
	}
	return &ui.Group{
		ID:      "provider-response-mode",
		Name:    "response_mode",
		Legend:  "Response mode",
		Options: options,
		Error:   wrong,
	}
}

func (h *Handler) showProvider(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.ProviderPage(h.providerModel(v, p, c, o, providerTexts(o), &page.Errors{}))), nil
}

func (h *Handler) providerModel(
	v *page.Visit, p rules.Project, c contract.AppClient, o contract.Provider, f url.Values, wrong *page.Errors,
) projects.Provider {
	client, label := appClientPath(p, c.ID), o.ShownLabel()
	path := providerPath(client, o.ID)
	m := projects.Provider{
		Page: v.Shell(
			label, path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p), ui.Crumb{Text: c.Name, URL: client},
			ui.Crumb{Text: label},
		),
		Label:   label,
		Facts:   providerFacts(o),
		BackURL: client + "#providers",
	}
	if traits, _ := providers.TraitsOf(o.Type); traits.HasIDToken {
		m.MappingsURL = mappingsPath(p, c, o)
	}
	if !o.Managed { // the installation's operator has registered that one's
		m.Callback, m.Register = o.CallbackURL, registerText(o.Type)
	}
	if !v.MayChange(p, access.LoginUpdate) {
		return m
	}
	traits, _ := providers.TraitsOf(o.Type)
	m.Edit = &projects.ProviderForm{
		Action:    path,
		Revision:  f.Get("revision"),
		Managed:   o.Managed,
		HasSecret: o.HasClientSecret,
		NeedsKey:  traits.NeedsSecret,
		Label:     wrong.Value("/label", f.Get("label")),
		LabelHint: contract.ProviderRecord{Type: o.Type, Issuer: o.Issuer}.ShownLabel(),
		SignIn:    wrong.Lines("/sign_in_domains", f.Get("sign_in_domains")),
		ClientID:  wrong.Value("/client_id", f.Get("client_id")),
		Secret:    wrong.Take("/client_secret"),
		Tokens: tokenChoices(o, contract.TokenType{
			Client: f.Get("client_token"), Upstream: f.Get("upstream_token"),
		}, wrong.Take("/token_type")),
		Scopes: ui.Value{
			Text: f.Get("scopes"), Error: wrong.TakeLines("/scopes", strings.Fields(f.Get("scopes"))),
		},
		On: f.Get("enabled") == "true",
	}
	if o.Type == providers.Auth0 {
		m.Edit.Audience = new(wrong.Value("/audience", f.Get("audience")))
	}
	if o.ResponseMode != "" {
		m.Edit.ResponseMode = responseModeChoice(f.Get("response_mode"), wrong.Take("/response_mode"))
	}
	if providers.TakesDomains(o.Type, o.Issuer) {
		m.Edit.Domains = new(wrong.Lines("/authoritative_domains", f.Get("authoritative_domains")))
	}
	m.Edit.Error = wrong.Rest()
	m.TestAction = path + "/test"
	m.Delete = &ui.Confirmation{
		ID:     "provider-confirm",
		Action: path + "/delete",
		Verb:   "Remove",
		Kind:   "provider",
		Name:   label,
		Undo: "You can set it up again, but its secret can't be recovered. Its users won't be deleted and can sign " +
			"in with a provider of the same type and issuer.",
	}
	n, err := h.AppClients.SignInsWithToday(v.Ctx(), v.Who, o.ID)
	m.Delete.Impact = append(v.Figure(page.SignInsText(n, "with this provider"), err),
		"No one will be able to sign in with it anymore.")
	return m
}

func providerFacts(o contract.Provider) []ui.Fact {
	facts := []ui.Fact{
		{Label: "State", Value: onOrOff(o.Enabled)},
		{Label: "Client ID", Value: cmp.Or(o.ClientID, "none"), Mono: o.ClientID != ""},
		{Label: "Scopes", Value: strings.Join(o.Scopes, " "), Mono: true},
		{Label: "Tokens", Value: tokenTexts[o.TokenType].Title},
	}
	if o.Issuer != "" {
		facts = append(facts, ui.Fact{Label: "Issuer", Value: o.Issuer, Mono: true})
	}
	if o.Audience != "" {
		facts = append(facts, ui.Fact{Label: "Audience", Value: o.Audience, Mono: true})
	}
	if o.ResponseMode != "" {
		facts = append(facts, ui.Fact{Label: "Response mode", Value: o.ResponseMode, Mono: true})
	}
	if len(o.SignInDomains) > 0 {
		domains := strings.Join(o.SignInDomains, " ")
		facts = append(facts, ui.Fact{Label: "Sign-in email domains", Value: domains, Mono: true})
	}
	if domains := strings.Join(o.AuthoritativeDomains, " "); domains != "" {
		facts = append(facts, ui.Fact{Label: "Trusted email domains", Value: domains, Mono: true})
	}
	return facts
}

// registerText describes where to register the callback URL with a kind of provider.
func registerText(kind string) string {
	switch kind {
	case providers.GitHub:
		return "In GitHub, go to Settings > Developer settings > OAuth Apps, and enter this URL as your app's " +
			"authorization callback URL."
	case providers.Google:
		return "In the Google Cloud console, add this URL to the authorized redirect URIs for a web application's " +
			"OAuth client."
	case providers.Microsoft:
		return "In Microsoft Entra, open Authentication in your app registration, and add this URL as a redirect URI " +
			"for the Web platform."
	case providers.Facebook:
		return "In Meta for Developers, open your app's Facebook Login settings, and add this URL to the valid OAuth " +
			"redirect URIs."
	case providers.Auth0:
		return "In Auth0, add this URL to the allowed callback URLs of a regular web application."
	}
	return "Register this URL with the issuer as a redirect URI for your client."
}

func (h *Handler) saveProvider(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	_, err = h.AppClients.UpdateProvider(v.Ctx(), v.Who, contract.ProviderUpdate{
		ProviderPath: o.Path(), Condition: v.Condition(), Body: postedProvider(v, o.Managed),
	})
	if err == nil {
		return v.Done("provider", appClientPath(p, c.ID)+"#providers", o.ShownLabel())
	}
	if fault.KindOf(err) == fault.Stale {
		return h.providerConflict(v)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := h.providerModel(v, p, c, o, v.Gin.Request.PostForm, wrong)
	return web.Answer{Status: wrong.Status, Page: projects.ProviderPage(m)}, nil
}

// providerConflict shows what was saved since the form was opened next to what was typed. Pages never
// contain a secret, so it has to be pasted again.
func (h *Handler) providerConflict(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	client := appClientPath(p, c.ID)
	path := providerPath(client, o.ID)
	m := projects.Conflict{
		Page: v.Shell(
			"Changed since you opened this page", path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name, URL: client},
		),
		BackURL: path,
		Action:  path,
		What:    "The provider " + o.ShownLabel(),
		Hidden:  []projects.Pair{{Name: "revision", Value: o.ETag}},
	}
	yours, theirs := v.Gin.Request.PostForm, providerTexts(o)
	for _, name := range providerFields {
		if !yours.Has(name) && name != "enabled" { // a box that isn't ticked isn't sent
			continue
		}
		m.Rows = append(m.Rows, projects.Difference{
			Label:  page.FieldLabel(name),
			Yours:  providerText(name, yours.Get(name)),
			Theirs: providerText(name, theirs.Get(name)),
		})
		m.Hidden = append(m.Hidden, projects.Pair{Name: name, Value: yours.Get(name)})
	}
	if yours.Get("client_secret") != "" {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  page.FieldLabel("client_secret"),
			Yours:  "changed (paste it again after saving)",
			Theirs: "kept",
		})
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// providerText is the text of a field.
func providerText(name, value string) string {
	switch name {
	case "client_token":
		return titleOf(clientTokens, value)
	case "upstream_token":
		return titleOf(upstreamTokens, value)
	case "enabled":
		return onOrOff(value == "true")
	}
	return page.ScopesText(value)
}

// titleOf is the title of one of the options, or the value itself if it isn't one of theirs.
func titleOf(options []ui.Option, value string) string {
	i := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value })
	if i < 0 {
		return page.TextOrNone(value)
	}
	return options[i].Title
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
