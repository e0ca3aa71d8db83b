package keys

import "postern/models"

// ProjectLoader reads the keys of projects as Table.LoadProject does. What they refer to it
// has read with the same queries for all of the projects.
type ProjectLoader struct {
	table *Table
	names names
}

// LoaderFor returns a loader for projects of teams.
func (t *Table) LoaderFor(tx *models.Tx, teamIDs, projectIDs []string) (*ProjectLoader, error) {
	n, err := namesIn(tx, teamIDs, projectIDs)
	return &ProjectLoader{t, n}, err
}

// LoadProject reads the keys of one of the projects.
func (l *ProjectLoader) LoadProject(tx *models.Tx, projectID string) error {
	return tx.ScanServedKeys(projectID, func(row *models.APIKey) error { return l.table.put(l.names, row) })
}
