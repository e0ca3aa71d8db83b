package login

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/appclients"
	"postern/service/directory"
)

// Credentials authenticate a client at the token or revocation endpoint.
type Credentials struct {
	ClientID    string // of the endpoint's path
	NamedClient string // client_id of the request, "" for none
	Secret      string
	Repeated    bool // a parameter of the request was sent twice
}

// TokenInput is a request to the token endpoint (RFC 6749, 4.1.3 and 6).
type TokenInput struct {
	Credentials
	GrantType    string
	Code         string
	RedirectURI  string
	Verifier     string
	RefreshToken string
	Scope        string // of a refresh; "" for the granted scopes
	Resources    []string
}

// Tokens are the response of the token endpoint. Expires is in seconds.
type Tokens struct {
	Access  string
	Refresh string
	ID      string
	Expires int64
	Scope   string
}

// The errors of RFC 6749, 5.2, with its codes.
var (
	errClient = fault.New(
		fault.Unauthenticated,
		"invalid_client",
		"the client is unknown, or its secret is wrong or missing",
	)
	errScope = fault.New(fault.Malformed, "invalid_scope", "scope must contain only scopes that were granted at "+
		"sign-in")
	errNoScope = fault.New(fault.Malformed, "invalid_scope", "this application can't request any of these scopes")
	errGrant   = fault.New(fault.Malformed, "invalid_grant", "the code or refresh token is wrong, has expired, has "+
		"already been used or belongs to another client, or code_verifier or redirect_uri doesn't match")
	errRequest = fault.New(fault.Malformed, "invalid_request", "a parameter is missing or sent twice")
)

// Token exchanges a code or a refresh token, or gives an app client its own token.
func (s *Service) Token(ctx context.Context, in TokenInput) (Tokens, error) {
	client, err := s.authenticate(ctx, in.Credentials)
	if err != nil {
		return Tokens{}, err
	}
	if in.GrantType != "" && !slices.Contains(snapshot.GrantTypes, in.GrantType) {
		return Tokens{}, fault.New(
			fault.Malformed,
			"unsupported_grant_type",
			"grant_type must be authorization_code, refresh_token or client_credentials",
		)
	}
	if in.GrantType != "" && !slices.Contains(client.GrantTypes, in.GrantType) {
		return Tokens{}, errUnauthorizedClient
	}
	switch in.GrantType {
	case snapshot.ClientCredentials:
		return s.issueToClient(ctx, client, in)
	case snapshot.AuthorizationCode:
		return s.exchange(ctx, client, in)
	case snapshot.RefreshToken:
		return s.refresh(ctx, client, in)
	}
	return Tokens{}, errRequest
}

func (s *Service) authenticate(ctx context.Context, in Credentials) (models.AppClient, error) {
	if in.Repeated {
		return models.AppClient{}, errRequest
	}
	client, err := s.client(ctx, in.ClientID)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return client, errClient
		}
		return client, err
	}
	if in.NamedClient != client.ID {
		return client, errClient
	}
	if client.SecretHash != nil && subtle.ConstantTimeCompare(client.SecretHash, secrets.Digest(in.Secret)) != 1 {
		return client, errClient
	}
	if client.SecretHash == nil && in.Secret != "" {
		return client, errClient // a public client that sends a secret takes itself for a confidential one
	}
	if client.FrozenAt != nil {
		return client, errUnauthorizedClient
	}
	return client, nil
}

// redeemed is the result of redeeming a grant.
type redeemed struct {
	session models.LoginSession
	user    models.EndUser
	groups  userGroups
	handed  *handed
	refresh string // a new refresh token

	groupsAt time.Time // see groupsTime

	audience jwt.Audience // of the access token
}

// narrow limits the next access token to some of the audiences (RFC 8707, 2.2).
func (r *redeemed) narrow(audiences []string) {
	if len(audiences) > 0 {
		r.session.Resources = audiences
	}
}

// redeem marks a grant as used, in one transaction with the results. Reuse ends the whole session: one of the two
// callers stole the grant, and it is not known which (RFC 9700, 4.14.2; RFC 6749, 4.1.2). The exception is a refresh
// token that was used a moment ago: see successorOf.
func (s *Service) redeem(
	ctx context.Context,
	client models.AppClient,
	kind, text string,
	check func(models.LoginGrant, models.LoginSession) error,
) (redeemed, error) {
	var out redeemed
	var refused error
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		out, refused = redeemed{}, nil // the transaction may run again
		now := models.Now()
		grant, err := tx.LoginGrantByHash(kind, secrets.Digest(text))
		if isAbsent(err) {
			return errGrant
		}
		if err != nil {
			return err
		}
		if out.session, err = tx.LoginSessionByID(grant.SessionID); err != nil {
			return err
		}
		if out.session.ClientID != client.ID || out.session.EndedAt != nil || !grant.ExpiresAt.After(now) {
			return errGrant
		}
		if grant.Scope != "" {
			out.session.Scope, out.session.Nonce = grant.Scope, grant.Nonce
			out.session.Resources = grant.Resources
		}
		if err := s.follow(tx, &out); err != nil {
			return err
		}
		if grant.UsedAt == nil {
			if err := check(grant, out.session); err != nil {
				return err
			}
			if used, err := s.use(tx, client, grant, text, now, &out); err != nil || used {
				return err
			}
		}
		if out.refresh, err = s.successorOf(tx, grant.Hash, now); err != nil {
			return err
		}
		if out.refresh != "" {
			return check(grant, out.session)
		}
		refused = errGrant.Because(errors.New("it was already used, so its session was ended"))
		return signOut(tx, client, out.session, now) // committed, hence no error here
	})
	if refused != nil && err == nil {
		s.Changed(ctx)
	}
	if err := cmp.Or(err, refused); err != nil {
		return redeemed{}, fmt.Errorf("login: redeem a %s: %w", kind, err)
	}
	return out, nil
}

// use marks a grant as used and inserts the refresh token that follows it. It returns
// false if another request used the grant first.
func (s *Service) use(
	tx *models.Tx, client models.AppClient, grant models.LoginGrant, text string, now time.Time, out *redeemed,
) (used bool, err error) {
	if grant.Kind == kindCode {
		if out.handed, err = s.handedBy(tx, out.session.ID, text); err != nil {
			return false, err
		}
	}
	if refreshes(client) && out.handed == nil && granted(out.session.Scope, "offline_access") {
		out.refresh = secrets.Random()
	}
	if grant.Kind == kindRefresh && out.refresh != "" {
		if grant.Successor, err = s.sealSuccessor(tx, client, grant.Hash, out.refresh); err != nil {
			return false, err
		}
	}
	used, err = tx.UseLoginGrant(grant.Hash, grant.Successor, now)
	if err != nil || !used || out.refresh == "" {
		return used, err
	}
	return true, tx.Insert(&models.LoginGrant{
		Hash:      secrets.Digest(out.refresh),
		Kind:      kindRefresh,
		SessionID: out.session.ID,
		Scope:     grant.Scope,
		Resources: grant.Resources,
		Nonce:     grant.Nonce,
		CreatedAt: now,
		ExpiresAt: refreshEnd(client, out.session),
	})
}

// follow fills in the user and the groups of a grant's session.
func (s *Service) follow(tx *models.Tx, out *redeemed) error {
	now := time.Now()
	var err error
	if out.user, err = tx.EndUserByID(out.session.UserID); err != nil {
		return err
	}
	out.groupsAt = groupsTime(now, out.user)
	if out.user.State != directory.Active {
		return errGrant
	}
	out.groups, err = groupsOf(tx, out.user)
	return err
}

// groupsTime returns the time, in whole seconds, from which gateways take the groups of a token that is issued now.
// They refuse tokens that are not newer than the second in which the user left a group: a token of the same second,
// with the groups after that, gets the next one.
func groupsTime(now time.Time, user models.EndUser) time.Time {
	if left := user.GroupsLeftAt; left != nil && now.Unix() <= left.Unix() {
		return time.Unix(left.Unix()+1, 0)
	}
	return now
}

func (s *Service) exchange(ctx context.Context, client models.AppClient, in TokenInput) (Tokens, error) {
	if in.Code == "" || in.RedirectURI == "" {
		return Tokens{}, errRequest
	}
	offered, err := apisOf(s.DB.Read(ctx), client)
	if err != nil {
		return Tokens{}, fmt.Errorf("login: API scopes of %s: %w", client.ID, err)
	}
	provider := ""
	done, err := s.redeem(ctx, client, kindCode, in.Code, func(g models.LoginGrant, session models.LoginSession) error {
		if err := fitsCode(client, in.RedirectURI, in.Verifier)(g, session); err != nil {
			return err
		}
		provider = session.ProviderID
		if g.Scope != "" { // the user's session answered, which outlives that a provider is turned off
			provider = ""
		}
		return offered.checkNarrowed(session.Resources, in.Resources)
	})
	if err == nil {
		err = s.stillOfferedToCode(ctx, client, in.RedirectURI, provider)
	}
	if err != nil {
		return Tokens{}, err
	}
	done.narrow(in.Resources)
	return s.issue(ctx, client, done)
}

// stillOfferedToCode is stillOffered for the token endpoint, with its error. provider is "" for one that doesn't
// matter.
func (s *Service) stillOfferedToCode(
	ctx context.Context, client models.AppClient, redirectURI, provider string,
) error {
	if !appclients.IsRegistered(client.RedirectURIs, redirectURI) {
		return errGrant.Because(errRedirectURI)
	}
	if provider == "" {
		return nil
	}
	switch err := s.stillOffered(s.DB.Read(ctx), client, redirectURI, provider); {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return errGrant.Because(err)
	default:
		return err
	}
}

// fitsCode returns a check of redirect URI and PKCE verifier.
func fitsCode(
	client models.AppClient, redirectURI, verifier string,
) func(models.LoginGrant, models.LoginSession) error {
	return func(g models.LoginGrant, _ models.LoginSession) error {
		if g.RedirectURI != redirectURI || !fitsChallenge(client, g.CodeChallenge, verifier) {
			return errGrant
		}
		return nil
	}
}

// narrowed returns the scopes that a refresh requests, "" for all. It refuses scopes that weren't granted at sign-in
// (RFC 6749, 6), and ignores those that the sign-in would have ignored. openid is required, because the response has an
// ID token.
func (a apis) narrowed(client models.AppClient, session models.LoginSession, asked string) (string, error) {
	if asked == "" {
		return "", nil
	}
	kept, err := a.grant(client, asked, session.Resources, scopes)
	if err == nil && (!granted(kept, "openid") || !covers(session.Scope, kept)) {
		err = errScope
	}
	return kept, err
}

func (s *Service) refresh(ctx context.Context, client models.AppClient, in TokenInput) (Tokens, error) {
	if in.RefreshToken == "" {
		return Tokens{}, errRequest
	}
	offered, err := apisOf(s.DB.Read(ctx), client)
	if err != nil {
		return Tokens{}, fmt.Errorf("login: API scopes of %s: %w", client.ID, err)
	}
	check := func(_ models.LoginGrant, session models.LoginSession) error {
		if in.Scope, err = offered.narrowed(client, session, in.Scope); err != nil {
			return err
		}
		return offered.checkNarrowed(session.Resources, in.Resources)
	}
	done, err := s.redeem(ctx, client, kindRefresh, in.RefreshToken, check)
	if err != nil {
		return Tokens{}, err
	}
	if in.Scope != "" { // of these tokens; the next refresh may ask for all again
		done.session.Scope = in.Scope
	}
	done.narrow(in.Resources)
	return s.issue(ctx, client, done)
}
