package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/access"
	rules "postern/tokens"
	"postern/views/tokens"
	"postern/views/ui"
)

const tokensPath = "/settings/tokens"

// scopeTexts say what each scope covers.
var scopeTexts = map[access.Scope]string{
	access.ScopeRead:   "See projects, keys, usage and requests.",
	access.ScopeWrite:  "Make, change and claim projects.",
	access.ScopeKeys:   "Make, rotate, freeze and revoke API keys.",
	access.ScopeExport: "Export projects and download the zips.",
	access.ScopeUsers:  "See and change the end users and groups of tenants; what provisioning by SCIM needs.",
	access.ScopeAdmin:  "Teams, members, the audit log, access tokens and webhooks.",
}

func (s *Server) showTokens(v *visit) (answer, error) {
	m, err := s.tokenList(v)
	if err != nil {
		return answer{}, err
	}
	return show(tokens.ListPage(m)), nil
}

func (s *Server) tokenList(v *visit) (tokens.List, error) {
	found, err := s.Tokens.List(v.ctx(), v.who, v.c.Query("after"), 50)
	if err != nil {
		return tokens.List{}, err
	}
	m := tokens.List{Page: v.shell("Access tokens", tokensPath, projectsCrumb(), ui.Crumb{Text: "Access tokens"})}
	m.Create.Scopes = scopeOptions([]string{string(access.ScopeRead)})
	if found.Next != "" {
		m.OlderURL = tokensPath + "?" + url.Values{"after": {found.Next}}.Encode()
	}
	for _, t := range found.Tokens {
		m.Rows = append(m.Rows, tokens.Row{Name: t.Name, Display: "…" + t.Last4, Kind: tokenKind(t), Scopes: scopeNames(t.Scopes), Created: day(t.CreatedAt),
			Expires: dayOrNever(t.ExpiresAt), LastUsed: momentOrNever(t.LastUsedAt), Revoke: tokensPath + "/" + url.PathEscape(t.ID) + "/revoke"})
	}
	return m, nil
}

func tokenKind(t rules.Token) string {
	if t.Kind == rules.CLI {
		return "command line"
	}
	return "made here"
}

func scopeNames(scopes []access.Scope) string {
	var names []string
	for _, scope := range scopes {
		names = append(names, string(scope))
	}
	return strings.Join(names, ", ")
}

func scopeOptions(chosen []string) []ui.Option {
	var out []ui.Option
	for _, scope := range access.Scopes() {
		out = append(out, ui.Option{Value: string(scope), Title: string(scope), Text: scopeTexts[scope], Chosen: slices.Contains(chosen, string(scope))})
	}
	return out
}

func (s *Server) makeToken(v *visit) (answer, error) {
	in := rules.New{Name: v.posted("name"), Scopes: v.c.Request.PostForm["scopes"]}
	var err error
	var minted rules.Minted
	if in.ExpiresAt, err = endOfDay(v.posted("expires_on")); err == nil {
		minted, err = s.Tokens.Create(v.ctx(), v.who, in)
	}
	if err == nil {
		m := tokens.Shown{Page: v.shell("Token created", tokensPath, projectsCrumb(), ui.Crumb{Text: "Access tokens", URL: tokensPath}, ui.Crumb{Text: "New"}),
			Token: minted.Plaintext, Facts: []ui.Fact{{Label: "Name", Value: minted.Name}, {Label: "Scopes", Value: scopeNames(minted.Scopes)},
				{Label: "Expires", Value: momentOrNever(minted.ExpiresAt)}}}
		return answer{status: http.StatusCreated, page: tokens.ShownPage(m)}, nil
	}
	wrong, ok := mistakesIn(err)
	if !ok {
		return answer{}, err
	}
	m, err := s.tokenList(v)
	if err != nil {
		return answer{}, err
	}
	m.Create = tokens.Form{Open: true, Name: wrong.value("/name", in.Name), Scopes: scopeOptions(in.Scopes), ScopesError: wrong.take("/scopes"),
		Expires: wrong.value("/expires_at", v.posted("expires_on"))}
	m.Create.Error = wrong.rest()
	return answer{status: wrong.status, page: tokens.ListPage(m)}, nil
}

func (s *Server) revokeTokenPage(v *visit) (answer, error) {
	if err := s.Tokens.Revoke(v.ctx(), v.who, v.param("token")); err != nil {
		return answer{}, err
	}
	return v.done("token_revoked", tokensPath)
}
