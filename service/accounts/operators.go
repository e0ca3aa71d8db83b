package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// Operators lists the email addresses of the accounts that run the installation.
func (s *Service) Operators(ctx context.Context) ([]string, error) {
	list, err := s.DB.Read(ctx).Operators()
	if err != nil {
		return nil, fmt.Errorf("accounts: list the operators: %w", err)
	}
	var emails []string
	for _, account := range list {
		emails = append(emails, account.Email)
	}
	return emails, nil
}

// SetOperator makes the account with an email address an operator, or an ordinary account
// again. It checks no permission: it is called from the command line, by a person with
// access to the database.
func (s *Service) SetOperator(ctx context.Context, email string, operator bool) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		account, err := tx.AccountByEmail(ascii.Lower(strings.TrimSpace(email)))
		if errors.Is(err, models.ErrNotFound) {
			return fault.New(fault.NotFound, "not_found", "No account has this email address.")
		}
		if err != nil || account.Operator == operator {
			return err
		}
		if err := tx.SetOperator(account.ID, operator); err != nil {
			return err
		}
		return recordOperator(tx, access.Principal{CommandLine: true}, account, operator)
	})
	if err != nil {
		return fmt.Errorf("accounts: change an operator: %w", err)
	}
	return nil
}

func recordOperator(tx *models.Tx, by access.Principal, account models.Account, operator bool) error {
	type duty struct{ Operator bool }
	return access.Record(tx, by, access.Entry{
		Action: access.OperatorChange,
		Object: account.ID,
		Name:   account.Email,
		Before: duty{!operator},
		After:  duty{operator},
	})
}
