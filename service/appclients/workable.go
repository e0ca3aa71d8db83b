package appclients

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
	if !presentsAccess(TokenTypeOf(row)) {
		return wrong
	}
	switch row.Type {
	case providers.Auth0:
		if row.Audience == "" {
			wrong = append(wrong, fault.Field{
				Pointer: "/audience",
				Code:    "required",
				Detail: "Without an audience, Auth0 issues opaque access tokens that only Auth0 can read. Enter the " +
					"identifier of your API in Auth0, set the client token to \"service\", or use the ID token.",
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
			Detail:  "Only oidc supports a response mode. Leave it out.",
		}}
	case row.Type == providers.OIDC && !slices.Contains(providers.ResponseModes, row.ResponseMode):
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
			Detail:  "Only auth0 supports an audience. Leave it out. Other providers use scopes.",
		}}
	case len(row.Audience) > maxAudience || strings.ContainsFunc(row.Audience, providers.Unprintable):
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
			"/issuer", "invalid_issuer", "For personal accounts, use their tenant's issuer: %s://%s/%s/v2.0.",
			u.Scheme, u.Host, providers.PersonalMicrosoftTenant,
		)
	}
	return fault.InvalidField(
		"/issuer", "invalid_issuer",
		"Use %s://%s/TENANT/v2.0, where TENANT is common, organizations, or your organization's "+
			"directory (tenant) ID.", u.Scheme, u.Host,
	)
}
