package login

import (
	"bytes"
	"context"
	"fmt"

	"postern/models"
	"postern/platform/secrets"
)

// answerOnce marks the attempt as answered: of two answers at once, one wins.
func (s *Service) answerOnce(ctx context.Context, attempt string) error {
	saved := false
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		var err error
		saved, err = tx.AnswerLoginAttempt(attempt, models.Now())
		return err
	})
	if err != nil {
		return fmt.Errorf("login: record a response to %s: %w", attempt, err)
	}
	if !saved {
		return errAnswered
	}
	return nil
}

// reopen lets a provider answer again, if the user is asked for consent and went back.
func (s *Service) reopen(ctx context.Context, attempt string) error {
	open := false
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		var err error
		open, err = tx.ReopenLoginAttempt(attempt)
		return err
	})
	if err != nil {
		return fmt.Errorf("login: reopen %s: %w", attempt, err)
	}
	if !open {
		return errAnswered
	}
	return nil
}

// askAgain shows the consent page again to a user who reloads it or comes back to it. The provider is asked again if
// its tokens are needed, which nothing here keeps. It returns false if the provider sent another code, for the user
// who has gone back to the provider: the attempt is then open for it.
func (s *Service) askAgain(
	ctx context.Context, attempt models.LoginAttempt, row models.Provider, in AuthorizationResponse, browser string,
) (Outcome, bool, error) {
	entry, err := s.openTicket(s.DB.Read(ctx), attempt.ID, attempt.Ticket)
	if err != nil {
		return Outcome{}, false, err
	}
	if entry.Identity.Provider != row.ID || !bytes.Equal(entry.Code, secrets.Digest(in.Code)) {
		return Outcome{}, false, s.reopen(ctx, attempt.ID)
	}
	if entry.Handed != nil {
		to, err := s.Choose(ctx, in.Client, attempt.ID, row.ID, browser)
		return Outcome{Again: to}, true, err
	}
	client, err := s.client(ctx, row.AppClientID)
	if err != nil {
		return Outcome{}, true, err
	}
	out, err := s.settle(ctx, attempt, client, row, entry)
	return out, true, err
}
