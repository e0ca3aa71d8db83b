package login

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

func nameTaken(others []models.AppClient, row models.AppClient) []fault.Field {
	if slices.ContainsFunc(others, func(o models.AppClient) bool { return o.Name == row.Name && o.ID != row.ID }) {
		return []fault.Field{{
			Pointer: "/name",
			Code:    "duplicate",
			Detail:  "This tenant has an app client of that name. Choose another.",
		}}
	}
	return nil
}

var (
	namePattern  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,38}[a-z0-9]$`)
	colorPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

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
		refuse(namePattern.MatchString(row.Name), "/name", "invalid_name", "Use 2 to 40 lower-case letters, digits "+
			"and hyphens that start with a letter.")
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
		refuse(len(row.APIScopes) <= maxAPIScopes, "/api_scopes", "too_many", "List at most %d scopes.", maxAPIScopes)
	}
	if in.BackchannelLogoutURI != nil {
		row.BackchannelLogoutURI = *in.BackchannelLogoutURI
		wrong = append(wrong, checkBackchannel(row.BackchannelLogoutURI)...)
	}
	if in.AccessTokenSeconds != nil {
		row.AccessTokenSeconds = *in.AccessTokenSeconds
		least, most := int64(MinAccess/time.Second), int64(MaxAccess/time.Second)
		refuse(row.AccessTokenSeconds >= least && row.AccessTokenSeconds <= most, "/access_token_seconds",
			"invalid_lifetime", "Give %d to %d seconds (a minute to a day).", least, most)
	}
	if in.RefreshTokenSeconds != nil {
		row.RefreshTokenSeconds = *in.RefreshTokenSeconds
		most := int64(MaxRefresh / time.Second)
		refuse(row.RefreshTokenSeconds >= 0 && row.RefreshTokenSeconds <= most, "/refresh_token_seconds",
			"invalid_lifetime", "Give 0 for none, to %d seconds (%d days).", most, MaxRefresh/(24*time.Hour))
	}
	if in.Algorithm != nil {
		row.Algorithm = *in.Algorithm
		refuse(
			slices.Contains([]string{RS256, ES256, EdDSA}, row.Algorithm), "/algorithm", "unknown_algorithm",
			"Use RS256, ES256 or EdDSA.",
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
	secret := newSecret()
	row.SecretHash = hash(secret)
	return contract.Secret(secret)
}

func applyBranding(row *models.AppClient, in contract.BrandingChange) []fault.Field {
	var wrong []fault.Field
	text := func(from *string, to *string, pointer string, most int) {
		if from == nil {
			return
		}
		*to = strings.TrimSpace(*from)
		if utf8.RuneCountInString(*to) > most || strings.ContainsFunc(*to, unprintable) {
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
				Detail:  "Give an https address of a picture, without a name or password in it.",
			})
		}
	}
	if in.Color != nil {
		row.Color = strings.ToLower(*in.Color)
		if row.Color != "" && !colorPattern.MatchString(row.Color) {
			wrong = append(wrong, fault.Field{
				Pointer: "/branding/color",
				Code:    "invalid_color",
				Detail:  "Give a color as #rrggbb.",
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
	return shownBranding(row)
}

// unprintable reports whether r is a control character or changes the direction of text.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
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
