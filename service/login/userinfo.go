package login

import (
	"context"
	"errors"
	"fmt"

	"postern/models"
	"postern/platform/fault"
)

var errBearer = fault.New(fault.Unauthenticated, "invalid_token", "the access token isn't valid here or has expired, "+
	"or its session has ended")

// UserInfo returns the user's claims to the bearer of an access token (OpenID Connect
// Core 1.0, 5.3).
func (s *Service) UserInfo(ctx context.Context, clientID, token string) (subject string, claims UserClaims, err error) {
	tx := s.DB.Read(ctx)
	user, scope, err := s.bearer(ctx, tx, clientID, token)
	if err != nil {
		return "", UserClaims{}, fmt.Errorf("login: userinfo: %w", err)
	}
	groups, err := groupsOf(tx, user)
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
		return "", fault.New(fault.Forbidden, "insufficient_scope", "The access token doesn't have the scope %s. "+
			"Request this scope at sign-in.", ManagesGroups)
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
