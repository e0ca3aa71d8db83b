package login

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/directory"
)

// InvitationTTL is how long an invitation link can be used.
const InvitationTTL = 7 * 24 * time.Hour

// InviteUser creates an invitation link for a user who has not signed in yet. It leads to the account page of the app
// client, and replaces the user's earlier link. Conflict user_signed_in for a user who has signed in, Invalid
// app_client_required where the tenant has several app clients or none, and unknown_app_client for one that it doesn't
// have.
func (s *Service) InviteUser(
	ctx context.Context, p access.Principal, in contract.UserInvitationCreation,
) (contract.UserInvitation, error) {
	var out contract.UserInvitation
	user := in.User
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := tx.EndUserByID(user)
		if err != nil {
			return access.Missing(err)
		}
		tenant, team, err := access.Tenant(tx, p, row.TenantID, access.UserUpdate)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(tenant.ID); err != nil { // as sign-ins do that take a seat
			return access.Missing(err)
		}
		if row, err = tx.LockEndUser(user); err != nil {
			return access.Missing(err)
		}
		if err := isSeat(tx, row); err != nil {
			return err
		}
		client, err := invitingClient(tx, tenant.ID, in.Body.AppClient)
		if err != nil {
			return err
		}
		code, ends := secrets.Random(), models.Now().Add(InvitationTTL)
		if err := tx.SetInvitation(row.ID, secrets.Digest(code), &ends); err != nil {
			return err
		}
		link := s.Issuer(client) + "/invitation/" + code
		out = contract.UserInvitation{URL: contract.Secret(link), ExpiresAt: ends.UTC()}
		return access.Record(tx, p, access.Entry{
			Action: access.UserUpdate,
			Object: row.ID,
			Name:   directory.NameOf(row),
			Team:   team,
			Detail: map[string]string{"tenant": tenant.ID},
			After:  struct{ InvitedUntil time.Time }{ends},
		})
	})
	if err != nil {
		return contract.UserInvitation{}, fmt.Errorf("login: create an invitation link for %s: %w", user, err)
	}
	return out, nil
}

func isSeat(tx *models.Tx, row models.EndUser) error {
	linked, err := tx.IdentitiesOf(row.ID)
	if err != nil {
		return err
	}
	if row.State != directory.Invited || len(linked) > 0 {
		return fault.New(fault.Conflict, "user_not_invited", "This user has already signed in or is frozen. "+
			"Invitation links are only for users who haven't signed in yet.")
	}
	return nil
}

// invitingClient returns the id of the app client that an invitation link leads to.
func invitingClient(tx *models.Tx, tenant, id string) (string, error) {
	list, err := tx.AppClientsOf(tenant)
	if err != nil {
		return "", err
	}
	if id == "" && len(list) == 1 {
		return list[0].ID, nil
	}
	for _, one := range list {
		if one.ID == id {
			return id, nil
		}
	}
	code := "app_client_required"
	text := "The tenant has several app clients. Choose the one that the user will sign in to."
	switch {
	case id != "":
		code, text = "unknown_app_client", "Choose an app client that belongs to the user's tenant."
	case len(list) == 0:
		text = "The tenant has no app client yet. Create one first."
	}
	return "", fault.InvalidField("/app_client", code, "%s", text)
}

// invitedBy returns the user that a code invites to the tenant of an app client. Gone invitation_over for a code that
// cannot be used.
func invitedBy(tx *models.Tx, client models.AppClient, code string) (models.EndUser, error) {
	seat, err := tx.EndUserByInvitation(client.TenantID, secrets.Digest(code), models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return seat, directory.ErrInvitationOver
	}
	return seat, err
}

// Invited is the content of an invitation's page.
type Invited struct {
	Client Look
	Email  string // of the invited user, "" for none
}

// PreviewInvitation returns the data of an invitation link's page. Errors: Gone invitation_over.
func (s *Service) PreviewInvitation(ctx context.Context, clientID, code string) (Invited, error) {
	client, err := s.client(ctx, clientID)
	if err != nil {
		return Invited{}, err
	}
	tx := s.DB.Read(ctx)
	look, err := s.lookOf(tx, client, "")
	if err != nil {
		return Invited{}, fmt.Errorf("login: an invitation to %s: %w", client.ID, err)
	}
	out := Invited{Client: look}
	seat, err := invitedBy(tx, client, code)
	if err != nil {
		return out, fmt.Errorf("login: an invitation to %s: %w", client.ID, err)
	}
	out.Email = seat.Email
	return out, nil
}
