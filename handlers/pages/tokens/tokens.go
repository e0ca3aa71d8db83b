package tokens

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/tokens"
	"postern/views/ui"
)

// scopeTexts describe what each scope covers.
var scopeTexts = map[access.Scope]string{
	access.ScopeRead:   "See projects, keys, usage, requests, login settings and teams.",
	access.ScopeWrite:  "Create, change and claim projects, and change hosted login.",
	access.ScopeKeys:   "Create, rotate, freeze and revoke API keys.",
	access.ScopeExport: "Export projects and download the zips.",
	access.ScopeUsers:  "See and change tenants' users and groups. SCIM provisioning requires this scope.",
	access.ScopeAdmin:  "Manage teams, members, access tokens and webhooks, and read the audit log.",
}

func (h *Handler) showTokens(v *page.Visit) (web.Answer, error) {
	m, err := h.tokenList(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(tokens.ListPage(m)), nil
}

func (h *Handler) tokenList(v *page.Visit) (tokens.List, error) {
	list := &page.Listing{
		Path:   page.TokensPath,
		One:    "token",
		Search: "Name",
		Orders: []page.ListOrder{
			{By: "created", Desc: true},
			{By: "name"},
			{By: "expires"},
			{By: "last_used", Desc: true},
		},
	}
	list.Read(v)
	found, err := h.Tokens.List(v.Ctx(), v.Who, contract.TokenList{
		Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return tokens.List{}, err
	}
	m := tokens.List{
		Page: v.Shell("Access tokens", page.TokensPath, ui.Crumb{Text: "Access tokens"}),
		List: page.ListView(list, found),
	}
	m.Create.Scopes = scopeOptions([]string{string(access.ScopeRead)})
	for _, t := range found.Items {
		m.Rows = append(m.Rows, tokens.Row{
			Name:     t.Name,
			Display:  "…" + t.Last4,
			Kind:     tokenKind(t),
			Scopes:   strings.Join(t.Scopes, ", "),
			Created:  t.CreatedAt,
			Expires:  page.TimeOf(t.ExpiresAt),
			LastUsed: page.TimeOf(t.LastUsedAt),
			UsedFrom: t.LastUsedFrom,
			Revoke:   tokenPath(t.ID),
		})
	}
	return m, nil
}

// lastUse says when a token was used last, and from where.
func lastUse(t contract.Token) ui.Fact {
	fact := page.TimeFact("Last used", t.LastUsedAt)
	if t.LastUsedFrom != "" {
		fact.Value = "from " + t.LastUsedFrom
	}
	return fact
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

func (h *Handler) createToken(v *page.Visit) (web.Answer, error) {
	var in contract.NewToken
	v.Fill(&in, "name", "scopes")
	var err error
	var made contract.TokenWithSecret
	if in.ExpiresAt, err = page.EndOfDay(v.Posted("expires_at")); err == nil {
		made, err = h.Tokens.Create(v.Ctx(), v.Who, contract.TokenCreation{Body: in})
	}
	if err == nil {
		return v.Disclose(tokenSecretPath(made.ID), page.Disclosed{Secret: made.Secret.Reveal()})
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.tokenList(v)
	if err != nil {
		return web.Answer{}, err
	}
	m.Create = tokens.Form{
		Open:        true,
		Name:        wrong.Value("/name", in.Name),
		Scopes:      scopeOptions(in.Scopes),
		ScopesError: wrong.Take("/scopes"),
		Expires:     wrong.Value("/expires_at", v.Posted("expires_at")),
	}
	m.Create.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: tokens.ListPage(m)}, nil
}

func tokenSecretPath(id string) string { return tokenPath(id) + "/secret" }

// showNewToken shows a new token, the first time with its secret.
func (h *Handler) showNewToken(v *page.Visit) (web.Answer, error) {
	token, err := h.Tokens.Get(v.Ctx(), v.Who, tokenIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := tokenSecretPath(token.ID)
	found, err := v.Disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	m := tokens.Shown{
		Page: v.Shell("Access token", path, ui.Crumb{
			Text: "Access tokens",
			URL:  page.TokensPath,
		}, ui.Crumb{Text: token.Name}),
		Heading: "Token created",
		Facts: []ui.Fact{
			{Label: "Name", Value: token.Name},
			{Label: "Scopes", Value: strings.Join(token.Scopes, ", ")},
			page.TimeFact("Expires", token.ExpiresAt),
		},
	}
	if found == nil {
		m.Heading = "Token " + token.Name
	} else {
		m.Token = found.Secret
	}
	return web.Show(tokens.ShownPage(m)), nil
}

func tokenPath(id string) string { return page.TokensPath + "/" + url.PathEscape(id) }

// tokenIn is the token in the page's URL.
func tokenIn(v *page.Visit) contract.TokenPath { return contract.TokenPath{Token: v.Param("token")} }

func (h *Handler) showRevokeToken(v *page.Visit) (web.Answer, error) {
	return h.revokeTokenWith(v, &page.Errors{})
}

// revokeTokenWith asks before a token is revoked.
func (h *Handler) revokeTokenWith(v *page.Visit, wrong *page.Errors) (web.Answer, error) {
	token, err := h.Tokens.Get(v.Ctx(), v.Who, tokenIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := tokenPath(token.ID)
	m := tokens.Revoke{
		Page: v.Shell("Revoke "+token.Name, path, ui.Crumb{
			Text: "Access tokens",
			URL:  page.TokensPath,
		}, ui.Crumb{Text: token.Name}),
		Name: token.Name,
		Facts: []ui.Fact{
			{Label: "Token", Value: "…" + token.Last4, Mono: true},
			{Label: "Created by", Value: tokenKind(token)},
			{Label: "Scopes", Value: strings.Join(token.Scopes, ", ")},
			{Label: "Created", Time: token.CreatedAt},
			lastUse(token),
		},
		Confirm: ui.Confirmation{
			ID:     "revoke-confirm",
			Action: path + "/revoke",
			Verb:   "Revoke",
			Kind:   "token",
			Name:   token.Name,
			Impact: []string{"Programs that use this token will stop working immediately."},
			Error:  wrong.Rest(),
		},
		BackURL: page.TokensPath,
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: tokens.RevokePage(m)}, nil
}

func (h *Handler) revokeToken(v *page.Visit) (web.Answer, error) {
	token, err := h.Tokens.Get(v.Ctx(), v.Who, tokenIn(v))
	if err == nil {
		err = v.Confirmed("Check the box to revoke the token.")
	}
	if err == nil {
		_, err = h.Tokens.Revoke(v.Ctx(), v.Who, tokenIn(v))
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.revokeTokenWith(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("token_revoked", page.TokensPath, token.Name)
}
