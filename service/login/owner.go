package login

import (
	"context"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/directory"
	"postern/service/login/providers"
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
		return Owner{}, fmt.Errorf("login: a token of %s: %w", providerID, err)
	}
	if row.ClientToken != contract.ProviderToken {
		return Owner{}, fmt.Errorf("login: clients get no token of %s: %w", providerID, tokencheck.ErrRefused)
	}
	identity, err := s.Providers.Owner(ctx, config, token, givesIDToken(row))
	if err != nil {
		return Owner{}, fmt.Errorf("login: a token of %s: %w", providerID, err)
	}
	tx := s.DB.Read(ctx)
	client, err := tx.AppClientServed(clientID)
	if err != nil {
		return Owner{}, fmt.Errorf("login: the app client %s: %w", clientID, notFound(err))
	}
	user, known, err := directory.ServedByIdentity(tx, externalIdentity(client, row, identity))
	if err != nil {
		return Owner{}, fmt.Errorf("login: a token of %s: %w", providerID, err)
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

// offered is a provider and the tenant of its app client.
type offered struct {
	models.Provider
	tenant string
}

// presents reports whether clients get the provider's own tokens.
func (o offered) presents() bool { return o.Enabled && o.ClientToken == contract.ProviderToken }

// sameAs reports whether asking either provider about a token gives the same answer.
func (o offered) sameAs(other offered) bool {
	return o.tenant == other.tenant && o.Type == other.Type && o.Issuer == other.Issuer &&
		o.ClientID == other.ClientID && o.UpstreamToken == other.UpstreamToken
}

// Suits refuses providers that a project cannot serve together: those whose tokens cannot
// be told apart, so that one's token would be shown to another (Conflict
// token_type_ambiguous), and those whose tokens the gateway must replace while a version
// does not verify tokens (Invalid method_missing).
func (s *Service) Suits(tx *models.Tx, projectID string) error {
	reason, err := overlooked(tx, projectID, "")
	if err != nil {
		return err
	}
	if reason != "" {
		return fault.InvalidField("/requests_auth/methods", "method_missing", "%s", reason)
	}
	if reason, err = s.confusion(tx, projectID, ""); err != nil || reason == "" {
		return err
	}
	return fault.New(fault.Conflict, "token_type_ambiguous", "%s", reason)
}

// confusion returns why tokens of the project's providers cannot be told apart, "" if they
// can. about limits it to one provider, unless it is "".
func (s *Service) confusion(tx *models.Tx, projectID, about string) (string, error) {
	all, err := offeredIn(tx, projectID)
	if err != nil {
		return "", err
	}
	if a, b, found := s.twoOf(all, about); found {
		return likeEachOther(a, b), nil
	}
	for _, one := range all {
		// Any opaque token could be its own, that of the version's endpoint too.
		if !one.presents() || about != "" && one.ID != about ||
			!s.Providers.Recognizes(looksOf(one.Provider), "opaque", givesIDToken(one.Provider)) {
			continue
		}
		versions, err := tx.VersionsOf(projectID)
		if err != nil {
			return "", err
		}
		for _, v := range versions {
			if slices.Contains(v.AuthMethods, string(snapshot.Opaque)) &&
				slices.Contains(v.AuthMethods, string(snapshot.JWT)) {
				return fmt.Sprintf(
					"Browsers get opaque tokens of %s, and version %s asks another endpoint about opaque tokens: "+
						"the two cannot be told apart. Let the provider give service or its ID tokens, "+
						"or remove jwt or opaque from the version.",
					labelOf(one.Provider), v.Name,
				), nil
			}
		}
	}
	return "", nil
}

func likeEachOther(a, b offered) string {
	return fmt.Sprintf(
		"Browsers get tokens of both %s and %s, which cannot be told apart. Let one of them give service instead, "+
			"or the provider's ID tokens, which name their issuer.",
		labelOf(a.Provider), labelOf(b.Provider),
	)
}

// offeredIn lists the providers that a project serves.
func offeredIn(tx *models.Tx, projectID string) ([]offered, error) {
	clients, err := tx.AppClientsServed(projectID)
	if err != nil {
		return nil, err
	}
	tenants := map[string]string{}
	for _, client := range clients {
		tenants[client.ID] = client.TenantID
	}
	rows, err := tx.ProvidersServed(projectID)
	if err != nil {
		return nil, err
	}
	var all []offered
	for _, row := range rows {
		all = append(all, offered{row, tenants[row.AppClientID]})
	}
	return all, nil
}

// twoOf returns two providers whose tokens cannot be told apart, one of them about unless
// that is "".
func (s *Service) twoOf(all []offered, about string) (a, b offered, found bool) {
	for i, a := range all {
		for _, b := range all[:i] {
			if about != "" && a.ID != about && b.ID != about {
				continue
			}
			if a.presents() && b.presents() && !a.sameAs(b) &&
				s.confusable(a.Provider, b.Provider) {
				return a, b, true
			}
		}
	}
	return a, b, false
}

func (s *Service) confusable(a, b models.Provider) bool {
	return s.Providers.Confusable(looksOf(a), looksOf(b), givesIDToken(a), givesIDToken(b))
}

// looksOf returns as much of the configuration as it takes to recognize a token.
func looksOf(row models.Provider) providers.Config {
	return providers.Config{Type: row.Type, Issuer: row.Issuer, ClientID: row.ClientID}
}

func givesIDToken(row models.Provider) bool { return row.UpstreamToken == contract.ProviderIDToken }

// overlooked returns which version of a project would forward tokens unchanged although a
// provider's token_type replaces them, "" for none. about is as in confusion.
func overlooked(tx *models.Tx, projectID, about string) (string, error) {
	all, err := offeredIn(tx, projectID)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(one offered) bool {
		return one.Enabled && (about == "" || one.ID == about) && needsGateway(tokensOf(one.Provider))
	})
	if i < 0 {
		return "", nil
	}
	versions, err := tx.VersionsOf(projectID)
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		if !slices.Contains(v.AuthMethods, string(snapshot.JWT)) {
			return fmt.Sprintf(
				"The token_type of %s gives the upstream another token than the client sends, or none, and version %s "+
					"does not verify tokens: it would forward them unchanged. Name jwt among its methods, "+
					"or let the provider give service.",
				labelOf(all[i].Provider), v.Name,
			), nil
		}
	}
	return "", nil
}

// checkSuits is Suits for a provider that the transaction has written: it refuses with
// the provider's field.
func (s *Service) checkSuits(tx *models.Tx, tenant models.Tenant, provider string) error {
	projects, err := tx.ProjectsOfTenant(tenant)
	if err != nil {
		return err
	}
	for _, project := range projects {
		reason, err := overlooked(tx, project, provider)
		if err != nil {
			return err
		}
		if reason != "" {
			return fault.InvalidField("/token_type/upstream", "method_missing", "%s", reason)
		}
		if reason, err = s.confusion(tx, project, provider); err != nil {
			return err
		}
		if reason != "" {
			return fault.InvalidField("/token_type/client", "token_type_ambiguous", "%s", reason)
		}
	}
	return nil
}
