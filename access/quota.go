package access

import (
	"fmt"

	"postern/fault"
	"postern/models"
)

// What a workspace may hold before anybody has claimed it. It is enough to try
// everything; without it, whoever can call POST /proxy could fill the database
// and every replica's memory without giving a name.
var workspaceRoom = map[string]int64{"projects": 10, "api_keys": 1000, "tenants": 10, "products": 10, "exports": 30}

// Room refuses one more row of a table to a workspace that is full. Teams that
// somebody has claimed have room for any number. The rows are of the team itself,
// or of its projects.
func Room(tx *models.Tx, teamID, table string) error {
	most, known := workspaceRoom[table]
	if !known {
		return fmt.Errorf("access: nobody has said how many rows of %s a workspace may have", table)
	}
	held, unclaimed, err := tx.WorkspaceHolds(teamID, table, most)
	if err != nil {
		return fmt.Errorf("access: count %s of %s: %w", table, teamID, err)
	}
	if !unclaimed || held < most {
		return nil
	}
	return fault.New(fault.Conflict, "workspace_full", "A workspace that nobody has claimed holds at most %d of these. Claim it to have more.", most)
}
