package models

// WorkspaceHolds counts the rows of a table that belong to an unclaimed team or
// to its projects, up to most; false for a team that was claimed.
func (t *Tx) WorkspaceHolds(teamID, table string, most int64) (held int64, unclaimed bool, err error) {
	team, err := t.TeamByID(teamID)
	if err != nil || team.ClaimedAt != nil {
		return 0, false, err
	}
	where := "team_id = ?"
	if table == "api_keys" || table == "exports" {
		where = "project_id IN (SELECT id FROM projects WHERE team_id = ?)"
	}
	some := t.db.Table(table).Select("id").Where(where, teamID).Limit(int(most))
	err = t.db.Table("(?) AS held", some).Count(&held).Error
	return held, true, err
}

// CountUnfinishedExports counts a project's exports that are queued or being built.
func (t *Tx) CountUnfinishedExports(projectID string) (int64, error) {
	var n int64
	return n, t.db.Model(&Export{}).Where("project_id = ? AND state IN ('queued', 'building')", projectID).Count(&n).Error
}
