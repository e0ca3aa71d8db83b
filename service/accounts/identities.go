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
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts/provider"
)

// TripTTL is how long somebody may take to sign in elsewhere.
const TripTTL = 10 * time.Minute

const kindTrip = "trip"

// NewBrowserSecret is what a browser keeps to be known by when it comes back.
func NewBrowserSecret() string { return newSecret() }

// Depart begins an attempt to sign in elsewhere, or with an account to link it.
// It is bound to the provider and to the browser that keeps the secret; nonce and
// verifier are made of that secret, so that nothing kept here could stand in for
// the browser.
func (s *Service) Depart(
	ctx context.Context, p access.Principal, with, browser string, from From,
) (provider.Trip, error) {
	if !s.throttle.allow(trying(browser, from), models.Now()) {
		return provider.Trip{}, tooMany("sign in")
	}
	trip := tripOf(newSecret(), browser)
	now := models.Now()
	until := now.Add(TripTTL)
	row := models.Token{
		ID:        models.NewID("tok"),
		Kind:      kindTrip,
		Hash:      tripHash(with, trip.State, browser),
		CreatedAt: now,
		ExpiresAt: &until,
	}
	if p.Account != "" {
		row.AccountID = &p.Account
	}
	if err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.Insert(&row) }); err != nil {
		return provider.Trip{}, fmt.Errorf("accounts: begin to sign in with %s: %w", with, err)
	}
	return trip, nil
}

func trying(browser string, from From) attempt {
	return attempt{kind: "elsewhere", subject: browser, from: from}
}

func tripOf(state, browser string) provider.Trip {
	derive := func(what string) string {
		sum := sha256.Sum256([]byte(what + "\x00" + browser + "\x00" + state))
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return provider.Trip{State: state, Nonce: derive("nonce"), Verifier: derive("verifier")}
}

func tripHash(with, state, browser string) []byte {
	return hash(kindTrip + "\x00" + with + "\x00" + state + "\x00" + browser)
}

var errTripOver = fault.New(fault.Unauthenticated, "sign_in_failed", "This attempt to sign in is over, or began in "+
	"another browser. Try again.")

// Return ends an attempt: each comes back once, in time, to the browser and the
// provider that it began with. linkTo is the account that asked to be linked, ""
// where somebody signs in.
func (s *Service) Return(
	ctx context.Context, with, state, browser string,
) (trip provider.Trip, linkTo string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		row, err := tx.TokenByHash(kindTrip, tripHash(with, state, browser), now)
		if errors.Is(err, models.ErrNotFound) || browser == "" {
			return errTripOver
		}
		if err != nil {
			return err
		}
		won, err := tx.UseToken(row.ID, now)
		if err == nil && !won {
			err = errTripOver
		}
		if row.AccountID != nil {
			linkTo = *row.AccountID
		}
		return err
	})
	if err != nil {
		return provider.Trip{}, "", fmt.Errorf("accounts: come back from %s: %w", with, err)
	}
	return tripOf(state, browser), linkTo, nil
}

// SignInAs signs in whom a provider vouches for: the account that is linked with
// issuer and subject, or a new one where the ticket lets it be made. An account
// that merely has the same address is never signed in: Conflict email_taken.
func (s *Service) SignInAs(
	ctx context.Context, person provider.Person, ticket Ticket, browser string, from From,
) (session string, err error) {
	person.Email = strings.ToLower(strings.TrimSpace(person.Email))
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		identity, err := tx.LinkedBySubject(person.Issuer, person.Subject)
		switch {
		case errors.Is(err, models.ErrNotFound):
			if identity.AccountID, err = s.welcome(tx, person, ticket, from, now); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if err := tx.TouchLinked(identity.ID, person.Email, person.EmailVerified, now); err != nil {
				return err
			}
		}
		entry := access.Entry{
			Action: access.AccountSignIn,
			Object: identity.AccountID,
			Detail: map[string]string{"issuer": person.Issuer},
		}
		if err := access.Record(tx, from.as(identity.AccountID), entry); err != nil {
			return err
		}
		session, err = newSession(tx, identity.AccountID, from)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: sign in with %s: %w", person.Issuer, err)
	}
	s.throttle.forget(trying(browser, from))
	return session, nil
}

// welcome makes an account for a person whom nobody has linked yet.
func (s *Service) welcome(
	tx *models.Tx, person provider.Person, ticket Ticket, from From, now time.Time,
) (account string, err error) {
	if _, err := tx.AccountByEmail(person.Email); err == nil {
		return "", fault.New(fault.Conflict, "email_taken",
			"There is an account with the address %s that is not linked with this sign-in. Sign in to it as usual, "+
				"then link it under Account settings, Linked sign-ins.", person.Email)
	} else if !errors.Is(err, models.ErrNotFound) {
		return "", err
	}
	with, err := s.admit(tx, ticket)
	if err != nil {
		return "", err
	}
	if person.EmailVerified {
		with.proven = person.Email
	}
	if !validEmail(person.Email) {
		return "", fault.New(fault.Forbidden, "email_missing", "The other side did not tell your e-mail address, "+
			"without which no account can be made.")
	}
	name, wrong := normalizeName(person.Name)
	if len(wrong) > 0 {
		name = person.Email[:min(len(person.Email), maxName)]
	}
	made, err := s.newAccount(tx, models.Account{Email: person.Email, Name: name}, with, from, now)
	if err != nil {
		return "", err
	}
	identity := newIdentity(made.ID, person, now)
	return made.ID, tx.Insert(&identity)
}

func newIdentity(account string, person provider.Person, now time.Time) models.LinkedAccount {
	return models.LinkedAccount{
		ID:            models.NewID("idn"),
		AccountID:     account,
		Issuer:        person.Issuer,
		Subject:       person.Subject,
		Email:         strings.ToLower(strings.TrimSpace(person.Email)),
		EmailVerified: person.EmailVerified,
		CreatedAt:     now,
		SeenAt:        now,
	}
}

// Identity is another way into an account.
type Identity struct {
	ID     string
	Issuer string
	Email  string // as the issuer last said
	SeenAt time.Time
}

// Ways is how an account can be signed in to.
type Ways struct {
	Password   bool
	Identities []Identity
}

// Ways lists how the account can be signed in to.
func (s *Service) Ways(ctx context.Context, p access.Principal) (Ways, error) {
	if err := access.CheckSelf(p, access.AccountRead); err != nil {
		return Ways{}, err
	}
	tx := s.DB.Read(ctx)
	account, err := tx.AccountByID(p.Account)
	if err != nil {
		return Ways{}, fmt.Errorf("accounts: ways into %s: %w", p.Account, err)
	}
	rows, err := tx.LinkedTo(p.Account)
	if err != nil {
		return Ways{}, fmt.Errorf("accounts: ways into %s: %w", p.Account, err)
	}
	out := Ways{Password: account.PasswordHash != ""}
	for _, row := range rows {
		out.Identities = append(out.Identities, Identity{
			ID:     row.ID,
			Issuer: row.Issuer,
			Email:  row.Email,
			SeenAt: row.SeenAt,
		})
	}
	return out, nil
}

// Link makes whom a provider vouches for another way into the account. Conflict
// linked_elsewhere where they have one already.
func (s *Service) Link(ctx context.Context, p access.Principal, person provider.Person) error {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return err
	}
	taken := fault.New(fault.Conflict, "linked_elsewhere", "This sign-in is linked with an account already. Unlink "+
		"it there first.")
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		_, err := tx.LinkedBySubject(person.Issuer, person.Subject)
		if err == nil {
			return taken
		}
		if !errors.Is(err, models.ErrNotFound) {
			return err
		}
		identity := newIdentity(p.Account, person, now)
		if err := tx.Insert(&identity); errors.Is(err, models.ErrDuplicate) {
			return taken
		} else if err != nil {
			return err
		}
		return recordSelf(tx, p, identity.ID, nil, identity)
	})
	if err != nil {
		return fmt.Errorf("accounts: link %s with %s: %w", p.Account, person.Issuer, err)
	}
	return nil
}

// Unlink takes a way into the account away, but never the last: Conflict
// last_sign_in. The account is held, so that two ways cannot go at once.
func (s *Service) Unlink(ctx context.Context, p access.Principal, id string) error {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return err
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		account, err := tx.HoldAccount(p.Account)
		if err != nil {
			return err
		}
		rows, err := tx.LinkedTo(p.Account)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.ID != id {
				continue
			}
			if account.PasswordHash == "" && len(rows) == 1 {
				return fault.New(fault.Conflict, "last_sign_in", "This is the only way you can sign in. Set a "+
					"password or link another one first.")
			}
			return errors.Join(tx.DeleteLinked(id), recordSelf(tx, p, id, row, nil))
		}
		return access.NotFound()
	})
	if err != nil {
		return fmt.Errorf("accounts: unlink %s: %w", id, err)
	}
	return nil
}
