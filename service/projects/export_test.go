package projects

import (
	"postern/core/snapshot"
	"postern/models"
)

// Serve makes the feed serve a project that is not in the database.
func (f *Feed) Serve(project *snapshot.Project) { f.published([]*snapshot.Project{project}) }

// CompileTogether compiles projects of rows that were read for all of them.
func CompileTogether(tx *models.Tx, ids []string, publicURL string) ([]*snapshot.Project, error) {
	rows, err := rowsOf(tx, ids)
	if err != nil {
		return nil, err
	}
	var out []*snapshot.Project
	for _, id := range ids {
		project, err := rows.compile(id, publicURL)
		if err != nil {
			return nil, err
		}
		out = append(out, project)
	}
	return out, nil
}
