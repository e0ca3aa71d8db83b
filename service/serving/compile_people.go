package serving

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

// readPeople reads what only exports have: the settings of app clients and providers, the
// people of tenants (their users are streamed, see ScanUsers), and the team's webhooks.
func readPeople(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	if err := readClientSettings(tx, out); err != nil {
		return fmt.Errorf("serving: settings of the login of %s: %w", row.ID, err)
	}
	tenants, err := tx.TenantsOf(row.ID)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		at := slices.IndexFunc(out.Tenants, func(have snapshot.Tenant) bool { return have.ID == t.ID })
		if out.Tenants[at].Directory, err = readDirectory(tx, t.ID); err != nil {
			return fmt.Errorf("serving: people of %s: %w", t.ID, err)
		}
		out.Tenants[at].DisplayName = t.DisplayName
	}
	if err := readShared(tx, row, out); err != nil {
		return fmt.Errorf("serving: custom domains of %s: %w", row.ID, err)
	}
	return readWebhooks(tx, row.TeamID, out)
}

// readShared marks the custom domains whose host other projects of the team have too.
func readShared(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	shared, err := tx.HostsWithin(row.ID, row.TeamID)
	if err != nil {
		return err
	}
	for i := range out.Versions {
		for j := range out.Versions[i].Environments {
			domains := out.Versions[i].Environments[j].Domains
			for n := range domains {
				domains[n].Shared = slices.Contains(shared, domains[n].Host)
			}
		}
	}
	return nil
}

func readClientSettings(tx *models.Tx, out *snapshot.Project) error {
	clients, err := tx.AppClientsWithSecrets(out.ID)
	if err != nil {
		return err
	}
	providers, err := readProviderSettings(tx, out.ID)
	if err != nil {
		return err
	}
	for _, row := range clients {
		at := slices.IndexFunc(out.Clients, func(c snapshot.AppClient) bool { return c.ID == row.ID })
		client := &out.Clients[at]
		client.Settings = &snapshot.ClientSettings{
			RedirectURIs:         row.RedirectURIs,
			LogoutURIs:           row.LogoutURIs,
			BackchannelLogoutURI: row.BackchannelLogoutURI,
			APIScopes:            row.APIScopes,
			GrantTypes:           row.GrantTypes,
			SecretHash:           row.SecretHash,
			PKCE:                 row.PKCE,
			AccessFor:            time.Duration(row.AccessTokenSeconds) * time.Second,
			RefreshFor:           time.Duration(row.RefreshTokenSeconds) * time.Second,
			Algorithm:            row.Algorithm,
			CreatedAt:            row.CreatedAt.UTC(),
			Branding: contract.Branding{
				Title: row.Title, Welcome: row.Welcome, LogoURL: row.LogoURL, Color: row.Color,
			},
		}
		for i := range client.Providers {
			client.Providers[i].Settings = providers[client.Providers[i].ID]
		}
	}
	return nil
}

// readProviderSettings reads the settings of the providers of a project by their ids.
func readProviderSettings(tx *models.Tx, projectID string) (map[string]*snapshot.ProviderSettings, error) {
	rows, err := tx.ProvidersServed(projectID)
	if err != nil {
		return nil, err
	}
	secret, err := tx.ProvidersWithSecrets(projectID)
	if err != nil {
		return nil, err
	}
	out := map[string]*snapshot.ProviderSettings{}
	for _, row := range rows {
		out[row.ID] = &snapshot.ProviderSettings{
			Managed:              row.Managed,
			HasSecret:            slices.ContainsFunc(secret, func(p models.Provider) bool { return p.ID == row.ID }),
			Scopes:               row.Scopes,
			Label:                row.Label,
			Audience:             row.Audience,
			ResponseMode:         row.ResponseMode,
			AuthoritativeDomains: row.AuthoritativeDomains,
			SignInDomains:        row.SignInDomains,
			CreatedAt:            row.CreatedAt.UTC(),
		}
		if row.Endpoints != "" {
			if err := json.Unmarshal([]byte(row.Endpoints), &out[row.ID].Endpoints); err != nil {
				return nil, fmt.Errorf("endpoints of provider %s: %w", row.ID, err)
			}
		}
	}
	mappings, err := tx.GroupMappingsServed(projectID)
	if err != nil {
		return nil, err
	}
	for _, m := range mappings {
		of := out[m.ProviderID]
		of.Mappings = append(of.Mappings, snapshot.GroupMapping{
			Claim: m.Claim, Value: m.Value, Match: m.Match, Group: m.Group,
		})
	}
	return out, nil
}

func readDirectory(tx *models.Tx, tenantID string) (*snapshot.Directory, error) {
	out := &snapshot.Directory{}
	rules, err := tx.SignupPolicyOf(tenantID)
	if err != nil {
		return nil, err
	}
	out.InviteOnly = rules.InviteOnly
	approvals, err := tx.AllApprovals(tenantID)
	if err != nil {
		return nil, err
	}
	for _, a := range approvals {
		out.Approvals = append(out.Approvals, snapshot.Approval{
			ID: a.ID, Kind: a.Kind, Value: a.Value, Groups: a.Groups, CreatedAt: a.CreatedAt.UTC(),
		})
	}
	if out.Groups, err = readGroups(tx, tenantID); err != nil {
		return nil, err
	}
	if out.Users, err = tx.CountPeople(tenantID); err != nil {
		return nil, err
	}
	out.Consents, err = tx.CountConsents(tenantID)
	return out, err
}

func readGroups(tx *models.Tx, tenantID string) ([]snapshot.Group, error) {
	nestings, err := tx.AllNestings(tenantID)
	if err != nil {
		return nil, err
	}
	parents := map[string][]string{}
	for _, n := range nestings {
		parents[n.ChildID] = append(parents[n.ChildID], n.ParentID)
	}
	owned, err := tx.GroupOwnersOfTenant(tenantID)
	if err != nil {
		return nil, err
	}
	owners := map[string][]snapshot.GroupOwner{}
	for _, o := range owned {
		owners[o.GroupID] = append(owners[o.GroupID], snapshot.GroupOwner{
			Owner: o.Owner, Role: o.Role, CreatedAt: o.CreatedAt.UTC(),
		})
	}
	rows, err := tx.AllUserGroups(tenantID)
	if err != nil {
		return nil, err
	}
	var out []snapshot.Group
	for _, g := range rows {
		out = append(out, snapshot.Group{
			ID:          g.ID,
			Name:        g.Name,
			DisplayName: g.DisplayName,
			ExternalID:  valueOf(g.ExternalID),
			Parents:     parents[g.ID],
			Owners:      owners[g.ID],
			CreatedAt:   g.CreatedAt.UTC(),
			UpdatedAt:   g.UpdatedAt.UTC(),
		})
	}
	return out, nil
}

// readWebhooks reads the webhooks of the team. An unreadable URL has no host.
func readWebhooks(tx *models.Tx, teamID string, out *snapshot.Project) error {
	rows, err := tx.WebhooksOf(teamID)
	if err != nil {
		return err
	}
	for _, w := range rows {
		host := ""
		if at, err := url.Parse(w.URL); err == nil {
			host = at.Host
		}
		out.Webhooks = append(out.Webhooks, snapshot.Webhook{
			ID: w.ID, Host: host, Events: w.Events, Enabled: w.Enabled,
		})
	}
	return nil
}

// usersAtOnce is how many users ScanUsers reads with one query.
const usersAtOnce = 5000

// ScanUsers calls fn with the users of a tenant in ascending order of ids. tx must read one
// consistent state. It ends at the first error of fn, and returns it.
func ScanUsers(tx *models.Tx, tenantID string, fn func(snapshot.User) error) error {
	for after := ""; ; {
		batch, err := tx.PeopleAfter(tenantID, after, usersAtOnce)
		if err != nil {
			return fmt.Errorf("serving: users of %s: %w", tenantID, err)
		}
		for i := range batch.Users {
			if err := fn(takeUser(&batch.Users[i], &batch)); err != nil {
				return err
			}
		}
		if len(batch.Users) < usersAtOnce {
			return nil
		}
		after = batch.Users[len(batch.Users)-1].ID
	}
}

// takeUser returns a user with what belongs to them, which it takes off the fronts of the
// lists of the batch.
func takeUser(row *models.EndUser, from *models.People) snapshot.User {
	u := snapshot.User{
		ID:            row.ID,
		Email:         row.Email,
		EmailVerified: row.EmailVerified,
		Name:          row.Name,
		Profile:       row.Profile,
		UserName:      valueOf(row.UserName),
		ExternalID:    valueOf(row.ExternalID),
		State:         row.State,
		CreatedAt:     row.CreatedAt.UTC(),
		UpdatedAt:     row.UpdatedAt.UTC(),
	}
	for len(from.Identities) > 0 && from.Identities[0].UserID == row.ID {
		i := from.Identities[0]
		u.Identities = append(u.Identities, snapshot.Identity{
			Issuer: i.Issuer, Subject: i.Subject, ProviderID: i.ProviderID, CreatedAt: i.CreatedAt.UTC(),
		})
		from.Identities = from.Identities[1:]
	}
	for len(from.Memberships) > 0 && from.Memberships[0].UserID == row.ID {
		m := from.Memberships[0]
		u.Memberships = append(u.Memberships, snapshot.Membership{
			GroupID: m.GroupID, Role: m.Role, Mapped: m.Mapped, CreatedAt: m.CreatedAt.UTC(),
		})
		from.Memberships = from.Memberships[1:]
	}
	for len(from.Consents) > 0 && from.Consents[0].UserID == row.ID {
		c := from.Consents[0]
		u.Consents = append(u.Consents, snapshot.Consent{
			ClientID: c.ClientID, Scope: c.Scope, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
		})
		from.Consents = from.Consents[1:]
	}
	return u
}

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
