package imports

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/projects"
)

func (w *work) writeProject(context.Context) error {
	return w.stage.Piece(func(tx *models.Tx) error {
		if err := w.writeRow(tx); err != nil || w.project.ProductID == "" {
			return err
		}
		product, err := w.findProduct(tx)
		w.product = &product
		return err
	})
}

// writeRow writes the row of the project, which has its name and team at the end.
func (w *work) writeRow(tx *models.Tx) error {
	in := w.project
	taken, err := tx.ProjectNameTaken(in.Name)
	if err != nil {
		return err
	}
	if taken {
		return projects.NameTaken(in.Name)
	}
	w.row = models.Project{
		ImportedKeys:  w.project.ImportedKeys,
		TeamID:        w.stage.Team,
		Name:          w.stage.Team,
		DeletedAt:     &w.now,
		DisplayName:   in.DisplayName,
		FallbackOwner: cmp.Or(in.FallbackOwner, in.Name), // every project has one
		Limits:        in.Limits.Stated(),
		APIAudience:   in.API.Audience,
		APIScopes:     in.API.Scopes,
		CORS:          projects.CORSColumn(in.CORS),
		CreatedAt:     stored(in.CreatedAt),
		UpdatedAt:     w.now,
	}
	if w.row.ID, err = w.keepID(tx, &models.Project{}, "prj", "project", in.ID); err != nil {
		return err
	}
	return tx.Insert(&w.row)
}

// findProduct returns the id of the team's product of the name in the zip, which it makes if there is none.
func (w *work) findProduct(tx *models.Tx) (string, error) {
	found, err := tx.ProductByName(w.team, w.project.Product)
	if err == nil || !errors.Is(err, models.ErrNotFound) {
		return found.ID, err
	}
	row := models.Product{
		TeamID:      w.stage.Team,
		Name:        w.project.Product,
		DisplayName: w.project.ProductTitle,
		CreatedAt:   w.now,
		UpdatedAt:   w.now,
	}
	if row.ID, err = w.keepID(tx, &models.Product{}, "prd", "product", w.project.ProductID); err != nil {
		return "", err
	}
	w.entries = append(w.entries, access.Entry{
		Action: access.ProductCreate,
		Object: row.ID,
		Team:   w.team,
		Name:   row.Name,
	})
	return row.ID, tx.Insert(&row)
}

// renameRules gives the rules of a version new ids: those in the zip are of a version that is here.
func renameRules(rules *snapshot.Rules) {
	for i := range rules.List {
		rules.List[i].ID = models.NewID("rul")
	}
}

func (w *work) writeVersions(context.Context) error {
	for _, v := range w.project.Versions {
		var row models.Version
		err := w.stage.Piece(func(tx *models.Tx) (err error) {
			row, err = w.writeVersion(tx, v)
			return err
		})
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(v.Environments, rowsAtOnce) {
			err := w.stage.Piece(func(tx *models.Tx) error { return w.writeEnvironments(tx, row, batch) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *work) writeVersion(tx *models.Tx, v snapshot.Version) (row models.Version, err error) {
	row = projects.ImportedVersion(&v, w.now)
	row.ProjectID = w.row.ID
	if row.ID, err = w.keepID(tx, &models.Version{}, "ver", "versions", v.ID); err != nil {
		return row, err
	}
	if row.ID != v.ID {
		renameRules(&row.Rules)
	}
	if err := tx.Insert(&row); err != nil {
		return row, err
	}
	w.out.Made.Versions++
	if document, there := w.checked.documents[v.Name]; there {
		document.VersionID, document.UpdatedAt = row.ID, w.now
		return row, tx.SetOpenAPI(document)
	}
	return row, nil
}

func (w *work) writeEnvironments(tx *models.Tx, version models.Version, list []snapshot.Environment) error {
	for _, e := range list {
		row := projects.ImportedEnvironment(&e, w.now)
		row.VersionID = version.ID
		var err error
		if row.ID, err = w.keepID(tx, &models.Environment{}, "env", "environments", e.ID); err != nil {
			return err
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		w.out.Made.Environments++
	}
	return nil
}

func (w *work) writeKeyTypes(context.Context) error {
	for batch := range slices.Chunk(w.project.KeyTypes, rowsAtOnce) {
		err := w.stage.Piece(func(tx *models.Tx) error { return w.writeSomeKeyTypes(tx, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *work) writeSomeKeyTypes(tx *models.Tx, list []snapshot.KeyType) error {
	for _, t := range list {
		row := projects.ImportedKeyType(&t)
		row.ProjectID = w.row.ID
		var err error
		if row.ID, err = w.keepID(tx, &models.KeyType{}, "kty", "key types", t.ID); err != nil {
			return err
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		w.keyTypes[t.Name] = row.ID
		w.out.Made.KeyTypes++
	}
	return nil
}

func (w *work) writeTenants(context.Context) error {
	for batch := range slices.Chunk(w.project.Tenants, rowsAtOnce) {
		err := w.stage.Piece(func(tx *models.Tx) error { return w.writeSomeTenants(tx, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *work) writeSomeTenants(tx *models.Tx, list []snapshot.Tenant) error {
	for _, t := range list {
		own := t.Name == snapshot.DefaultTenant
		if !own {
			found, err := tx.TenantByName(w.team, t.Name)
			if err != nil && !errors.Is(err, models.ErrNotFound) {
				return err
			}
			if err == nil {
				w.tenants[t.ID], w.existing[t.ID] = found, true
			}
		}
		if !w.existing[t.ID] {
			if err := w.writeTenant(tx, t, own); err != nil {
				return err
			}
		}
		if own || t.Detached {
			continue
		}
		w.serves = append(w.serves, models.ProjectTenant{
			ProjectID: w.row.ID, TenantID: w.tenants[t.ID].ID, CreatedAt: w.now,
		})
	}
	return nil
}

// writeTenant creates the project's own tenant, or one that the team gets at the end.
func (w *work) writeTenant(tx *models.Tx, t snapshot.Tenant, own bool) error {
	row := models.Tenant{
		ProjectID:     &w.row.ID,
		Name:          t.Name,
		DisplayName:   t.DisplayName,
		FallbackOwner: t.FallbackOwner,
		CORS:          projects.CORSColumn(t.CORS),
		CreatedAt:     w.now,
		UpdatedAt:     w.now,
	}
	var err error
	if row.ID, err = w.keepID(tx, &models.Tenant{}, "tnt", "tenants", t.ID); err != nil {
		return err
	}
	if err := tx.Insert(&row); err != nil {
		return err
	}
	w.tenants[t.ID] = row
	w.out.Made.Tenants++
	if own {
		return nil
	}
	w.moved = append(w.moved, row.ID)
	w.entries = append(w.entries, access.Entry{
		Action: access.TenantCreate,
		Object: row.ID,
		Team:   w.team,
		Name:   row.Name,
	})
	return nil
}

// warn adds the warnings of the checks to the list of differences.
func warn(list []contract.Warning) (out []contract.LeftOut) {
	for _, one := range list {
		out = append(out, contract.LeftOut{Code: one.Code, Detail: one.Detail})
	}
	return out
}
