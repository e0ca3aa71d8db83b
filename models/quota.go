package models

import "slices"

// QuotaKind is a kind of row that the quota of an unclaimed workspace limits. Its value is the name of the table.
type QuotaKind string

// The kinds of rows with a quota.
const (
	QuotaProjects QuotaKind = "projects"
	QuotaTenants  QuotaKind = "tenants"
	QuotaProducts QuotaKind = "products"
	QuotaKeys     QuotaKind = "api_keys"
	QuotaExports  QuotaKind = "exports"

	QuotaRelations QuotaKind = "relations"
	QuotaDocuments QuotaKind = "openapi_documents"
	QuotaUsers     QuotaKind = "end_users"
	QuotaGroups    QuotaKind = "user_groups"
	QuotaApprovals QuotaKind = "approvals"
)

// ownedBy returns the condition on rows of a kind that they belong to a team, to its projects, to their versions, or to
// the tenants of either. Each of its n parameters is the team's id.
func (k QuotaKind) ownedBy() (where string, n int) {
	const projects = "SELECT id FROM projects WHERE team_id = ?"
	switch k {
	case QuotaKeys, QuotaExports, QuotaRelations:
		return "project_id IN (" + projects + ")", 1
	case QuotaDocuments:
		return "version_id IN (SELECT id FROM versions WHERE project_id IN (" + projects + "))", 1
	case QuotaUsers, QuotaGroups, QuotaApprovals:
		return "tenant_id IN (SELECT id FROM tenants WHERE team_id = ? OR project_id IN (" + projects + "))", 2
	}
	return "team_id = ?", 1
}

// CountForQuota counts the rows of a kind that an unclaimed team or its projects have,
// up to most. For a claimed team, unclaimed is false and nothing is counted.
func (t *Tx) CountForQuota(
	teamID string, kind QuotaKind, most int64,
) (count int64, unclaimed bool, err error) {
	team, err := t.TeamServed(teamID)
	if err != nil || team.ClaimedAt != nil {
		return 0, false, err
	}
	where, n := kind.ownedBy()
	some := t.db.Table(string(kind)).Select("1").Where(where, slices.Repeat([]any{teamID}, n)...).Limit(int(most))
	err = t.db.Table("(?) AS counted", some).Count(&count).Error
	return count, true, err
}

// DocumentBytes returns the size of all OpenAPI documents of a team.
func (t *Tx) DocumentBytes(teamID string) (sum int64, err error) {
	where, n := QuotaDocuments.ownedBy()
	return sum, t.db.Table(string(QuotaDocuments)).
		Where(where, slices.Repeat([]any{teamID}, n)...).
		Select("COALESCE(SUM(LENGTH(document)), 0)").
		Scan(&sum).Error
}

// CountUnfinishedExports counts a project's exports that are queued or being built.
func (t *Tx) CountUnfinishedExports(projectID string) (int64, error) {
	var n int64
	return n, t.db.
		Model(&Export{}).
		Where("project_id = ? AND state IN ('queued', 'building')", projectID).
		Count(&n).Error
}
