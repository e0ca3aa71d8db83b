package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/platform/secrets"
	"postern/service/access"
)

// FederatedTTL is how long a federated sign-in may take from beginning to callback.
const FederatedTTL = 10 * time.Minute

// kindFederated is in the tokens table, and hashed, so its value stays unchanged.
const kindFederated = "trip"

// NewBrowserSecret returns a secret that binds a federated sign-in to the browser that
// keeps it.
func NewBrowserSecret() string { return secrets.Random() }

// BeginFederated begins a federated sign-in, or, with an account, the linking of a new
// identity to it. The attempt is bound to the provider and to the browser that keeps the
// secret. Nonce and verifier are derived from that secret, so that a copy of the
// database does not suffice to finish the attempt. TooMany too_many_attempts.
func (s *Service) BeginFederated(
	ctx context.Context, p access.Principal, provider, browser string, from From,
) (federation.Attempt, error) {
	var allowed bool
	if p.Account != "" {
		allowed = s.throttle.allowSignedIn(attemptLink, p, models.Now())
	} else {
		allowed = s.throttle.allow(federatedAttempt(browser, from), models.Now())
	}
	if !allowed {
		return federation.Attempt{}, tooMany("sign in")
	}
	out := attemptOf(secrets.Random(), browser)
	now := models.Now()
	until := now.Add(FederatedTTL)
	row := models.Token{
		ID:        models.NewID("tok"),
		Kind:      kindFederated,
		Hash:      federatedHash(provider, out.State, browser),
		CreatedAt: now,
		ExpiresAt: &until,
	}
	if p.Account != "" {
		row.AccountID = &p.Account
	}
	if err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.Insert(&row) }); err != nil {
		return federation.Attempt{}, fmt.Errorf("accounts: begin to sign in with %s: %w", provider, err)
	}
	return out, nil
}

func federatedAttempt(browser string, from From) attempt {
	return attempt{kind: "federated", subject: browser, from: from}
}

// attemptOf returns the attempt of a state and a browser, without its redirect URL.
func attemptOf(state, browser string) federation.Attempt {
	derive := func(what string) string {
		sum := sha256.Sum256([]byte(what + "\x00" + browser + "\x00" + state))
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return federation.Attempt{State: state, Nonce: derive("nonce"), Verifier: derive("verifier")}
}

func federatedHash(provider, state, browser string) []byte {
	return secrets.Digest(kindFederated + "\x00" + provider + "\x00" + state + "\x00" + browser)
}

var errAttemptOver = fault.New(
	fault.Unauthenticated, "sign_in_failed",
	"This sign-in has expired, or it was started in another browser. Try again.",
)

// FinishFederated redeems the state of a federated sign-in: once, in time, and only for the browser and the provider
// that it began with. linkTo is the account that requested the link, "" for a sign-in. Unauthenticated sign_in_failed
// otherwise.
func (s *Service) FinishFederated(
	ctx context.Context, provider, state, browser string,
) (attempt federation.Attempt, linkTo string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		row, err := tx.TokenByHash(kindFederated, federatedHash(provider, state, browser), now)
		if errors.Is(err, models.ErrNotFound) || browser == "" {
			return errAttemptOver
		}
		if err != nil {
			return err
		}
		used, err := tx.UseToken(row.ID, now)
		if err == nil && !used {
			err = errAttemptOver
		}
		if row.AccountID != nil {
			linkTo = *row.AccountID
		}
		return err
	})
	if err != nil {
		return federation.Attempt{}, "", fmt.Errorf("accounts: finish signing in with %s: %w", provider, err)
	}
	return attemptOf(state, browser), linkTo, nil
}

// SignInFederated signs in the account that is linked with the identity's issuer and
// subject, or a new one where the ticket allows it, and returns the session's secret. An
// account that merely has the same address is never signed in: Conflict email_taken.
func (s *Service) SignInFederated(
	ctx context.Context, who federation.Identity, ticket Ticket, browser string, from From,
) (session string, err error) {
	who.Email = ascii.Lower(strings.TrimSpace(who.Email))
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		identity, err := tx.LinkedBySubject(who.Issuer, who.Subject)
		switch {
		case errors.Is(err, models.ErrNotFound):
			if identity.AccountID, err = s.signUpFederated(tx, who, ticket, from, now); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if err := tx.TouchLinked(identity.ID, who.Email, who.EmailVerified, now); err != nil {
				return err
			}
			if !who.EmailVerified {
				break
			}
			if err := proved(tx, from.as(identity.AccountID), identity.AccountID, who.Email, identity.ID); err != nil {
				return err
			}
		}
		entry := access.Entry{
			Action: access.AccountSignIn,
			Object: identity.AccountID,
			Detail: map[string]string{"issuer": who.Issuer},
		}
		if err := access.Record(tx, from.as(identity.AccountID), entry); err != nil {
			return err
		}
		session, err = newSession(tx, identity.AccountID, from)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: sign in with %s: %w", who.Issuer, err)
	}
	s.throttle.forget(federatedAttempt(browser, from))
	return session, nil
}

// signUpFederated creates an account for an identity that is not linked yet.
func (s *Service) signUpFederated(
	tx *models.Tx, who federation.Identity, ticket Ticket, from From, now time.Time,
) (account string, err error) {
	if _, err := tx.AccountByEmail(who.Email); err == nil {
		return "", fault.New(
			fault.Conflict, "email_taken",
			"An account with the email address %s exists, but this sign-in isn't linked to it. Sign in to the "+
				"account as usual, then link this sign-in under Linked sign-ins in Account settings.",
			who.Email,
		)
	} else if !errors.Is(err, models.ErrNotFound) {
		return "", err
	}
	with, err := s.admit(tx, ticket)
	if err != nil {
		return "", err
	}
	if who.EmailVerified {
		with.proven = who.Email
	}
	if s.vouches(who.Issuer, who.EmailVerified) {
		with.vouched = who.Email
	}
	if !validEmail(who.Email) {
		return "", fault.New(
			fault.Forbidden, "email_missing",
			"An account requires an email address, but the provider didn't send yours. Allow the provider to share "+
				"it, then try again.",
		)
	}
	name, wrong := normalizeName(who.Name)
	if len(wrong) > 0 {
		name = who.Email[:min(len(who.Email), maxName)]
	}
	made, err := s.newAccount(tx, models.Account{Email: who.Email, Name: name}, with, from, now)
	if err != nil {
		return "", err
	}
	identity := newIdentity(made.ID, who, now)
	return made.ID, tx.Insert(&identity)
}
