package appclients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/login/providers"
)

// checkAddress checks the issuer and returns the input with its canonical form. It
// resolves host names, so it must be called outside of transactions.
func (s *Service) checkAddress(ctx context.Context, in contract.NewProvider) (contract.NewProvider, error) {
	if in.Domain != "" {
		if in.Issuer != "" {
			return in, fault.InvalidField("/domain", "one_of_two", "Use issuer or domain, not both.")
		}
		in.Issuer, in.Domain = in.Domain, ""
	}
	traits, ok := providers.TraitsOf(in.Type)
	if !ok {
		return in, fault.InvalidField(
			"/type", "unknown_provider", "Use one of %s.", strings.Join(providers.Kinds(), ", "),
		)
	}
	if in.Issuer == "" {
		if traits.NeedsIssuer {
			return in, fault.InvalidField(
				"/issuer", "required",
				"%s requires an issuer, such as https://login.example.com. For type auth0, you can use domain instead.",
				traits.Label,
			)
		}
		return in, nil
	}
	if !traits.NeedsIssuer && (!traits.TakesIssuer || in.Managed) {
		return in, fault.InvalidField(
			"/issuer", "issuer_not_taken",
			"%s has a fixed issuer URL. Leave the issuer out, or use the type oidc.", traits.Label,
		)
	}
	if len(in.Issuer) > maxURI {
		return in, fault.InvalidField("/issuer", "invalid_url", "Use at most %s bytes.", humanize.Comma(maxURI))
	}
	if !strings.Contains(in.Issuer, "://") {
		in.Issuer = "https://" + in.Issuer
	}
	u, err := s.Targets.CheckTarget(ctx, in.Issuer)
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return in, fault.InvalidField("/issuer", f.Code, "%s", f.Public).Because(err)
		}
		return in, err
	}
	if u.Scheme != "https" && !isLoopback(u.Hostname()) {
		return in, fault.InvalidField("/issuer", "invalid_issuer", "Use an https URL.")
	}
	in.Issuer = canonical(in.Type, u, in.Issuer)
	if in.Type == providers.Microsoft {
		return in, checkMicrosoftIssuer(u)
	}
	return in, nil
}

// canonical returns the issuer as the kind writes it. That of an OpenID provider is compared byte by byte (OpenID
// Connect Discovery 1.0, 4.3), so it stays unchanged.
func canonical(kind string, u *url.URL, given string) string {
	switch kind {
	case providers.Auth0:
		return u.Scheme + "://" + u.Host + "/"
	case providers.GitHub:
		return u.Scheme + "://" + u.Host
	case providers.Microsoft:
		return strings.TrimSuffix(u.String(), "/")
	}
	return given
}

// scopePattern matches a scope (RFC 6749, 3.3).
var scopePattern = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]{1,200}$`)

const (
	maxScopes   = 50
	maxClientID = 300
	maxSecret   = 1000
	maxLabel    = 60 // characters
)

// apply writes the fields that are set into the row, and refuses invalid ones.
func (s *Service) apply(tx *models.Tx, team string, row *models.Provider, in contract.ProviderSettings) error {
	before := row.SecretPlace()
	if err := s.fill(row, in); err != nil {
		return err
	}
	secret := secretIn(in)
	if secret == nil {
		if row.ClientSecret == nil || row.SecretPlace() == before {
			return nil
		}
		// Gateways need the secret now, or do not need it any more.
		opened, err := s.Vault.Open(tx, before, row.ClientSecret)
		if err != nil {
			return err
		}
		secret = &opened
	}
	row.ClientSecret = nil
	if *secret == "" {
		return nil
	}
	var err error
	row.ClientSecret, err = s.Vault.Seal(tx, team, row.SecretPlace(), *secret)
	return err
}

// secretIn returns the client secret that is set, nil if none is.
func secretIn(in contract.ProviderSettings) *secrets.Secret {
	if in.ClientSecret == nil {
		return nil
	}
	return new(secrets.Given(in.ClientSecret.Reveal()))
}

// fill is apply without the secret, which needs a transaction to be sealed.
func (s *Service) fill(row *models.Provider, in contract.ProviderSettings) error {
	if row.Managed {
		if err := s.checkManaged(row.Type, in); err != nil {
			return err
		}
	}
	return fillRow(row, in)
}

// fillRow is fill for a provider that may be managed.
func fillRow(row *models.Provider, in contract.ProviderSettings) error {
	traits, ok := providers.TraitsOf(row.Type)
	if !ok {
		return fmt.Errorf("appclients: provider %s has the unknown type %q", row.ID, row.Type)
	}
	if in.ClientID != nil {
		row.ClientID = strings.TrimSpace(*in.ClientID)
	}
	if in.Scopes != nil {
		row.Scopes = slices.Clone(*in.Scopes)
	}
	if len(row.Scopes) == 0 {
		row.Scopes = traits.Scopes
	}
	types := TokenTypeOf(*row)
	if in.TokenType != (contract.NewTokenType{}) {
		types = contract.TokenType(in.TokenType)
	}
	types = completed(types)
	row.ClientToken, row.UpstreamToken = types.Client, types.Upstream
	if in.Label != nil {
		row.Label = strings.TrimSpace(*in.Label)
	}
	if in.Audience != nil {
		row.Audience = strings.TrimSpace(*in.Audience)
	}
	if in.ResponseMode != nil {
		row.ResponseMode = *in.ResponseMode
	}
	row.ResponseMode = cmp.Or(row.ResponseMode, providers.DefaultResponseMode(row.Type, row.Issuer))
	if in.AuthoritativeDomains != nil {
		row.AuthoritativeDomains = lowered(*in.AuthoritativeDomains)
	}
	if in.SignInDomains != nil {
		row.SignInDomains = signInDomains(*in.SignInDomains)
	}
	if in.Enabled != nil {
		row.Enabled = *in.Enabled
	}
	return fault.InvalidFields(slices.Concat(
		checkProvider(*row, traits, secretIn(in)),
		checkTokens(types, row.Type, traits, row.Managed),
		checkWorkable(*row),
		checkDomains(*row),
		checkLabel(row.Label),
	))
}

func (s *Service) checkManaged(kind string, in contract.ProviderSettings) error {
	switch {
	case kind != providers.GitHub:
		return fault.InvalidField(
			"/managed", "managed_login_unavailable",
			"Only GitHub providers can be managed. Register an app with this provider and use the app's client_id.",
		)
	case s.Shared.ClientID == "":
		return fault.InvalidField(
			"/managed", "managed_login_unavailable",
			"This installation has no shared GitHub app. Register your own OAuth app with GitHub and use its "+
				"client_id and client_secret.",
		)
	case in.ClientID != nil || in.ClientSecret != nil:
		return fault.InvalidField(
			"/client_id", "managed_has_its_own",
			"A managed provider uses the installation's app. Leave out client_id and client_secret, or leave out "+
				"managed.",
		)
	case in.Scopes != nil:
		return fault.InvalidField(
			"/scopes", "managed_has_its_own",
			"A managed provider requests only the user's identity. Leave out scopes.",
		)
	}
	return nil
}

// checkProvider returns the invalid fields of a row. sent is the client secret that is about to be set, nil if none is.
func checkProvider(row models.Provider, traits providers.Traits, sent *secrets.Secret) []fault.Field {
	var wrong []fault.Field
	refuse := func(ok bool, pointer, code, detail string) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
		}
	}
	if !row.Managed {
		// A disabled provider may lack credentials: registering its app takes the callback URL first.
		refuse(
			row.ClientID != "" || !row.Enabled, "/client_id", "required",
			"Enter the client ID that "+traits.Label+" assigned to your app.",
		)
		fits := len(row.ClientID) <= maxClientID && !strings.ContainsFunc(row.ClientID, providers.Unprintable)
		refuse(fits, "/client_id", "invalid_client_id", fmt.Sprintf("Use at most %d bytes on one line.", maxClientID))
		has := row.ClientSecret != nil
		if sent != nil {
			has = *sent != ""
		}
		refuse(
			has || !traits.NeedsSecret || !row.Enabled, "/client_secret", "required",
			traits.Label+" requires the client secret of your app.",
		)
	}
	refuse(sent == nil || len(*sent) <= maxSecret, "/client_secret", "invalid_client_secret",
		fmt.Sprintf("Use at most %s bytes.", humanize.Comma(maxSecret)))
	refuse(len(row.Scopes) <= maxScopes, "/scopes", "too_many", "Use at most 50 scopes.")
	for i, scope := range row.Scopes {
		refuse(scopePattern.MatchString(scope), fmt.Sprintf("/scopes/%d", i), "invalid_scope",
			"Use 1 to 200 printable ASCII characters, except spaces, quotes and backslashes.")
	}
	refuse(
		traits.RequiredScope == "" || slices.Contains(row.Scopes, traits.RequiredScope), "/scopes",
		"scope_missing",
		traits.Label+" can't identify users without the scope "+traits.RequiredScope+". Add it.",
	)
	return wrong
}

// checkLabel refuses a label that would break the button or pretend to be other text.
func checkLabel(label string) []fault.Field {
	if utf8.ValidString(label) && utf8.RuneCountInString(label) <= maxLabel &&
		!strings.ContainsFunc(label, providers.Unprintable) {
		return nil
	}
	return []fault.Field{{
		Pointer: "/label",
		Code:    "invalid_label",
		Detail:  fmt.Sprintf("Use at most %d characters on one line.", maxLabel),
	}}
}
