package login

import (
	"context"
	"fmt"
	"slices"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/directory"
	"postern/service/login/providers"
	"postern/service/login/tokencheck"
)

// Owner is the end user whose token of a provider's own a call presents.
type Owner struct {
	User   string // usr_…
	Groups []string
}

// OwnerOf asks the provider whose a token is that its app got, and finds the end user
// by what the provider calls them. Nobody is made an end user by presenting a token:
// who never signed in never agreed to it. Errors hold one of package tokencheck's, or are
// faults: user_frozen, or of the kind NotFound.
func (s *Service) OwnerOf(ctx context.Context, clientID, providerID, token string) (Owner, error) {
	config, row, err := s.providerConfig(ctx, clientID, providerID)
	if err != nil {
		return Owner{}, fmt.Errorf("login: a token of %s: %w", providerID, err)
	}
	if row.TokenClient != ProviderToken {
		return Owner{}, fmt.Errorf("login: browsers get no token of %s: %w", providerID, tokencheck.ErrRefused)
	}
	person, err := s.Providers.Owner(ctx, config, token, row.TokenUpstream == ProviderIDToken)
	if err != nil {
		return Owner{}, fmt.Errorf("login: a token of %s: %w", providerID, err)
	}
	tx := s.DB.Read(ctx)
	client, err := tx.AppClientByID(clientID)
	if err != nil {
		return Owner{}, fmt.Errorf("login: the app client %s: %w", clientID, notFound(err))
	}
	user, known, err := directory.Known(tx, arrivalOf(client, row, person))
	if err != nil {
		return Owner{}, fmt.Errorf("login: a token of %s: %w", providerID, err)
	}
	if !known {
		return Owner{}, fmt.Errorf("login: whose token of %s it is never signed in: %w", providerID, tokencheck.ErrRefused)
	}
	groups, err := directory.GroupsOf(tx, user.ID)
	return Owner{User: user.ID, Groups: groups}, err
}

// arrivalOf is how the directory knows whom a provider vouches for.
func arrivalOf(client models.AppClient, row models.Provider, person federation.Identity) directory.Arrival {
	out := directory.Arrival{
		Tenant:        client.TenantID,
		Provider:      row.ID,
		Issuer:        row.Type + ":" + person.Issuer,
		Subject:       person.Subject,
		Email:         person.Email,
		EmailVerified: person.EmailVerified,
		Name:          person.Name,
	}
	if row.Managed {
		out.Issuer = "managed-" + out.Issuer
	}
	return out
}

// offered is a provider as the tenant of its app client has it.
type offered struct {
	models.Provider
	tenant string
}

// presents tells whether browsers get the provider's own tokens.
func (o offered) presents() bool { return o.Enabled && o.TokenClient == ProviderToken }

// sameAs tells whether it makes no difference which of the two is asked.
func (o offered) sameAs(other offered) bool {
	return o.tenant == other.tenant && o.Type == other.Type && o.Issuer == other.Issuer && o.AppID == other.AppID &&
		o.TokenUpstream == other.TokenUpstream
}

// Suits refuses providers of a project whose tokens nobody could tell apart, so that
// one's would have to be shown to another, and those whose tokens the project would
// have to replace and does not look at.
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

// confusion says what could not be told apart in a project, "" for nothing; of the
// provider named alone, if one is.
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
				return fmt.Sprintf("Browsers get opaque tokens of %s, and version %s asks another endpoint about "+
					"opaque tokens: nobody could tell whose one is. Let the provider give service or its ID tokens, "+
					"or take jwt or opaque from the version.", labelOf(one.Provider), v.Name), nil
			}
		}
	}
	return "", nil
}

func likeEachOther(a, b offered) string {
	return fmt.Sprintf("Browsers get their own tokens of both %s and %s, and nobody could tell from a token whose "+
		"it is. Let one of them give service instead, or the provider's ID tokens, which name their issuer.", labelOf(a.Provider), labelOf(b.Provider))
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
	var all []offered
	for _, row := range rows {
		all = append(all, offered{row, tenants[row.ClientID]})
	}
	return all, err
}

// twoOf finds two that cannot be told apart, one of them the one named, if one is.
func (s *Service) twoOf(all []offered, about string) (a, b offered, found bool) {
	for i, a := range all {
		for _, b := range all[:i] {
			if about != "" && a.ID != about && b.ID != about {
				continue
			}
			if a.presents() && b.presents() && !a.sameAs(b) &&
				s.Providers.Confusable(
					looksOf(a.Provider), looksOf(b.Provider), givesIDToken(a.Provider),
					givesIDToken(b.Provider),
				) {
				return a, b, true
			}
		}
	}
	return a, b, false
}

func looksOf(row models.Provider) providers.Config {
	return providers.Config{Type: row.Type, Issuer: row.Issuer, ClientID: row.AppID}
}

func givesIDToken(row models.Provider) bool { return row.TokenUpstream == ProviderIDToken }

// overlooked says which version of a project hands on tokens as they come though a
// provider says otherwise, "" for none; of the provider named alone, if one is.
func overlooked(tx *models.Tx, projectID, about string) (string, error) {
	all, err := offeredIn(tx, projectID)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(one offered) bool {
		return one.Enabled && (about == "" || one.ID == about) &&
			TokenTypes{one.TokenClient, one.TokenUpstream}.needsGateway()
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
			return fmt.Sprintf("The token_type of %s says that the upstream gets another token than the client "+
				"sends, or none, and version %s looks at no tokens: they would go on as they come. Name jwt among "+
				"its methods, or let the provider give service.", labelOf(all[i].Provider), v.Name), nil
		}
	}
	return "", nil
}

// checkSuits says what Suits does of a provider that has just been written, with its
// field.
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
