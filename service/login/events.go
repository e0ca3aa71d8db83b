package login

import (
	"context"
	"fmt"

	"postern/models"
	"postern/service/access"
	"postern/service/directory"
)

// EventConsentWithdrawn is sent to webhooks when a user's consent to an app client ends.
const EventConsentWithdrawn = "consent.withdrawn"

// EmitConsentWithdrawn sends consent.withdrawn to the webhooks of the client's team, in
// the transaction that withdraws the consent.
func (s *Service) EmitConsentWithdrawn(ctx context.Context, tx *models.Tx, user string, client models.AppClient) error {
	if s.Events == nil {
		return nil
	}
	tenant, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return err
	}
	err = s.Events.Emit(ctx, tx, team, EventConsentWithdrawn, map[string]any{
		"user":        user,
		"client":      client.ID,
		"tenant":      tenant.ID,
		"tenant_name": tenant.Name,
	})
	if err != nil {
		return fmt.Errorf("login: send the event of the consent that %s withdrew from %s: %w", user, client.ID, err)
	}
	return nil
}

// emitSignIn sends the events of a sign-in to the webhooks of the client's team.
func (s *Service) emitSignIn(ctx context.Context, tx *models.Tx, client models.AppClient, in directory.SignIn) error {
	tenant, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return err
	}
	in.Tenant, in.Team, in.Client = tenant, team, client.ID
	return directory.EmitSignIn(ctx, s.Events, tx, in)
}
