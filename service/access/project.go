package access

import (
	"errors"
	"fmt"

	"postern/models"
)

// CheckProject is Check for a project and its objects. Changes to a project in the trash are refused as Conflict with
// the code project_deleted.
func CheckProject(p Principal, project models.Project, action Action) error {
	err := Check(p, project.TeamID, action)
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		refusal.Project = project.ID
	}
	if err != nil {
		return err
	}
	return checkBin(project, action)
}

// Projects checks that the principal may perform the action on each of the projects, which are IDs. It fails if the
// principal may not see one of them.
func Projects(tx *models.Tx, p Principal, ids []string, action Action) error {
	teams, err := tx.TeamsOfProjects(ids)
	if err != nil {
		return fmt.Errorf("access: find the teams of projects: %w", err)
	}
	for _, id := range ids {
		if err := Check(p, teams[id], action); err != nil {
			return fmt.Errorf("access: project %s: %w", id, err)
		}
	}
	return nil
}
