package federation

import (
	"context"
	"crypto/subtle"
	"fmt"
	"mime"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4/json"
	"golang.org/x/oauth2"

	"postern/platform/exactjson"
)

// Algorithms are those that an ID token may be signed with. "none" and the symmetric ones are excluded: with those,
// anyone who has the public key or the client secret could sign.
var Algorithms = []string{
	oidc.RS256,
	oidc.RS384,
	oidc.RS512,
	oidc.ES256,
	oidc.ES384,
	oidc.ES512,
	oidc.PS256,
	oidc.PS384,
	oidc.PS512,
	oidc.EdDSA,
}

// maxSubject is the longest sub, in bytes (Core, 2).
const maxSubject = 255

// Claims are those of an ID token or of userinfo.
type Claims struct {
	Issuer          string `json:"-"` // as verified
	Subject         string `json:"sub"`
	AuthorizedParty string `json:"azp"`
	Email           word   `json:"email"`
	EmailVerified   *flag  `json:"email_verified"` // nil if it is missing
	Name            word   `json:"name"`
	Username        word   `json:"preferred_username"`
	ObjectID        word   `json:"oid"` // Microsoft's, as is the next
	TenantID        word   `json:"tid"`

	HostedDomain     word  `json:"hd"`       // Google's
	DomainVerified   digit `json:"xms_edov"` // Microsoft's, as are the next
	IdentityProvider word  `json:"idp"`
	Account          digit `json:"acct"` // set for a guest

	AuthTime authTime   `json:"auth_time"`
	ACR      reference  `json:"acr"`
	AMR      references `json:"amr"`

	All ClaimSet `json:"-"`
}

// flag reads a boolean that some issuers send as a string. Anything else is false.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(raw []byte) error {
	*f = string(raw) == "true" || string(raw) == `"true"`
	return nil
}

func (c Claims) emailVerified() bool {
	return c.Email != "" && c.EmailVerified != nil && bool(*c.EmailVerified)
}

// DisplayName returns the name to show, "" if there is none.
func (p Policy) DisplayName(c Claims) string {
	if c.Name == "" && p.UsernameAsName {
		return string(c.Username)
	}
	return string(c.Name)
}

// Verify verifies the ID token of an exchange (Core, 3.1.3.7) and returns its claims. iss is the parameter that came
// with the code, "" for none. Any error is an AnswerError.
func (c *Client) Verify(
	ctx context.Context, issuer *Issuer, attempt Attempt, iss string, token *oauth2.Token,
) (Claims, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return Claims{}, AnswerError("it doesn't send an ID token")
	}
	// go-oidc is left the signature: it decodes claims with encoding/json.
	verifier := oidc.NewVerifier(issuer.Name, issuer.keys, &oidc.Config{
		SupportedSigningAlgs: Algorithms,
		SkipClientIDCheck:    true,
		SkipExpiryCheck:      true,
		SkipIssuerCheck:      true,
	})
	verified, err := verifier.Verify(oidc.ClientContext(ctx, c.HTTP), raw)
	if err != nil {
		return Claims{}, AnswerError(fmt.Sprintf("its ID token can't be verified: %.200s", withoutURL(err).Error()))
	}
	var payload json.RawMessage
	var stated protocolClaims
	if verified.Claims(&payload) != nil || exactjson.Unmarshal(payload, &stated) != nil {
		return Claims{}, AnswerError("its ID token can't be read")
	}
	stated.All = Stated(payload)
	stated.Claims.Issuer, verified.AccessTokenHash = stated.Issuer, stated.AccessTokenHash
	if verified.AccessTokenHash != "" && verified.VerifyAccessToken(token.AccessToken) != nil {
		return Claims{}, AnswerError("its ID token belongs to a different access token")
	}
	if why := c.misfit(issuer, attempt, stated, time.Now()); why != "" {
		return Claims{}, AnswerError(why)
	}
	return stated.Claims, issuer.CheckIssuer(iss, stated.Issuer)
}

// notBeforeLeeway is the tolerated difference of clocks for nbf.
const notBeforeLeeway = 5 * time.Minute

// protocolClaims are those of an ID token that bind it to a sign-in (Core, 2), and those about the user.
type protocolClaims struct {
	Claims
	Issuer          string   `json:"iss"`
	Audience        audience `json:"aud"`
	Expires         *float64 `json:"exp"`
	NotBefore       *float64 `json:"nbf"`
	Nonce           string   `json:"nonce"`
	AccessTokenHash string   `json:"at_hash"`
}

// misfit returns why verified claims are not of this client's sign-in, "" if they are.
func (c *Client) misfit(issuer *Issuer, attempt Attempt, stated protocolClaims, now time.Time) string {
	at := float64(now.Unix())
	switch {
	case !c.Policy.TenantIssuers && !issuer.isNamed(stated.Issuer):
		return "its ID token has a different issuer"
	case stated.Expires == nil || *stated.Expires < at:
		return "its ID token has expired"
	case stated.NotBefore != nil && *stated.NotBefore > at+notBeforeLeeway.Seconds():
		return "its ID token isn't valid yet"
	case subtle.ConstantTimeCompare([]byte(stated.Nonce), []byte(attempt.Nonce)) != 1:
		return "its ID token has a different nonce"
	case !slices.Contains(stated.Audience, c.ID),
		len(stated.Audience) > 1 && stated.AuthorizedParty != c.ID,
		stated.AuthorizedParty != "" && stated.AuthorizedParty != c.ID:
		return "its ID token was issued to a different client"
	}
	return ""
}

// audience is aud: one text or a list of them.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(a))
}

// isNamed reports whether iss names the issuer. Some of Google's ID tokens name it without its scheme
// (developers.google.com/identity/openid-connect/openid-connect#validatinganidtoken).
func (i *Issuer) isNamed(iss string) bool {
	return iss == i.Name || iss == "accounts.google.com" && i.Name == "https://accounts.google.com"
}

// Identify returns the identity that verified claims describe, without its issuer. It
// asks userinfo where the ID token has no address and the scope email was requested, or
// where it lacks one of the claims that the caller reads. Errors of that call are those of
// GetJSON, and an AnswerError without an access token.
func (c *Client) Identify(ctx context.Context, issuer *Issuer, claims Claims, token *oauth2.Token) (Identity, error) {
	if claims.Subject == "" || len(claims.Subject) > maxSubject {
		return Identity{}, AnswerError("its ID token has no usable subject")
	}
	needsEmail := claims.Email == "" && slices.Contains(c.Scopes, "email")
	isNeeded := needsEmail || c.AllClaims && token.AccessToken != "" || c.lacksClaim(claims.All)
	if issuer.UserInfo != "" && (isNeeded || c.lacksProfile(claims.All)) {
		more, err := c.userinfo(ctx, issuer, token)
		if err == nil && more.Subject != claims.Subject { // Core, 5.3.2
			err = AnswerError("its userinfo is about a different user")
		}
		switch {
		case err == nil:
			claims.add(more, needsEmail, c.Policy)
		case isNeeded:
			return Identity{}, err
		}
	}
	if c.Policy.RefuseUnverifiedEmail && claims.EmailVerified != nil && !bool(*claims.EmailVerified) {
		return Identity{}, ErrEmailUnverified
	}
	identity := Identity{
		Subject:       claims.Subject,
		Email:         string(claims.Email),
		EmailVerified: claims.emailVerified(),
		Name:          c.Policy.DisplayName(claims),

		Authentication: claims.Authentication(),
		Profile:        ProfileOf(claims.All),
	}
	if c.ReadsClaims() {
		identity.Claims = &claims.All
	}
	return identity, nil
}

// add adds the claims of userinfo, which count where the ID token lacks them.
func (c *Claims) add(more Claims, needsEmail bool, policy Policy) {
	c.All = c.All.And(more.All)
	if needsEmail {
		c.Email, c.EmailVerified = more.Email, more.EmailVerified
	}
	if policy.DisplayName(*c) == "" {
		c.Name = word(policy.DisplayName(more))
	}
}

// lacksProfile reports whether the caller keeps a profile, of which an ID token need not have anything (Core, 5.4).
func (c *Client) lacksProfile(set ClaimSet) bool {
	stated := ProfileOf(set)
	return c.KeepsProfile && slices.Contains(c.Scopes, "profile") &&
		stated.GivenName == "" && stated.FamilyName == "" && stated.Picture == ""
}

// ReadsClaims reports whether the caller reads claims in addition to those of Identity.
func (c *Client) ReadsClaims() bool { return c.AllClaims || len(c.Claims) > 0 }

// lacksClaim reports whether the set states one of the claims that the caller reads
// nowhere.
func (c *Client) lacksClaim(set ClaimSet) bool {
	return slices.ContainsFunc(c.Claims, func(path ClaimPath) bool {
		found := set.Find(path)
		return !found.Stated && !found.Withheld
	})
}

// userinfo asks the userinfo endpoint, which may answer with JSON or with a signed token
// (Core, 5.3).
func (c *Client) userinfo(ctx context.Context, issuer *Issuer, token *oauth2.Token) (Claims, error) {
	ask, err := newRequest(ctx, issuer.UserInfo, token.AccessToken)
	if err != nil {
		return Claims{}, err
	}
	body, contentType, err := do(c.HTTP, ask)
	if err != nil {
		return Claims{}, err
	}
	if media, _, err := mime.ParseMediaType(contentType); err == nil && media == "application/jwt" {
		if body, err = issuer.keys.VerifySignature(oidc.ClientContext(ctx, c.HTTP), string(body)); err != nil {
			return Claims{}, AnswerError("the signature of its userinfo isn't valid")
		}
	}
	claims := Claims{All: Stated(body)}
	return claims, decode(ask.URL.Path, body, &claims)
}
