package serving

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

// readAll reads every project with its keys. All keys are read at once while the projects are.
func (f *Feed) readAll(ctx context.Context) (err error) {
	tx := f.DB.Bulk(ctx)
	if f.last, err = tx.LastRevision(); err != nil {
		return fmt.Errorf("serving: read the change feed: %w", err)
	}
	ids, err := tx.AllProjectIDs()
	if err != nil {
		return fmt.Errorf("serving: load: %w", err)
	}
	keys := make(chan error, 1)
	go func() { keys <- f.Keys.LoadAll(f.DB.Bulk(ctx)) }()
	failed := f.readProjects(ctx, tx, ids)
	if err := <-keys; err != nil && failed == nil {
		f.Log.Warn("could not read all keys at once; reading them project by project", "error", err)
		failed = f.readKeys(ctx, tx)
	}
	if failed != nil {
		return fmt.Errorf("serving: load: %w", failed)
	}
	f.Keys.Retain(func(id string) bool {
		project := f.projects[id]
		return project != nil && !project.Deleted
	})
	return nil
}

// readProjects reads projects without their keys.
func (f *Feed) readProjects(ctx context.Context, tx *models.Tx, ids []string) error {
	f.projects = make(map[string]*snapshot.Project, len(ids))
	for some := range slices.Chunk(ids, projectsAtOnce) {
		rows, failed := rowsOf(tx, some)
		for _, id := range some {
			var err error
			if failed != nil { // reading them one by one shows which project it is
				_, err = f.readProject(tx, id)
			} else {
				_, err = f.serve(tx, id, rows, keysElsewhere{})
			}
			if err := f.setAside(ctx, id, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// readKeys reads the keys of one project after the other: one that cannot be read must not hold up the others.
func (f *Feed) readKeys(ctx context.Context, tx *models.Tx) error {
	for _, id := range slices.Sorted(maps.Keys(f.projects)) {
		if f.projects[id].Deleted {
			continue
		}
		if err := f.setAside(ctx, id, f.Keys.LoadProject(tx, id)); err != nil {
			return err
		}
	}
	return nil
}

// keyLoader reads and removes the keys of a project, as keys.Table does.
type keyLoader interface {
	LoadProject(tx *models.Tx, id string) error
	RemoveProject(id string)
}

// keysElsewhere leaves keys to readAll.
type keysElsewhere struct{}

func (keysElsewhere) LoadProject(*models.Tx, string) error { return nil }

func (keysElsewhere) RemoveProject(string) {}
