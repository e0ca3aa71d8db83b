package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode/utf8"

	"postern/access"
	"postern/fault"
	"postern/models"
)

var errLinkUsed = fault.New(fault.Gone, "link_used", "This sign-in link has been used or has expired.")

// SignUp is the form of the first account.
type SignUp struct {
	Email    string
	Name     string
	Password string
}

// FirstLink makes the one-time link of an installation without accounts; ""
// once there is one. Links of earlier starts stop working.
func (s *Service) FirstLink(ctx context.Context) (code string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := tx.LockAccounts(); err != nil { // replicas that start together must not leave two links
			return err
		}
		n, err := tx.CountAccounts()
		if err != nil || n > 0 {
			return err
		}
		if err := tx.DeleteTokens(kindLink); err != nil {
			return err
		}
		code = newSecret()
		now := models.Now()
		until := now.Add(linkTTL)
		return tx.Insert(&models.Token{ID: models.NewID("tok"), Kind: kindLink, Hash: hash(code), CreatedAt: now, ExpiresAt: &until})
	})
	if err != nil {
		return "", fmt.Errorf("accounts: make the first sign-in link: %w", err)
	}
	return code, nil
}

// LinkValid tells whether a one-time link can still be used.
func (s *Service) LinkValid(ctx context.Context, code string) (bool, error) {
	_, err := s.DB.Read(ctx).TokenByHash(kindLink, hash(code), models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("accounts: look up a sign-in link: %w", err)
	}
	return true, nil
}

// Begun tells whether the installation has an account, after which no one-time
// link works any more.
func (s *Service) Begun(ctx context.Context) (bool, error) {
	n, err := s.DB.Read(ctx).CountAccounts()
	if err != nil {
		return false, fmt.Errorf("accounts: count: %w", err)
	}
	return n > 0, nil
}

// UseLink makes the installation's first account, the owner of a new team, and
// signs it in. A link works once; of several at a time one wins.
func (s *Service) UseLink(ctx context.Context, code string, in SignUp) (session string, err error) {
	in, err = in.normalized()
	if err != nil {
		return "", err
	}
	// Before the password is hashed, which costs so much that nobody without a
	// link may ask for it; it is looked at again below.
	if valid, err := s.LinkValid(ctx, code); err != nil || !valid {
		return "", errors.Join(err, errLinkUsed)
	}
	encoded, err := hashPassword(ctx, in.Password)
	if err != nil {
		return "", err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		if err := tx.LockAccounts(); err != nil {
			return err
		}
		if n, err := tx.CountAccounts(); err != nil || n > 0 {
			return errors.Join(err, errLinkUsed)
		}
		link, err := tx.TokenByHash(kindLink, hash(code), now)
		if errors.Is(err, models.ErrNotFound) {
			return errLinkUsed
		}
		if err != nil {
			return err
		}
		won, err := tx.UseToken(link.ID, now)
		if err != nil {
			return err
		}
		if !won {
			return errLinkUsed
		}
		account := models.Account{ID: models.NewID("acc"), Email: in.Email, Name: in.Name, PasswordHash: encoded, Operator: true, CreatedAt: now}
		claimed := now
		team := models.Team{ID: models.NewID("team"), Name: in.Name, ClaimedAt: &claimed, CreatedAt: now}
		err = tx.Insert(&account, &team,
			&models.Membership{TeamID: team.ID, AccountID: account.ID, Role: string(access.Owner), CreatedAt: now})
		if err != nil {
			return err
		}
		if err := recordOperator(tx, access.Principal{Account: account.ID}, account, true); err != nil {
			return err
		}
		session, err = newSession(tx, account.ID)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: use a sign-in link: %w", err)
	}
	return session, nil
}

// MinPassword counts characters. maxPassword counts bytes and bounds the work
// of hashing.
const (
	MinPassword = 12
	maxPassword = 256
	maxEmail    = 254 // RFC 5321, 4.5.3.1.3, without the angle brackets
)

func (in SignUp) normalized() (SignUp, error) {
	var wrong []fault.Field
	in.Email = strings.ToLower(strings.TrimSpace(in.Email))
	if a, err := mail.ParseAddress(in.Email); err != nil || a.Address != in.Email || len(in.Email) > maxEmail {
		wrong = append(wrong, fault.Field{Pointer: "/email", Code: "invalid_email", Detail: "This is not an e-mail address."})
	}
	in.Name = strings.TrimSpace(in.Name)
	if n := utf8.RuneCountInString(in.Name); n == 0 || n > 80 || strings.ContainsFunc(in.Name, Unprintable) {
		wrong = append(wrong, fault.Field{Pointer: "/name", Code: "invalid_name", Detail: "Give a name of 1 to 80 characters."})
	}
	if n := utf8.RuneCountInString(in.Password); n < MinPassword || len(in.Password) > maxPassword {
		wrong = append(wrong, fault.Field{Pointer: "/password", Code: "invalid_password",
			Detail: fmt.Sprintf("Use at least %d characters (and at most %d bytes).", MinPassword, maxPassword)})
	}
	return in, fault.InvalidFields(wrong)
}

// SignIn checks a password and begins a session. A wrong address and a wrong
// password are told apart neither by the answer nor by its time.
func (s *Service) SignIn(ctx context.Context, email, password, remoteAddr string) (session string, err error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if len(email) > maxEmail {
		email = email[:maxEmail+1] // still nobody's, and cheap to count
	}
	if !s.throttle.allow(email, remoteAddr, models.Now()) {
		return "", fault.New(fault.TooMany, "too_many_attempts", "Too many attempts to sign in. Wait a quarter of an hour and try again.")
	}
	account, err := s.DB.Read(ctx).AccountByEmail(email)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return "", fmt.Errorf("accounts: sign in: %w", err)
	}
	encoded := account.PasswordHash
	if err != nil || len(password) > maxPassword {
		encoded = decoyHash
	}
	ok, err := verifyPassword(ctx, encoded, password)
	if err != nil {
		return "", err
	}
	if !ok || account.ID == "" {
		return "", fault.New(fault.Unauthenticated, "wrong_password", "E-mail address or password is wrong.")
	}
	s.throttle.forget(email, remoteAddr)
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		session, err = newSession(tx, account.ID)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: begin a session: %w", err)
	}
	return session, nil
}

func newSession(tx *models.Tx, account string) (string, error) {
	secret, now := newSecret(), models.Now()
	until := now.Add(SessionTTL)
	return secret, tx.Insert(&models.Token{ID: models.NewID("ses"), Kind: kindSession, AccountID: &account, Hash: hash(secret), CreatedAt: now, ExpiresAt: &until})
}

// SignOut ends a session; ending one that is over is not an error.
func (s *Service) SignOut(ctx context.Context, session string) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		token, err := tx.TokenByHash(kindSession, hash(session), models.Now())
		if errors.Is(err, models.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accounts: sign out: %w", err)
		}
		return tx.DeleteToken(token.ID)
	})
}
