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

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
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

// apply writes the fields that are set into the row, and returns those that are invalid.
func (in ClientInput) apply(row *models.AppClient) (secrets.Secret, []fault.Field) {
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
	if in.Backchannel != nil {
		row.BackchannelURI = *in.Backchannel
		wrong = append(wrong, checkBackchannel(row.BackchannelURI)...)
	}
	if in.Access != nil {
		row.AccessSeconds = int64(*in.Access / time.Second)
		refuse(*in.Access >= MinAccess && *in.Access <= MaxAccess, "/access_token_seconds", "invalid_lifetime",
			"Give %d to %d seconds (a minute to a day).", MinAccess/time.Second, MaxAccess/time.Second)
	}
	if in.Refresh != nil {
		row.RefreshSeconds = int64(*in.Refresh / time.Second)
		refuse(*in.Refresh >= 0 && *in.Refresh <= MaxRefresh, "/refresh_token_seconds", "invalid_lifetime",
			"Give 0 for none, to %d seconds (%d days).", MaxRefresh/time.Second, MaxRefresh/(24*time.Hour))
	}
	if in.Algorithm != nil {
		row.Algorithm = *in.Algorithm
		refuse(
			slices.Contains([]string{RS256, ES256, EdDSA}, row.Algorithm), "/algorithm", "unknown_algorithm",
			"Use RS256, ES256 or EdDSA.",
		)
	}
	wrong = append(wrong, in.applyBranding(row)...)
	secret := in.applySecret(row)
	wrong = append(wrong, in.applyPKCE(row)...)
	return secret, append(wrong, in.applyGrantTypes(row)...)
}

func (in ClientInput) applySecret(row *models.AppClient) secrets.Secret {
	if in.Confidential == nil {
		return ""
	}
	row.SecretHash = nil
	if !*in.Confidential {
		return ""
	}
	secret := newSecret()
	row.SecretHash = hash(secret)
	return secrets.Secret(secret)
}

func (in ClientInput) applyBranding(row *models.AppClient) []fault.Field {
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
				Detail:  "Give a colour as #rrggbb.",
			})
		}
	}
	return wrong
}

// FittingBranding returns the branding without the fields that an app client cannot have.
func FittingBranding(b Branding) Branding {
	keep := func(text *string, in ClientInput) {
		if len(in.applyBranding(&models.AppClient{})) > 0 {
			*text = ""
		}
	}
	keep(&b.Title, ClientInput{Title: &b.Title})
	keep(&b.Welcome, ClientInput{Welcome: &b.Welcome})
	keep(&b.LogoURL, ClientInput{LogoURL: &b.LogoURL})
	keep(&b.Color, ClientInput{Color: &b.Color})
	return b
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
