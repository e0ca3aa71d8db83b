package serving

import (
	"postern/core/snapshot"
	"postern/models"
)

// readRelations reads the relations of a project if its rules name objects and they are not held yet. It drops the
// relations of other projects.
func (f *Feed) readRelations(tx *models.Tx, p *snapshot.Project) error {
	switch {
	case f.Relations == nil:
		return nil
	case !namesObjects(p):
		f.Relations.RemoveProject(p.ID)
		return nil
	case f.Relations.Loaded(p.ID):
		return nil // changes of relations have their own revisions
	}
	return f.Relations.LoadProject(tx, p.ID)
}

func namesObjects(p *snapshot.Project) bool {
	for i := range p.Versions {
		if p.Versions[i].Rules.NamesObjects() {
			return true
		}
	}
	return false
}

// applyRelations applies a revision of relations.
func (f *Feed) applyRelations(tx *models.Tx, revision models.Revision) error {
	if f.Relations == nil {
		return nil
	}
	return f.Relations.Apply(tx, revision.ProjectID, revision.Relations)
}

func (f *Feed) dropRelations(projectID string) {
	if f.Relations != nil {
		f.Relations.RemoveProject(projectID)
	}
}
