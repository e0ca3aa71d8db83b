package models

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"

	"postern/migrations"
)

// A project that is imported belongs to a team that no one is in, and is in the trash without an end, until everything
// of it is written. No reader of a team finds it, gateways do not load it, and keys of a project in the trash do not
// open the others of their product. The team's tenants that come with it are the project's own until then. The id of
// the team begins with stageKind, by which an import that was not finished is found.
const stageKind = "imp"

// afterStages comes after the ids of all such teams.
const afterStages = stageKind + "`"

// rowsOfPiece bounds what RemoveUnfinishedImports deletes in one transaction.
const rowsOfPiece = 500

// Piece runs a part of a large change.
type Piece func(func(*Tx) error) error

// Stage holds the rows of an imported project until its team gets the project.
type Stage struct {
	Team  string // temporary owner of the project
	Piece Piece
}

// Import runs write, which writes a project in pieces, and then finish, which hands the project over to its team
// (HandOver). On SQLite, each piece is its own transaction, so that other changes can be made in between. An import
// waits up to importTurn for the previous one. If write or finish fails, Import removes the rows that were written. If
// the process is killed, the next import or RemoveUnfinishedImports removes them. On PostgreSQL, changes don't wait for
// an import, so everything is one transaction, and write may run again.
func (d *DB) Import(ctx context.Context, write func(Stage) error, finish func(*Tx) error) error {
	stage := Team{ID: NewID(stageKind), Name: "Import", ClaimedAt: new(Now()), CreatedAt: Now()}
	if d.dialect == migrations.Postgres {
		return d.Write(ctx, func(tx *Tx) error {
			if err := tx.Insert(&stage); err != nil {
				return err
			}
			err := write(Stage{Team: stage.ID, Piece: func(piece func(*Tx) error) error { return piece(tx) }})
			if err != nil {
				return err
			}
			return finish(tx)
		})
	}
	return d.importing.alone(ctx, func() error { return d.importInPieces(ctx, stage, write, finish) })
}

func (d *DB) importInPieces(
	ctx context.Context, stage Team, write func(Stage) error, finish func(*Tx) error,
) error {
	if err := d.removeUnfinished(ctx); err != nil {
		return err
	}
	alone := context.WithValue(ctx, alongsideKey{}, nil) // Alongside's function belongs at the end
	piece := func(piece func(*Tx) error) error { return d.Write(alone, piece) }
	err := piece(func(tx *Tx) error { return tx.Insert(&stage) })
	if err == nil {
		err = write(Stage{Team: stage.ID, Piece: piece})
	}
	if err == nil {
		err = d.Write(ctx, finish)
	}
	if err != nil {
		return errors.Join(err, d.removeUnfinished(context.WithoutCancel(alone)))
	}
	return nil
}

// HandOver completes an import: the projects, which belong to the same team, get their team, names and products, and
// the team gets the tenants and products that came with them.
func (t *Tx) HandOver(stage Stage, tenants []string, projects ...Project) error {
	if len(projects) == 0 {
		return t.DeleteTeam(stage.Team)
	}
	team := projects[0].TeamID
	err := t.db.Model(&Product{}).Where("team_id = ?", stage.Team).UpdateColumn("team_id", team).Error
	if err != nil {
		return err
	}
	for ids := range slices.Chunk(tenants, batchSize) {
		err := t.db.
			Model(&Tenant{}).
			Where("id IN ?", ids).
			UpdateColumns(map[string]any{"project_id": nil, "team_id": team}).Error
		if err != nil {
			return err
		}
	}
	for i := range projects {
		err := t.db.
			Model(&Project{}).
			Where("id = ?", projects[i].ID).
			Select("TeamID", "Name", "ProductID", "DeletedAt").
			UpdateColumns(&projects[i]).Error
		if err != nil {
			return err
		}
	}
	return t.DeleteTeam(stage.Team)
}

// TakeBack reverses HandOver: it moves the projects, and the team's tenants and products that came with them, to a
// stage. After the transaction, RemoveUnfinishedImports removes their rows. Their keys leave the team immediately, and
// their hashes aren't kept, so that another import can create them again.
func (t *Tx) TakeBack(projects, tenants, products []string) error {
	if len(projects) == 0 {
		return nil
	}
	now := Now()
	stage := Team{ID: NewID(stageKind), Name: "Import", ClaimedAt: &now, CreatedAt: now}
	if err := t.Insert(&stage); err != nil {
		return err
	}
	for _, one := range []struct {
		rows  any
		where string
		of    []string
		set   map[string]any
	}{
		{&APIKey{}, "project_id IN ?", projects, map[string]any{"team_id": stage.ID}},
		{&Tenant{}, "id IN ?", tenants, map[string]any{"project_id": projects[0], "team_id": nil}},
		{&Product{}, "id IN ?", products, map[string]any{"team_id": stage.ID}},
		{&Project{}, "id IN ?", projects, map[string]any{
			"team_id": stage.ID, "name": gorm.Expr("id"), "deleted_at": now, "purge_at": nil,
		}},
	} {
		for ids := range slices.Chunk(one.of, batchSize) {
			if err := t.db.Model(one.rows).Where(one.where, ids).UpdateColumns(one.set).Error; err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveUnfinishedImports removes the rows that imports of killed processes have written.
func (d *DB) RemoveUnfinishedImports(ctx context.Context) error {
	leave, err := d.importing.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return d.removeUnfinished(ctx)
}

func (d *DB) removeUnfinished(ctx context.Context) error {
	for more := true; more; {
		err := d.Write(ctx, func(tx *Tx) (err error) {
			more, err = tx.removeSomeUnfinished()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeSomeUnfinished returns false if nothing was left.
func (t *Tx) removeSomeUnfinished() (bool, error) {
	var stage Team
	err := t.db.Where("id > ? AND id < ?", stageKind+"_", afterStages).Take(&stage).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	projects, err := t.ProjectsOfTeam(stage.ID)
	if err != nil {
		return false, err
	}
	for _, project := range projects { // keys of one can be of a tenant of another
		if more, err := t.DeleteSomeOfProject(project.ID, rowsOfPiece); more || err != nil {
			return true, err
		}
	}
	for _, project := range projects {
		if _, err := t.DeleteOwnTenants(project.ID); err != nil {
			return false, err
		}
		revisions, err := t.RevisionsOf([]string{project.ID})
		if err == nil {
			err = t.DeleteProject(project.ID)
		}
		if err == nil && revisions[project.ID].ID > 0 { // gateways know it: see TakeBack
			err = t.AddRevision(project.ID, "", Now())
		}
		if err != nil {
			return false, err
		}
	}
	if more, err := t.DeleteSomeOfTeam(stage.ID, rowsOfPiece); more || err != nil {
		return true, err
	}
	return true, t.DeleteTeam(stage.ID)
}
