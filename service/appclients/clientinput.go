package appclients

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/login/providers"
)

func nameTaken(others []models.AppClient, row models.AppClient) []fault.Field {
	if slices.ContainsFunc(others, func(o models.AppClient) bool { return o.Name == row.Name && o.ID != row.ID }) {
		return []fault.Field{{
			Pointer: "/name",
			Code:    "duplicate",
			Detail:  "This tenant already has an app client with that name. Choose another name.",
		}}
	}
	return nil
}

var colorPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// applyClient writes the members that are set into the row, and returns a new secret, and the fields that are invalid.
func applyClient(row *models.AppClient, in contract.AppClientChange) (contract.Secret, []fault.Field) {
	var wrong []fault.Field
	refuse := func(ok bool, pointer, code, detail string, args ...any) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: fmt.Sprintf(detail, args...)})
		}
	}
	if in.Name != nil {
		row.Name = *in.Name
		refuse(contract.IsName(row.Name), "/name", "invalid_name", "Use 2 to 40 lowercase letters, digits or "+
			"hyphens. Start with a letter.")
	}
	if in.RedirectURIs != nil {
		row.RedirectURIs = slices.Clone(*in.RedirectURIs)
		wrong = append(wrong, checkURIs("/redirect_uris", row.RedirectURIs)...)
	}
	if in.LogoutURIs != nil {
		row.LogoutURIs = slices.Clone(*in.LogoutURIs)
		wrong = append(wrong, checkURIs("/logout_uris", row.LogoutURIs)...)
	}
	if in.APIScopes != nil {
		row.APIScopes = slices.Clone(*in.APIScopes)
		refuse(len(row.APIScopes) <= maxAPIScopes, "/api_scopes", "too_many", "Use at most %d scopes.", maxAPIScopes)
	}
	if in.BackchannelLogoutURI != nil {
		row.BackchannelLogoutURI = *in.BackchannelLogoutURI
		wrong = append(wrong, checkBackchannel(row.BackchannelLogoutURI)...)
	}
	if in.AccessTokenSeconds != nil {
		row.AccessTokenSeconds = *in.AccessTokenSeconds
		least, most := int64(minAccess/time.Second), int64(snapshot.MaxAccess/time.Second)
		refuse(row.AccessTokenSeconds >= least && row.AccessTokenSeconds <= most, "/access_token_seconds",
			"invalid_lifetime", "Use %d to %s seconds (1 minute to 1 day).", least, humanize.Comma(most))
	}
	if in.RefreshTokenSeconds != nil {
		row.RefreshTokenSeconds = *in.RefreshTokenSeconds
		most := int64(maxRefresh / time.Second)
		refuse(row.RefreshTokenSeconds >= 0 && row.RefreshTokenSeconds <= most, "/refresh_token_seconds",
			"invalid_lifetime", "Use 0 (no refresh tokens) to %s seconds (%d days).", humanize.Comma(most),
			maxRefresh/(24*time.Hour))
	}
	if in.Algorithm != nil {
		row.Algorithm = *in.Algorithm
		refuse(
			slices.Contains([]string{contract.RS256, contract.ES256, contract.EdDSA}, row.Algorithm), "/algorithm",
			"unknown_algorithm", "Use RS256, ES256 or EdDSA.",
		)
	}
	wrong = append(wrong, applyBranding(row, in.Branding)...)
	secret := applySecret(row, in.Confidential)
	wrong = append(wrong, applyPKCE(row, in.PKCE)...)
	return secret, append(wrong, applyGrantTypes(row, in.GrantTypes)...)
}

func applyNewClient(row *models.AppClient, in contract.NewAppClient) (contract.Secret, []fault.Field) {
	return applyClient(row, contract.AppClientChange{Name: &in.Name, AppClientSettings: in.AppClientSettings})
}

func applySecret(row *models.AppClient, confidential *bool) contract.Secret {
	if confidential == nil {
		return ""
	}
	row.SecretHash = nil
	if !*confidential {
		return ""
	}
	secret := secrets.Random()
	row.SecretHash = secrets.Digest(secret)
	return contract.Secret(secret)
}

func applyBranding(row *models.AppClient, in contract.BrandingChange) []fault.Field {
	var wrong []fault.Field
	text := func(from *string, to *string, pointer string, most int) {
		if from == nil {
			return
		}
		*to = strings.TrimSpace(*from)
		if utf8.RuneCountInString(*to) > most || strings.ContainsFunc(*to, providers.Unprintable) {
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "invalid_text",
				Detail:  fmt.Sprintf("Use at most %d characters on one line.", most),
			})
		}
	}
	text(in.Title, &row.Title, "/branding/title", maxTitle)
	text(in.Welcome, &row.Welcome, "/branding/welcome", maxWelcome)
	if in.LogoURL != nil {
		row.LogoURL = *in.LogoURL
		if row.LogoURL != "" && !isLogo(row.LogoURL) {
			wrong = append(wrong, fault.Field{
				Pointer: "/branding/logo_url",
				Code:    "invalid_url",
				Detail:  "Use the https URL of an image, without a user name or password.",
			})
		}
	}
	if in.Color != nil {
		row.Color = strings.ToLower(*in.Color)
		if row.Color != "" && !colorPattern.MatchString(row.Color) {
			wrong = append(wrong, fault.Field{
				Pointer: "/branding/color",
				Code:    "invalid_color",
				Detail:  "Use a color such as #0f766e.",
			})
		}
	}
	return wrong
}

// FittingBranding returns what an app client without branding would have after a change, without the members that it
// cannot have.
func FittingBranding(in contract.BrandingChange) contract.Branding {
	var row models.AppClient
	for _, wrong := range applyBranding(&row, in) {
		switch wrong.Pointer {
		case "/branding/title":
			row.Title = ""
		case "/branding/welcome":
			row.Welcome = ""
		case "/branding/logo_url":
			row.LogoURL = ""
		case "/branding/color":
			row.Color = ""
		}
	}
	return BrandingOf(row)
}

// isLogo reports whether the address is https and safe in a Content-Security-Policy.
func isLogo(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && len(raw) <= maxURI && u.Scheme == "https" && u.User == nil && isHost(u) &&
		!strings.ContainsFunc(raw, unsafeInURL)
}

func unsafeInURL(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>\\^`{|};,", r)
}

var hostPattern = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)

func isHost(u *url.URL) bool {
	_, err := netip.ParseAddr(u.Hostname())
	return err == nil || hostPattern.MatchString(u.Hostname())
}

// checkBackchannel returns a field error unless the URI is empty, https, or http on
// loopback, without a fragment (2.2).
func checkBackchannel(raw string) []fault.Field {
	if raw == "" {
		return nil
	}
	detail := checkURI(raw)
	if scheme, _, _ := strings.Cut(raw, ":"); detail == "" && scheme != "https" && scheme != "http" {
		detail = "Use an https URL on your server."
	}
	if detail == "" {
		return nil
	}
	return []fault.Field{{Pointer: "/backchannel_logout_uri", Code: "invalid_backchannel_logout_uri", Detail: detail}}
}

// applyGrantTypes sets the grant types, unless they are nil, and returns those that the client cannot have.
func applyGrantTypes(row *models.AppClient, set *[]string) []fault.Field {
	if set != nil {
		row.GrantTypes = slices.Clone(*set)
	}
	var wrong []fault.Field
	refuse := func(pointer, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
	}
	if set != nil && len(row.GrantTypes) == 0 {
		refuse("/grant_types", "required", "Use at least one of "+strings.Join(snapshot.GrantTypes, ", ")+".")
	}
	for i, one := range row.GrantTypes {
		pointer := fmt.Sprintf("/grant_types/%d", i)
		switch {
		case !slices.Contains(snapshot.GrantTypes, one):
			refuse(pointer, "unknown_grant_type", "Use "+strings.Join(snapshot.GrantTypes, ", ")+".")
		case slices.Contains(row.GrantTypes[:i], one):
			refuse(pointer, "duplicate", "This grant type is listed twice. Remove one.")
		case one == snapshot.RefreshToken && !slices.Contains(row.GrantTypes, snapshot.AuthorizationCode):
			refuse(pointer, "needs_authorization_code", "refresh_token requires authorization_code.")
		case one == snapshot.ClientCredentials && row.SecretHash == nil:
			refuse(pointer, "needs_secret", "client_credentials requires a client secret. Set confidential to true.")
		}
	}
	return wrong
}

// applyPKCE writes when the client has to send a code challenge (PKCE, RFC 7636), unless mode is nil. A client that
// becomes public always has to. contract.PKCEWhenSent is for clients with a secret, which also protects their codes:
// many of their libraries send no challenge by default.
func applyPKCE(row *models.AppClient, mode *string) []fault.Field {
	refused := func(code, detail string) []fault.Field {
		return []fault.Field{{Pointer: "/pkce", Code: code, Detail: detail}}
	}
	if row.SecretHash == nil {
		row.PKCE = contract.PKCERequired
	}
	if mode == nil {
		return nil
	}
	switch {
	case *mode != contract.PKCERequired && *mode != contract.PKCEWhenSent:
		return refused("unknown_pkce", "Use required or when_sent.")
	case *mode == contract.PKCEWhenSent && row.SecretHash == nil:
		return refused("needs_secret", "Only a confidential app client can leave out PKCE. Set confidential to true, "+
			"or use required.")
	}
	row.PKCE = *mode
	return nil
}
