package models

import (
	"fmt"
	"time"
)

// holding is a table with rows of one project or team. key is the column that its rows
// are counted by; where selects them, with the owner's id as its parameter.
type holding struct{ table, key, where string }

// logins lists the tables with rows of the tenants of a project or team, and of these
// tenants' app clients. owner is the column of the project's or team's id.
func logins(owner string) []holding {
	tenants := "(SELECT id FROM tenants WHERE " + owner + " = ?)"
	clients := "(SELECT id FROM app_clients WHERE tenant_id IN " + tenants + ")"
	providers := "(SELECT id FROM providers WHERE app_client_id IN " + clients + ")"
	return []holding{
		{"login_grants", "hash", "session_id IN (SELECT id FROM login_sessions WHERE client_id IN " + clients + ")"},
		{"login_sessions", "id", "client_id IN " + clients},
		{"logout_notices", "id", "client_id IN " + clients},
		{"login_consents", "user_id", "client_id IN " + clients},
		{"login_attempts", "id", "client_id IN " + clients},
		{"signing_keys", "id", "client_id IN " + clients},
		{"mapped_members", "provider_id", "provider_id IN " + providers},
		{"unstated_claims", "provider_id", "provider_id IN " + providers},
		{"group_mappings", "provider_id", "provider_id IN " + providers},
		{"providers", "id", "app_client_id IN " + clients},
		{"app_clients", "id", "tenant_id IN " + tenants},
		{"group_groups", "parent_id", "parent_id IN (SELECT id FROM user_groups WHERE tenant_id IN " + tenants + ")"},
		{"group_owners", "group_id", "group_id IN (SELECT id FROM user_groups WHERE tenant_id IN " + tenants + ")"},
		{"group_members", "user_id", "user_id IN (SELECT id FROM end_users WHERE tenant_id IN " + tenants + ")"},
		{"user_groups", "id", "tenant_id IN " + tenants},
		{"approvals", "id", "tenant_id IN " + tenants},
		{"signup_policies", "tenant_id", "tenant_id IN " + tenants},
		{"identities", "user_id", "tenant_id IN " + tenants},
		{"deleted_users", "user_id", "tenant_id IN " + tenants},
		{"end_users", "id", "tenant_id IN " + tenants},
	}
}

// ofProject lists what belongs to a project, what refers to other rows before
// those. Its exports are not here: they have files, which go first. Its own tenant is
// deleted with the project's row.
var ofProject = append(logins("project_id"), []holding{
	{"usage_hours", "hour", "project_id = ?"},
	{"usage_days", "day", "project_id = ?"},
	{"usage_spans", "since", "project_id = ?"},
	{"usage_traffic", "since", "project_id = ?"},
	{"usage_folds", "through_day", "project_id = ?"},
	{"shadow_refusals", "rule", "project_id = ?"},
	{"relation_misses", "rule", "project_id = ?"},
	{"relations", "object", "project_id = ?"},
	{"invalid_requests", "operation", "project_id = ?"},
	{"target_reports", "target", "project_id = ?"},
	{"target_health", "target", "project_id = ?"},
	{"limit_counts", "subject", "project_id = ?"},
	{"api_keys", "id", "project_id = ?"},
	{"domains", "id", "project_id = ?"},
	{"call_signing_keys", "id", "project_id = ?"},
	{"openapi_documents", "version_id", "version_id IN (SELECT id FROM versions WHERE project_id = ?)"},
	{"environments", "id", "version_id IN (SELECT id FROM versions WHERE project_id = ?)"},
	{"versions", "id", "project_id = ?"},
	{"key_types", "id", "project_id = ?"},
	{"project_tenants", "tenant_id", "project_id = ?"},
	// A replica whose position has no revision treats the database as a restored one.
	{"revisions", "id", "project_id = ? AND id < (SELECT max(id) FROM revisions) - 1000"},
}...)

// ofTeam lists what belongs to a team in addition to its projects.
var ofTeam = append(logins("team_id"), []holding{
	{"relations", "object", "tenant_id IN (SELECT id FROM tenants WHERE team_id = ?)"},
	{"tokens", "id", "team_id = ?"},
	{"import_plans", "id", "team_id = ?"},
	{"webhook_deliveries", "id", "webhook_id IN (SELECT id FROM webhooks WHERE team_id = ?)"},
	{"webhooks", "id", "team_id = ?"},
	{"data_keys", "id", "team_id = ?"},
	{"invitations", "id", "team_id = ?"},
	{"moved_objects", "id", "team_id = ?"},
	{"move_ins", "id", "team_id = ?"},
	{"tenants", "id", "team_id = ?"},
	{"products", "id", "team_id = ?"},
}...)

// EndedWorkspaces lists at most limit unclaimed workspaces that had ended by the given time, in the order of their
// ends, after the given row (the zero Team for the start).
func (t *Tx) EndedWorkspaces(by time.Time, after Team, limit int) ([]Team, error) {
	q := t.db.Where("claimed_at IS NULL AND expires_at <= ?", by)
	if after.ExpiresAt != nil {
		q = q.Where("expires_at > ? OR (expires_at = ? AND id > ?)", *after.ExpiresAt, *after.ExpiresAt, after.ID)
	}
	var list []Team
	return list, q.Order("expires_at, id").Limit(limit).Find(&list).Error
}

// LockTeamForPurge locks the row of an unclaimed workspace that had ended by the given time until the transaction ends,
// and prevents that it is claimed. It returns false if it was claimed or doesn't exist.
func (t *Tx) LockTeamForPurge(id string, by time.Time) (bool, error) {
	res := t.db.
		Model(&Team{}).
		Where("id = ? AND claimed_at IS NULL AND expires_at <= ?", id, by).
		UpdateColumn("claim_code_hash", nil)
	return res.RowsAffected == 1, res.Error
}

// DeleteSomeOfProject deletes about limit rows of a project, but not its exports. It returns false if only the project
// itself and its own tenant were left.
func (t *Tx) DeleteSomeOfProject(id string, limit int) (more bool, err error) {
	return t.deleteSome(ofProject, id, limit)
}

// DeleteSomeOfTeam does the same for a team's objects outside of projects.
func (t *Tx) DeleteSomeOfTeam(id string, limit int) (more bool, err error) {
	return t.deleteSome(ofTeam, id, limit)
}

func (t *Tx) deleteSome(from []holding, id string, limit int) (bool, error) {
	for _, h := range from {
		statement := fmt.Sprintf("DELETE FROM %[1]s WHERE %[3]s AND %[2]s IN (SELECT %[2]s FROM %[1]s WHERE %[3]s "+
			"ORDER BY %[2]s LIMIT ?)",
			h.table, h.key, h.where)
		res := t.db.Exec(statement, id, id, limit)
		if res.Error != nil {
			return false, fmt.Errorf("delete from %s: %w", h.table, res.Error)
		}
		if res.RowsAffected > 0 {
			return true, nil
		}
	}
	return false, nil
}

// DeleteOwnTenants removes the rows of a project's own tenants, and returns them.
func (t *Tx) DeleteOwnTenants(projectID string) ([]Tenant, error) {
	var list []Tenant
	if err := t.db.Where("project_id = ?", projectID).Order("id").Find(&list).Error; err != nil {
		return nil, err
	}
	return list, t.db.Where("project_id = ?", projectID).Delete(&Tenant{}).Error
}

// DeleteExport removes an export's row and its ledger.
func (t *Tx) DeleteExport(id string) error {
	if err := t.db.Where("export_id = ?", id).Delete(&ExportLedger{}).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&Export{}).Error
}

// DeleteProject removes a project's row.
func (t *Tx) DeleteProject(id string) error { return t.db.Where("id = ?", id).Delete(&Project{}).Error }

// DeleteTeam removes a team's row.
func (t *Tx) DeleteTeam(id string) error { return t.db.Where("id = ?", id).Delete(&Team{}).Error }

// Purged lists the tables that a purge empties.
func Purged() []string {
	names := []string{"exports", "export_ledgers", "projects", "teams"}
	for _, h := range append(append([]holding{}, ofProject...), ofTeam...) {
		names = append(names, h.table)
	}
	return names
}
