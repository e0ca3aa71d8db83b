package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// EmailConfirmationTTL is the lifetime of a link that confirms a new email address.
const EmailConfirmationTTL = time.Hour

var errConfirmationOver = fault.New(fault.Gone, "link_used",
	"This link has expired, has already been used, or was replaced by a newer one. Request a new link.")

// ProfileOf returns an account's profile.
func (s *Service) ProfileOf(ctx context.Context, account string) (contract.AccountProfile, error) {
	var none contract.AccountProfile
	tx := s.DB.Read(ctx)
	row, err := tx.AccountByID(account)
	if err != nil {
		return none, fmt.Errorf("accounts: profile of %s: %w", account, err)
	}
	out := contract.AccountProfile{Account: contract.Account{ID: row.ID, Name: row.Name, Email: row.Email}}
	links, err := tx.TokensOf(kindEmail, account, models.Now())
	if err != nil {
		return none, fmt.Errorf("accounts: profile of %s: %w", account, err)
	}
	for _, link := range links {
		out.UnconfirmedEmail = link.Email
	}
	return out, nil
}

// UpdateProfile changes the caller's account. If this installation sends mail, a new address counts once the link that
// is mailed to it has been opened; until then it is UnconfirmedEmail. Elsewhere it counts at once. A new address needs
// the password, because links that set a new one are mailed there; an account without a password needs a session that
// began within freshFor. Errors: Invalid, also email_taken; Conflict sign_in_again, TooMany.
func (s *Service) UpdateProfile(
	ctx context.Context, p access.Principal, request contract.AccountUpdate,
) (contract.AccountProfile, error) {
	var none contract.AccountProfile
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return none, err
	}
	in, err := normalizedChange(request.Body)
	if err != nil {
		return none, err
	}
	read := s.DB.Read(ctx)
	account, err := read.AccountByID(p.Account)
	if err != nil {
		return none, fmt.Errorf("accounts: change %s: %w", p.Account, err)
	}
	if in.Email != nil && *in.Email == account.Email {
		in.Email = nil
	}
	if in.Email != nil {
		err := s.provesItself(ctx, p, account, in.Password.Reveal(), "change your email address")
		if err != nil {
			return none, err
		}
		if _, err := read.AccountByEmail(*in.Email); !errors.Is(err, models.ErrNotFound) {
			return none, cmp.Or[error](err, anothersEmail())
		}
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error { return s.changeProfile(ctx, tx, p, in) })
	if err != nil {
		return none, fmt.Errorf("accounts: change %s: %w", p.Account, err)
	}
	return s.ProfileOf(ctx, p.Account)
}

func normalizedChange(in contract.AccountChange) (contract.AccountChange, error) {
	var wrong []fault.Field
	if in.Name != nil {
		name, fields := normalizeName(*in.Name)
		in.Name, wrong = &name, fields
	}
	if in.Email != nil {
		email := ascii.Lower(strings.TrimSpace(*in.Email))
		in.Email = &email
		if !validEmail(email) {
			wrong = append(wrong, fault.Field{
				Pointer: "/email",
				Code:    "invalid_email",
				Detail:  "Enter a valid email address.",
			})
		}
	}
	return in, fault.InvalidFields(wrong)
}

func (s *Service) changeProfile(
	ctx context.Context, tx *models.Tx, p access.Principal, in contract.AccountChange,
) error {
	before, err := tx.HoldAccount(p.Account)
	if err != nil {
		return err
	}
	after := before
	if in.Name != nil {
		after.Name = *in.Name
	}
	if in.Email != nil && s.SendsMail() {
		if err := s.mailConfirmation(ctx, tx, p.Account, *in.Email); err != nil {
			return err
		}
	} else if in.Email != nil {
		after.Email, after.EmailUnproven = *in.Email, true
	}
	return saveProfile(tx, p, before, after)
}

// saveProfile writes the name and the address of an account. Links that were mailed to its old address stop
// working.
func saveProfile(tx *models.Tx, p access.Principal, before, after models.Account) error {
	if before == after {
		return nil
	}
	err := tx.SetProfile(after)
	if errors.Is(err, models.ErrDuplicate) {
		return anothersEmail()
	}
	if err == nil && before.Email != after.Email {
		_, err = tx.DeleteTokensExcept(kindRecovery, after.ID, "")
	}
	if err != nil {
		return err
	}
	return recordSelf(tx, p, after.ID, before, after)
}

// mailConfirmation replaces the account's links for a new address by one. Its code is set when it is mailed.
func (s *Service) mailConfirmation(ctx context.Context, tx *models.Tx, account, email string) error {
	if _, err := tx.DeleteTokensExcept(kindEmail, account, ""); err != nil {
		return err
	}
	now := models.Now()
	until := now.Add(EmailConfirmationTTL)
	link := models.Token{
		ID:        models.NewID("tok"),
		Kind:      kindEmail,
		AccountID: &account,
		Email:     email,
		Hash:      secrets.Digest(secrets.Random()),
		CreatedAt: now,
		ExpiresAt: &until,
	}
	if err := tx.Insert(&link); err != nil {
		return err
	}
	return s.Mail.Jobs.EnqueueConfirmation(ctx, tx, link.ID)
}

// UnconfirmedEmail returns the address that a link confirms, "" if the link does not work.
func (s *Service) UnconfirmedEmail(ctx context.Context, code string) (string, error) {
	link, err := s.DB.Read(ctx).TokenByHash(kindEmail, secrets.Digest(code), models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("accounts: look up a link for a new address: %w", err)
	}
	return link.Email, nil
}

// ConfirmEmail sets the email address of the account that a link is for, and mails its old address that it
// changed. If the old one was unproven, all sessions end, with other access (proved). A link works once. It needs no
// session: the request for it was made with the password. Errors: Gone link_used, Invalid email_taken.
func (s *Service) ConfirmEmail(ctx context.Context, code string, from From) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		link, err := tx.TokenByHash(kindEmail, secrets.Digest(code), now)
		if errors.Is(err, models.ErrNotFound) || err == nil && link.AccountID == nil {
			return errConfirmationOver
		}
		if err != nil {
			return err
		}
		used, err := tx.UseToken(link.ID, now)
		if err == nil && !used {
			err = errConfirmationOver
		}
		if err != nil {
			return err
		}
		before, err := tx.HoldAccount(*link.AccountID)
		if err != nil {
			return err
		}
		after := before
		after.Email = link.Email
		p := from.as(before.ID)
		if err := saveProfile(tx, p, before, after); err != nil {
			return err
		}
		if err := proved(tx, p, before.ID, link.Email, ""); err != nil || !s.SendsMail() {
			return err
		}
		return s.Mail.Jobs.EnqueueEmailChanged(ctx, tx, before.Email, after.Email)
	})
	if err != nil {
		return fmt.Errorf("accounts: confirm a new address: %w", err)
	}
	return nil
}

func anothersEmail() error {
	return fault.InvalidField("/email", "email_taken", "Another account has this address. Use a different one.")
}
