package movein

import (
	"errors"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/domains"
	"postern/service/keys"
	"postern/service/projects"
)

// rowsAtOnce is how many rows a piece of an import writes.
const rowsAtOnce = 500

// part is a project of the plan in an attempt.
type part struct {
	planned *checkedPart
	isNew   bool
	isGone  bool // an earlier import created it, and it was deleted here
	row     models.Project

	before *projects.Project // as it was before the first change
	urls   []string
}

// writeProjects writes the new projects.
func (w *writing) writeProjects() error {
	for _, one := range w.parts {
		if !one.isNew {
			continue
		}
		if err := w.stage.Piece(func(tx *models.Tx) error { return w.writeProject(tx, one) }); err != nil {
			return err
		}
		for i := range one.planned.versions {
			v := &one.planned.versions[i]
			err := w.stage.Piece(func(tx *models.Tx) error {
				return w.writeVersion(tx, one, v, &one.planned.project.Versions[i])
			})
			if err != nil {
				return err
			}
		}
		w.rows = append(w.rows, one.row)
	}
	return nil
}

// writeProject writes a project with its own tenant and its key types. It has its name and team at the end.
func (w *writing) writeProject(tx *models.Tx, one *part) error {
	in := one.planned.project
	taken, err := tx.ProjectNameTaken(in.Name)
	if err != nil {
		return err
	}
	if taken || slices.ContainsFunc(w.rows, func(row models.Project) bool { return row.Name == in.Name }) {
		return &fault.Error{
			Kind: fault.Conflict, Code: "name_taken",
			Public: fmt.Sprintf("The project name %q is taken on this server.", in.Name),
			Fields: []fault.Field{{
				Pointer: one.planned.plan.From, Code: "name_taken",
				Detail: "Rename the service in the file, or rename or delete your project " + in.Name + ".",
			}},
		}
	}
	id := models.NewID("prj")
	one.row = models.Project{
		ID: id, TeamID: w.stage.Team, Name: id, DeletedAt: &w.now,
		DisplayName: in.DisplayName, FallbackOwner: in.FallbackOwner, Limits: in.Limits.Stated(),
		CORS: projects.CORSColumn(in.CORS), ImportedKeys: len(w.checked.keys) > 0, CreatedAt: w.now, UpdatedAt: w.now,
	}
	if err := tx.Insert(&one.row); err != nil {
		return err
	}
	one.row.TeamID, one.row.Name, one.row.DeletedAt = w.team, in.Name, nil // at the end
	tenant := models.Tenant{
		ID: models.NewID("tnt"), ProjectID: &one.row.ID, Name: snapshot.DefaultTenant, CreatedAt: w.now,
		UpdatedAt: w.now,
	}
	if err := tx.Insert(&tenant); err != nil {
		return err
	}
	var types []models.KeyType
	for _, t := range in.KeyTypes {
		row := projects.ImportedKeyType(&t)
		row.ID, row.ProjectID = models.NewID("kty"), one.row.ID
		types = append(types, row)
	}
	if w.homeIsNew && w.home.ID == "" {
		w.home, w.keyType = one.row, fullType(types)
	}
	w.record(kindProject, one.row.ID, one.row.ID, one.planned.plan.Source, one.planned.planned)
	w.out.Created.Projects++
	return tx.Insert(&types)
}

// fullType returns the ID of the key type with full access. Kong's keys have no scopes.
func fullType(types []models.KeyType) string {
	at := slices.IndexFunc(types, func(t models.KeyType) bool { return t.Name == keys.TypeFull })
	if at < 0 {
		return ""
	}
	return types[at].ID
}

// versionSource identifies a version: the plan names the versions of a project after their routes.
func (c *checkedPart) versionSource(v *checkedVersion) string {
	return c.plan.Source + "/" + v.plan.Name
}

// writeVersion writes a version with its environment, headers and custom domains.
func (w *writing) writeVersion(tx *models.Tx, one *part, v *checkedVersion, in *snapshot.Version) error {
	row := w.versionRow(one, in)
	row.ID = models.NewID("ver")
	environment := projects.ImportedEnvironment(&in.Environments[0], w.now)
	environment.ID, environment.VersionID = models.NewID("env"), row.ID
	if err := tx.Insert(&row, &environment); err != nil {
		return err
	}
	if err := w.setHeaders(tx, environment.ID, v); err != nil {
		return err
	}
	source := one.planned.versionSource(v)
	w.record(kindVersion, row.ID, one.row.ID, source, v.planned)
	w.record(kindEnvironment, environment.ID, one.row.ID, source, v.environment)
	w.out.Created.Versions++
	w.out.Created.Environments++
	for i := range v.domains {
		if err := w.writeDomain(tx, one, &v.domains[i], environment.ID); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) versionRow(one *part, in *snapshot.Version) models.Version {
	row := projects.ImportedVersion(in, w.now)
	row.ProjectID = one.row.ID
	row.Rules.List = slices.Clone(in.Rules.List)
	for i := range row.Rules.List {
		row.Rules.List[i].ID = models.NewID("rul")
		groups := slices.Clone(row.Rules.List[i].Groups)
		for n := range groups {
			groups[n] = w.groupName(groups[n])
		}
		row.Rules.List[i].Groups = groups
	}
	return row
}

// setHeaders sets the upstream headers of an environment, and removes those that the file no longer has.
func (w *writing) setHeaders(tx *models.Tx, environment string, v *checkedVersion) error {
	have, err := tx.UpstreamHeadersOf(environment)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, header := range v.headers {
		row, err := w.service.Projects.SealImportedHeader(tx, w.team, environment, header.Name,
			secrets.Secret(header.Value), w.now)
		if err != nil {
			return err
		}
		kept[row.Name] = true
		if err := tx.SetUpstreamHeader(row); err != nil {
			return err
		}
	}
	for _, row := range have {
		if kept[row.Name] {
			continue
		}
		if _, err := tx.DeleteUpstreamHeader(environment, row.Name); err != nil {
			return err
		}
	}
	return nil
}

// writeDomain writes a custom domain. Its proof comes at the end.
func (w *writing) writeDomain(tx *models.Tx, one *part, d *checkedDomain, environment string) error {
	row := d.row
	row.ID, row.ProjectID, row.EnvironmentID = models.NewID("dom"), one.row.ID, environment
	row.CreatedAt, row.UpdatedAt = w.now, w.now
	w.domains = append(w.domains, domains.Imported{Row: row, Pointer: d.pointer})
	w.record(kindDomain, row.ID, one.row.ID, row.Address().Key(), d.planned)
	w.out.Created.Domains++
	return tx.Insert(&row)
}

// writeProduct writes the product, which the team gets at the end.
func (w *writing) writeProduct() error {
	if !w.newProduct {
		return nil
	}
	return w.stage.Piece(func(tx *models.Tx) error {
		name, err := freeName(w.plan.Product, func(name string) (bool, error) {
			return found(tx.ProductByName(w.team, name))
		})
		if err != nil {
			return err
		}
		row := models.Product{
			ID: models.NewID("prd"), TeamID: w.stage.Team, Name: name, ImportedKeys: len(w.checked.keys) > 0,
			CreatedAt: w.now, UpdatedAt: w.now,
		}
		w.product, w.out.Product = row.ID, name
		w.record(kindProduct, row.ID, row.ID, plainSource, digest(w.plan.Product))
		return tx.Insert(&row)
	})
}

// writeTenant writes the tenant. Until the end, it is the first new project's own.
func (w *writing) writeTenant() error {
	if !w.newTenant {
		return nil
	}
	return w.stage.Piece(func(tx *models.Tx) error {
		name, err := freeName(w.plan.Tenant, func(name string) (bool, error) {
			return found(tx.TenantByName(w.team, name))
		})
		if err != nil {
			return err
		}
		row := models.Tenant{
			ID: models.NewID("tnt"), ProjectID: &w.rows[0].ID, Name: name, CreatedAt: w.now, UpdatedAt: w.now,
		}
		w.tenant, w.out.Tenant = row.ID, name
		w.record(kindTenant, row.ID, row.ID, plainSource, digest(w.plan.Tenant))
		return tx.Insert(&row)
	})
}

func found[Row any](_ Row, err error) (bool, error) {
	if errors.Is(err, models.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// freeName returns a name that isn't taken: the first, or one with a number.
func freeName(name string, taken func(string) (bool, error)) (string, error) {
	out := name
	for n := 2; ; n++ {
		is, err := taken(out)
		if err != nil || !is {
			return out, err
		}
		out = fmt.Sprintf("%s-%d", name, n)
	}
}

// moved returns a project of the result.
func (w *writing) moved(one *part) contract.MovedProject {
	out := contract.MovedProject{
		ID: one.row.ID, Name: one.row.Name, From: one.planned.plan.From, New: one.isNew, URLs: one.urls,
	}
	if out.URLs == nil {
		out.URLs = []string{}
	}
	out.Closed = []string{}
	for i := range one.planned.versions {
		if v := one.planned.versions[i].plan; v.Closed {
			out.Closed = append(out.Closed, v.Name)
		}
	}
	return out
}
