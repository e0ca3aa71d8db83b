package policy

import "postern/core/snapshot"

// Realm indexes the data of a project that decisions read. It is built once for all calls.
type Realm struct {
	ID            string
	TeamID        string // in which keys are found
	FormerTeam    string // see snapshot.Project
	ProductID     string
	FallbackOwner string
	Audience      string // of its API; see Issuers
	ImportedKeys  bool   // keys of any form may be valid; see PossibleKey
	Limits        snapshot.ProjectLimits
	ownTenant     string            // id of the tenant named default
	tenants       map[string]string // id to fallback owner
	named         map[string]string // tenant's name to id
	types         map[string]*snapshot.KeyType
	clients       map[string]*snapshot.AppClient // by issuer
	barred        map[string]bool                // end user's id to whether they were deleted
	left          map[string]int64               // end user's id to when they left a group, see snapshot.GroupsLeft
	ended         map[string]bool                // by the id of a session
	members       map[memberKey]*snapshot.Member // owners of keys, and users of app clients
}

// memberKey names a user, or an owner of keys, of a tenant: apps of two tenants can have one name.
type memberKey struct{ tenantID, user string }

// NewRealm indexes a project. The Realm retains only the project's key types, app clients, members and users.
func NewRealm(p *snapshot.Project) *Realm {
	r := &Realm{
		ID:            p.ID,
		TeamID:        p.TeamID,
		FormerTeam:    p.FormerTeam,
		ProductID:     p.ProductID,
		FallbackOwner: p.FallbackOwner,
		Audience:      p.API.Audience,
		ImportedKeys:  p.ImportedKeys,
		Limits:        p.Limits,
		tenants:       make(map[string]string, len(p.Tenants)),
		named:         make(map[string]string, len(p.Tenants)),
		types:         make(map[string]*snapshot.KeyType, len(p.KeyTypes)),
	}
	for _, t := range p.Tenants {
		if t.Detached {
			continue
		}
		r.tenants[t.ID], r.named[t.Name] = t.FallbackOwner, t.ID
		if t.Name == snapshot.DefaultTenant {
			r.ownTenant = t.ID
		}
	}
	for i := range p.KeyTypes {
		r.types[p.KeyTypes[i].Name] = &p.KeyTypes[i]
	}
	r.clients, r.barred = make(map[string]*snapshot.AppClient, len(p.Clients)), make(map[string]bool, len(p.Barred))
	for i := range p.Clients {
		r.clients[p.Clients[i].Issuer] = &p.Clients[i]
	}
	for _, user := range p.Barred {
		r.barred[user.ID] = user.Deleted
	}
	r.left = make(map[string]int64, len(p.GroupsLeft))
	for _, one := range p.GroupsLeft {
		r.left[one.User] = one.At
	}
	r.ended = make(map[string]bool, len(p.EndedSessions))
	for _, id := range p.EndedSessions {
		r.ended[id] = true
	}
	r.members = make(map[memberKey]*snapshot.Member, max(len(p.Members), len(p.Users)))
	for _, list := range [][]snapshot.Member{p.Members, p.Users} {
		for i := range list {
			r.members[memberKey{list[i].TenantID, list[i].User}] = &list[i]
		}
	}
	return r
}

// Client returns the app client with that issuer, nil if the project serves none.
func (r *Realm) Client(issuer string) *snapshot.AppClient { return r.clients[issuer] }

// Serves reports whether the project serves the tenant.
func (r *Realm) Serves(tenantID string) bool {
	_, ok := r.tenants[tenantID]
	return ok
}

// TenantNamed returns the ID of the tenant with that name, or of the project's own tenant for "". It returns "" if the
// project doesn't serve the tenant.
func (r *Realm) TenantNamed(name string) string {
	if name == "" {
		return r.ownTenant
	}
	return r.named[name]
}

// frozen reports whether a key's owner is an end user who is frozen. A deleted user
// does not count: their keys are revoked, and a newer key with the same text as its
// owner is not theirs.
func (r *Realm) frozen(owner string) bool {
	deleted, barred := r.barred[owner]
	return barred && !deleted
}

// FallbackOwnerOf returns the owner of calls without a key whose verified token names the tenant; "" for none.
func (r *Realm) FallbackOwnerOf(tenantID string) string {
	if owner := r.tenants[tenantID]; owner != "" {
		return owner
	}
	return r.FallbackOwner
}

// Grant has the rights of a key in a project for which it is valid.
type Grant struct {
	Scopes   []string
	TenantID string
}

// Grant returns the rights of a key in this project, and whether the key is valid for the project. A key of another
// project of the product has the scopes that this project gives to the key type of that name (each project decides what
// a partner may do). A key of the default tenant of its own project counts for the default tenant of this one. Grant
// does not modify the key, which may be cached for the caller's next call, to another project or under newer rules.
func (r *Realm) Grant(k *snapshot.Key) (grant Grant, granted bool) {
	grant = Grant{k.Scopes, k.TenantID}
	if k.ProjectID == r.ID {
		return grant, true
	}
	if k.ProductID == "" || k.ProductID != r.ProductID {
		return Grant{}, false
	}
	t := r.types[k.KeyType]
	if t == nil {
		return Grant{}, false
	}
	grant.Scopes = t.Scopes
	if k.Tenant == snapshot.DefaultTenant {
		grant.TenantID = r.ownTenant
	}
	return grant, true
}

// KeyLimits returns the limits of a key: its own, or else its type's, or else those that the project sets for each key.
func (r *Realm) KeyLimits(k *snapshot.Key) *snapshot.Limits {
	if k.Limits != nil {
		return k.Limits
	}
	if t := r.types[k.KeyType]; t != nil && !t.Limits.None() {
		return &t.Limits
	}
	return &r.Limits.Key
}
