package models_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/migrations"
	"postern/models"
)

// numbers is the beginning of a statement that selects from n, whose rows are 1 to manyRows as i, and the text of i.
func numbers(db *models.DB) (with, text string) {
	with = fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", manyRows)
	if db.Dialect() == migrations.Postgres {
		return with, "lpad(i::text, 6, '0')"
	}
	return with, "substr('000000' || i, -6)"
}

// either is the SQL of a value of a few rows, and of that of the others.
func either(few, many string) string {
	return fmt.Sprintf("CASE WHEN i <= %d THEN '%s' ELSE '%s' END", fewRows, few, many)
}

// fillKeys adds manyRows keys of a product. Three quarters of them are in the project that it returns, and the rest in
// another one.
func fillKeys(t *testing.T, db *models.DB) (project models.Project, product *string) {
	t.Helper()
	project, now := seed(t, db), models.Now()
	other := project
	other.ID, other.Name = models.NewID("prj"), "other"
	of := models.Product{ID: models.NewID("prd"), TeamID: project.TeamID, Name: "all", CreatedAt: now, UpdatedAt: now}
	rows := []any{&of, &other}
	tenants, types := namedTenants(project), namedTypes(project)
	theirTenants, theirTypes := namedTenants(other), namedTypes(other)
	for i := range names {
		rows = append(rows, &tenants[i], &theirTenants[i], &types[i], &theirTypes[i])
	}
	err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) })
	if err != nil {
		t.Fatal(err)
	}
	inProject := func(own, others string) string {
		return fmt.Sprintf("CASE WHEN i %% 4 <> 0 THEN %s ELSE %s END", own, others)
	}
	with, number := numbers(db)
	hash := "CAST('hash' || i AS BLOB)"
	if db.Dialect() == migrations.Postgres {
		hash = "convert_to('hash' || i, 'UTF8')"
	}
	fill(t, db, with+"INSERT INTO api_keys (id, team_id, project_id, product_id, tenant_id, key_type_id, owner, "+
		"environment, description, state, hash, prefix, last4, created_at, updated_at) SELECT "+strings.Join([]string{
		"'key_' || " + number,
		"'" + project.TeamID + "'",
		inProject("'"+project.ID+"'", "'"+other.ID+"'"),
		"'" + of.ID + "'",
		inProject(either(tenants[0].ID, tenants[1].ID), either(theirTenants[0].ID, theirTenants[1].ID)),
		inProject(either(types[0].ID, types[1].ID), either(theirTypes[0].ID, theirTypes[1].ID)),
		either("few", "many"), either("few", "many"), "''", either("revoked", "active"), hash,
		"'pst', 'abcd', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM n",
	}, ", "))
	return project, &of.ID
}

var names = []string{"few", "many"}

func namedTenants(project models.Project) (out []models.Tenant) {
	for _, name := range names {
		one := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: name, CreatedAt: models.Now()}
		out = append(out, one)
	}
	return out
}

func namedTypes(project models.Project) (out []models.KeyType) {
	for _, name := range names {
		one := models.KeyType{ID: models.NewID("kty"), ProjectID: project.ID, Name: name, Scopes: []string{"*"}}
		out = append(out, one)
	}
	return out
}

// keysIn lists the keys of a project.
func keysIn(db *models.DB, project models.Project) filteredList {
	return func(t *testing.T, of map[string]string, page models.Page) (found, error) {
		f := models.KeyFilter{
			Owner:       of["owner"],
			State:       map[string]string{"few": "revoked", "many": "active"}[of["state"]],
			Tenant:      of["tenant"],
			KeyType:     of["type"],
			Environment: of["environment"],
			Text:        page.Text,
			Now:         models.Now(),
		}
		list, err := db.Read(t.Context()).KeysListed(project, f, page)
		return foundIn(list, func(k models.APIKey) string { return k.ID + " " }), err
	}
}

// tenantOf is the id of the project's tenant of a name, "" for none.
func tenantOf(t *testing.T, db *models.DB, project models.Project, name string) string {
	t.Helper()
	list, err := db.Read(t.Context()).TenantsOf(project.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.Name == name {
			return one.ID
		}
	}
	return ""
}

// fillUsers adds manyRows users to the project's tenant many, each of them to one of two groups.
func fillUsers(t *testing.T, db *models.DB, project models.Project) {
	t.Helper()
	tenant, now := tenantOf(t, db, project, "many"), models.Now()
	var groups []any
	for _, name := range names {
		groups = append(groups, &models.UserGroup{
			ID: "grp_" + name, TenantID: tenant, Name: name, CreatedAt: now, UpdatedAt: now,
		})
	}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(groups...) }); err != nil {
		t.Fatal(err)
	}
	with, number := numbers(db)
	fill(t, db,
		with+fmt.Sprintf(`INSERT INTO end_users (id, tenant_id, email, email_verified, name, state, created_at,
			updated_at) SELECT 'usr_' || %[1]s, '%[2]s', 'u' || %[1]s || '@example.com', TRUE, '', %[3]s,
			CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM n`, number, tenant, either("frozen", "active")),
		with+fmt.Sprintf(`INSERT INTO group_members (group_id, user_id, role, created_at)
			SELECT %s, 'usr_' || %s, 'member', CURRENT_TIMESTAMP FROM n`, either("grp_few", "grp_many"), number),
	)
}

// usersIn lists the users of the project's tenant many.
func usersIn(db *models.DB, project models.Project) filteredList {
	return func(t *testing.T, of map[string]string, page models.Page) (found, error) {
		f := models.UserFilter{
			State: map[string]string{"few": "frozen", "many": "active"}[of["state"]],
			Query: page.Text,
		}
		if of["group"] != "" {
			f.Group = "grp_" + of["group"]
		}
		list, err := db.Read(t.Context()).EndUsersOf(tenantOf(t, db, project, "many"), f, page)
		return foundIn(list, func(u models.EndUser) string { return u.ID + " " }), err
	}
}

// fillServed adds manyRows users to the tenants of another project: its own and three that it serves. They are older
// than those of fillUsers.
func fillServed(t *testing.T, db *models.DB, other models.Project) models.Project {
	t.Helper()
	now, project := models.Now(), other
	project.ID, project.Name = models.NewID("prj"), "spread"
	own := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now}
	rows, tenant := []any{&project, &own}, "CASE i % 4"
	for i := range 3 {
		one := models.Tenant{
			ID: models.NewID("tnt"), TeamID: &project.TeamID, Name: fmt.Sprintf("spread-%d", i), CreatedAt: now,
		}
		rows = append(rows, &one, &models.ProjectTenant{ProjectID: project.ID, TenantID: one.ID, CreatedAt: now})
		tenant += fmt.Sprintf(" WHEN %d THEN '%s'", i, one.ID)
	}
	tenant += " ELSE '" + own.ID + "' END"
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		t.Fatal(err)
	}
	with, number := numbers(db)
	fill(t, db, with+fmt.Sprintf(`INSERT INTO end_users (id, tenant_id, email, email_verified, name, state, created_at,
		updated_at) SELECT 'usr-' || %[1]s, %[2]s, 's' || %[1]s || '@example.com', TRUE, '', %[3]s,
		CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM n`, number, tenant, either("frozen", "active")))
	return project
}

// servedUsersIn lists the users of all tenants of a project.
func servedUsersIn(db *models.DB, project models.Project) filteredList {
	return func(t *testing.T, of map[string]string, page models.Page) (found, error) {
		f := models.UserFilter{
			State: map[string]string{"few": "frozen", "many": "active"}[of["state"]],
			Query: page.Text,
		}
		list, err := db.Read(t.Context()).EndUsersServed(project.ID, f, page)
		return foundIn(list, func(u models.EndUser) string { return u.ID + " " }), err
	}
}

// fillOwners adds manyRows relations to the project.
func fillOwners(t *testing.T, db *models.DB, project models.Project) {
	t.Helper()
	with, number := numbers(db)
	few, many := tenantOf(t, db, project, "few"), tenantOf(t, db, project, "many")
	fill(t, db, with+fmt.Sprintf(`INSERT INTO relations (project_id, tenant_id, object, relation, "user", created_at)
		SELECT '%s', %s, 'order:' || %s, 'owner', %s, '2026-01-01 00:00:00+00:00' FROM n`, project.ID,
		either(few, many), number, either("few", "many")))
}

// relationsIn lists the relations of a project.
func relationsIn(db *models.DB, project models.Project) filteredList {
	return func(t *testing.T, of map[string]string, page models.Page) (found, error) {
		f := models.RelationFilter{User: of["user"]}
		if of["tenant"] != "" {
			f.TenantID = tenantOf(t, db, project, of["tenant"])
		}
		list, err := db.Read(t.Context()).RelationsOf(project.ID, f, page)
		return foundIn(list, func(r models.Relation) string { return r.Object + " " }), err
	}
}
