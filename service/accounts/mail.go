package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// Mail sends what accounts are mailed. PublicURL is the only source of links in mail: the Host
// header of a request is the caller's choice.
type Mail struct {
	Sender    MailSender
	Jobs      MailQueue
	PublicURL string // without a trailing slash
}

// MailSender sends one mail.
type MailSender interface {
	Send(ctx context.Context, to, subject, text string) error
}

// MailQueue queues mail in the caller's transaction. Jobs contain no secrets: codes are created when a
// mail is sent.
type MailQueue interface {
	EnqueueRecovery(ctx context.Context, tx *models.Tx, email, remoteAddr string) error
	EnqueueInvitation(ctx context.Context, tx *models.Tx, invitation string) error
	EnqueueConfirmation(ctx context.Context, tx *models.Tx, link string) error
	EnqueueEmailChanged(ctx context.Context, tx *models.Tx, before, after string) error
}

// recoveryPause is the time within which an account is mailed one recovery link at most.
const recoveryPause = 2 * time.Minute

// SendsMail reports whether this installation sends mail.
func (s *Service) SendsMail() bool { return s.Mail != nil }

// RequestRecovery mails a recovery link to the account with an e-mail address. Neither result nor
// timing says whether there is one: the address is looked up when the mail is sent. NotFound if no
// mail is sent here, Invalid, TooMany too_many_attempts.
func (s *Service) RequestRecovery(ctx context.Context, email string, from From) error {
	if !s.SendsMail() {
		return access.NotFound()
	}
	email = ascii.Lower(strings.TrimSpace(email))
	if len(email) > maxEmail || !validEmail(email) {
		return fault.InvalidField("/email", "invalid_email", "This is not an e-mail address.")
	}
	if !s.throttle.allow(attempt{kind: "recover", subject: email, from: from}, models.Now()) {
		return tooMany("ask for a link")
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		return s.Mail.Jobs.EnqueueRecovery(ctx, tx, email, from.RemoteAddr)
	})
	if err != nil {
		return fmt.Errorf("accounts: request a recovery link: %w", err)
	}
	return nil
}

// SendRecovery mails a new recovery link to the account with an e-mail address. It does nothing
// without such an account, or if one was sent a moment ago.
func (s *Service) SendRecovery(ctx context.Context, email, remoteAddr string) error {
	if !s.SendsMail() {
		return nil // configured to send mail when the job was queued
	}
	account, err := s.DB.Read(ctx).AccountByEmail(email)
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("accounts: mail a recovery link: %w", err)
	}
	code := ""
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		recent, err := tx.HasTokenSince(kindRecovery, account.ID, models.Now().Add(-recoveryPause))
		if err != nil || recent {
			return err
		}
		code, err = newRecovery(tx, access.Principal{RemoteAddr: remoteAddr}, account, account.Email)
		return err
	})
	if err != nil {
		return fmt.Errorf("accounts: mail a recovery link: %w", err)
	}
	if code == "" {
		return nil
	}
	err = s.Mail.Sender.Send(ctx, account.Email, "Choose a new password", fmt.Sprintf(recoveryText, s.Mail.PublicURL,
		s.Mail.PublicURL+"/recover/"+code))
	if err == nil {
		return nil
	}
	// The link was not delivered. Without it the next attempt is not taken for one too many.
	forget := s.DB.Write(context.WithoutCancel(ctx), func(tx *models.Tx) error {
		_, err := tx.DeleteTokensExcept(kindRecovery, account.ID, "")
		return err
	})
	return fmt.Errorf("accounts: mail a recovery link: %w", errors.Join(err, forget))
}

const recoveryText = `A new password was requested for your account at
%s

Open this link within an hour to choose it. It works once.

%s

If you did not request it, do nothing: your password stays as it is.
`

// maxInvitationMails bounds the invitations that one account can mail within throttleWindow.
const maxInvitationMails = 20

// SendInvitation mails an invitation with a new code. It does nothing for one that is over.
func (s *Service) SendInvitation(ctx context.Context, id string) error {
	if !s.SendsMail() {
		return nil
	}
	tx := s.DB.Read(ctx)
	row, err := tx.InvitationByID(id)
	if errors.Is(err, models.ErrNotFound) || err == nil && (row.UsedAt != nil || !row.ExpiresAt.After(models.Now())) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	author, err := tx.AccountByID(row.CreatedBy)
	if err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	team, err := tx.TeamByID(row.TeamID)
	if err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	code, now := newSecret(), models.Now()
	save := func(mailedAt *time.Time) error {
		return s.DB.Write(ctx, func(tx *models.Tx) error {
			_, err := tx.SetInvitationCode(id, hash(code), mailedAt)
			return err
		})
	}
	// Saved first: the recipient may open the link before Send returns.
	if err := save(nil); err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	err = s.Mail.Sender.Send(ctx, row.Email, "Invitation to a team on Postern", fmt.Sprintf(invitationText,
		author.Email, team.Name, row.Role, s.Mail.PublicURL+"/invite/"+code,
		row.ExpiresAt.UTC().Format("2 January 2006")))
	if err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	return save(&now)
}

const invitationText = `%s invites you to the team
%q
as %s.

Open this link to join. It works once, until %[5]s.

%[4]s

If you do not expect this invitation, do nothing.
`

// SendConfirmation mails the link that confirms a new address, with a new code. It does nothing for one that is
// over.
func (s *Service) SendConfirmation(ctx context.Context, id string) error {
	if !s.SendsMail() {
		return nil
	}
	link, err := s.DB.Read(ctx).TokenByID(kindEmail, id, models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	code := newSecret()
	if err == nil {
		err = s.DB.Write(ctx, func(tx *models.Tx) error {
			_, err := tx.SetTokenHash(id, hash(code))
			return err
		})
	}
	if err == nil {
		err = s.Mail.Sender.Send(ctx, link.Email, "Confirm your new e-mail address",
			fmt.Sprintf(confirmationText, s.Mail.PublicURL, s.Mail.PublicURL+"/email/"+code))
	}
	if err != nil {
		return fmt.Errorf("accounts: mail a link for a new address: %w", err)
	}
	return nil
}

const confirmationText = `This address was entered as the new one of an account at
%s

Open this link within an hour to confirm it. It works once.

%s

If you did not enter it, do nothing: the account keeps its address.
`

// SendEmailChanged mails the old address of an account that it was replaced.
func (s *Service) SendEmailChanged(ctx context.Context, before, after string) error {
	if !s.SendsMail() {
		return nil
	}
	err := s.Mail.Sender.Send(ctx, before, "Your e-mail address was changed",
		fmt.Sprintf(emailChangedText, s.Mail.PublicURL, after))
	if err != nil {
		return fmt.Errorf("accounts: mail that an address was changed: %w", err)
	}
	return nil
}

const emailChangedText = `Your account at
%s
has a new e-mail address: %s

If you did not change it, ask an operator of that installation for a link that sets a new password.
`
