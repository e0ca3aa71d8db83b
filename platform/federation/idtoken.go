package federation

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"mime"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Algorithms are those that an ID token may be signed with. "none" and the symmetric
// ones are not among them: with those, anyone who has the public key or the client
// secret could sign.
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
	Email           string `json:"email"`
	EmailVerified   *flag  `json:"email_verified"` // nil if it is missing
	Name            string `json:"name"`
	Username        string `json:"preferred_username"`
	ObjectID        string `json:"oid"` // Microsoft's, as is the next
	TenantID        string `json:"tid"`

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
		return c.Username
	}
	return c.Name
}

// Verify verifies the ID token of an exchange (Core, 3.1.3.7) and returns its claims.
// iss is what came with the code, "" for none. Any error is an AnswerError.
func (c *Client) Verify(
	ctx context.Context, issuer *Issuer, attempt Attempt, iss string, token *oauth2.Token,
) (Claims, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return Claims{}, AnswerError("it gives no ID token")
	}
	verifier := oidc.NewVerifier(issuer.Name, issuer.keys, &oidc.Config{
		ClientID:             c.ID,
		SupportedSigningAlgs: Algorithms,
		SkipIssuerCheck:      c.Policy.TenantIssuers,
	})
	verified, err := verifier.Verify(oidc.ClientContext(ctx, c.HTTP), raw)
	if err != nil {
		return Claims{}, AnswerError(fmt.Sprintf("its ID token does not verify: %.200s", withoutURL(err).Error()))
	}
	claims := Claims{}
	if err := verified.Claims(&claims); err != nil {
		return Claims{}, AnswerError("its ID token cannot be read")
	}
	var all json.RawMessage
	if err := verified.Claims(&all); err != nil {
		return Claims{}, AnswerError("its ID token cannot be read")
	}
	claims.Issuer, claims.All = verified.Issuer, Stated(all)
	switch {
	case subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(attempt.Nonce)) != 1:
		return Claims{}, AnswerError("its ID token has another nonce")
	case len(verified.Audience) > 1 && claims.AuthorizedParty != c.ID,
		claims.AuthorizedParty != "" && claims.AuthorizedParty != c.ID:
		return Claims{}, AnswerError("its ID token was issued to another client")
	case verified.AccessTokenHash != "" && verified.VerifyAccessToken(token.AccessToken) != nil:
		return Claims{}, AnswerError("its ID token belongs to another access token")
	}
	return claims, issuer.CheckIssuer(iss, verified.Issuer)
}

// Identify returns the identity that verified claims describe, without its issuer. It
// asks userinfo where the ID token has no address and the scope email was requested, or
// where it lacks one of the claims that the caller reads. Errors of that call are those of
// GetJSON.
func (c *Client) Identify(ctx context.Context, issuer *Issuer, claims Claims, token *oauth2.Token) (Identity, error) {
	if claims.Subject == "" || len(claims.Subject) > maxSubject {
		return Identity{}, AnswerError("its ID token has no usable subject")
	}
	needsEmail := claims.Email == "" && slices.Contains(c.Scopes, "email")
	isNeeded := needsEmail || c.AllClaims || c.lacksClaim(claims.All)
	if issuer.UserInfo != "" && (isNeeded || c.lacksProfile(claims.All)) {
		more, err := c.userinfo(ctx, issuer, token)
		if err == nil && more.Subject != claims.Subject { // Core, 5.3.2
			err = AnswerError("its userinfo is about another user")
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
		Email:         claims.Email,
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

// add adds the claims of userinfo, which count where the ID token has none.
func (c *Claims) add(more Claims, needsEmail bool, policy Policy) {
	c.All = c.All.And(more.All)
	if needsEmail {
		c.Email, c.EmailVerified = more.Email, more.EmailVerified
	}
	if policy.DisplayName(*c) == "" {
		c.Name = policy.DisplayName(more)
	}
}

// lacksProfile reports whether the caller keeps a profile, of which an ID token need not have anything (Core, 5.4).
func (c *Client) lacksProfile(set ClaimSet) bool {
	stated := ProfileOf(set)
	return c.KeepsProfile && slices.Contains(c.Scopes, "profile") &&
		stated.GivenName == "" && stated.FamilyName == "" && stated.Picture == ""
}

// ReadsClaims reports whether the caller reads claims beside those of Identity.
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
			return Claims{}, AnswerError("its signed userinfo does not verify")
		}
	}
	claims := Claims{All: Stated(body)}
	return claims, decode(ask.URL.Path, body, &claims)
}
