package models

import "time"

// CallFilter selects the calls of a project, of the projects that serve a tenant, or of the projects of a product; the
// first of these that is set counts. Tenant limits them to calls of the tenant's keys and users, and Product to calls
// of the product's keys.
type CallFilter struct {
	Project     string
	Environment string // id; "" for all
	Tenant      string
	Product     string
}

// CountCallers counts the owners who called since the hour, in whole hours since 1970, and
// their calls. ownerless reports whether there were calls without an owner too.
func (t *Tx) CountCallers(of CallFilter, since int64) (owners, calls int64, ownerless bool, err error) {
	q := t.db.Model(&UsageHour{}).Where("hour >= ?", since)
	switch {
	case of.Project != "":
		q = q.Where("project_id = ?", of.Project)
	case of.Tenant != "":
		q = q.Where("project_id IN (SELECT project_id FROM project_tenants WHERE tenant_id = ?)", of.Tenant)
	default:
		q = q.Where("project_id IN (SELECT id FROM projects WHERE product_id = ?)", of.Product)
	}
	if of.Environment != "" {
		q = q.Where("environment_id = ?", of.Environment)
	}
	// By the row that is called, not by a list: a tenant can have a million keys.
	if of.Tenant != "" {
		q = q.Where("EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = key_id AND tenant_id = ?) OR EXISTS (SELECT 1 "+
			"FROM end_users WHERE end_users.id = owner AND tenant_id = ?)", of.Tenant, of.Tenant)
	}
	if of.Product != "" {
		q = q.Where("EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = key_id AND product_id = ?)", of.Product)
	}
	var sums struct{ Owners, Calls, Ownerless int64 }
	// PostgreSQL's sum of BIGINT is NUMERIC.
	const columns = "count(DISTINCT nullif(owner, '')) AS owners, CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls, " +
		"coalesce(max(CASE WHEN owner = '' THEN 1 ELSE 0 END), 0) AS ownerless"
	err = q.Select(columns).Scan(&sums).Error
	return sums.Owners, sums.Calls, sums.Ownerless > 0, err
}

// CountSignIns counts the users who signed in through an app client since a time, with one of its providers if
// providerID isn't empty. It reads by ID, because IDs begin with the time.
func (t *Tx) CountSignIns(clientID, providerID string, since time.Time) (n int64, err error) {
	q := t.db.Model(&LoginSession{}).Where("id >= ? AND client_id = ?", firstID("ses", since), clientID)
	if providerID != "" {
		q = q.Where("provider_id = ?", providerID)
	}
	return n, q.Distinct("user_id").Count(&n).Error
}

// CountDeliveries counts a webhook's deliveries, including pending ones, since a time.
func (t *Tx) CountDeliveries(webhookID string, since time.Time) (n int64, err error) {
	return n, t.db.
		Model(&WebhookDelivery{}).
		Where("webhook_id = ? AND id >= ?", webhookID, firstID("msg", since)).
		Count(&n).Error
}
