package login

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/directory"
	"postern/service/login/tokencheck"
)

// Owner is the end user of a provider's token that a call presents.
type Owner struct {
	User   string // usr_…
	Groups []string
}

// OwnerOf asks the provider who owns a token that it issued to its app, and returns that
// end user. It creates no user: one who never signed in has not consented. Errors wrap
// one of package tokencheck's or are faults: user_frozen, or of the kind NotFound.
func (s *Service) OwnerOf(ctx context.Context, clientID, providerID, token string) (Owner, error) {
	config, row, err := s.providerConfig(ctx, clientID, providerID)
	if err != nil {
		return Owner{}, fmt.Errorf("login: check a token of %s: %w", providerID, err)
	}
	if row.ClientToken != contract.ProviderToken {
		return Owner{}, fmt.Errorf("login: clients don't get tokens from %s: %w", providerID, tokencheck.ErrRefused)
	}
	identity, err := s.Clients.Providers.Owner(ctx, config, token, row.UpstreamToken == contract.ProviderIDToken)
	if err != nil {
		return Owner{}, fmt.Errorf("login: check a token of %s: %w", providerID, err)
	}
	tx := s.DB.Read(ctx)
	client, err := tx.AppClientServed(clientID)
	if err != nil {
		return Owner{}, fmt.Errorf("login: the app client %s: %w", clientID, access.Missing(err))
	}
	user, known, err := directory.ServedByIdentity(tx, externalIdentity(client, row, identity))
	if err != nil {
		return Owner{}, fmt.Errorf("login: check a token of %s: %w", providerID, err)
	}
	if !known {
		return Owner{}, fmt.Errorf(
			"login: the owner of a token of %s never signed in: %w", providerID, tokencheck.ErrRefused,
		)
	}
	groups, err := groupsOf(tx, user)
	return Owner{User: user.ID, Groups: groups.names}, err
}

// externalIdentity converts a provider's identity to the one by which the directory finds
// and creates users.
func externalIdentity(
	client models.AppClient, row models.Provider, identity federation.Identity,
) directory.ExternalIdentity {
	out := directory.ExternalIdentity{
		Tenant:        client.TenantID,
		Provider:      row.ID,
		Issuer:        row.Type + ":" + identity.Issuer,
		Subject:       identity.Subject,
		Email:         identity.Email,
		EmailVerified: identity.EmailVerified,
		Domain:        identity.Domain,
		Name:          identity.Name,
		DirectoryID:   identity.DirectoryID,
		Profile:       identity.Profile.JSON(),
	}
	if row.Managed {
		out.Issuer = "managed-" + out.Issuer
	}
	return out
}
