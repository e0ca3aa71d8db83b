package exports_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/models"
	"postern/service/exports"
	"postern/testkit/state"
)

// More users than are read at once, and what belongs to each, arrive in users.jsonl.
func TestBuild_people(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		const many = 5003 // more than ScanUsers reads at once
		want := map[string]person{}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return addPeople(tx, w.project, many, want) })
		if err != nil {
			t.Fatal(err)
		}
		e := w.request(t, exports.Options{Format: "data", Consumers: true})
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		data := w.download(t, e.ID)
		against := bundle.Against{Targets: targets.All()}
		if _, err := bundle.Verify(t.Context(), bytes.NewReader(data), int64(len(data)), against); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(entry(t, data, bundle.UsersFile("default"))), "\n")
		if len(lines) != many {
			t.Fatalf("%d users, want %d", len(lines), many)
		}
		for _, line := range lines {
			var got person
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want[got.ID]) {
				t.Fatalf("%+v, want %+v", got, want[got.ID])
			}
		}
		scim := bundle.SCIMFolder("default")
		if got := strings.Count(entry(t, data, scim+"users.json"), `"userName":`); got != many {
			t.Errorf("%d users in users.json, want %d", got, many)
		}
		if got := strings.Count(entry(t, data, scim+"groups.json"), `"type":"User"`); got != (many+2)/3 {
			t.Errorf("%d members in groups.json, want %d", got, (many+2)/3)
		}
		if last := entry(t, data, scim+"bulk-0041.json"); !strings.Contains(last, `"userName":"usr_005002"`) {
			t.Errorf("the last bulk request does not have the last user: %s", last)
		}
	})
}

// person has the fields of a line that the test compares.
type person struct {
	ID         string
	Identities []struct{ Subject string }
	Groups     []struct{ ID string }
}

// addPeople adds users to the project's own tenant: every second has an identity, every
// third is in a group. Another tenant's users lie between them.
func addPeople(tx *models.Tx, project string, many int, want map[string]person) error {
	tenants, err := tx.TenantsOf(project)
	if err != nil {
		return err
	}
	tenant, now := tenants[0].ID, models.Now()
	team, err := tx.ProjectByID(project)
	if err != nil {
		return err
	}
	other := models.Tenant{ID: "tnt_other", TeamID: &team.TeamID, Name: "other", CreatedAt: now, UpdatedAt: now}
	group := models.UserGroup{ID: models.NewID("grp"), TenantID: tenant, Name: "staff", CreatedAt: now, UpdatedAt: now}
	if err := tx.Insert(&other, &group); err != nil {
		return err
	}
	var users []models.EndUser
	var identities []models.Identity
	var members []models.GroupMember
	for i := range many {
		id := fmt.Sprintf("usr_%06d", i)
		users = append(users,
			models.EndUser{ID: id, TenantID: tenant, State: "active", CreatedAt: now, UpdatedAt: now},
			models.EndUser{ID: id + "x", TenantID: other.ID, State: "active", CreatedAt: now, UpdatedAt: now})
		one := person{ID: id}
		if i%2 == 0 {
			identities = append(identities, models.Identity{
				TenantID: tenant, Issuer: "google", Subject: "s" + id, UserID: id, CreatedAt: now,
			})
			one.Identities = append(one.Identities, struct{ Subject string }{"s" + id})
		}
		if i%3 == 0 {
			members = append(members, models.GroupMember{GroupID: group.ID, UserID: id, Role: "member", CreatedAt: now})
			one.Groups = append(one.Groups, struct{ ID string }{group.ID})
		}
		want[id] = one
	}
	for len(users) > 0 {
		n := min(500, len(users))
		if err := tx.Insert(users[:n]); err != nil {
			return err
		}
		users = users[n:]
	}
	return tx.Insert(identities, members)
}

func entry(t *testing.T, data []byte, name string) string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
