package login

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/platform/secrets"
	"postern/service/access"
)

// The typ of issued tokens. It keeps an ID token from being used as an access token.
const (
	accessType = "at+jwt" // RFC 9068, 2.1
	idType     = "JWT"
)

func granted(scope, one string) bool { return slices.Contains(strings.Fields(scope), one) }

// AccessClaims are the claims of an access token (RFC 9068, 2.2). They do not include
// whether the user is frozen or the session has ended.
type AccessClaims struct {
	jwt.Claims
	ClientID string   `json:"client_id"`
	Session  string   `json:"sid"`
	Scope    string   `json:"scope"`
	Tenant   string   `json:"tenant"`
	Groups   []string `json:"groups,omitempty"`
	AdminOf  []string `json:"admin_of,omitempty"`  // of the groups, those with the role admin
	GroupsAt int64    `json:"groups_at,omitempty"` // see groupsTime; 0: as iat says

	GroupsTruncated bool `json:"groups_truncated,omitempty"` // the user is in more groups

	Provider string `json:"provider"`
	Upstream string `json:"upstream"`                 // see contract.TokenType
	Sealed   string `json:"upstream_token,omitempty"` // the provider's token for the upstream; see UpstreamToken
	AuthenticationClaims
}

// idClaims are the claims of an ID token (OpenID Connect Core 1.0, 2).
type idClaims struct {
	jwt.Claims
	AuthenticationClaims
	Nonce      string `json:"nonce,omitempty"`
	Session    string `json:"sid"`
	AccessHash string `json:"at_hash"`
	UserClaims
}

// UserClaims are the claims about the user that the granted scopes allow.
type UserClaims struct {
	Name string `json:"name,omitempty"`
	federation.Profile
	Email         string   `json:"email,omitempty"`
	EmailVerified *bool    `json:"email_verified,omitempty"`
	Groups        []string `json:"groups,omitempty"`

	GroupsTruncated bool `json:"groups_truncated,omitempty"` // see userGroups
}

func claimsOf(user models.EndUser, groups userGroups, scope string) UserClaims {
	var out UserClaims
	if granted(scope, "profile") {
		out.Name, out.Profile = user.Name, federation.ParseProfile(user.Profile)
	}
	if granted(scope, "email") && user.Email != "" {
		verified := user.EmailVerified
		out.Email, out.EmailVerified = user.Email, &verified
	}
	if granted(scope, "groups") {
		stated := groups.within(maxGroupsJSON)
		out.Groups, out.GroupsTruncated = stated.names, stated.truncated
	}
	return out
}

// maxIDProfile is the longest profile in an ID token, in bytes of JSON: applications send it in addresses, as
// id_token_hint, which proxies cut at 8 KB. Userinfo has a longer one.
const maxIDProfile = 2 << 10

// inIDToken returns the claims that fit into an ID token.
func (c UserClaims) inIDToken() UserClaims {
	if len(c.JSON()) > maxIDProfile {
		c.Profile = federation.Profile{}
	}
	return c
}

// issue returns the tokens for a redeemed grant.
func (s *Service) issue(ctx context.Context, client models.AppClient, done redeemed) (Tokens, error) {
	key, err := s.signer(ctx, client)
	if err != nil {
		return Tokens{}, err
	}
	offered, err := apisOf(s.DB.Read(ctx), client)
	if err != nil {
		return Tokens{}, err
	}
	if _, known := offered.named(done.session.Resources); !known {
		return Tokens{}, errTarget // the project has another audience now, or left the tenant
	}
	done.session.Scope = offered.still(client, done.session.Scope, done.session.Resources)
	done.audience = offered.audience(client, done.session.Scope, done.session.Resources)
	now := time.Now()
	out := Tokens{Refresh: done.refresh, Scope: done.session.Scope, Expires: client.AccessTokenSeconds}
	if done.handed != nil && done.handed.Client == contract.ProviderToken {
		out.Access, out.Expires = done.handed.Access+done.handed.ID, 0 // one of them is there
		if !done.handed.Expires.IsZero() {
			out.Expires = max(1, int64(done.handed.Expires.Sub(now)/time.Second))
		}
	} else if out.Access, err = s.access(ctx, key, client, done, now); err != nil {
		return Tokens{}, err
	}
	claims := idClaims{
		Claims:     s.claims(client, done.user.ID, now),
		Nonce:      done.session.Nonce,
		Session:    done.session.ID,
		AccessHash: accessHash(key.algorithm, out.Access),
		UserClaims: claimsOf(done.user, done.groups, done.session.Scope).inIDToken(),

		AuthenticationClaims: authenticationOf(done.session),
	}
	out.ID, err = key.sign(idType, claims)
	return out, err
}

func (s *Service) claims(client models.AppClient, subject string, now time.Time) jwt.Claims {
	return jwt.Claims{
		Issuer:   s.Issuer(client.ID),
		Subject:  subject,
		Audience: jwt.Audience{client.ID},
		IssuedAt: jwt.NewNumericDate(now),
		Expiry:   jwt.NewNumericDate(now.Add(time.Duration(client.AccessTokenSeconds) * time.Second)),
	}
}

func (s *Service) access(
	ctx context.Context, key signingKey, client models.AppClient, done redeemed, now time.Time,
) (string, error) {
	claims := AccessClaims{
		Claims:   s.claims(client, done.user.ID, now),
		ClientID: client.ID,
		Session:  done.session.ID,
		Scope:    done.session.Scope,
		Tenant:   client.TenantID,
		Provider: done.session.ProviderID,
		Upstream: contract.ServiceToken,

		AuthenticationClaims: authenticationOf(done.session),
	}
	claims.ID, claims.Audience = models.NewID("jti"), done.audience
	if at := done.groupsAt.Unix(); at > now.Unix() {
		claims.GroupsAt = at
	}
	provider, err := s.DB.Read(ctx).ProviderByID(done.session.ProviderID)
	if isAbsent(err) {
		return "", errGrant // the provider was deleted, and with it the sign-ins of its users
	}
	if err != nil {
		return "", err
	}
	claims.Upstream = provider.UpstreamToken
	if done.handed != nil {
		claims.Upstream = done.handed.Upstream
		if claims.Sealed, err = s.sealUpstream(ctx, client, claims.ID, done.handed); err != nil {
			return "", err
		}
		// The provider's token cannot be extended, so the access token ends with it.
		if until := done.handed.Expires; !until.IsZero() && until.Before(claims.Expiry.Time()) {
			claims.Expiry = jwt.NewNumericDate(until)
		}
	}
	if claims.Sealed == "" && (claims.Upstream == contract.ProviderAccessToken ||
		claims.Upstream == contract.ProviderIDToken) {
		return "", errGrant // token_type was changed after the user signed in
	}
	if err := claims.setGroups(done.groups); err != nil {
		return "", err
	}
	return key.sign(accessType, claims)
}

// setGroups sets the groups, as many as fit next to the other claims.
func (c *AccessClaims) setGroups(all userGroups) error {
	others, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("login: claims of an access token: %w", err)
	}
	stated := all.within(maxAccessJSON - len(others))
	c.Groups, c.AdminOf, c.GroupsTruncated = stated.names, stated.adminOf, stated.truncated
	return nil
}

func upstreamPlace(jti string) secrets.Place {
	return secrets.Place{
		Table:   "access_tokens",
		Row:     jti,
		Column:  "upstream_token",
		Purpose: secrets.ForGateways,
	}
}

func (s *Service) sealUpstream(
	ctx context.Context, client models.AppClient, jti string, tokens *handed,
) (string, error) {
	tx := s.DB.Read(ctx)
	_, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return "", err
	}
	var sealed secrets.Sealed
	seal := func(tx *models.Tx) (err error) {
		sealed, err = s.Vault.Seal(tx, team, upstreamPlace(jti), secrets.Secret(tokens.Access+tokens.ID))
		return err
	}
	_, exists, err := tx.DataKeyOfTeam(team, secrets.ForGateways)
	switch {
	case err != nil:
		return "", fmt.Errorf("login: data key of %s: %w", team, err)
	case exists:
		err = seal(tx)
	default: // the first time
		err = s.DB.Write(ctx, seal)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// UpstreamToken decrypts the provider's token that an access token, identified by its jti, carries for the upstream.
// The access token must have been verified. The database is asked once for each team's data key; opened tokens are not
// kept.
func (s *Service) UpstreamToken(ctx context.Context, jti, sealed string) (secrets.Secret, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", fmt.Errorf("login: the upstream's token: %w", err)
	}
	return s.dataKeys.Open(s.Vault, s.DB.Read(ctx), upstreamPlace(jti), raw)
}

func (k signingKey) sign(kind string, claims any) (string, error) {
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(kind)).WithHeader("kid", k.id)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, options)
	if err != nil {
		return "", fmt.Errorf("login: sign with %s: %w", k.id, err)
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// accessHash binds an ID token to its access token (OpenID Connect Core 1.0,
// 3.1.3.6): the left half of the digest that goes with the algorithm, which for
// Ed25519 is SHA-512 (RFC 8032).
func accessHash(algorithm jose.SignatureAlgorithm, access string) string {
	if algorithm == jose.EdDSA {
		sum := sha512.Sum512([]byte(access))
		return base64.RawURLEncoding.EncodeToString(sum[:32])
	}
	sum := sha256.Sum256([]byte(access))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

var errToken = errors.New("login: the token isn't valid here")

// verify verifies a token that this issuer signed, and reads its claims. It does not
// check times.
func (s *Service) verify(ctx context.Context, clientID, kind, token string, claims any) error {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA})
	if err != nil || len(parsed.Headers) != 1 {
		return errToken
	}
	head := parsed.Headers[0]
	if typ, _ := head.ExtraHeaders[jose.HeaderType].(string); typ != kind {
		return errToken
	}
	set, err := s.publicKeys(ctx, clientID)
	if err != nil {
		return err
	}
	keys := set.Key(head.KeyID)
	// The algorithm is the key's, not the token's choice (RFC 8725, 3.1).
	if len(keys) != 1 || keys[0].Algorithm != head.Algorithm || parsed.Claims(keys[0].Key, claims) != nil {
		return errToken
	}
	return nil
}
