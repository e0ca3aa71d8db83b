package login

import (
	"context"
	"net/url"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
)

// Finished is a sign-in that is complete: the way back to the client, and the cookie of the
// user's session at the hosted pages.
type Finished struct {
	Back   Back
	Cookie secrets.Secret // "" for a test login, whose session belongs to no browser
}

// finish records user, consent and session, once for an attempt, and returns the
// redirect to the client with a code.
func (s *Service) finish(
	ctx context.Context, tx *models.Tx, attempt models.LoginAttempt, client models.AppClient, entry ticket,
) (Finished, error) {
	if err := s.stillOffered(tx, client, attempt.RedirectURI, entry.Identity.Provider); err != nil {
		return Finished{}, err
	}
	if err := lockForSignIn(tx, client.TenantID, entry); err != nil {
		return Finished{}, err
	}
	now := models.Now()
	finished, err := tx.FinishLoginAttempt(attempt.ID, now)
	if err != nil {
		return Finished{}, err
	}
	if !finished {
		return Finished{}, errAnswered
	}
	_, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return Finished{}, err
	}
	user, err := s.arrive(ctx, tx, client, team, entry, now)
	if err != nil {
		return Finished{}, err
	}
	if err := recordConsent(tx, user.ID, client.ID, shared(attempt, entry.Handed), now); err != nil {
		return Finished{}, err
	}
	session := models.LoginSession{
		ID:         models.NewID("ses"),
		ClientID:   client.ID,
		UserID:     user.ID,
		ProviderID: entry.Identity.Provider,
		Scope:      attempt.Scope,
		Resources:  attempt.Resources,
		Nonce:      attempt.Nonce,
		CreatedAt:  now,
		UserAgent:  attempt.UserAgent,
		ExpiresAt:  now.Add(sessionTTL(client)),
	}
	cookie := hostedCookie(attempt, &session)
	recorded(entry.Authentication, &session)
	code, err := s.newCode(tx, team, session.ID, entry.Handed)
	if err != nil {
		return Finished{}, err
	}
	grant := models.LoginGrant{
		Hash:          secrets.Digest(code),
		Kind:          kindCode,
		SessionID:     session.ID,
		RedirectURI:   attempt.RedirectURI,
		CodeChallenge: attempt.CodeChallenge,
		CreatedAt:     now,
		ExpiresAt:     now.Add(codeTTL),
	}
	if err := tx.Insert(&session, &grant); err != nil {
		return Finished{}, err
	}
	return Finished{Back: s.backTo(attempt, url.Values{"code": {code}}), Cookie: cookie}, nil
}

// stillOffered returns an error if a redirect URI was removed, or a provider turned off or removed, since a sign-in
// began: a team's changes apply to sign-ins that are in progress.
func (s *Service) stillOffered(tx *models.Tx, client models.AppClient, redirectURI, provider string) error {
	if redirectURI != s.testLoginURI(client.ID) && !appclients.IsRegistered(client.RedirectURIs, redirectURI) {
		return errRedirectURI
	}
	row, err := tx.ProviderByID(provider)
	if err != nil && !isAbsent(err) {
		return err
	}
	if err != nil || row.AppClientID != client.ID || !row.Enabled {
		return errNotOffered
	}
	return nil
}

// arrive records the user of a sign-in, their groups, and the audit entry and events of both.
func (s *Service) arrive(
	ctx context.Context, tx *models.Tx, client models.AppClient, team string, entry ticket, now time.Time,
) (models.EndUser, error) {
	user, created, err := directory.Provision(tx, entry.Identity, now)
	if err != nil {
		return user, err
	}
	if created {
		err := access.Record(tx, access.Principal{}, access.Entry{
			Action: access.UserArrive,
			Object: user.ID,
			Name:   directory.NameOf(user),
			Team:   team,
			Detail: map[string]string{"provider": entry.Identity.Provider, "client": client.ID},
		})
		if err != nil {
			return user, err
		}
	}
	signIn := directory.SignIn{User: user, Provider: entry.Identity.Provider, First: created, At: now}
	if err := s.emitSignIn(ctx, tx, client, signIn); err != nil {
		return user, err
	}
	return user, s.applyMapped(ctx, tx, client, entry, user, now)
}

// sessionTTL returns how long a session can yield tokens: by refresh tokens, or without a
// sign-in while its cookie lives.
func sessionTTL(client models.AppClient) time.Duration {
	return max(time.Duration(client.RefreshTokenSeconds)*time.Second, hostedMax)
}
