package models

// QuotaKind is a kind of rows that the quota of an unclaimed workspace limits. Its
// value is the name of the table.
type QuotaKind string

// The kinds of rows with a quota. Keys, exports and relations belong to the workspace's
// projects, the others to its team.
const (
	QuotaProjects QuotaKind = "projects"
	QuotaTenants  QuotaKind = "tenants"
	QuotaProducts QuotaKind = "products"
	QuotaKeys     QuotaKind = "api_keys"
	QuotaExports  QuotaKind = "exports"

	QuotaRelations QuotaKind = "relations"
)

// CountForQuota counts the rows of a kind that an unclaimed team or its projects have,
// up to most. For a claimed team, unclaimed is false and nothing is counted.
func (t *Tx) CountForQuota(
	teamID string, kind QuotaKind, most int64,
) (count int64, unclaimed bool, err error) {
	team, err := t.TeamServed(teamID)
	if err != nil || team.ClaimedAt != nil {
		return 0, false, err
	}
	where := "team_id = ?"
	if kind == QuotaKeys || kind == QuotaExports || kind == QuotaRelations {
		where = "project_id IN (SELECT id FROM projects WHERE team_id = ?)"
	}
	some := t.db.Table(string(kind)).Select("1").Where(where, teamID).Limit(int(most))
	err = t.db.Table("(?) AS counted", some).Count(&count).Error
	return count, true, err
}

// CountUnfinishedExports counts a project's exports that are queued or being built.
func (t *Tx) CountUnfinishedExports(projectID string) (int64, error) {
	var n int64
	return n, t.db.
		Model(&Export{}).
		Where("project_id = ? AND state IN ('queued', 'building')", projectID).
		Count(&n).Error
}
