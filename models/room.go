package models

// Held is a kind of rows that a workspace has.
type Held string

// What is counted of a workspace, by table.
const (
	HeldProjects Held = "projects"
	HeldTenants  Held = "tenants"
	HeldProducts Held = "products"
	HeldKeys     Held = "api_keys" // of its projects, as the exports
	HeldExports  Held = "exports"
)

// WorkspaceHolds counts the rows of one kind that belong to an unclaimed team or
// to its projects, up to most; false for a team that was claimed.
func (t *Tx) WorkspaceHolds(teamID string, kind Held, most int64) (held int64, unclaimed bool, err error) {
	team, err := t.TeamByID(teamID)
	if err != nil || team.ClaimedAt != nil {
		return 0, false, err
	}
	where := "team_id = ?"
	if kind == HeldKeys || kind == HeldExports {
		where = "project_id IN (SELECT id FROM projects WHERE team_id = ?)"
	}
	some := t.db.Table(string(kind)).Select("id").Where(where, teamID).Limit(int(most))
	err = t.db.Table("(?) AS held", some).Count(&held).Error
	return held, true, err
}

// CountUnfinishedExports counts a project's exports that are queued or being built.
func (t *Tx) CountUnfinishedExports(projectID string) (int64, error) {
	var n int64
	return n, t.db.
		Model(&Export{}).
		Where("project_id = ? AND state IN ('queued', 'building')", projectID).
		Count(&n).Error
}
