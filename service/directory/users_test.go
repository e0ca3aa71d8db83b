package directory_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/testkit/state"
)

func TestWhoIsExpectedBecomesThatUser(t *testing.T) {
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
func TestUsersShareAddresses(t *testing.T) {
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

// TestNameParts checks that the parts of a name last as long as they are true.
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
func TestFrozenUsersStayOut(t *testing.T) {
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

func TestUsersAreListedByWhatIsAsked(t *testing.T) {
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

func TestADeletedUserLeavesNothing(t *testing.T) {
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
