package models_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/migrations"
	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

// fillPeople adds n keys to a project, and as many users to its tenant and to a group. Numbers count from 1, and every
// text has its number in six digits.
func fillPeople(t *testing.T, db *models.DB, project models.Project, n int) (tenant, group string) {
	t.Helper()
	now := models.Now()
	at := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now}
	kind := models.KeyType{ID: models.NewID("kty"), ProjectID: project.ID, Name: "full", Scopes: []string{"*"}}
	in := models.UserGroup{ID: models.NewID("grp"), TenantID: at.ID, Name: "all", CreatedAt: now, UpdatedAt: now}
	err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&at, &kind, &in) })
	if err != nil {
		t.Fatal(err)
	}
	number, hash := "substr('000000' || i, -6)", "CAST('hash' || i AS BLOB)"
	if db.Dialect() == migrations.Postgres {
		number, hash = "lpad(i::text, 6, '0')", "convert_to('hash' || i, 'UTF8')"
	}
	rows := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n)
	fill(t, db,
		rows+fmt.Sprintf(`INSERT INTO api_keys (id, team_id, project_id, tenant_id, key_type_id, owner, environment,
			description, state, hash, prefix, last4, created_at, updated_at)
			SELECT 'key_' || %[1]s, '%[6]s', '%[2]s', '%[3]s', '%[4]s', 'o', '', 'Number ' || %[1]s, 'active', %[5]s,
			'pst', 'abcd', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM n`, number, project.ID, at.ID, kind.ID, hash,
			project.TeamID),
		rows+fmt.Sprintf(`INSERT INTO end_users (id, tenant_id, email, email_verified, name, state, created_at,
			updated_at) SELECT 'usr_' || %[1]s, '%[2]s', 'u' || %[1]s || '@example.com', TRUE, '', 'active',
			CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM n`, number, at.ID),
		rows+fmt.Sprintf(`INSERT INTO group_members (group_id, user_id, role, created_at)
			SELECT '%s', 'usr_' || %s, 'member', CURRENT_TIMESTAMP FROM n`, in.ID, number),
	)
	return at.ID, in.ID
}

// serveAnother attaches a tenant without users to a project.
func serveAnother(t *testing.T, db *models.DB, project models.Project) {
	t.Helper()
	now := models.Now()
	other := models.Tenant{ID: models.NewID("tnt"), TeamID: &project.TeamID, Name: "acme", CreatedAt: now}
	if err := db.Write(t.Context(), func(tx *models.Tx) error {
		if err := tx.Insert(&other); err != nil {
			return err
		}
		_, err := tx.AttachTenant(models.ProjectTenant{ProjectID: project.ID, TenantID: other.ID, CreatedAt: now})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// found is a page of a list, whatever its rows are.
type found struct {
	items, next    string
	partial, least bool
	total          int64
}

func foundIn[T any](list models.List[T], id func(T) string) found {
	out := found{next: list.Next, partial: list.Partial, least: list.AtLeast, total: list.Total}
	for _, item := range list.Items {
		out.items += id(item)
	}
	return out
}

// TestSearches_window searches lists that have more rows than one page looks at. Distant rows are on the second page.
func TestSearches_window(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const rows = models.SearchWindow + 500
		project := seed(t, db)
		tenant, group := fillPeople(t, db, project, rows)
		serveAnother(t, db, project)
		tx := db.Read(t.Context())
		keys := func(page models.Page) (found, error) {
			f := models.KeyFilter{Text: page.Text, State: "active", Now: models.Now()}
			list, err := tx.KeysListed(project, f, page)
			return foundIn(list, func(k models.APIKey) string { return k.ID }), err
		}
		users := func(page models.Page) (found, error) {
			list, err := tx.EndUsersOf(tenant, models.UserFilter{Query: page.Text}, page)
			return foundIn(list, func(u models.EndUser) string { return u.ID }), err
		}
		served := func(page models.Page) (found, error) {
			list, err := tx.EndUsersServed(project.ID, models.UserFilter{Query: page.Text}, page)
			return foundIn(list, func(u models.EndUser) string { return u.ID }), err
		}
		members := func(page models.Page) (found, error) {
			list, err := tx.MembersOfGroup(group, page)
			return foundIn(list, func(m models.MemberRow) string { return m.UserID }), err
		}
		for name, tt := range testkit.ByName(map[string]struct {
			list      func(models.Page) (found, error)
			sort      string
			near, far string // texts
		}{
			"keys":               {keys, "", "010500", "000001"},
			"keys, oldest":       {keys, "created", "000001", "010500"},
			"keys by owner":      {keys, "owner", "000001", "010500"},
			"users":              {users, "", "010500", "000001"},
			"users by name":      {users, "name", "000001", "010500"},
			"users of a project": {served, "", "010500", "000001"},
			"members":            {members, "", "000001", "010500"},
			"members by name":    {members, "name", "000001", "010500"},
			"members, backward":  {members, "-name", "010500", "000001"},
		}) {
			t.Run(name, func(t *testing.T) {
				page := models.Page{Sort: models.ParseSort(tt.sort), Text: tt.near, Count: true, Limit: 1}
				near, err := tt.list(page)
				if err != nil || !strings.HasSuffix(near.items, "_"+tt.near) || !near.partial {
					t.Errorf("near: %+v, %v", near, err)
				}
				page.Text = "number"
				if name[0] != 'k' {
					page.Text = "EXAMPLE"
				}
				all, err := tt.list(page)
				if err != nil || all.total != models.SearchWindow || !all.least || all.partial {
					t.Errorf("all: %+v, %v", all, err)
				}
				page.Text = tt.far
				first, err := tt.list(page)
				if err != nil || first.items != "" || first.next == "" || !first.partial || first.total != 0 {
					t.Fatalf("far: the first page is %+v, %v; want none yet", first, err)
				}
				page.Cursor = first.next
				second, err := tt.list(page)
				if err != nil || !strings.HasSuffix(second.items, "_"+tt.far) || second.next != "" || second.partial {
					t.Errorf("far: the second page is %+v, %v; want the only one", second, err)
				}
			})
		}
	})
}
