package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// freshFor is how long after a sign-in an account without a password can be deleted.
const freshFor = 5 * time.Minute

// AccountDeletion lists what deleting the caller's account ends, and what prevents it.
func (s *Service) AccountDeletion(
	ctx context.Context, p access.Principal, _ contract.None,
) (contract.AccountDeletion, error) {
	var none contract.AccountDeletion
	if err := access.CheckSelf(p, access.AccountDelete); err != nil {
		return none, err
	}
	tx := s.DB.Read(ctx)
	account, err := tx.AccountByID(p.Account)
	if err != nil {
		return none, fmt.Errorf("accounts: deletion of %s: %w", p.Account, err)
	}
	out, err := accountDeletionOf(tx, p, account)
	if err != nil {
		return none, fmt.Errorf("accounts: deletion of %s: %w", p.Account, err)
	}
	return out, nil
}

func accountDeletionOf(
	tx *models.Tx, p access.Principal, account models.Account,
) (contract.AccountDeletion, error) {
	out := contract.AccountDeletion{Email: account.Email, Password: account.PasswordHash != ""}
	memberships, err := tx.MembershipsOf(account.ID)
	if err != nil {
		return out, err
	}
	for _, one := range memberships {
		team, err := tx.TeamByID(one.TeamID)
		if err != nil {
			return out, err
		}
		err = anotherOwner(tx, one)
		switch {
		case fault.CodeOf(err) == codeLastOwner:
			out.OnlyOwner = append(out.OnlyOwner, team.Name)
		case err != nil:
			return out, err
		default:
			out.Teams = append(out.Teams, team.Name)
		}
	}
	operators, err := tx.Operators()
	if err != nil {
		return out, err
	}
	out.LastOperator = account.Operator && len(operators) == 1
	sessions, err := tx.TokensOf(kindSession, account.ID, models.Now())
	if err != nil {
		return out, err
	}
	out.Fresh = slices.ContainsFunc(sessions, func(row models.Token) bool {
		return row.ID == p.Token && models.Now().Sub(row.CreatedAt) < freshFor
	})
	return out, nil
}

// DeleteAccount permanently deletes the caller's account with its sessions, access tokens, sign-in methods, memberships
// and invitations. The audit log keeps its ID and earlier entries. confirm is its email address. An account with a
// password requires it; other accounts need a session that began within freshFor. It returns Conflict with the code
// only_owner or last_operator.
func (s *Service) DeleteAccount(
	ctx context.Context, p access.Principal, in contract.AccountRemoval,
) (contract.None, error) {
	var none contract.None
	if err := access.CheckSelf(p, access.AccountDelete); err != nil {
		return none, err
	}
	account, err := s.DB.Read(ctx).AccountByID(p.Account)
	if err != nil {
		return none, fmt.Errorf("accounts: delete %s: %w", p.Account, err)
	}
	if ascii.Lower(strings.TrimSpace(in.Body.Confirm)) != account.Email {
		return none, fault.InvalidField("/confirm", "wrong_confirmation",
			"Type your email address, %s, to delete the account.", account.Email)
	}
	if err := s.provesItself(ctx, p, account, in.Body.Password.Reveal(), "delete the account"); err != nil {
		return none, err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error { return s.eraseAccount(tx, p, account) })
	if errors.Is(err, models.ErrNotFound) {
		return none, access.NotFound() // deleted by a request at the same time
	}
	if err != nil {
		return none, fmt.Errorf("accounts: delete %s: %w", p.Account, err)
	}
	return none, nil
}

// Prove checks that the caller is the account's holder, and not just someone at their browser: by the account's
// password or, if it doesn't have one, by a session that began within freshFor.
func (s *Service) Prove(ctx context.Context, p access.Principal, password string) error {
	if p.Account == "" {
		return fault.New(fault.Forbidden, "not_a_person", "You can't do this with a workspace key. Claim the "+
			"workspace and sign in first.")
	}
	account, err := s.DB.Read(ctx).AccountByID(p.Account)
	if err != nil {
		return fmt.Errorf("accounts: prove %s: %w", p.Account, err)
	}
	return s.provesItself(ctx, p, account, password, "export secrets")
}

// provesItself is Prove with the action that the caller wants to perform, such as deleting the account.
func (s *Service) provesItself(
	ctx context.Context, p access.Principal, account models.Account, password, purpose string,
) error {
	if account.PasswordHash == "" {
		d, err := accountDeletionOf(s.DB.Read(ctx), p, account)
		if err == nil && !d.Fresh {
			err = fault.New(fault.Conflict, "sign_in_again",
				"Sign out, sign in again, and %s within five minutes.", purpose)
		}
		return err
	}
	if !s.throttle.allowSignedIn(attemptPassword, p, models.Now()) {
		return tooMany(purpose)
	}
	ok, err := len(password) <= maxPassword, error(nil)
	if ok {
		ok, err = s.PasswordCost.verify(ctx, account.PasswordHash, password)
	}
	if err == nil && !ok {
		err = fault.InvalidField("/password", "wrong_password", "This isn't your current password.")
	}
	if err == nil {
		s.throttle.forgetSignedIn(attemptPassword, p)
	}
	return err
}

// eraseAccount locks the account's teams, and the operators if it is one, so that two last owners or operators cannot
// leave at once.
func (s *Service) eraseAccount(tx *models.Tx, p access.Principal, account models.Account) error {
	memberships, err := tx.MembershipsOf(account.ID)
	if err != nil {
		return err
	}
	slices.SortFunc(memberships, func(a, b models.Membership) int { return strings.Compare(a.TeamID, b.TeamID) })
	for _, one := range memberships {
		if _, err := tx.HoldTeam(one.TeamID); err != nil {
			return err
		}
	}
	if account.Operator {
		if _, err := tx.HoldOperators(); err != nil {
			return err
		}
	}
	if _, err := tx.HoldAccount(account.ID); err != nil {
		return err
	}
	takes, err := accountDeletionOf(tx, p, account)
	if err != nil {
		return err
	}
	if err := deletionRefusal(takes); err != nil {
		return err
	}
	for _, one := range memberships {
		if err := takeOut(tx, p, one, access.MemberLeave, ""); err != nil {
			return err
		}
	}
	err = access.Record(tx, p, access.Entry{Action: access.AccountDelete, Object: account.ID})
	if err != nil {
		return err
	}
	err = tx.EraseAccount(account.ID)
	if errors.Is(err, models.ErrReferenced) {
		return fault.New(fault.Conflict, "changed_concurrently",
			"The account was changed by another request. Try again.").Because(err)
	}
	return err
}

func deletionRefusal(d contract.AccountDeletion) error {
	if len(d.OnlyOwner) > 0 {
		return fault.New(fault.Conflict, "only_owner", "You are the only owner of %s. Every team needs an owner. "+
			"Make another member an owner, or delete the team.", shortList(d.OnlyOwner))
	}
	if d.LastOperator {
		return fault.New(fault.Conflict, "last_operator", "You are the only operator of this installation. Add "+
			"another one first: `postern operators add EMAIL`.")
	}
	return nil
}
