package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/tokens"
	"postern/views/ui"
)

const tokensPath = "/settings/tokens"

// scopeTexts describe what each scope covers.
var scopeTexts = map[access.Scope]string{
	access.ScopeRead:   "See projects, keys, usage and requests.",
	access.ScopeWrite:  "Create, change and claim projects.",
	access.ScopeKeys:   "Create, rotate, freeze and revoke API keys.",
	access.ScopeExport: "Export projects and download the zips.",
	access.ScopeUsers:  "See and change the users and groups of tenants. Provisioning with SCIM needs this scope.",
	access.ScopeAdmin:  "Manage teams, members, access tokens and webhooks, and read the audit log.",
}

func (h *Handler) showTokens(v *visit) (web.Answer, error) {
	m, err := h.tokenList(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(tokens.ListPage(m)), nil
}

func (h *Handler) tokenList(v *visit) (tokens.List, error) {
	list := &listing{
		path:   tokensPath,
		one:    "token",
		search: "Name",
		orders: []listOrder{{by: "created", desc: true}, {by: "name"}, {by: "expires"}, {by: "last_used", desc: true}},
	}
	list.read(v)
	found, err := h.Tokens.List(v.ctx(), v.who, contract.TokenList{
		Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return tokens.List{}, err
	}
	m := tokens.List{
		Page: v.shell("Access tokens", tokensPath, ui.Crumb{Text: "Access tokens"}),
		List: listView(list, found),
	}
	m.Create.Scopes = scopeOptions([]string{string(access.ScopeRead)})
	for _, t := range found.Items {
		m.Rows = append(m.Rows, tokens.Row{
			Name:     t.Name,
			Display:  "…" + t.Last4,
			Kind:     tokenKind(t),
			Scopes:   strings.Join(t.Scopes, ", "),
			Created:  day(t.CreatedAt),
			Expires:  dayOrNever(t.ExpiresAt),
			LastUsed: momentOrNever(t.LastUsedAt),
			UsedFrom: t.LastUsedFrom,
			Revoke:   tokenPath(t.ID),
		})
	}
	return m, nil
}

// lastUse says when a token was used last, and from where.
func lastUse(t contract.Token) string {
	if t.LastUsedFrom == "" {
		return momentOrNever(t.LastUsedAt)
	}
	return momentOrNever(t.LastUsedAt) + " from " + t.LastUsedFrom
}

func tokenKind(t contract.Token) string {
	if t.Kind == contract.CLIToken {
		return "command line"
	}
	return "dashboard"
}

func scopeOptions(chosen []string) []ui.Option {
	var out []ui.Option
	for _, scope := range access.Scopes() {
		out = append(out, ui.Option{
			Value:  string(scope),
			Title:  string(scope),
			Text:   scopeTexts[scope],
			Chosen: slices.Contains(chosen, string(scope)),
		})
	}
	return out
}

func (h *Handler) createToken(v *visit) (web.Answer, error) {
	var in contract.NewToken
	v.fill(&in, "name", "scopes")
	var err error
	var made contract.TokenWithSecret
	if in.ExpiresAt, err = endOfDay(v.posted("expires_at")); err == nil {
		made, err = h.Tokens.Create(v.ctx(), v.who, contract.TokenCreation{Body: in})
	}
	if err == nil {
		return v.disclose(tokenSecretPath(made.ID), disclosed{Secret: made.Secret.Reveal()})
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.tokenList(v)
	if err != nil {
		return web.Answer{}, err
	}
	m.Create = tokens.Form{
		Open:        true,
		Name:        wrong.value("/name", in.Name),
		Scopes:      scopeOptions(in.Scopes),
		ScopesError: wrong.take("/scopes"),
		Expires:     wrong.value("/expires_at", v.posted("expires_at")),
	}
	m.Create.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: tokens.ListPage(m)}, nil
}

func tokenSecretPath(id string) string { return tokenPath(id) + "/secret" }

// showNewToken shows a new token, the first time with its secret.
func (h *Handler) showNewToken(v *visit) (web.Answer, error) {
	token, err := h.Tokens.Get(v.ctx(), v.who, tokenIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := tokenSecretPath(token.ID)
	found, err := v.disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	m := tokens.Shown{
		Page: v.shell("Access token", path, ui.Crumb{
			Text: "Access tokens",
			URL:  tokensPath,
		}, ui.Crumb{Text: token.Name}),
		Heading: "Token created",
		Facts: []ui.Fact{
			{Label: "Name", Value: token.Name},
			{Label: "Scopes", Value: strings.Join(token.Scopes, ", ")},
			{Label: "Expires", Value: momentOrNever(token.ExpiresAt)},
		},
	}
	if found == nil {
		m.Heading = "Token " + token.Name
	} else {
		m.Token = found.Secret
	}
	return web.Show(tokens.ShownPage(m)), nil
}

func tokenPath(id string) string { return tokensPath + "/" + url.PathEscape(id) }

// tokenIn is the token in the page's address.
func tokenIn(v *visit) contract.TokenPath { return contract.TokenPath{Token: v.param("token")} }

func (h *Handler) showRevokeToken(v *visit) (web.Answer, error) {
	return h.revokeTokenWith(v, &formErrors{})
}

// revokeTokenWith asks before a token is revoked.
func (h *Handler) revokeTokenWith(v *visit, wrong *formErrors) (web.Answer, error) {
	token, err := h.Tokens.Get(v.ctx(), v.who, tokenIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := tokenPath(token.ID)
	m := tokens.Revoke{
		Page: v.shell("Revoke "+token.Name, path, ui.Crumb{
			Text: "Access tokens",
			URL:  tokensPath,
		}, ui.Crumb{Text: token.Name}),
		Name: token.Name,
		Facts: []ui.Fact{
			{Label: "Token", Value: "…" + token.Last4, Mono: true},
			{Label: "Created by", Value: tokenKind(token)},
			{Label: "Scopes", Value: strings.Join(token.Scopes, ", ")},
			{Label: "Created", Value: moment(token.CreatedAt)},
			{Label: "Last used", Value: lastUse(token)},
		},
		Confirm: ui.Confirmation{
			ID:     "revoke-confirm",
			Action: path + "/revoke",
			Verb:   "Revoke",
			Kind:   "token",
			Name:   token.Name,
			Impact: []string{"Programs that use this token stop working immediately. Last used: " +
				"" + lastUse(token) + "."},
			Error: wrong.rest(),
		},
		BackURL: tokensPath,
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: tokens.RevokePage(m)}, nil
}

func (h *Handler) revokeToken(v *visit) (web.Answer, error) {
	token, err := h.Tokens.Get(v.ctx(), v.who, tokenIn(v))
	if err == nil {
		err = v.confirmed("Tick the box to revoke the token.")
	}
	if err == nil {
		_, err = h.Tokens.Revoke(v.ctx(), v.who, tokenIn(v))
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.revokeTokenWith(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("token_revoked", tokensPath, token.Name)
}
