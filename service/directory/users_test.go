package directory_test

import (
	"fmt"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
	"postern/testkit/state"
)

func TestSignIn_invited(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		id := w.user(t, "Ana@Example.com", staff)
		_, err := w.CreateUser(t.Context(), w.owner, contract.NewUser{Email: "ana@example.com"}.In("acme"))
		is(t, err, "email_taken")

		if user, err := w.provision(t, "ana@example.com", true); err != nil || user.ID != id ||
			user.State != directory.Active {
			t.Fatalf("%+v %v", user, err)
		}
		got := must[contract.User](t)(w.User(t.Context(), w.owner, contract.UserPath{User: id}))
		if len(got.Identities) != 1 || got.LastLoginAt == nil {
			t.Errorf("identities %+v, last login %v, want one and a time", got.Identities, got.LastLoginAt)
		}
		if len(got.Groups) != 1 || got.Groups[0].Name != "staff" || !got.Groups[0].IsDirect() ||
			*got.Groups[0].Role != "member" {
			t.Errorf("groups %+v, want a member of staff", got.Groups)
		}
		if user, err := w.provision(t, "eve@example.com", false); err != nil || user.ID == id {
			t.Errorf("%+v %v", user, err)
		}
	})
}

// Users with user names can share an address. One who is known by the address alone cannot.
func TestUsers_sharedAddress(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for _, tt := range []struct{ userName, email, want string }{
			{"juan", "team@example.com", ""},
			{"bea", "team@example.com", ""},
			{"bea", "other@example.com", "user_name_taken"},
			{"", "team@example.com", "email_taken"},
			{"", "ana@example.com", ""},
			{"", "ana@example.com", "email_taken"},
			{"ana@example.com", "", "user_name_taken"}, // as SCIM calls the one before
			{"eve", "ana@example.com", ""},
		} {
			in := directory.NewUser{NewUser: contract.NewUser{Email: tt.email}, UserName: tt.userName}
			_, err := w.ProvisionUser(t.Context(), w.owner, "acme", in)
			is(t, err, tt.want)
		}
		bea := w.withUserName(t, "bea")[0].ID
		none := ""
		_, err := w.ChangeUser(t.Context(), w.owner, bea, "", directory.UserChange{UserName: &none})
		is(t, err, "email_taken")
	})
}

// TestNameParts checks that the parts of a name are kept until the name changes.
func TestNameParts(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	in := directory.NewUser{
		NewUser:  contract.NewUser{Name: "Juan de la Cruz"},
		UserName: "juan", GivenName: "Juan", FamilyName: "de la Cruz",
	}
	id := must[contract.User](t)(w.ProvisionUser(t.Context(), w.owner, "acme", in)).ID
	is := func(when, given, family string) {
		t.Helper()
		var got contract.Profile
		if of := must[contract.User](t)(w.User(t.Context(), w.owner, contract.UserPath{User: id})).Profile; of != nil {
			got = *of
		}
		if got.GivenName != given || got.FamilyName != family {
			t.Errorf("%s: %q and %q, want %q and %q", when, got.GivenName, got.FamilyName, given, family)
		}
	}
	is("as provisioned", "Juan", "de la Cruz")
	signIn := func(profile string) {
		t.Helper()
		if err := w.DB.Write(t.Context(), func(tx *models.Tx) error {
			if _, err := tx.AddIdentity(models.Identity{
				TenantID: w.tenant, Issuer: "https://id.example", Subject: "1", UserID: id, CreatedAt: models.Now(),
			}); err != nil {
				return err
			}
			_, _, err := directory.Provision(tx, directory.ExternalIdentity{
				Tenant: w.tenant, Issuer: "https://id.example", Subject: "1", Name: "Juan Cruz", Profile: profile,
			}, models.Now())
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	signIn(`{"nickname":"jc"}`)
	is("after a sign-in without parts", "Juan", "de la Cruz")
	signIn(`{"given_name":"J","family_name":"Cruz y Vega"}`)
	is("after a sign-in with parts", "J", "Cruz y Vega")
	name := "Bea Berg"
	must[contract.User](t)(w.UpdateUser(t.Context(), w.owner, contract.UserUpdate{
		UserPath: contract.UserPath{User: id}, Body: contract.UserChange{Name: &name},
	}))
	is("after a change of the name", "", "")
	turned := "a\u202eb"
	_, err := w.ChangeUser(t.Context(), w.owner, id, "", directory.UserChange{FamilyName: &turned})
	if fault.CodeOf(err) == "" {
		t.Errorf("a family name that isn't kept: %v", err)
	}
}

// A frozen user cannot sign in, whether they have signed in before or not.
func TestSignIn_frozenUser(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		expected, known := w.user(t, "ana@example.com"), w.user(t, "bob@example.com")
		must[models.EndUser](t)(w.provision(t, "bob@example.com", true))
		for _, id := range []string{expected, known} {
			before := w.revisions(t)
			got := must[contract.User](t)(w.Freeze(t.Context(), w.owner, contract.UserPath{User: id}))
			if got.State != directory.Frozen {
				t.Errorf("state %s", got.State)
			}
			if w.revisions(t) == before {
				t.Error("no gateway is told of it")
			}
		}
		for _, email := range []string{"ana@example.com", "bob@example.com"} {
			_, err := w.provision(t, email, true)
			is(t, err, "user_frozen")
		}
		for id, want := range map[string]string{expected: directory.Invited, known: directory.Active} {
			got := must[contract.User](t)(w.Unfreeze(t.Context(), w.owner, contract.UserPath{User: id}))
			if got.State != want {
				t.Errorf("unfrozen to %s, want %s", got.State, want)
			}
		}
		if user := must[models.EndUser](t)(w.provision(t, "ana@example.com", true)); user.ID != expected {
			t.Error("signed in as another user")
		}
	})
}

// withUserName returns the users with a user name, or with an address that stands for one.
func (w *world) withUserName(t *testing.T, name string) []contract.User {
	t.Helper()
	found, _, err := w.UsersFrom(t.Context(), w.owner, w.tenant, models.UserFilter{UserName: name}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestUsers_filters(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		ana, bob := w.user(t, "ana@example.com", staff), w.user(t, "b_b@example.org")
		must[contract.User](t)(w.Freeze(t.Context(), w.owner, contract.UserPath{User: bob}))
		list := func(in contract.UserList) models.List[contract.User] {
			in.Tenant = w.tenant
			return must[models.List[contract.User]](t)(w.Users(t.Context(), w.owner, in))
		}
		for _, tt := range []struct {
			asked contract.UserList
			want  string
		}{
			{contract.UserList{State: "frozen"}, bob},
			{contract.UserList{State: "invited"}, ana},
			{contract.UserList{Email: "ANA@example.com"}, ana},
			{contract.UserList{Text: "EXAMPLE.org"}, bob},
			{contract.UserList{Text: "_b"}, bob},
			{contract.UserList{Group: staff}, ana},
			{contract.UserList{Text: "%"}, ""},
		} {
			page := list(tt.asked)
			got := ""
			for _, u := range page.Items {
				got += u.ID
			}
			if got != tt.want {
				t.Errorf("%+v: %q, want %q", tt.asked, got, tt.want)
			}
		}
		if named := w.withUserName(t, "ana@example.com"); len(named) != 1 || named[0].ID != ana {
			t.Errorf("by user name: %+v, want %s", named, ana)
		}
		first := list(contract.UserList{Page: contract.Page{Limit: 1}})
		second := list(contract.UserList{Page: contract.Page{Cursor: first.Next, Limit: 1}})
		if first.Items[0].ID != bob || second.Items[0].ID != ana || second.Next != "" {
			t.Errorf("%+v %+v", first, second)
		}
	})
}

func TestDeleteUser_everything(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		id := w.user(t, "ana@example.com", w.group(t, "staff"))
		must[models.EndUser](t)(w.provision(t, "ana@example.com", true))
		if _, err := w.DeleteUser(t.Context(), w.owner, contract.UserPath{User: id}); err != nil {
			t.Fatal(err)
		}
		_, err := w.User(t.Context(), w.owner, contract.UserPath{User: id})
		is(t, err, "not_found")
		if user := must[models.EndUser](t)(w.provision(t, "ana@example.com", true)); user.ID == id {
			t.Error("they are still there")
		}
	})
}

// TestProjectUsers_tenants checks which users a project has: those of all tenants that it serves, in one order over
// all pages.
func TestProjectUsers_tenants(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := models.Now()
		second := models.Tenant{
			ID: models.NewID("tnt"), TeamID: &w.team, Name: "second", CreatedAt: now, UpdatedAt: now,
		}
		third := models.Tenant{ID: models.NewID("tnt"), TeamID: &w.team, Name: "third", CreatedAt: now, UpdatedAt: now}
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			served := models.ProjectTenant{ProjectID: w.project, TenantID: second.ID, CreatedAt: now}
			return tx.Insert(&second, &third, &served)
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, one := range []struct{ tenant, email string }{
			{w.tenant, "a@example.com"}, {second.ID, "b@example.com"}, {third.ID, "c@example.com"},
			{second.ID, "d@example.com"}, {w.tenant, "e@example.com"},
		} {
			in := contract.NewUser{Email: one.email}.In(one.tenant)
			made := must[contract.User](t)(w.CreateUser(t.Context(), w.owner, in))
			if one.tenant != third.ID {
				want = append([]string{made.Email}, want...)
			}
		}
		list := func(p access.Principal, in contract.ProjectUserList) (emails []string, err error) {
			in.Project, in.Limit = "shop", 1
			for {
				found, err := w.ProjectUsers(t.Context(), p, in)
				if err != nil {
					return nil, err
				}
				for _, u := range found.Items {
					emails = append(emails, u.Email)
				}
				if in.Cursor = found.Next; in.Cursor == "" {
					return emails, nil
				}
			}
		}
		for name, tt := range map[string]struct {
			in   contract.ProjectUserList
			want []string
		}{
			"all, newest first":          {contract.ProjectUserList{}, want},
			"by name":                    {contract.ProjectUserList{Sort: "-name"}, want},
			"of one":                     {contract.ProjectUserList{Tenant: "second"}, want[1:3]},
			"of one, by its ID":          {contract.ProjectUserList{Tenant: second.ID}, want[1:3]},
			"in its own tenant":          {contract.ProjectUserList{Tenant: w.tenant}, []string{want[0], want[3]}},
			"by text":                    {contract.ProjectUserList{Text: "E@EX"}, want[:1]},
			"in a state that no one has": {contract.ProjectUserList{State: "frozen"}, nil},
		} {
			got, err := list(w.viewer, tt.in)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v %v, want %v", name, got, err, tt.want)
			}
		}
		_, err = list(w.stranger, contract.ProjectUserList{})
		is(t, err, "not_found")
		for _, unserved := range []string{"third", third.ID, "fourth", models.NewID("tnt")} {
			_, err = list(w.viewer, contract.ProjectUserList{Tenant: unserved})
			is(t, err, "not_found")
		}
		_, err = list(w.owner, contract.ProjectUserList{State: "asleep"})
		is(t, err, "invalid_state")
	})
}

// TestProjectUsers_tenantOfOtherTeam has a caller whose home team has a tenant of the same name as the project's team.
func TestProjectUsers_tenantOfOtherTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, now := newWorld(t, db), models.Now()
		home := models.Team{ID: models.NewID("team"), Name: "home", CreatedAt: now}
		ours := models.Tenant{ID: models.NewID("tnt"), TeamID: &home.ID, Name: "globex", CreatedAt: now, UpdatedAt: now}
		theirs := ours
		theirs.ID, theirs.TeamID = models.NewID("tnt"), &w.team
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			served := models.ProjectTenant{ProjectID: w.project, TenantID: theirs.ID, CreatedAt: now}
			return tx.Insert(&home, &ours, &theirs, &served)
		})
		if err != nil {
			t.Fatal(err)
		}
		both := w.owner
		both.Roles = map[string]access.Role{w.team: access.Owner, home.ID: access.Owner}
		both.HomeTeam = home.ID
		must[contract.User](t)(w.CreateUser(t.Context(), both, contract.NewUser{Email: "a@example.com"}.In(ours.ID)))
		must[contract.User](t)(w.CreateUser(t.Context(), both, contract.NewUser{Email: "b@example.com"}.In(theirs.ID)))
		in := contract.ProjectUserList{Tenant: "globex"}
		in.Project = "shop"
		found, err := w.ProjectUsers(t.Context(), both, in)
		if err != nil || len(found.Items) != 1 || found.Items[0].Email != "b@example.com" {
			t.Errorf("the users of globex are %+v, %v; want those of the project's team", found.Items, err)
		}
		in.Tenant = ours.ID
		_, err = w.ProjectUsers(t.Context(), both, in)
		is(t, err, "not_found")
	})
}

// TestProjectUsers_manyTenants merges the users of as many tenants as it may, and requires one of them of a project
// that serves more.
func TestProjectUsers_manyTenants(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, now := newWorld(t, db), models.Now()
		var want []string
		add := func(name string) string {
			t.Helper()
			one := models.Tenant{ID: models.NewID("tnt"), TeamID: &w.team, Name: name, CreatedAt: now, UpdatedAt: now}
			served := models.ProjectTenant{ProjectID: w.project, TenantID: one.ID, CreatedAt: now}
			user := models.EndUser{
				ID: models.NewID("usr"), TenantID: one.ID, Email: name + "@example.com", State: "active",
				CreatedAt: now, UpdatedAt: now,
			}
			err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&one, &served, &user) })
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, user.ID)
			return one.ID
		}
		for i := range models.MaxMerged - 1 { // with its own
			add(fmt.Sprintf("t%d", i))
		}
		in := contract.ProjectUserList{Page: contract.Page{Limit: models.MaxLimit, Count: true}}
		in.Project = "shop"
		for _, sort := range []string{"", "name"} {
			in.Sort = sort
			found, err := w.ProjectUsers(t.Context(), w.owner, in)
			if err != nil || len(found.Items) != len(want) || found.Total != int64(len(want)) {
				t.Fatalf("by %q: %d users of %d, %v; want %d", sort, len(found.Items), found.Total, err, len(want))
			}
		}
		last := add("last")
		_, err := w.ProjectUsers(t.Context(), w.owner, in)
		is(t, err, "tenant_required")
		in.Tenant = last
		found, err := w.ProjectUsers(t.Context(), w.owner, in)
		if err != nil || len(found.Items) != 1 || found.Items[0].ID != want[len(want)-1] {
			t.Errorf("the users of one tenant are %+v, %v", found.Items, err)
		}
	})
}
