package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/login"
	"postern/service/login/providers"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// providerForm holds the fields of a provider's form, as typed. The secret is never shown.
type providerForm struct {
	revision, clientID, secret, scopes, audience, domains, label, signIn, responseMode string

	tokens login.TokenTypes

	on bool
}

func postedProvider(v *visit) providerForm {
	return providerForm{
		revision: v.posted("revision"),
		clientID: strings.TrimSpace(v.posted("client_id")),
		secret:   strings.TrimSpace(v.posted("client_secret")),
		scopes:   v.posted("scopes"),
		tokens:   login.TokenTypes{Client: v.posted("client_token"), Upstream: v.posted("upstream_token")},
		audience: strings.TrimSpace(v.posted("audience")),
		domains:  v.posted("authoritative_domains"),
		label:    strings.TrimSpace(v.posted("label")),
		signIn:   v.posted("sign_in_domains"),
		on:       v.posted("enabled") == "true",

		responseMode: v.posted("response_mode"),
	}
}

func providerFormOf(o login.Provider) providerForm {
	return providerForm{
		revision: o.ETag,
		clientID: o.ClientID,
		scopes:   strings.Join(o.Scopes, "\n"),
		tokens:   o.Tokens,
		audience: o.Audience,
		domains:  strings.Join(o.Domains, "\n"),
		label:    o.Label,
		signIn:   strings.Join(o.SignInDomains, "\n"),
		on:       o.Enabled,

		responseMode: o.ResponseMode,
	}
}

// tokenTexts describe the combinations of token types.
var tokenTexts = map[login.TokenTypes]ui.Option{
	{Client: login.ServiceToken, Upstream: login.ServiceToken}: {
		Title: "Postern's token for both",
		Text:  "The application gets a short-lived token of Postern's, and the upstream the same.",
	},
	{Client: login.ServiceToken, Upstream: login.ProviderAccessToken}: {
		Title: "Upstream: provider's access token",
		Text: "The application gets Postern's token; the upstream gets the provider's access token, which travels " +
			"sealed in it.",
	},
	{Client: login.ServiceToken, Upstream: login.ProviderIDToken}: {
		Title: "Upstream: provider's ID token",
		Text: "The application gets Postern's token; the upstream gets the provider's ID token, which travels " +
			"sealed in it.",
	},
	{Client: login.ServiceToken, Upstream: login.NoToken}: {
		Title: "Upstream: no token",
		Text:  "The application gets Postern's token; the upstream sees the caller in headers only.",
	},
	{Client: login.ProviderToken, Upstream: login.ProviderAccessToken}: {
		Title: "Provider's access token for both",
		Text: "Application and upstream get the provider's own token. Every call is checked with the provider, and " +
			"a login cannot be refreshed.",
	},
	{Client: login.ProviderToken, Upstream: login.ProviderIDToken}: {
		Title: "Provider's ID token for both",
		Text:  "Application and upstream get the provider's ID token as their credential. A login cannot be refreshed.",
	},
	{Client: login.ProviderToken, Upstream: login.NoToken}: {
		Title: "Provider's token, upstream: none",
		Text:  "The application gets the provider's access token; the upstream sees the caller in headers only.",
	},
}

// clientTokens and upstreamTokens are the answers to the two questions that a combination is made of.
var (
	clientTokens = []ui.Option{
		{Value: login.ServiceToken, Title: "Postern's token", Text: "Short-lived, and refused at once when needed."},
		{Value: login.ProviderToken, Title: "The provider's token", Text: "The one that the provider issued itself."},
	}
	upstreamTokens = []ui.Option{
		{Value: login.ServiceToken, Title: "Postern's token", Text: "The same that the application holds."},
		{Value: login.ProviderAccessToken, Title: "Provider's access token", Text: "To call the provider's API with."},
		{Value: login.ProviderIDToken, Title: "Provider's ID token", Text: "To read who signed in."},
		{Value: login.NoToken, Title: "No token", Text: "The caller is named in headers only."},
	}
)

// tokenChoices asks for a combination. It offers the answers that some combination of the kind has.
func tokenChoices(o login.Provider, chosen login.TokenTypes, wrong string) projects.TokenChoice {
	possible := login.TokenChoices(o.Type, o.Managed)
	offered := func(options []ui.Option, of func(login.TokenTypes) string) (out []ui.Option) {
		for _, option := range options {
			if slices.ContainsFunc(possible, func(t login.TokenTypes) bool { return of(t) == option.Value }) {
				option.Chosen = of(chosen) == option.Value
				out = append(out, option)
			}
		}
		return out
	}
	return projects.TokenChoice{
		Provider: login.ProviderLabel(o),
		Client:   offered(clientTokens, func(t login.TokenTypes) string { return t.Client }),
		Upstream: offered(upstreamTokens, func(t login.TokenTypes) string { return t.Upstream }),
		Error:    wrong,
	}
}

func responseModeChoice(chosen, wrong string) *ui.Group {
	options := []ui.Option{
		{Value: providers.Query, Title: "Query", Text: "In the address that it sends the browser to, as most do."},
		{Value: providers.FormPost, Title: "Form post", Text: "In a form that the browser posts, as Apple requires."},
	}
	for i := range options {
		options[i].Chosen = options[i].Value == chosen
	}
	return &ui.Group{
		ID:      "provider-response-mode",
		Name:    "response_mode",
		Legend:  "How the provider sends its answer",
		Options: options,
		Error:   wrong,
	}
}

// change leaves out what the form does not ask: the app of a managed provider, and a
// secret that was not typed.
func (f providerForm) change(managed bool) login.ProviderInput {
	signIn := strings.Fields(f.signIn)
	in := login.ProviderInput{
		Tokens:  &f.tokens,
		Label:   &f.label,
		Enabled: &f.on,

		SignInDomains: &signIn,
	}
	if managed {
		return in
	}
	scopes := strings.Fields(f.scopes)
	domains := strings.Fields(f.domains)
	in.ClientID, in.Scopes, in.Audience, in.Domains = &f.clientID, &scopes, &f.audience, &domains
	if f.responseMode != "" { // only the form of a kind that takes one has the field
		in.ResponseMode = &f.responseMode
	}
	if secret := secrets.Given(f.secret); secret != "" {
		in.ClientSecret = &secret
	}
	return in
}

func (h *Handler) showProvider(v *visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.ProviderPage(h.providerModel(v, p, c, o, providerFormOf(o), &formErrors{}))), nil
}

func (h *Handler) providerModel(
	v *visit, p rules.Project, c contract.AppClient, o login.Provider, f providerForm, wrong *formErrors,
) projects.Provider {
	client, label := appClientPath(p, c.ID), login.ProviderLabel(o)
	path := providerPath(client, o.ID)
	m := projects.Provider{
		Page: v.shell(
			label, path, projectsCrumb(), projectCrumb(p), loginCrumb(p), ui.Crumb{Text: c.Name, URL: client},
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
		m.Callback, m.Register = o.Callback, registerText(o.Type)
	}
	if !v.mayChange(p, access.LoginUpdate) {
		return m
	}
	traits, _ := providers.TraitsOf(o.Type)
	m.Edit = &projects.ProviderForm{
		Action:    path,
		Revision:  f.revision,
		Managed:   o.Managed,
		HasSecret: o.HasSecret,
		NeedsKey:  traits.NeedsSecret,
		Label:     wrong.value("/label", f.label),
		LabelHint: login.ProviderLabel(login.Provider{Type: o.Type, Issuer: o.Issuer}),
		SignIn:    ui.Value{Text: f.signIn, Error: wrong.takeLines("/sign_in_domains", strings.Fields(f.signIn))},
		ClientID:  wrong.value("/client_id", f.clientID),
		Secret:    wrong.take("/client_secret"),
		Tokens:    tokenChoices(o, f.tokens, wrong.take("/token_type")),
		Scopes:    ui.Value{Text: f.scopes, Error: wrong.takeLines("/scopes", strings.Fields(f.scopes))},
		On:        f.on,
	}
	if o.Type == providers.Auth0 {
		m.Edit.Audience = new(wrong.value("/audience", f.audience))
	}
	if o.ResponseMode != "" {
		m.Edit.ResponseMode = responseModeChoice(f.responseMode, wrong.take("/response_mode"))
	}
	if providers.TakesDomains(o.Type, o.Issuer) {
		m.Edit.Domains = &ui.Value{
			Text:  f.domains,
			Error: wrong.takeLines("/authoritative_domains", strings.Fields(f.domains)),
		}
	}
	m.Edit.Error = wrong.rest()
	m.TestAction = path + "/test"
	m.Delete = &ui.Confirmation{
		ID:     "provider-confirm",
		Action: path + "/delete",
		Verb:   "Remove",
		Kind:   "provider",
		Name:   label,
		Undo: "You can set it up again: its users stay, and sign in again with a provider of the same kind and " +
			"issuer. Its secret cannot be read back.",
	}
	n, err := h.Login.SignInsWithToday(v.ctx(), v.who, o.ID)
	m.Delete.Impact = append(v.figure(signInsText(n, "with"), err), "Nobody can sign in with it any more.")
	return m
}

func providerFacts(o login.Provider) []ui.Fact {
	facts := []ui.Fact{
		{Label: "State", Value: onOrOff(o.Enabled)},
		{Label: "Client ID", Value: cmp.Or(o.ClientID, "none"), Mono: o.ClientID != ""},
		{Label: "Scopes", Value: strings.Join(o.Scopes, " "), Mono: true},
		{Label: "Tokens", Value: tokenTexts[o.Tokens].Title},
	}
	if o.Issuer != "" {
		facts = append(facts, ui.Fact{Label: "Issuer", Value: o.Issuer, Mono: true})
	}
	if o.Audience != "" {
		facts = append(facts, ui.Fact{Label: "Audience", Value: o.Audience, Mono: true})
	}
	if o.ResponseMode != "" {
		facts = append(facts, ui.Fact{Label: "Answers by", Value: o.ResponseMode, Mono: true})
	}
	if len(o.SignInDomains) > 0 {
		facts = append(facts, ui.Fact{Label: "Signs in", Value: strings.Join(o.SignInDomains, " "), Mono: true})
	}
	if len(o.Domains) > 0 {
		facts = append(facts, ui.Fact{Label: "Authoritative for", Value: strings.Join(o.Domains, " "), Mono: true})
	}
	return facts
}

// registerText describes where to register the callback URL with a kind of provider.
func registerText(kind string) string {
	switch kind {
	case providers.GitHub:
		return "Register it as the authorization callback URL of your OAuth app: GitHub, Settings, Developer " +
			"settings, OAuth Apps."
	case providers.Google:
		return "Register it among the authorized redirect URIs of an OAuth client of the type web application, in " +
			"the Google Cloud console."
	case providers.Microsoft:
		return "Register it as a redirect URI of the platform Web, under Authentication of your app registration in " +
			"Microsoft Entra."
	case providers.Facebook:
		return "Register it among the valid OAuth redirect URIs of Facebook Login, in the settings of your app at " +
			"Meta for Developers."
	case providers.Auth0:
		return "Register it among the allowed callback URLs of a regular web application in Auth0."
	}
	return "Register it as a redirect URI of a client at the issuer."
}

func (h *Handler) saveProvider(v *visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	f := postedProvider(v)
	_, err = h.Login.UpdateProvider(v.ctx(), v.who, o.ID, f.revision, f.change(o.Managed))
	if err == nil {
		return v.done("provider", appClientPath(p, c.ID)+"#providers", login.ProviderLabel(o))
	}
	if fault.KindOf(err) == fault.Stale {
		return h.providerConflict(v, f)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return web.Answer{Status: wrong.status, Page: projects.ProviderPage(h.providerModel(v, p, c, o, f, wrong))}, nil
}

// providerConflict shows what was saved meanwhile beside what was typed. Pages never
// contain a secret, so it has to be pasted again.
func (h *Handler) providerConflict(v *visit, mine providerForm) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	client, now := appClientPath(p, c.ID), providerFormOf(o)
	path := providerPath(client, o.ID)
	m := projects.Conflict{
		Page: v.shell("Changed meanwhile", path, projectsCrumb(), projectCrumb(p), loginCrumb(p), ui.Crumb{
			Text: c.Name,
			URL:  client,
		}),
		BackURL: path,
		Action:  path,
		What:    "The provider " + login.ProviderLabel(o),
		Rows: []projects.Difference{
			{Label: "Client ID", Yours: textOrNone(mine.clientID), Theirs: textOrNone(now.clientID)},
			{Label: "Scopes", Yours: scopesText(mine.scopes), Theirs: scopesText(now.scopes)},
			{Label: "Tokens", Yours: tokensTitle(mine.tokens), Theirs: tokensTitle(now.tokens)},
			{Label: "Label", Yours: textOrNone(mine.label), Theirs: textOrNone(now.label)},
			{Label: "Audience", Yours: textOrNone(mine.audience), Theirs: textOrNone(now.audience)},
			{Label: "Answers by", Yours: textOrNone(mine.responseMode), Theirs: textOrNone(now.responseMode)},
			{Label: "Authoritative for", Yours: scopesText(mine.domains), Theirs: scopesText(now.domains)},
			{Label: "Signs in", Yours: scopesText(mine.signIn), Theirs: scopesText(now.signIn)},
			{Label: "State", Yours: onOrOff(mine.on), Theirs: onOrOff(now.on)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: now.revision},
			{Name: "client_id", Value: mine.clientID},
			{Name: "scopes", Value: mine.scopes},
			{Name: "client_token", Value: mine.tokens.Client},
			{Name: "upstream_token", Value: mine.tokens.Upstream},
			{Name: "label", Value: mine.label},
			{Name: "audience", Value: mine.audience},
			{Name: "response_mode", Value: mine.responseMode},
			{Name: "authoritative_domains", Value: mine.domains},
			{Name: "sign_in_domains", Value: mine.signIn},
			{Name: "enabled", Value: boolField(mine.on)},
		},
	}
	if mine.secret != "" {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  "Client secret",
			Yours:  "typed; paste it again after saving",
			Theirs: "kept",
		})
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func tokensTitle(choice login.TokenTypes) string {
	return cmp.Or(tokenTexts[choice].Title, choice.Client+"/"+choice.Upstream)
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func boolField(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
