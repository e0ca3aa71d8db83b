package policy

import "postern/core/snapshot"

// Realm is what the decisions need to know of a project, laid out once for all
// of its calls.
type Realm struct {
	ID            string
	ProductID     string
	FallbackOwner string
	Limits        snapshot.ProjectLimits
	ownTenant     string            // id of the tenant named default
	tenants       map[string]string // id to fallback owner
	named         map[string]string // tenant's name to id
	types         map[string]*snapshot.KeyType
	clients       map[string]*snapshot.AppClient // by issuer
	barred        map[string]bool                // end user's id to whether they were deleted
}

// NewRealm lays out a project. It keeps no reference to it but to its key types and
// app clients.
func NewRealm(p *snapshot.Project) *Realm {
	r := &Realm{
		ID:            p.ID,
		ProductID:     p.ProductID,
		FallbackOwner: p.FallbackOwner,
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
	return r
}

// Client is the app client with that issuer, nil where the project serves none.
func (r *Realm) Client(issuer string) *snapshot.AppClient { return r.clients[issuer] }

// Serves tells whether the project serves the tenant.
func (r *Realm) Serves(tenantID string) bool {
	_, ok := r.tenants[tenantID]
	return ok
}

// TenantNamed is the id of the tenant of that name, the project's own for "", and
// "" when the project does not serve it.
func (r *Realm) TenantNamed(name string) string {
	if name == "" {
		return r.ownTenant
	}
	return r.named[name]
}

// frozen tells whether a key's owner is an end user who is frozen. The keys of one
// who was deleted are revoked; whoever names a new key's owner so means a text.
func (r *Realm) frozen(owner string) bool {
	deleted, barred := r.barred[owner]
	return barred && !deleted
}

// FallbackOwnerOf is whom a call without a key counts against when a verified
// token names the tenant, "" for none.
func (r *Realm) FallbackOwnerOf(tenantID string) string {
	if owner := r.tenants[tenantID]; owner != "" {
		return owner
	}
	return r.FallbackOwner
}

// Standing is what a key is in a project that it opens.
type Standing struct {
	Scopes   []string
	TenantID string
}

// Here tells whether a key opens this project, and as what. A key of the project's
// product has the scopes that its type's name stands for here (what a partner may do
// is for each project to say) and, if it is of the tenant that its own project calls
// default, the one called so here. The key stays as it is: it may be kept for the
// caller's next call, to which other projects or newer rules may apply.
func (r *Realm) Here(k *snapshot.Key) (as Standing, opens bool) {
	as = Standing{k.Scopes, k.TenantID}
	if k.ProjectID == r.ID {
		return as, true
	}
	if k.ProductID == "" || k.ProductID != r.ProductID {
		return Standing{}, false
	}
	t := r.types[k.KeyType]
	if t == nil {
		return Standing{}, false
	}
	as.Scopes = t.Scopes
	if k.Tenant == snapshot.DefaultTenant {
		as.TenantID = r.ownTenant
	}
	return as, true
}

// KeyLimits are those that hold for a key here: its own, or its type's, or the
// project's for each key.
func (r *Realm) KeyLimits(k *snapshot.Key) *snapshot.Limits {
	if k.Limits != nil {
		return k.Limits
	}
	if t := r.types[k.KeyType]; t != nil && !t.Limits.None() {
		return &t.Limits
	}
	return &r.Limits.Key
}
