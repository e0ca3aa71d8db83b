package accounts

import (
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

// Invited is an open invitation, as the person with its link sees it.
type Invited struct {
	contract.Invitation
	TeamName string
}

func viewInvitation(row models.Invitation) contract.Invitation {
	return contract.Invitation{
		ID:        row.ID,
		Team:      row.TeamID,
		Role:      row.Role,
		Email:     row.Email,
		CreatedBy: row.CreatedBy,
		CreatedAt: row.CreatedAt.UTC(),
		ExpiresAt: row.ExpiresAt.UTC(),
		ByMail:    row.ByMail,
		MailedAt:  contract.UTC(row.MailedAt),
	}
}

// maxInvitations bounds how many invitations of one team can be open at a time.
const maxInvitations = models.MaxLimit

// Invite creates a link by which one person can join a team within a week. With an email address it is mailed there,
// which proves the address of who opens it. If this installation sends no mail, its code is returned, and a provider
// must vouch for the address of the account; see vouches.
func (s *Service) Invite(
	ctx context.Context, p access.Principal, in contract.InvitationCreation,
) (contract.InvitationWithLink, error) {
	var none contract.InvitationWithLink
	if err := access.Check(p, in.Team, access.InvitationCreate); err != nil {
		return none, err
	}
	if err := checkRole(access.Role(in.Body.Role)); err != nil {
		return none, err
	}
	email := ascii.Lower(strings.TrimSpace(in.Body.Email))
	if email != "" && !validEmail(email) {
		return none, fault.InvalidField("/email", "invalid_email", "Enter a valid email address, or leave it out to "+
			"get a link that anyone can use.")
	}
	byMail := email != "" && s.SendsMail()
	if byMail && !s.throttle.counts().Take(models.Now(), Bound{"invite\x00" + p.Account, maxInvitationMails}) {
		return none, tooMany("email an invitation")
	}
	if email != "" && !byMail && !s.ProvesEmail {
		return none, fault.InvalidField("/email", "email_not_provable",
			"This installation can't verify email addresses, because it has no mail server or sign-in provider. "+
				"Leave the address out to get a link that anyone can use.")
	}
	code, now := secrets.Random(), models.Now()
	row := models.Invitation{
		ID:        models.NewID("inv"),
		TeamID:    in.Team,
		Role:      in.Body.Role,
		Email:     email,
		CodeHash:  secrets.Digest(code),
		CreatedBy: p.Account,
		CreatedAt: now,
		ExpiresAt: now.Add(InvitationTTL),
		ByMail:    byMail,
	}
	out := contract.InvitationWithLink{Invitation: viewInvitation(row)}
	if !byMail {
		out.Code = contract.Secret(code)
	}
	err := s.withLockedTeam(ctx, p, in.Team, access.InvitationCreate, func(tx *models.Tx, _ models.Team) error {
		open, err := tx.OpenInvitations(in.Team, models.Page{Limit: maxInvitations}, now)
		if err != nil {
			return err
		}
		if len(open.Items) == maxInvitations {
			return fault.New(
				fault.Conflict, "too_many_invitations",
				"This team has %d pending invitations. Revoke one to create another.", maxInvitations,
			)
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		if byMail {
			if err := s.Mail.Jobs.EnqueueInvitation(ctx, tx, row.ID); err != nil {
				return err
			}
		}
		return access.Record(tx, p, access.Entry{
			Action: access.InvitationCreate,
			Object: row.ID,
			Name:   row.Email,
			Team:   in.Team,
			After:  row,
		})
	})
	return out, err
}

// Invitations returns a team's invitations that can still be accepted, oldest
// first.
func (s *Service) Invitations(
	ctx context.Context, p access.Principal, in contract.InvitationList,
) (models.List[contract.Invitation], error) {
	var none models.List[contract.Invitation]
	if err := access.Check(p, in.Team, access.InvitationRead); err != nil {
		return none, err
	}
	rows, err := s.DB.Read(ctx).OpenInvitations(in.Team, models.PageOf(in.Page, in.Sort, in.Text), models.Now())
	if err != nil {
		return none, fmt.Errorf("accounts: invitations of %s: %w", in.Team, err)
	}
	return models.MapList(rows, viewInvitation), nil
}

// Invitation returns an invitation that can still be accepted. Another one, and one of another team, is NotFound.
func (s *Service) Invitation(
	ctx context.Context, p access.Principal, in contract.InvitationPath,
) (contract.Invitation, error) {
	if err := access.Check(p, in.Team, access.InvitationRead); err != nil {
		return contract.Invitation{}, err
	}
	row, err := invitationOf(s.DB.Read(ctx), in)
	if err == nil && isOver(row) {
		err = access.NotFound()
	}
	if err != nil {
		return contract.Invitation{}, fmt.Errorf("accounts: invitation %s: %w", in.Invitation, err)
	}
	return viewInvitation(row), nil
}

func invitationOf(tx *models.Tx, in contract.InvitationPath) (models.Invitation, error) {
	row, err := tx.InvitationByID(in.Invitation)
	if errors.Is(err, models.ErrNotFound) || (err == nil && row.TeamID != in.Team) {
		return row, access.NotFound()
	}
	return row, err
}

func isOver(row models.Invitation) bool {
	return row.UsedAt != nil || !row.ExpiresAt.After(models.Now())
}

// RevokeInvitation revokes an invitation. A used one, and one of another team, is NotFound.
func (s *Service) RevokeInvitation(
	ctx context.Context, p access.Principal, in contract.InvitationPath,
) (contract.None, error) {
	err := s.withLockedTeam(ctx, p, in.Team, access.InvitationRevoke, func(tx *models.Tx, _ models.Team) error {
		row, err := invitationOf(tx, in)
		if err != nil {
			return err
		}
		gone, err := tx.DeleteInvitation(row.ID)
		if err != nil {
			return err
		}
		if !gone {
			return access.NotFound()
		}
		return access.Record(tx, p, access.Entry{
			Action: access.InvitationRevoke,
			Object: row.ID,
			Name:   row.Email,
			Team:   row.TeamID,
			Before: row,
		})
	})
	return contract.None{}, err
}

var errInvitationOver = fault.New(fault.Gone, "invitation_over", "This invitation has expired, or has already "+
	"been used or revoked. Ask for a new one.")

// openInvitation returns the invitation of a code that can still be accepted.
func openInvitation(tx *models.Tx, code string) (models.Invitation, error) {
	row, err := tx.InvitationByCode(secrets.Digest(code))
	if errors.Is(err, models.ErrNotFound) || (err == nil && isOver(row)) {
		return row, errInvitationOver
	}
	if err != nil {
		return row, err
	}
	return row, stillInvites(tx, row)
}

// stillInvites refuses an invitation whose author may no longer invite: a removed owner
// must not come back with a link that was created earlier.
func stillInvites(tx *models.Tx, invitation models.Invitation) error {
	author, err := tx.MembershipOf(invitation.TeamID, invitation.CreatedBy)
	if errors.Is(err, models.ErrNotFound) ||
		(err == nil && !access.Can(access.Role(author.Role), access.InvitationCreate)) {
		return errInvitationOver
	}
	return err
}

// revokeInvitationsOf revokes the invitations of an account that may no longer invite. The
// caller has locked the team.
func revokeInvitationsOf(tx *models.Tx, p access.Principal, team, account string) error {
	rows, err := tx.OpenInvitationsBy(team, account, models.Now())
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := tx.DeleteInvitation(row.ID); err != nil {
			return err
		}
		if err := access.Record(tx, p, access.Entry{
			Action: access.InvitationRevoke,
			Object: row.ID,
			Name:   row.Email,
			Team:   team,
			Before: row,
		}); err != nil {
			return err
		}
	}
	return nil
}

// PreviewInvitation returns the invitation of a code, for any caller. Gone invitation_over
// for every code that cannot be used: revoked ones are not kept.
func (s *Service) PreviewInvitation(ctx context.Context, code string) (Invited, error) {
	tx := s.DB.Read(ctx)
	row, err := openInvitation(tx, code)
	if err != nil {
		return Invited{}, err
	}
	team, err := tx.TeamByID(row.TeamID)
	if err != nil {
		return Invited{}, fmt.Errorf("accounts: preview an invitation: %w", err)
	}
	return Invited{Invitation: viewInvitation(row), TeamName: team.Name}, nil
}

// Accept adds a signed-in account to the team of an invitation. If several accounts accept it at a time, one succeeds.
// Errors: Gone invitation_over, Conflict already_member, Forbidden other_email and email_not_proven.
func (s *Service) Accept(
	ctx context.Context, p access.Principal, in contract.InvitationAcceptance,
) (contract.Team, error) {
	if err := access.CheckSelf(p, access.InvitationAccept); err != nil {
		return contract.Team{}, err
	}
	var out contract.Team
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		invitation, err := openInvitation(tx, in.Body.Code.Reveal())
		if err != nil {
			return err
		}
		account, err := tx.AccountByID(p.Account)
		if err != nil {
			return err
		}
		if err := s.checkInvited(tx, account, invitation, ""); err != nil {
			return err
		}
		if err := join(tx, p, account, invitation, models.Now()); err != nil {
			return err
		}
		if invitation.ByMail {
			if err := proved(tx, p, account.ID, invitation.Email, ""); err != nil {
				return err
			}
		}
		team, err := tx.TeamByID(invitation.TeamID)
		if err != nil {
			return err
		}
		out = viewTeam(team, p)
		out.Role = invitation.Role
		return nil
	})
	if err != nil {
		return contract.Team{}, fmt.Errorf("accounts: accept an invitation: %w", err)
	}
	return out, nil
}

// vouches reports whether an address that an issuer stated counts for an invitation to it: a verified one, or one of
// the operator's own issuer. Some issuers, such as Microsoft Entra ID, never state email_verified; who signs in there,
// and with which address, is the operator's decision. It is not enough to end what others have (see proved). An address
// that an issuer states to be unverified never gets here (federation.Policy).
func (s *Service) vouches(issuer string, isVerified bool) bool {
	return isVerified || (issuer != "" && issuer == s.OwnIssuer)
}

// checkInvited refuses an account whose ownership of the invitation's address no provider
// vouches for: an address that was entered at sign-up may be another person's. vouched is
// the address that a provider vouches for with this sign-in, in addition to linked ones.
func (s *Service) checkInvited(
	tx *models.Tx,
	account models.Account,
	invitation models.Invitation,
	vouched string,
) error {
	if invitation.Email == "" || invitation.ByMail || vouched == invitation.Email {
		return nil
	}
	linked, err := tx.LinkedTo(account.ID)
	if err != nil {
		return err
	}
	for _, way := range linked {
		if way.Email == invitation.Email && s.vouches(way.Issuer, way.EmailVerified) {
			return nil
		}
	}
	if account.Email != invitation.Email {
		return fault.New(
			fault.Forbidden,
			"other_email",
			"This invitation is for %s. Sign in to the account with that address, or ask for another invitation.",
			invitation.Email,
		)
	}
	return s.unproven(invitation)
}

// unproven returns the refusal, with how the address can be verified.
func (s *Service) unproven(invitation models.Invitation) error {
	if !s.ProvesEmail {
		return fault.New(
			fault.Forbidden,
			"email_not_proven",
			"This invitation is for %s, but this installation can't verify that address. Ask for an invitation "+
				"link that anyone can use.",
			invitation.Email,
		)
	}
	return fault.New(
		fault.Forbidden, "email_not_proven",
		"This invitation is for %s, and a password doesn't prove that the address is yours. Sign in with a provider "+
			"that verifies it, or link one under Linked sign-ins in Account settings. Then open the link again.",
		invitation.Email,
	)
}

// join marks an invitation as used and adds an account to its team.
func join(
	tx *models.Tx,
	p access.Principal,
	account models.Account,
	invitation models.Invitation,
	now time.Time,
) error {
	if _, err := tx.HoldTeam(invitation.TeamID); err != nil {
		return err
	}
	// Checked again, now that the team is locked and roles cannot change.
	if err := stillInvites(tx, invitation); err != nil {
		return err
	}
	_, err := tx.MembershipOf(invitation.TeamID, account.ID)
	if err == nil {
		return fault.New(fault.Conflict, "already_member", "You are already in this team.")
	}
	if !errors.Is(err, models.ErrNotFound) {
		return err
	}
	used, err := tx.UseInvitation(invitation.ID, now)
	if err != nil {
		return err
	}
	if !used {
		return errInvitationOver
	}
	membership := models.Membership{
		TeamID:    invitation.TeamID,
		AccountID: account.ID,
		Role:      invitation.Role,
		CreatedAt: now,
	}
	if err := tx.Insert(&membership); err != nil {
		return err
	}
	return access.Record(tx, p, access.Entry{
		Action: access.InvitationAccept,
		Object: invitation.ID,
		Name:   invitation.Email,
		Team:   invitation.TeamID,
		Detail: map[string]string{"account": account.ID},
		After:  membership,
	})
}
