package realm

import (
	"slices"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// group is a GroupRepresentation.
type group struct {
	ID         string              `json:"id,omitempty"`
	Name       string              `json:"name"`
	Attributes map[string][]string `json:"attributes,omitempty"`
	SubGroups  []group             `json:"subGroups"`
}

// user is a UserRepresentation.
type user struct {
	ID             string              `json:"id"`
	Username       string              `json:"username"`
	Email          string              `json:"email,omitempty"`
	EmailVerified  bool                `json:"emailVerified"`
	FirstName      string              `json:"firstName,omitempty"`
	LastName       string              `json:"lastName,omitempty"`
	Enabled        bool                `json:"enabled"`
	Created        int64               `json:"createdTimestamp"` // Unix milliseconds
	Attributes     map[string][]string `json:"attributes"`
	Identities     []federatedIdentity `json:"federatedIdentities,omitempty"`
	Groups         []string            `json:"groups,omitempty"`
	Consents       []consent           `json:"clientConsents,omitempty"`
	ServiceAccount string              `json:"serviceAccountClientId,omitempty"`
}

// federatedIdentity is a FederatedIdentityRepresentation.
type federatedIdentity struct {
	Provider string `json:"identityProvider"`
	UserID   string `json:"userId"`
	UserName string `json:"userName"`
}

// consent is a UserConsentRepresentation.
type consent struct {
	ClientID string   `json:"clientId"`
	Scopes   []string `json:"grantedClientScopes"`
	Created  int64    `json:"createdDate"`     // Unix milliseconds
	Updated  int64    `json:"lastUpdatedDate"` // the same
}

// groups nests the groups of each tenant below one of the tenant's name. Keycloak's groups are a tree: a group that is
// in several is below the first, and its members are also members of the others.
func (s Source) groups() []group {
	out := []group{}
	for _, t := range s.Tenants {
		if len(t.Directory.Groups) == 0 {
			continue
		}
		out = append(out, group{Name: t.Name, SubGroups: below("", t.Directory.Groups, 0)})
	}
	return out
}

// below returns the groups whose first parent is the given one, "" for those without one. Groups in a cycle have no
// beginning and aren't found; the product doesn't allow cycles.
func below(parent string, all []snapshot.Group, depth int) []group {
	out := []group{}
	if depth > len(all) {
		return out
	}
	for _, g := range all {
		if firstParent(g, all) != parent {
			continue
		}
		one := group{ID: g.ID, Name: g.Name, SubGroups: below(g.ID, all, depth+1), Attributes: map[string][]string{}}
		if g.DisplayName != "" {
			one.Attributes["display_name"] = []string{g.DisplayName}
		}
		if g.ExternalID != "" {
			one.Attributes["external_id"] = []string{g.ExternalID}
		}
		out = append(out, one)
	}
	return out
}

// firstParent returns the first existing group that g is in.
func firstParent(g snapshot.Group, all []snapshot.Group) string {
	for _, parent := range g.Parents {
		if slices.ContainsFunc(all, func(one snapshot.Group) bool { return one.ID == parent }) {
			return parent
		}
	}
	return ""
}

// members makes users of one tenant.
type members struct {
	tenant    snapshot.Tenant
	paths     map[string][]string          // by group: its own path, and those of the other groups that it is in
	providers map[string]snapshot.Provider // of the tenant's app clients, by id
	aliases   []string                     // their ids, in order
	scopes    map[string][]string          // by app client: the scopes that users may have agreed to
}

func (s Source) membersOf(t snapshot.Tenant) *members {
	m := &members{
		tenant: t, paths: pathsOf(t), providers: map[string]snapshot.Provider{}, scopes: map[string][]string{},
	}
	for _, c := range s.Project.Clients {
		if c.TenantID != t.ID {
			continue
		}
		if c.Settings != nil && hasLogins(c.Settings) {
			_, m.scopes[c.ID] = s.scopesOf(c.Settings)
		}
		for _, p := range c.Providers {
			m.providers[p.ID] = p
			m.aliases = append(m.aliases, p.ID)
		}
	}
	return m
}

// pathsOf returns the groups that a member of each group is put into: itself, and outer groups that aren't on its path.
func pathsOf(t snapshot.Tenant) map[string][]string {
	byID := map[string]snapshot.Group{}
	for _, g := range t.Directory.Groups {
		byID[g.ID] = g
	}
	path := func(id string) string {
		names := []string{}
		for steps := 0; id != "" && steps <= len(byID); steps++ {
			g := byID[id]
			names = append(names, g.Name)
			id = firstParent(g, t.Directory.Groups)
		}
		slices.Reverse(names)
		return "/" + t.Name + "/" + strings.Join(names, "/")
	}
	out := map[string][]string{}
	for id := range byID {
		own := path(id)
		out[id] = []string{own}
		seen := map[string]bool{id: true}
		for queue := slices.Clone(byID[id].Parents); len(queue) > 0; queue = queue[1:] {
			above, known := byID[queue[0]]
			if !known || seen[above.ID] {
				continue
			}
			seen[above.ID] = true
			queue = append(queue, above.Parents...)
			if at := path(above.ID); !strings.HasPrefix(own, at+"/") {
				out[id] = append(out[id], at)
			}
		}
	}
	return out
}

func (m *members) user(u *snapshot.User) user {
	out := user{
		ID:            u.ID,
		Username:      u.ID,
		Email:         u.Email,
		EmailVerified: u.EmailVerified && u.Email != "",
		FirstName:     u.Name,
		Enabled:       u.State != "frozen",
		Created:       u.CreatedAt.UnixMilli(),
		Attributes:    map[string][]string{attribute: {m.tenant.ID}},
	}
	stated := jsonfile.Texts(u.Profile)
	if given, family := stated["given_name"], stated["family_name"]; family != "" && given+" "+family == u.Name {
		out.FirstName, out.LastName = given, family // otherwise the claim name would differ
	}
	for _, claim := range profileClaims {
		if stated[claim] != "" {
			out.Attributes[claim] = []string{stated[claim]}
		}
	}
	if u.UserName != "" {
		out.Attributes["user_name"] = []string{u.UserName}
	}
	if u.ExternalID != "" {
		out.Attributes["external_id"] = []string{u.ExternalID}
	}
	for _, i := range u.Identities {
		for _, alias := range m.aliases {
			if p := m.providers[alias]; alias == i.ProviderID || IdentityIssuer(p) == i.Issuer {
				id := subjectAt(p, i.Subject)
				out.Identities = append(out.Identities, federatedIdentity{alias, id, id})
			}
		}
	}
	for _, of := range u.Memberships {
		for _, path := range m.paths[of.GroupID] {
			if !slices.Contains(out.Groups, path) {
				out.Groups = append(out.Groups, path)
			}
		}
	}
	out.Consents = m.consentsOf(u)
	return out
}

// consentsOf returns the user's consents to app clients of the realm: Keycloak refuses a realm with a consent for a
// client or scope that it doesn't have.
func (m *members) consentsOf(u *snapshot.User) []consent {
	var out []consent
	for _, c := range u.Consents {
		offered, known := m.scopes[c.ClientID]
		if !known {
			continue
		}
		one := consent{
			ClientID: c.ClientID, Scopes: []string{}, Created: c.CreatedAt.UnixMilli(),
			Updated: c.UpdatedAt.UnixMilli(),
		}
		for _, scope := range strings.Fields(c.Scope) {
			if slices.Contains(offered, scope) && !slices.Contains(one.Scopes, scope) {
				one.Scopes = append(one.Scopes, scope)
			}
		}
		out = append(out, one)
	}
	return out
}

// IdentityIssuer returns the issuer of a provider's identities (see snapshot.Identity).
func IdentityIssuer(p snapshot.Provider) string {
	switch p.Type {
	case "google":
		return "https://accounts.google.com"
	case "github":
		if p.Issuer == "" {
			return "https://github.com"
		}
	case "facebook":
		return "https://www.facebook.com/" + p.ClientID
	case "microsoft":
		return "https://login.microsoftonline.com"
	}
	return p.Issuer
}

// subjectAt returns the ID by which Keycloak's broker identifies a user of a provider. For Microsoft, that is the
// object ID alone, while Postern uses directory and object ID, <tid>.<oid> (Microsoft Graph, user: id).
func subjectAt(p snapshot.Provider, subject string) string {
	if p.Type == "microsoft" {
		if _, object, both := strings.Cut(subject, "."); both {
			return object
		}
	}
	return subject
}

// machines are the users that Keycloak gives app clients which get tokens for themselves.
// Their tokens then have the app client's id as sub, as before.
func (s Source) machines() []user {
	out := []user{}
	for _, c := range s.Project.Clients {
		if !c.Machine || !IsConfidential(c) {
			continue
		}
		out = append(out, user{
			ID: c.ID, Username: "service-account-" + c.ID, Enabled: true, ServiceAccount: c.ID,
			Attributes: map[string][]string{attribute: {c.TenantID}},
		})
	}
	return out
}
