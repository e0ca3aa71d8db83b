package access

import (
	"errors"
	"fmt"
	"strings"

	"postern/models"
)

// Project finds a project by name or id and asks whether the principal may do
// this with it. A caller without any credential is told so before anything is
// looked up, and learns nothing about what exists. Ids hold an underscore, which
// names cannot.
func Project(tx *models.Tx, p Principal, ref string, action Action) (models.Project, error) {
	if p.Anonymous() {
		return models.Project{}, Check(p, "", action)
	}
	project, err := findProject(tx, ref)
	if err != nil {
		return project, err
	}
	return project, CheckProject(p, project, action)
}

func findProject(tx *models.Tx, ref string) (models.Project, error) {
	find := tx.ProjectByName
	if strings.Contains(ref, "_") {
		find = tx.ProjectByID
	}
	project, err := find(ref)
	if errors.Is(err, models.ErrNotFound) {
		return project, NotFound()
	}
	if err != nil {
		return project, fmt.Errorf("access: find the project %s: %w", ref, err)
	}
	return project, nil
}

// CheckProject is Check for what belongs to a project.
func CheckProject(p Principal, project models.Project, action Action) error {
	err := Check(p, project.TeamID, action)
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		refusal.Project = project.ID
	}
	return err
}

// Projects asks whether the principal may do this with each of the projects,
// named by their ids. It is refused as a whole when one of them may not be seen.
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
