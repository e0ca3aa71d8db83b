package login

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
)

var errBearer = fault.New(fault.Unauthenticated, "invalid_token", "the access token is not valid here, has expired, "+
	"or its session has ended")

// UserInfo returns the user's claims to the bearer of an access token (OpenID Connect
// Core 1.0, 5.3).
func (s *Service) UserInfo(ctx context.Context, clientID, token string) (subject string, claims UserClaims, err error) {
	tx := s.DB.Read(ctx)
	user, scope, err := s.bearer(ctx, tx, clientID, token)
	if err != nil {
		return "", UserClaims{}, fmt.Errorf("login: userinfo: %w", err)
	}
	groups, err := directory.GroupsOf(tx, user.ID)
	return user.ID, claimsOf(user, groups, scope), err
}

// ManagesGroups is the scope by which an application may act for a user who manages the members of groups
// (directory.SetManagedMember).
const ManagesGroups = "groups:manage"

// GroupAdmin returns the id of the user whose access token, with the scope ManagesGroups, a caller
// presents. Whether they are an admin of a group is for service/directory to check.
func (s *Service) GroupAdmin(ctx context.Context, clientID, token string) (string, error) {
	user, scope, err := s.bearer(ctx, s.DB.Read(ctx), clientID, token)
	if err != nil {
		return "", fmt.Errorf("login: groups of an admin: %w", err)
	}
	if !granted(scope, ManagesGroups) {
		return "", fault.New(fault.Forbidden, "insufficient_scope", "The access token does not have the scope %s. "+
			"Ask for it at sign-in.", ManagesGroups)
	}
	return user.ID, nil
}

// bearer returns the user and the scope of an access token that a client issued. The user is active and
// their session has not ended.
func (s *Service) bearer(
	ctx context.Context, tx *models.Tx, clientID, token string,
) (user models.EndUser, scope string, err error) {
	client, err := s.client(ctx, clientID)
	if err != nil {
		return user, "", err
	}
	var access AccessClaims
	switch err := s.verify(ctx, client.ID, accessType, token, &access); {
	case errors.Is(err, errToken):
		return user, "", errBearer
	case err != nil:
		return user, "", err
	}
	if !s.holds(client, access) {
		return user, "", errBearer
	}
	_, user, live, err := liveSession(tx, client.ID, access.Session)
	if err == nil && !live {
		err = errBearer
	}
	return user, access.Scope, err
}

// LogoutInput is a request to sign out (OpenID Connect RP-Initiated Logout 1.0, 2).
type LogoutInput struct {
	ClientID string
	Hint     string // an ID token of this issuer, which may have expired
	Cookie   string // of the user's session at the hosted pages, "" for none
	To       string
	State    string
}

// LoggedOut is the result of a request to sign out. Back is the address that the browser
// goes to, "" for none: it is registered, and only for a caller with an ID token, so that
// no link on another site can use it (open redirect).
type LoggedOut struct {
	Client Look
	Ended  bool // false if no ID token named a session
	Back   string
}

// Logout ends the session that the ID token belongs to, with its refresh tokens. Without
// an ID token no session ends. For an unclaimed application the caller must ask the user
// before it follows Back: the application's author has an ID token to put into a link.
func (s *Service) Logout(ctx context.Context, in LogoutInput) (LoggedOut, error) {
	row, err := s.client(ctx, in.ClientID)
	if err != nil {
		return LoggedOut{}, err
	}
	var out LoggedOut
	if out.Client, err = s.lookOf(s.DB.Read(ctx), row, ""); err != nil {
		return LoggedOut{}, err
	}
	var claims idClaims
	if in.Hint == "" {
		return out, nil
	}
	if err := s.verify(ctx, row.ID, idType, in.Hint, &claims); err != nil {
		if errors.Is(err, errToken) {
			return out, fault.New(fault.Malformed, "invalid_hint", "The application named a sign-in that is not "+
				"known here. Close this page and sign out in the application.")
		}
		return out, fmt.Errorf("login: logout: %w", err)
	}
	if claims.Issuer != s.Issuer(row.ID) || !slices.Contains(claims.Audience, row.ID) {
		return out, fault.New(fault.Malformed, "invalid_hint", "The application named a sign-in that is not known "+
			"here. Close this page and sign out in the application.")
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error { return endOwn(tx, row, claims, in.Cookie) })
	if err != nil {
		return out, fmt.Errorf("login: end the session %s: %w", claims.Session, err)
	}
	s.Changed(ctx)
	out.Ended = true
	if in.To == "" || !isRegistered(row.LogoutURIs, in.To) {
		return out, nil
	}
	if out.Client.Unclaimed {
		out.Client.Site = hostOf(in.To)
	}
	u, err := url.Parse(in.To)
	if err != nil || in.State == "" {
		out.Back = in.To
		return out, nil //nolint:nilerr // it is registered in exactly this form
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += url.Values{"state": {in.State}}.Encode()
	out.Back = u.String()
	return out, nil
}
