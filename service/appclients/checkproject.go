package appclients

import (
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/login/providers"
)

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

// CheckProject refuses providers that a project cannot serve together: those whose tokens cannot
// be told apart, so that one's token would be shown to another (Conflict
// token_type_ambiguous), and those whose tokens the gateway must replace while a version
// does not verify tokens (Invalid method_missing).
func (s *Service) CheckProject(tx *models.Tx, projectID string) error {
	reason, err := unverifiedTokens(tx, projectID, "")
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
		return ambiguity(a, b), nil
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
			if v.RequestsAuth.Allows(snapshot.Opaque) && v.RequestsAuth.Allows(snapshot.JWT) {
				return fmt.Sprintf(
					"Applications get opaque tokens from %s, but version %s checks opaque tokens with another "+
						"endpoint, and the gateway can't tell these tokens apart. Set the provider's client token to "+
						"\"service\", use the provider's ID tokens, or remove jwt or opaque from the version's "+
						"methods.",
					Label(one.Provider), v.Name,
				), nil
			}
		}
	}
	return "", nil
}

func ambiguity(a, b offered) string {
	return fmt.Sprintf(
		"Applications get tokens from %s and %s, and the gateway can't tell these tokens apart. For one of the two "+
			"providers, set the client token to \"service\" or use ID tokens, which name their issuer.",
		Label(a.Provider), Label(b.Provider),
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

// unverifiedTokens returns which version of a project would forward tokens unchanged although a
// provider's token_type replaces them, "" for none. about is as in confusion.
func unverifiedTokens(tx *models.Tx, projectID, about string) (string, error) {
	all, err := offeredIn(tx, projectID)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(one offered) bool {
		return one.Enabled && (about == "" || one.ID == about) && needsGateway(TokenTypeOf(one.Provider))
	})
	if i < 0 {
		return "", nil
	}
	versions, err := tx.VersionsOf(projectID)
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		if !v.RequestsAuth.Allows(snapshot.JWT) {
			return fmt.Sprintf(
				"The token_type of %s replaces or removes the client's token in calls to the upstream, but version %s "+
					"doesn't verify tokens and would forward them unchanged. Add jwt to its methods, or set "+
					"token_type to \"service\".",
				Label(all[i].Provider), v.Name,
			), nil
		}
	}
	return "", nil
}

// checkProjects is CheckProject for a provider that the transaction has written: it refuses with
// the provider's field.
func (s *Service) checkProjects(tx *models.Tx, tenant models.Tenant, provider string) error {
	projects, err := tx.ProjectsOfTenant(tenant)
	if err != nil {
		return err
	}
	for _, project := range projects {
		reason, err := unverifiedTokens(tx, project, provider)
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
