package login

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"postern/directory"
	"postern/fault"
	"postern/models"
)

var errBearer = fault.New(fault.Unauthenticated, "invalid_token", "the access token is not valid here, has expired, or its session has ended")

// UserInfo tells the bearer of an access token about the person (OpenID Connect
// Core 1.0, 5.3).
func (s *Service) UserInfo(ctx context.Context, clientID, token string) (subject string, claims UserClaims, err error) {
	client, err := s.client(ctx, clientID)
	if err != nil {
		return "", UserClaims{}, err
	}
	var access AccessClaims
	if err := s.verify(ctx, client.ID, accessType, token, &access); err != nil {
		if errors.Is(err, errToken) {
			return "", UserClaims{}, errBearer
		}
		return "", UserClaims{}, fmt.Errorf("login: userinfo: %w", err)
	}
	err = access.ValidateWithLeeway(jwt.Expected{Issuer: s.Issuer(client.ID), AnyAudience: jwt.Audience{client.ID}, Time: time.Now()}, 0)
	if err != nil || access.Expiry == nil {
		return "", UserClaims{}, errBearer
	}
	tx := s.DB.Read(ctx)
	session, err := tx.LoginSessionByID(access.Session)
	if isAbsent(err) || (err == nil && session.EndedAt != nil) {
		return "", UserClaims{}, errBearer
	}
	if err != nil {
		return "", UserClaims{}, fmt.Errorf("login: userinfo: %w", err)
	}
	if _, err = tx.ProviderByID(session.ProviderID); isAbsent(err) {
		return "", UserClaims{}, errBearer // it was taken away, and with it whom it vouched for
	}
	if err != nil {
		return "", UserClaims{}, fmt.Errorf("login: userinfo: %w", err)
	}
	user, err := tx.EndUserByID(session.UserID)
	if err != nil {
		return "", UserClaims{}, fmt.Errorf("login: userinfo: %w", err)
	}
	if user.State != directory.Active {
		return "", UserClaims{}, errBearer
	}
	groups, err := directory.GroupsOf(tx, user.ID)
	return user.ID, claimsOf(user, groups, session.Scope), err
}

// LogoutInput is a request to sign out (OpenID Connect RP-Initiated Logout 1.0, 2).
type LogoutInput struct {
	ClientID string
	Hint     string // an ID token of ours, which may have expired
	To       string
	State    string
}

// Logout ends the session that the ID token belongs to, with its refresh tokens.
// Back is where the browser goes then, "" for nowhere: to an address that is
// registered, and only for whoever holds an ID token, so that no link from
// elsewhere leads through here. The maker of an unclaimed application has one to put
// into a link: there people are to be asked first.
func (s *Service) Logout(ctx context.Context, in LogoutInput) (back string, client Look, err error) {
	row, err := s.client(ctx, in.ClientID)
	if err != nil {
		return "", Look{}, err
	}
	if client, err = s.lookOf(s.DB.Read(ctx), row, ""); err != nil {
		return "", Look{}, err
	}
	var claims idClaims
	if in.Hint == "" {
		return "", client, nil
	}
	if err := s.verify(ctx, row.ID, idType, in.Hint, &claims); err != nil {
		if errors.Is(err, errToken) {
			return "", client, fault.New(fault.Malformed, "invalid_hint", "The application named a sign-in that is not known here. Close this page and sign out in the application.")
		}
		return "", client, fmt.Errorf("login: logout: %w", err)
	}
	if claims.Issuer != s.Issuer(row.ID) || !slices.Contains(claims.Audience, row.ID) {
		return "", client, fault.New(fault.Malformed, "invalid_hint", "The application named a sign-in that is not known here. Close this page and sign out in the application.")
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error { return tx.EndLoginSession(claims.Session, models.Now()) })
	if err != nil {
		return "", client, fmt.Errorf("login: end the session %s: %w", claims.Session, err)
	}
	if in.To == "" || !slices.Contains(row.LogoutURIs, in.To) {
		return "", client, nil
	}
	if client.Unclaimed {
		client.Site = hostOf(in.To)
	}
	u, err := url.Parse(in.To)
	if err != nil || in.State == "" {
		return in.To, client, nil //nolint:nilerr // it is one of those that were registered, as it stands
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += url.Values{"state": {in.State}}.Encode()
	return u.String(), client, nil
}
