package projects

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"postern/core/snapshot"
	"postern/models"
)

// projectsAtOnce is how many projects are read with the same queries when a process starts.
const projectsAtOnce = 200

// readAll reads every project with its keys.
func (f *Feed) readAll(ctx context.Context) (err error) {
	tx := f.DB.Bulk(ctx)
	if f.last, err = tx.LastRevision(); err != nil {
		return fmt.Errorf("projects: read the change feed: %w", err)
	}
	ids, err := tx.AllProjectIDs()
	if err != nil {
		return fmt.Errorf("projects: load: %w", err)
	}
	f.projects = make(map[string]*snapshot.Project, len(ids))
	if err := f.Keys.Reserve(tx); err != nil {
		return fmt.Errorf("projects: load keys: %w", err)
	}
	for some := range slices.Chunk(ids, projectsAtOnce) {
		rows, loader, failed := f.readSome(tx, some)
		for _, id := range some {
			var err error
			if failed != nil { // reading them one by one shows which project it is
				_, err = f.readProject(tx, id)
			} else {
				_, err = f.serve(tx, id, rows, loader)
			}
			if err := f.setAside(ctx, id, err); err != nil {
				return fmt.Errorf("projects: load: %w", err)
			}
		}
	}
	return nil
}

// keyLoader reads the keys of a project: keys.Table, or keys.ProjectLoader when there are many projects.
type keyLoader interface {
	LoadProject(tx *models.Tx, id string) error
}

// readSome reads the rows of projects, and what their keys refer to.
func (f *Feed) readSome(tx *models.Tx, ids []string) (*projectRows, keyLoader, error) {
	rows, err := rowsOf(tx, ids)
	if err != nil {
		return nil, nil, err
	}
	loader, err := f.Keys.LoaderFor(tx, slices.Collect(maps.Keys(rows.teams)), ids)
	return rows, loader, err
}
