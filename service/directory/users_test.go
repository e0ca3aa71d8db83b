package directory_test

import (
	"testing"

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
		_, err := w.CreateUser(t.Context(), w.owner, "acme", directory.NewUser{Email: "ana@example.com"})
		is(t, err, "email_taken")

		if user, err := w.provision(t, "ana@example.com", true); err != nil || user.ID != id ||
			user.State != directory.Active {
			t.Fatalf("%+v %v", user, err)
		}
		got := must[directory.Profile](t)(w.User(t.Context(), w.owner, id))
		if len(got.Identities) != 1 || got.LastLoginAt == nil {
			t.Errorf("identities %+v, last login %v, want one and a time", got.Identities, got.LastLoginAt)
		}
		if len(got.Groups) != 1 || got.Groups[0].Name != "staff" || got.Groups[0].Role != "member" {
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
			in := directory.NewUser{Email: tt.email, UserName: tt.userName}
			_, err := w.CreateUser(t.Context(), w.owner, "acme", in)
			is(t, err, tt.want)
		}
		bea := must[models.List[directory.User]](t)(w.Users(t.Context(), w.owner, w.tenant,
			models.UserFilter{UserName: "bea"}, models.Page{})).Items[0].ID
		none := ""
		_, err := w.UpdateUser(t.Context(), w.owner, bea, "", directory.UserChange{UserName: &none})
		is(t, err, "email_taken")
	})
}

// TestNameParts checks that the parts of a name last as long as they are true.
func TestNameParts(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	in := directory.NewUser{UserName: "juan", Name: "Juan de la Cruz", GivenName: "Juan", FamilyName: "de la Cruz"}
	id := must[directory.Profile](t)(w.CreateUser(t.Context(), w.owner, "acme", in)).ID
	is := func(when, given, family string) {
		t.Helper()
		got := must[directory.Profile](t)(w.User(t.Context(), w.owner, id)).Profile
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
	must[directory.Profile](t)(w.UpdateUser(t.Context(), w.owner, id, "", directory.UserChange{Name: &name}))
	is("after a change of the name", "", "")
	turned := "a\u202eb"
	_, err := w.UpdateUser(t.Context(), w.owner, id, "", directory.UserChange{FamilyName: &turned})
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
			if got := must[directory.Profile](t)(w.Freeze(t.Context(), w.owner, id)); got.State != directory.Frozen {
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
			if got := must[directory.Profile](t)(w.Unfreeze(t.Context(), w.owner, id)); got.State != want {
				t.Errorf("unfrozen to %s, want %s", got.State, want)
			}
		}
		if user := must[models.EndUser](t)(w.provision(t, "ana@example.com", true)); user.ID != expected {
			t.Error("signed in as another user")
		}
	})
}

func TestUsersAreListedByWhatIsAsked(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		ana, bob := w.user(t, "ana@example.com", staff), w.user(t, "b_b@example.org")
		must[directory.Profile](t)(w.Freeze(t.Context(), w.owner, bob))
		list := func(filter models.UserFilter, page models.Page) models.List[directory.User] {
			return must[models.List[directory.User]](t)(w.Users(t.Context(), w.owner, w.tenant, filter, page))
		}
		for _, tt := range []struct {
			filter models.UserFilter
			want   string
		}{
			{models.UserFilter{State: "frozen"}, bob},
			{models.UserFilter{State: "invited"}, ana},
			{models.UserFilter{Email: "ANA@example.com"}, ana},
			{models.UserFilter{Query: "EXAMPLE.org"}, bob},
			{models.UserFilter{Query: "_b"}, bob},
			{models.UserFilter{Group: staff}, ana},
			{models.UserFilter{UserName: "ana@example.com"}, ana},
			{models.UserFilter{Query: "%"}, ""},
		} {
			page := list(tt.filter, models.Page{})
			got := ""
			for _, u := range page.Items {
				got += u.ID
			}
			if got != tt.want {
				t.Errorf("%+v: %q, want %q", tt.filter, got, tt.want)
			}
		}
		first := list(models.UserFilter{}, models.Page{Limit: 1})
		second := list(models.UserFilter{}, models.Page{Cursor: first.Next, Limit: 1})
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
		if err := w.DeleteUser(t.Context(), w.owner, id); err != nil {
			t.Fatal(err)
		}
		_, err := w.User(t.Context(), w.owner, id)
		is(t, err, "not_found")
		if user := must[models.EndUser](t)(w.provision(t, "ana@example.com", true)); user.ID == id {
			t.Error("they are still there")
		}
	})
}
