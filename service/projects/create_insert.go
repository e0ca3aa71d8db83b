package projects

import (
	"cmp"
	"context"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
)

// insert writes a planned project with everything that belongs to it, its audit entry
// and its revision.
func (s *Service) insert(
	ctx context.Context, tx *models.Tx, p access.Principal, team string, plan plan,
) (out Created, err error) {
	now := models.Now()
	project, err := insertProject(tx, p, team, plan, now)
	if err != nil {
		return out, err
	}
	version, err := s.insertVersion(tx, project, plan, now)
	if err != nil {
		return out, err
	}
	tenant, err := insertTenants(tx, p, project, plan.Tenant, now)
	if err != nil {
		return out, err
	}
	full, err := insertKeyTypes(tx, project.ID, plan.Auth.KeyTypes)
	if err != nil {
		return out, err
	}
	if err := insertEnvironments(tx, version, plan.environments, now); err != nil {
		return out, err
	}
	if out.Keys, err = s.insertFirstKeys(ctx, tx, project, tenant, full, plan, now); err != nil {
		return out, err
	}
	if plan.Login != nil {
		if err := plan.Login.InsertIn(tx, p, team, tenant); err != nil {
			return out, err
		}
	}
	if (plan.Tenant != "" || plan.opaque != nil) && s.CheckLogin != nil {
		if err := s.CheckLogin(tx, project.ID); err != nil {
			return out, err
		}
	}
	if out.Project, err = s.view(tx, project); err != nil {
		return out, err
	}
	if out.Warnings, err = warningsOf(tx, out.Project.Project); err != nil {
		return out, err
	}
	if plan.Login != nil {
		out.Warnings = append(out.Warnings, plan.Login.Warnings()...)
	}
	if plan.document != nil {
		out.Warnings = append(out.Warnings, plan.document.Warnings...)
	}
	err = access.Record(tx, p, access.Entry{
		Action: access.ProjectCreate,
		Object: project.ID,
		Team:   project.TeamID,
		Name:   project.Name,
		After:  out.Project,
	})
	if err != nil {
		return out, err
	}
	return out, tx.AddRevision(project.ID, "", now)
}

// insertProject writes the project, and its product if the team does not have it yet.
func insertProject(
	tx *models.Tx, p access.Principal, team string, plan plan, now time.Time,
) (models.Project, error) {
	name, err := freeName(tx, plan)
	if err != nil {
		return models.Project{}, err
	}
	project := models.Project{
		ID:            models.NewID("prj"),
		TeamID:        team,
		Name:          name,
		DisplayName:   cmp.Or(plan.DisplayName, name),
		FallbackOwner: name,
		CreatedAt:     now,
		UpdatedAt:     now,
	}
	if plan.Product != "" {
		product, _, err := ensureProduct(tx, p, team, plan.Product, "")
		if err != nil {
			return project, err
		}
		project.ProductID = &product.ID
	}
	return project, tx.Insert(&project)
}

// insertVersion writes the project's first version.
func (s *Service) insertVersion(
	tx *models.Tx, project models.Project, plan plan, now time.Time,
) (models.Version, error) {
	version := models.Version{
		ID:           models.NewID("ver"),
		ProjectID:    project.ID,
		Name:         plan.Version,
		RequestsAuth: plan.auth,
		Rules:        contract.Rules{ReadWriteScopes: plan.readWriteScopes()},
		CreatedAt:    now,
		UpdatedAt:    now,
	}
	if err := s.setIntrospection(tx, project.TeamID, &version, plan.opaque); err != nil {
		return version, err
	}
	if err := tx.Insert(&version); err != nil || plan.document == nil {
		return version, err
	}
	row, err := openAPIRow(version.ID, plan.document, now)
	if err != nil {
		return version, err
	}
	return version, saveOpenAPI(tx, project.TeamID, row)
}

// insertTenants writes the project's own tenant, which it returns, and attaches the
// team's tenant of the given name, if there is one.
func insertTenants(
	tx *models.Tx, p access.Principal, project models.Project, shared string, now time.Time,
) (models.Tenant, error) {
	tenant := models.Tenant{
		ID:        models.NewID("tnt"),
		ProjectID: &project.ID,
		Name:      snapshot.DefaultTenant,
		CreatedAt: now,
		UpdatedAt: now,
	}
	if err := tx.Insert(&tenant); err != nil {
		return tenant, err
	}
	if shared == "" {
		return tenant, nil
	}
	second, _, err := ensureTenant(tx, p, project.TeamID, contract.NewTenant{Name: shared})
	if err != nil {
		return tenant, err
	}
	_, err = tx.AttachTenant(models.ProjectTenant{ProjectID: project.ID, TenantID: second.ID, CreatedAt: now})
	return tenant, err
}

func insertEnvironments(
	tx *models.Tx, version models.Version, environments []models.Environment, now time.Time,
) error {
	for _, environment := range environments {
		environment.ID = models.NewID("env")
		environment.VersionID = version.ID
		environment.CreatedAt = now
		environment.UpdatedAt = now
		if err := tx.Insert(&environment); err != nil {
			return err
		}
	}
	return nil
}

// insertFirstKeys writes a key of the type full for each environment, if keys open the
// project.
func (s *Service) insertFirstKeys(
	ctx context.Context,
	tx *models.Tx,
	project models.Project,
	tenant models.Tenant,
	full models.KeyType,
	plan plan,
	now time.Time,
) (map[string]contract.KeyWithSecret, error) {
	minted := map[string]contract.KeyWithSecret{}
	if !plan.auth.Allows(snapshot.APIKey) {
		return minted, nil
	}
	for _, environment := range plan.environments {
		row, plaintext, err := keys.Mint(s.KeyPrefix, project, tenant.ID, full, contract.NewKey{
			Owner:       firstKeyOwner,
			Environment: environment.Name,
			Description: "Created with the project",
		}, now)
		if err != nil {
			return nil, err
		}
		if err := tx.Insert(&row); err != nil {
			return nil, err
		}
		if err := keys.Emit(ctx, s.Events, tx, project, row, "key.created"); err != nil {
			return nil, err
		}
		minted[environment.Name] = contract.KeyWithSecret{
			Key:    contract.Key{KeyRecord: contract.KeyRecord{ID: row.ID, Owner: row.Owner}},
			Secret: contract.Secret(plaintext),
		}
	}
	return minted, nil
}
