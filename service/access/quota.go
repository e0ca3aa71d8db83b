package access

import (
	"fmt"

	"postern/models"
	"postern/platform/fault"
)

// What a workspace may hold before anybody has claimed it. It is enough to try
// everything; without it, whoever can call POST /proxy could fill the database
// and every replica's memory without giving a name.
var workspaceRoom = map[models.Held]int64{
	models.HeldProjects: 10,
	models.HeldKeys:     1000,
	models.HeldTenants:  10,
	models.HeldProducts: 10,
	models.HeldExports:  30,
}

// Room refuses one more row of a kind to a workspace that is full. Teams that
// somebody has claimed have room for any number. The rows are of the team itself,
// or of its projects.
func Room(tx *models.Tx, teamID string, kind models.Held) error {
	most, known := workspaceRoom[kind]
	if !known {
		return fmt.Errorf("access: nobody has said how many rows of %s a workspace may have", kind)
	}
	held, unclaimed, err := tx.WorkspaceHolds(teamID, kind, most)
	if err != nil {
		return fmt.Errorf("access: count %s of %s: %w", kind, teamID, err)
	}
	if !unclaimed || held < most {
		return nil
	}
	return fault.New(fault.Conflict, "workspace_full", "A workspace that nobody has claimed holds at most %d of "+
		"these. Claim it to have more.", most)
}
