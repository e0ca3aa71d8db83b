package models

import "time"

// TenantContents has the numbers of objects that belong to a tenant, keys up to MaxTotal+1.
type TenantContents struct {
	Users      int64
	Groups     int64
	Approvals  int64
	AppClients int64
	Providers  int64
	Sessions   int64 // sign-ins to its app clients that have not ended
	Keys       int64
	ActiveKeys int64
}

// ContentsOfTenant counts the objects that belong to a tenant at now.
func (t *Tx) ContentsOfTenant(id string, now time.Time) (out TenantContents, err error) {
	clients := t.db.Model(&AppClient{}).Select("id").Where("tenant_id = ?", id)
	for _, c := range []struct {
		into  *int64
		row   any
		where string
		args  []any
	}{
		{&out.Users, &EndUser{}, "tenant_id = ?", []any{id}},
		{&out.Groups, &UserGroup{}, "tenant_id = ?", []any{id}},
		{&out.Approvals, &Approval{}, "tenant_id = ?", []any{id}},
		{&out.AppClients, &AppClient{}, "tenant_id = ?", []any{id}},
		{&out.Providers, &Provider{}, "app_client_id IN (?)", []any{clients}},
		{&out.Sessions, &LoginSession{}, "client_id IN (?) AND ended_at IS NULL AND expires_at > " +
			"?", []any{clients, now}},
	} {
		if err := t.db.Model(c.row).Where(c.where, c.args...).Count(c.into).Error; err != nil {
			return out, err
		}
	}
	out.Keys, out.ActiveKeys, err = t.CountKeysOfTenant(id, now)
	return out, err
}

// ofTenant lists what belongs to one tenant, what refers to other rows before those.
var ofTenant = append(logins("id"), []holding{
	{"relations", "object", "tenant_id = ?"},
	{"api_keys", "id", "tenant_id = ?"},
	{"project_tenants", "project_id", "tenant_id = ?"},
	{"tenants", "id", "id = ?"},
}...)

// EraseTenant deletes a tenant's row and everything that belongs to the tenant. It returns ErrReferenced if another
// transaction adds an object to it at the same time.
func (t *Tx) EraseTenant(id string) error {
	if err := t.addTenantRelationRevisions(id, Now()); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = t.deleteSome(ofTenant, id, 5000); err != nil {
			return err
		}
	}
	return nil
}

// KeysOfTenant lists by ID the keys of a tenant in all projects, including revoked ones. It reads only their IDs and
// projects.
func (t *Tx) KeysOfTenant(tenantID string) ([]APIKey, error) {
	var list []APIKey
	return list, t.db.Select("id", "project_id").Where("tenant_id = ?", tenantID).Order("id").Find(&list).Error
}

// CountKeysOfProduct counts the keys of a product, and the keys that are active at now, both up to MaxTotal+1.
func (t *Tx) CountKeysOfProduct(id string, now time.Time) (all, active int64, err error) {
	return t.countKeys("product_id = ?", id, now)
}

// LiveKeysOfProduct lists by id the keys of a product that are not revoked.
func (t *Tx) LiveKeysOfProduct(id string) ([]APIKey, error) {
	var list []APIKey
	return list, t.db.Where("product_id = ? AND state <> 'revoked'", id).Order("id").Find(&list).Error
}

// LeaveProduct removes all projects from a product.
func (t *Tx) LeaveProduct(productID string, now time.Time) error {
	return t.db.
		Model(&Project{}).
		Where("product_id = ?", productID).
		UpdateColumns(map[string]any{"product_id": nil, "updated_at": now}).Error
}
