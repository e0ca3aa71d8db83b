package login

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/fault"
	"postern/service/login/providers"
)

const maxAudience = 300

// checkWorkable returns the fields of a configuration with which every sign-in, or every
// call after it, would fail. Disabled providers may be incomplete.
func checkWorkable(row models.Provider) []fault.Field {
	wrong := append(checkAudience(row), checkResponseMode(row)...)
	if !row.Enabled {
		return wrong
	}
	if !presentsAccess(tokensOf(row)) {
		return wrong
	}
	switch row.Type {
	case providers.Auth0:
		if row.Audience == "" {
			wrong = append(wrong, fault.Field{
				Pointer: "/audience",
				Code:    "required",
				Detail: "Without an audience, Auth0 gives opaque access tokens that only Auth0 itself can read. Give " +
					"the identifier of your API at Auth0, or let browsers get service or the ID token.",
			})
		}
	case providers.Microsoft:
		if detail := providers.UnverifiableMicrosoftTokens(row.Issuer, row.ClientID, row.Scopes); detail != "" {
			wrong = append(wrong, fault.Field{Pointer: "/scopes", Code: "token_unverifiable", Detail: detail})
		}
	}
	return wrong
}

func checkResponseMode(row models.Provider) []fault.Field {
	switch {
	case row.Type != providers.OIDC && row.ResponseMode != "":
		return []fault.Field{{
			Pointer: "/response_mode",
			Code:    "response_mode_not_taken",
			Detail:  "Only oidc takes a response mode. Leave it out.",
		}}
	case row.Type == providers.OIDC && !slices.Contains(responseModes, row.ResponseMode):
		return []fault.Field{{
			Pointer: "/response_mode",
			Code:    "invalid_response_mode",
			Detail:  "Use query or form_post.",
		}}
	}
	return nil
}

func checkAudience(row models.Provider) []fault.Field {
	switch {
	case row.Audience == "":
		return nil
	case row.Type != providers.Auth0:
		return []fault.Field{{
			Pointer: "/audience",
			Code:    "audience_not_taken",
			Detail:  "Only auth0 takes an audience. Leave it out, and name the API in scopes if the provider has any.",
		}}
	case len(row.Audience) > maxAudience || strings.ContainsFunc(row.Audience, unprintable):
		return []fault.Field{{
			Pointer: "/audience",
			Code:    "invalid_audience",
			Detail:  fmt.Sprintf("Use at most %d bytes on one line.", maxAudience),
		}}
	}
	return nil
}

// checkMicrosoftIssuer refuses authorities whose discovery document states another issuer
// than the one that is asked: that of a tenant has the tenant's id where the authority has
// a domain or consumers (learn.microsoft.com/entra/identity-platform/v2-protocols-oidc,
// "Find your app's OpenID configuration document URI").
func checkMicrosoftIssuer(u *url.URL) error {
	tenant, version, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	several := []string{"common", "organizations"}
	switch {
	case version == "v2.0" && (slices.Contains(several, tenant) || providers.IsMicrosoftTenant(tenant)):
		return nil
	case tenant == "consumers":
		return fault.InvalidField(
			"/issuer", "invalid_issuer", "For personal accounts, write their tenant's id: %s://%s/%s/v2.0.",
			u.Scheme, u.Host, providers.PersonalMicrosoftTenant,
		)
	}
	return fault.InvalidField(
		"/issuer", "invalid_issuer",
		"Write %s://%s/TENANT/v2.0, where TENANT is the directory (tenant) ID of your organization, common or "+
			"organizations.", u.Scheme, u.Host,
	)
}
