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
	"postern/platform/secrets"
	"postern/service/access"
)

// Mail sends email to accounts. PublicURL is the only source of links in email, because callers choose the Host header
// of a request.
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

// recoveryPause is the shortest time between two recovery links to the same account.
const recoveryPause = 2 * time.Minute

// SendsMail reports whether this installation sends mail.
func (s *Service) SendsMail() bool { return s.Mail != nil }

// RequestRecovery mails a recovery link to the account with an email address. Neither result nor timing reveals whether
// the account exists, because the address is looked up when the mail is sent. Errors: NotFound if this installation
// sends no mail, Invalid, TooMany too_many_attempts.
func (s *Service) RequestRecovery(ctx context.Context, email string, from From) error {
	if !s.SendsMail() {
		return access.NotFound()
	}
	email = ascii.Lower(strings.TrimSpace(email))
	if len(email) > maxEmail || !validEmail(email) {
		return fault.InvalidField("/email", "invalid_email", "Enter a valid email address.")
	}
	if !s.throttle.allow(attempt{kind: "recover", subject: email, from: from}, models.Now()) {
		return tooMany("request a link")
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		return s.Mail.Jobs.EnqueueRecovery(ctx, tx, email, from.RemoteAddr)
	})
	if err != nil {
		return fmt.Errorf("accounts: request a recovery link: %w", err)
	}
	return nil
}

// SendRecovery mails a new recovery link to the account with an email address. It does nothing if there is no such
// account, or if a link was sent a moment ago.
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
	err = s.Mail.Sender.Send(ctx, account.Email, "Reset your Postern password",
		fmt.Sprintf(recoveryText, s.Mail.PublicURL, s.Mail.PublicURL+"/recover/"+code))
	if err == nil {
		return nil
	}
	// The link was not delivered, so it must not count as sent: the next attempt would do nothing.
	forget := s.DB.Write(context.WithoutCancel(ctx), func(tx *models.Tx) error {
		_, err := tx.DeleteTokensExcept(kindRecovery, account.ID, "")
		return err
	})
	return fmt.Errorf("accounts: mail a recovery link: %w", errors.Join(err, forget))
}

const recoveryText = `Someone asked to reset the password for your account at
%s

To choose a new password, open this link within an hour. The link works only once.

%s

If you didn't request this, ignore this email. Your password won't change.
`

// maxInvitationMails bounds the invitations that one account can mail within throttleWindow.
const maxInvitationMails = 20

// SendInvitation mails an invitation with a new code. It does nothing if the invitation was used or has expired.
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
	code, now := secrets.Random(), models.Now()
	save := func(mailedAt *time.Time) error {
		return s.DB.Write(ctx, func(tx *models.Tx) error {
			_, err := tx.SetInvitationCode(id, secrets.Digest(code), mailedAt)
			return err
		})
	}
	// Saved first: the recipient may open the link before Send returns.
	if err := save(nil); err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	err = s.Mail.Sender.Send(ctx, row.Email, "You're invited to join a team on Postern", fmt.Sprintf(invitationText,
		author.Email, team.Name, row.Role, s.Mail.PublicURL+"/invite/"+code,
		row.ExpiresAt.UTC().Format("2 January 2006")))
	if err != nil {
		return fmt.Errorf("accounts: mail the invitation %s: %w", id, err)
	}
	return save(&now)
}

const invitationText = `%s invited you to join the team
%q
with the %s role.

To join, open this link by %[5]s. The link works only once.

%[4]s

If you weren't expecting this invitation, ignore this email.
`

// SendConfirmation mails the link that confirms a new address, with a new code. It does nothing if the link was used or
// has expired.
func (s *Service) SendConfirmation(ctx context.Context, id string) error {
	if !s.SendsMail() {
		return nil
	}
	link, err := s.DB.Read(ctx).TokenByID(kindEmail, id, models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	code := secrets.Random()
	if err == nil {
		err = s.DB.Write(ctx, func(tx *models.Tx) error {
			_, err := tx.SetTokenHash(id, secrets.Digest(code))
			return err
		})
	}
	if err == nil {
		err = s.Mail.Sender.Send(ctx, link.Email, "Confirm your new email address",
			fmt.Sprintf(confirmationText, s.Mail.PublicURL, s.Mail.PublicURL+"/email/"+code))
	}
	if err != nil {
		return fmt.Errorf("accounts: mail a link for a new address: %w", err)
	}
	return nil
}

const confirmationText = `This address was entered as the new email address for an account at
%s

To confirm the address, open this link within an hour. The link works only once.

%s

If you didn't request this, ignore this email. The account will keep its old address.
`

// SendEmailChanged notifies the old address of an account that it was replaced.
func (s *Service) SendEmailChanged(ctx context.Context, before, after string) error {
	if !s.SendsMail() {
		return nil
	}
	err := s.Mail.Sender.Send(ctx, before, "Your email address was changed",
		fmt.Sprintf(emailChangedText, s.Mail.PublicURL, after))
	if err != nil {
		return fmt.Errorf("accounts: mail that an address was changed: %w", err)
	}
	return nil
}

const emailChangedText = `The email address for your account at
%s
was changed to %s

If you didn't make this change, ask an operator of the installation for a link to reset your password.
`
