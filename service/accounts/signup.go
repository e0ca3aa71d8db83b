package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/access"
)

// SignUp is the form of a new account.
type SignUp struct {
	Email    string
	Name     string
	Password string
	From     From
}

// Ticket permits a sign-up if sign-ups are restricted: it has the code of an invitation, or the claim code of a
// workspace. Anyone who may create a workspace (POSTERN_ANONYMOUS) may also claim it. The zero Ticket permits nothing.
type Ticket struct {
	Invitation string
	Claim      string
}

// MinPassword counts characters. maxPassword counts bytes and bounds the work
// of hashing.
const (
	MinPassword = 12
	maxPassword = 256
	maxEmail    = 254 // RFC 5321, 4.5.3.1.3, without the angle brackets
	maxName     = 80  // characters
)

func (in SignUp) normalized() (SignUp, error) {
	var wrong []fault.Field
	in.Email = ascii.Lower(strings.TrimSpace(in.Email))
	if !validEmail(in.Email) {
		wrong = append(wrong, fault.Field{
			Pointer: "/email",
			Code:    "invalid_email",
			Detail:  "Enter a valid email address.",
		})
	}
	var nameWrong []fault.Field
	in.Name, nameWrong = normalizeName(in.Name)
	wrong = append(append(wrong, nameWrong...), checkPassword("/password", in.Password)...)
	return in, fault.InvalidFields(wrong)
}

func validEmail(email string) bool {
	a, err := mail.ParseAddress(email)
	return err == nil && a.Address == email && len(email) <= maxEmail
}

func normalizeName(name string) (string, []fault.Field) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || strings.ContainsFunc(name, Unprintable) {
		return name, []fault.Field{{
			Pointer: "/name",
			Code:    "invalid_name",
			Detail:  fmt.Sprintf("Enter a name of 1 to %d characters.", maxName),
		}}
	}
	return name, nil
}

func checkPassword(pointer, password string) []fault.Field {
	if n := utf8.RuneCountInString(password); n >= MinPassword && len(password) <= maxPassword {
		return nil
	}
	return []fault.Field{{Pointer: pointer, Code: "invalid_password",
		Detail: fmt.Sprintf("Use at least %d characters and at most %d bytes.", MinPassword, maxPassword)}}
}

// MaySignUp returns nil if an account can be created with the ticket. Forbidden
// signup_closed, or what is wrong with the ticket.
func (s *Service) MaySignUp(ctx context.Context, ticket Ticket) error {
	_, err := s.admit(s.DB.Read(ctx), ticket)
	return err
}

// admission is the right that a ticket gives, which creating an account uses up. It is zero where sign-up is open.
type admission struct {
	invitation *models.Invitation
	workspace  string // id of the team whose claim code it is
	proven     string // address that a provider has verified, "" for none
	vouched    string // the same, or one that counts for an invitation; see vouches
}

var errCodeUsed = fault.New(
	fault.Forbidden, "signup_closed",
	"An account was already created with this claim code. Sign in to that account to claim the workspace.",
)

var errFirstAccount = fault.New(
	fault.Forbidden, "signup_closed",
	"To create the first account, use the link that the server printed when it started.",
)

// admit returns the admission of a ticket, or why an account cannot be created.
func (s *Service) admit(tx *models.Tx, ticket Ticket) (admission, error) {
	none := admission{}
	if s.Policy == config.SignUpClosed {
		return none, fault.New(fault.Forbidden, "signup_closed", "This installation doesn't allow new accounts. Sign "+
			"in with an existing account.")
	}
	if n, err := tx.CountAccounts(); err != nil || n == 0 {
		// The first account is an operator's: only the person who started the server has the link.
		return none, cmp.Or[error](err, errFirstAccount)
	}
	if ticket.Invitation != "" {
		invitation, err := openInvitation(tx, ticket.Invitation)
		return admission{invitation: &invitation}, err
	}
	if s.Policy == config.SignUpOpen {
		return none, nil
	}
	if ticket.Claim != "" {
		workspace, err := unclaimed(tx, ticket.Claim)
		if err == nil && workspace.SignedUpID != nil {
			err = errCodeUsed
		}
		return admission{workspace: workspace.ID}, err
	}
	return none, fault.New(fault.Forbidden, "signup_closed", "You need an invitation to create an account here. Ask "+
		"a team owner for a link.")
}

// SignUp creates an account with a password, signs it in and returns the session's secret. With an invitation the
// account joins that team, otherwise it gets its own team. Errors, in addition to those of MaySignUp: Conflict
// email_taken, Invalid for the form's fields, TooMany.
func (s *Service) SignUp(ctx context.Context, in SignUp, ticket Ticket) (session string, err error) {
	in, err = in.normalized()
	if err != nil {
		return "", err
	}
	if !s.throttle.allow(attempt{kind: "signup", subject: in.Email, from: in.From}, models.Now()) {
		return "", tooMany("sign up")
	}
	// Hashing is expensive, so both are checked before it, and again in the transaction.
	read := s.DB.Read(ctx)
	with, err := s.admit(read, ticket)
	if err != nil {
		return "", err
	}
	// a password proves no address
	if with.invitation != nil && with.invitation.Email != "" && !with.invitation.ByMail {
		return "", s.unproven(*with.invitation)
	}
	if _, err := read.AccountByEmail(in.Email); !errors.Is(err, models.ErrNotFound) {
		return "", cmp.Or[error](err, emailTaken())
	}
	encoded, err := s.PasswordCost.hash(ctx, in.Password)
	if err != nil {
		return "", err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		with, err := s.admit(tx, ticket)
		if err != nil {
			return err
		}
		account, err := s.newAccount(tx, models.Account{
			Email:        in.Email,
			Name:         in.Name,
			PasswordHash: encoded,
		}, with, in.From, models.Now())
		if err != nil {
			return err
		}
		session, err = newSession(tx, account.ID, in.From)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: sign up: %w", err)
	}
	return session, nil
}

// emailTaken discloses that an address has an account. Without sending mail this cannot be
// avoided; attempts are throttled.
func emailTaken() error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   "email_taken",
		Public: "An account with this address already exists.",
		Fields: []fault.Field{{
			Pointer: "/email",
			Code:    "email_taken",
			Detail:  "Sign in to that account, or use another address.",
		}},
	}
}

// newAccount inserts an account and its membership: in the team that it was invited to, or
// in a new team.
func (s *Service) newAccount(
	tx *models.Tx,
	account models.Account,
	with admission,
	from From,
	now time.Time,
) (models.Account, error) {
	account.ID, account.CreatedAt = models.NewID("acc"), now
	// An operator, who had the link that the server printed, and who was invited are no strangers.
	account.EmailUnproven = !account.Operator && with.invitation == nil && with.proven == ""
	err := tx.Insert(&account)
	if errors.Is(err, models.ErrDuplicate) {
		return account, emailTaken()
	}
	if err != nil {
		return account, err
	}
	p := from.as(account.ID)
	if err := access.Record(tx, p, access.Entry{
		Action: access.AccountCreate,
		Object: account.ID,
		Name:   account.Email,
		After:  account,
	}); err != nil {
		return account, err
	}
	if with.invitation != nil {
		if err := s.checkInvited(tx, account, *with.invitation, with.vouched); err != nil {
			return account, err
		}
		return account, join(tx, p, account, *with.invitation, now)
	}
	if with.workspace != "" {
		// If two sign-ups use one code at once, one is refused.
		if used, err := tx.SignUpWithTeam(with.workspace, account.ID); err != nil || !used {
			return account, cmp.Or[error](err, errCodeUsed)
		}
	}
	team := models.Team{ID: models.NewID("team"), Name: account.Name, ClaimedAt: &now, CreatedAt: now}
	return account, tx.Insert(&team, &models.Membership{
		TeamID:    team.ID,
		AccountID: account.ID,
		Role:      string(access.Owner),
		CreatedAt: now,
	})
}

// ChangePassword sets the account's password, and ends its other sessions. old must be the
// present password, if there is one. revokeTokens deletes the account's access tokens too.
func (s *Service) ChangePassword(
	ctx context.Context,
	p access.Principal,
	old, password string,
	revokeTokens bool,
) error {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return err
	}
	if err := fault.InvalidFields(checkPassword("/password", password)); err != nil {
		return err
	}
	if !s.throttle.allowSignedIn(attemptPassword, p, models.Now()) {
		return tooMany("change the password")
	}
	account, err := s.DB.Read(ctx).AccountByID(p.Account)
	if err != nil {
		return fmt.Errorf("accounts: change the password of %s: %w", p.Account, err)
	}
	if account.PasswordHash != "" {
		ok, err := len(old) <= maxPassword, error(nil)
		if ok {
			ok, err = s.PasswordCost.verify(ctx, account.PasswordHash, old)
		}
		if err != nil {
			return err
		}
		if !ok {
			return fault.InvalidField("/old_password", "wrong_password", "This isn't your current password.")
		}
	}
	encoded, err := s.PasswordCost.hash(ctx, password)
	if err != nil {
		return err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now, err := tx.HoldAccount(p.Account)
		if err != nil {
			return err
		}
		if now.PasswordHash != account.PasswordHash { // another change came first
			return fault.New(fault.Stale, "changed_concurrently", "The password was changed by another request. Try "+
				"again.")
		}
		if err := tx.SetPassword(p.Account, encoded); err != nil {
			return err
		}
		if _, err := tx.DeleteTokensExcept(kindSession, p.Account, p.Token); err != nil {
			return err
		}
		if revokeTokens {
			if err := tx.DeleteAccessTokensOf(p.Account); err != nil {
				return err
			}
		}
		before := now
		now.PasswordHash = encoded
		return recordSelf(tx, p, p.Account, before, now)
	})
	if err != nil {
		return fmt.Errorf("accounts: change the password of %s: %w", p.Account, err)
	}
	s.throttle.forgetSignedIn(attemptPassword, p)
	return nil
}
