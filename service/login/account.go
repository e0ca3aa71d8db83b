package login

import (
	"context"
	"fmt"
	"slices"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
)

// freshFor is how long after a sign-in a user may link or unlink a provider, or delete
// their account.
const freshFor = 10 * time.Minute

// CodeSignInAgain is the code of errors for a user whose sign-in is too long ago, or who
// has no session.
const CodeSignInAgain = "sign_in_again"

var (
	errNoSession = fault.New(fault.Unauthenticated, CodeSignInAgain, "You aren't signed in here. Sign in first.").
			Worded("not_signed_in")
	errNotFresh = fault.New(fault.Forbidden, CodeSignInAgain, "Sign in again first. You last signed in more than "+
		"ten minutes ago.").Worded("sign_in_too_old")
	errNoAccount = fault.New(fault.Forbidden, "no_account", "You don't have an account here. Sign in to the "+
		"application first.")
)

// Account is an end user's own view of their account, on the account page of an app client.
type Account struct {
	Client     Look
	Name       string
	Email      string
	Session    string // id of this browser's
	Fresh      bool   // signed in recently enough to link a provider or to delete the account
	Identities []Linked
	Sessions   []contract.UserSession // at all app clients of the tenant
	Consents   []Consent
}

// Linked is a provider that an end user can sign in with.
type Linked struct {
	Key       string // names it to Unlink
	Label     string
	Since     time.Time
	MayUnlink bool
}

// accountURI is the URL of a client's account page. It takes the place of the redirect
// URI in sign-ins to that page, and is registered for no client.
func (s *Service) accountURI(clientID string) string { return s.Issuer(clientID) + "/account" }

// Account returns the account of the user whose session the cookie is. Unauthenticated
// sign_in_again without one.
func (s *Service) Account(ctx context.Context, clientID, cookie string) (Account, error) {
	client, err := s.client(ctx, clientID)
	if err != nil {
		return Account{}, err
	}
	tx, now := s.DB.Read(ctx), models.Now()
	own, live, err := hostedBy(tx, client.ID, cookie, now)
	if err != nil {
		return Account{}, fmt.Errorf("login: the account page of %s: %w", client.ID, err)
	}
	if !live {
		return Account{}, errNoSession
	}
	out := Account{
		Email:   own.user.Email,
		Session: own.ID,
		Fresh:   now.Sub(own.CreatedAt) <= freshFor,
	}
	if err := s.fillAccount(tx, client, own, &out); err != nil {
		return Account{}, fmt.Errorf("login: the account page of %s: %w", client.ID, err)
	}
	return out, nil
}

func (s *Service) fillAccount(tx *models.Tx, client models.AppClient, own hosted, out *Account) error {
	var err error
	if out.Client, err = s.lookOf(tx, client, ""); err != nil {
		return err
	}
	out.Name = out.Client.nameOf(own.user.Name)
	unclaimed := out.Client.Unclaimed // as are all app clients of the tenant
	sessions, err := sessionsOf(tx, own.user.ID, models.Page{Limit: models.MaxLimit}, unclaimed)
	if err != nil {
		return err
	}
	out.Sessions = sessions.Items
	if out.Consents, err = consentsOf(tx, own.user.ID, unclaimed); err != nil {
		return err
	}
	identities, err := tx.IdentitiesOf(own.user.ID)
	if err != nil {
		return err
	}
	for _, one := range identities {
		linked := Linked{Key: identityKey(one), Label: one.Issuer, Since: one.CreatedAt}
		if linked.MayUnlink, err = mayUnlink(tx, identities, linked.Key); err != nil {
			return err
		}
		switch provider, err := tx.ProviderByID(one.ProviderID); {
		case err == nil:
			linked.Label = appclients.PublicLabel(provider, unclaimed)
		case !isAbsent(err):
			return err
		}
		out.Identities = append(out.Identities, linked)
	}
	return nil
}

// byCookie returns a function that finds the end user whose session at a client the cookie
// is. fresh demands that they have signed in recently.
func byCookie(clientID, cookie string, fresh bool) func(*models.Tx) (subject, error) {
	return func(tx *models.Tx) (subject, error) {
		now := models.Now()
		own, live, err := hostedBy(tx, clientID, cookie, now)
		if err != nil {
			return subject{}, err
		}
		if !live {
			return subject{}, errNoSession
		}
		if fresh && now.Sub(own.CreatedAt) > freshFor {
			return subject{}, errNotFresh
		}
		tenant, team, err := access.TenantAndTeam(tx, own.user.TenantID)
		return subject{own.user, tenant, team}, err
	}
}

// EndOwnSession ends one of the sessions of the user whose session the cookie is.
func (s *Service) EndOwnSession(ctx context.Context, clientID, cookie, session string) error {
	return s.end(ctx, access.Principal{}, byCookie(clientID, cookie, false), endingSession(session))
}

// EndOwnSessions ends all sessions of the user whose session the cookie is.
func (s *Service) EndOwnSessions(ctx context.Context, clientID, cookie string) error {
	var ended int64
	return s.end(ctx, access.Principal{}, byCookie(clientID, cookie, false), endingAll(&ended))
}

// WithdrawOwnConsent withdraws a consent of the user whose session the cookie is.
func (s *Service) WithdrawOwnConsent(ctx context.Context, clientID, cookie, from string) error {
	return s.end(ctx, access.Principal{}, byCookie(clientID, cookie, false), s.withdrawing(ctx, from))
}

// FreshUser returns the id of the user whose session the cookie is, for the deletion of
// their account. Forbidden sign_in_again if their sign-in is too long ago.
func (s *Service) FreshUser(ctx context.Context, clientID, cookie string) (string, error) {
	user, err := byCookie(clientID, cookie, true)(s.DB.Read(ctx))
	if err != nil {
		return "", fmt.Errorf("login: the user of a session at %s: %w", clientID, err)
	}
	return user.ID, nil
}

// AccountSignIn is a request to sign in to the account page.
type AccountSignIn struct {
	ClientID  string
	Browser   string // secret of the browser's cookie; see NewBrowser
	UserAgent string
	Link      bool   // add the provider to the account of Cookie
	Cookie    string // of the user's session

	Invitation string // code of the invitation link that the sign-in began with, "" for none
}

// BeginAccount begins a sign-in to the account page. With Link, the identity that signs in
// is added to the account of the user who is signed in: they have proven both.
func (s *Service) BeginAccount(ctx context.Context, in AccountSignIn) (Attempt, error) {
	client, err := s.client(ctx, in.ClientID)
	if err != nil {
		return Attempt{}, err
	}
	options, err := s.enabledProviders(ctx, client.ID)
	if err != nil {
		return Attempt{}, err
	}
	look, err := s.lookOf(s.DB.Read(ctx), client, "")
	if err != nil {
		return Attempt{}, err
	}
	now := models.Now()
	attempt := models.LoginAttempt{
		ID:          models.NewID("lgn"),
		ClientID:    client.ID,
		BrowserHash: secrets.Digest(in.Browser),
		RedirectURI: s.accountURI(client.ID),
		Prompt:      "select_account",
		UserAgent:   shortened(in.UserAgent),
		CreatedAt:   now,
		ExpiresAt:   now.Add(attemptTTL),
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if in.Invitation != "" {
			seat, err := invitedBy(tx, client, in.Invitation)
			if err != nil {
				return err
			}
			attempt.InvitationHash = seat.InvitationHash
		}
		if in.Link {
			user, err := byCookie(client.ID, in.Cookie, true)(tx)
			if err != nil {
				return err
			}
			attempt.LinkUser = user.ID
		}
		return tx.Insert(&attempt)
	})
	if err != nil {
		return Attempt{}, fmt.Errorf("login: begin a sign-in to the account page: %w", err)
	}
	return Attempt{ID: attempt.ID, Client: look, Providers: options}, nil
}

// enterAccount finishes a sign-in to the account page: by the identity's user, by taking the
// seat of an invitation link, or by adding the identity to the user who is signed in. It
// creates no user, and the application learns nothing, so that no consent is needed.
func (s *Service) enterAccount(
	ctx context.Context, attempt models.LoginAttempt, client models.AppClient, entry ticket, cookie string,
) (Finished, error) {
	out := Finished{Back: Back{URL: s.accountURI(client.ID)}}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := lockForSignIn(tx, client.TenantID, entry); err != nil {
			return err
		}
		now := models.Now()
		finished, err := tx.FinishLoginAttempt(attempt.ID, now)
		if err != nil {
			return err
		}
		if !finished {
			return errAnswered
		}
		if attempt.LinkUser != "" {
			return s.link(tx, attempt, client, entry, cookie, now)
		}
		entry.Identity.Invitation = attempt.InvitationHash
		if entry.Identity.Invitation == nil {
			if _, known, err := directory.FindByIdentity(tx, entry.Identity); err != nil || !known {
				if err == nil {
					err = errNoAccount
				}
				return err
			}
		}
		_, team, err := access.TenantAndTeam(tx, client.TenantID)
		if err != nil {
			return err
		}
		user, err := s.arrive(ctx, tx, client, team, entry, now)
		if err != nil {
			return err
		}
		session := models.LoginSession{
			ID:         models.NewID("ses"),
			ClientID:   client.ID,
			UserID:     user.ID,
			ProviderID: entry.Identity.Provider,
			CreatedAt:  now,
			UserAgent:  attempt.UserAgent,
			ExpiresAt:  now.Add(hostedMax),
		}
		out.Cookie = hostedCookie(attempt, &session)
		recorded(entry.Authentication, &session)
		return tx.Insert(&session)
	})
	if err != nil {
		return Finished{}, fmt.Errorf("login: sign in to the account page: %w", err)
	}
	return out, nil
}

// link adds an identity to the user of an attempt, if they are still signed in here.
func (s *Service) link(
	tx *models.Tx, attempt models.LoginAttempt, client models.AppClient, entry ticket, cookie string, now time.Time,
) error {
	user, err := byCookie(client.ID, cookie, false)(tx)
	if err != nil {
		return err
	}
	if user.ID != attempt.LinkUser {
		return errOtherBrowser
	}
	// Locked, so that a user who is being frozen or deleted gets no identity.
	if row, err := tx.LockEndUser(user.ID); err != nil || row.State != directory.Active {
		return errNoSession.Because(err)
	}
	added, err := tx.AddIdentity(models.Identity{
		TenantID:   client.TenantID,
		Issuer:     entry.Identity.Issuer,
		Subject:    entry.Identity.Subject,
		UserID:     user.ID,
		ProviderID: entry.Identity.Provider,
		CreatedAt:  now,

		DirectoryID: entry.Identity.DirectoryID,
	})
	if err != nil {
		return err
	}
	if !added {
		all, err := tx.IdentitiesOf(user.ID)
		own := slices.ContainsFunc(all, func(one models.Identity) bool {
			return one.Issuer == entry.Identity.Issuer && one.Subject == entry.Identity.Subject
		})
		if err != nil || own {
			return err
		}
		return directory.ErrIdentityTaken
	}
	return access.Record(tx, access.Principal{}, access.Entry{
		Action: access.UserUpdate,
		Object: user.ID,
		Name:   directory.NameOf(user.EndUser),
		Team:   user.team,
		Detail: map[string]string{"tenant": user.TenantID, "by": "user"},
		After:  struct{ LinkedProvider string }{entry.Identity.Provider},
	})
}
