package pages_test

import (
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/directory"
	"postern/service/usage"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// withTenant is a site with the project shop and the path of its own tenant.
func withTenant(t *testing.T, db *models.DB) (s *controlplane.Browser, tenant string) {
	t.Helper()
	s, _ = controlplane.NewOwnerWithShop(t, db)
	tenant = s.Get("/projects/shop/tenants").Find("tbody a[href^='/tenants/']").AttrOr("href", "")
	return s, tenant
}

// made posts a form that makes something and returns the address of its page.
func makesOn(s *controlplane.Browser, path string, form ...string) string {
	s.T.Helper()
	got := s.Post(path, form...)
	to := got.Header.Get("Location")
	got.LeadsTo(to)
	return to
}

func TestUsersOnTheirPages(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tenant := withTenant(t, db)
		list := tenant + "/users"
		s.Get(tenant).Says("nav.tabs a[href='"+list+"']", "Users")
		s.Get(list).Shows(200, "default").Says("main", "No users yet").Lacks("form[role=search]")
		staff := makesOn(s, tenant+"/groups", "name", "staff")
		s.Post(list, "email", "ana", "name", "Ana", "groups", strings.TrimPrefix(staff, "/groups/")).
			Shows(422, "default").
			Holds("email", "ana").
			Holds("name", "Ana").
			Says("#user-email-error", "ana@example.com").
			Says("details[open]", "Invite a user").
			Says("label:has(input[name=groups][checked])", "staff")
		group := strings.TrimPrefix(staff, "/groups/")
		ana := makesOn(s, list, "email", "ana@example.com", "name", "Ana", "groups", group)
		s.Post(list, "email", "ANA@example.com").Shows(409, "default").Says("#user-email-error", "Use another address")
		bob := makesOn(s, list, "email", "bob@example.com")

		s.Get(list).
			Says("tbody", "Ana").
			Says("tbody", "bob@example.com").
			Says("tbody", "invited").
			Says("tbody", "never").
			Says("tbody", "not in 7 days")
		s.Get(list+"?q=bob").
			Says("tbody", "bob@example.com").Lacks("tbody a[href='"+ana+"']").
			Says(".filter-menu a[href='"+list+"?q=bob&state=frozen']", "Frozen")
		s.Get(list+"?state=frozen").Says("main", "No users found").Says("main a.btn", "Show all users")

		page := s.Get(ana).
			Shows(200, "Ana").
			Says("dl", "ana@example.com (not confirmed by a provider)").
			Says("dl", "Last activenot in 7 days").
			Says("section[aria-labelledby=identities]", "No sign-in yet").
			Says("section[aria-labelledby=groups]", "staff")
		opened := page.Revision("email")
		s.Post(ana, "revision", opened, "name", "Ana F.", "email", "ana@example.com").LeadsTo(ana)
		s.Post(ana, "revision", s.Get(ana).Revision("email"), "name", "Kept", "email", "nowhere").
			Shows(422, "Ana F.").
			Holds("name", "Kept").
			Says("#change-email-error", "Give an e-mail")
		s.Post(ana, "revision", s.Get(ana).Revision("email"), "name", "Kept", "email", "bob@example.com").
			Shows(409, "Ana F.").
			Says("#change-email-error", "has a user with this")
		s.Post(ana, "revision", opened, "name", "Mine", "email", "ana@example.com").
			Shows(412, "Changed since you opened it").
			Says("tbody", "Ana F.").
			Says("tbody", "Mine")

		s.Post(ana + "/freeze").LeadsTo(ana)
		s.Get(ana).Says(".badge", "frozen").Says("main", "Unfreeze").Lacks("form[action$='/freeze']")
		s.Get(list+"?state=frozen").Says("tbody", "Ana F.")
		s.Post(ana + "/unfreeze").LeadsTo(ana)
		s.Get(ana).Says(".badge", "invited")

		s.Post(staff+"/members/"+strings.TrimPrefix(ana, "/users/")+"/remove", "from", "user").
			Shows(200, "Remove Ana F. from staff").
			Says("main form", "Remove")
		s.Post(staff+"/members/"+strings.TrimPrefix(ana, "/users/")+"/remove", "from", "user", "confirm", "true").
			LeadsTo(ana + "#groups")
		s.Get(ana).Says("section[aria-labelledby=groups]", "No groups yet").Says("#join-group option", "staff")
		s.Post(ana+"/groups", "group", strings.TrimPrefix(staff, "/groups/")).LeadsTo(ana + "#groups")
		s.Get(ana).Says("section[aria-labelledby=groups]", "member").Lacks("#join-group").Lacks("[name=role]")

		s.Post(bob+"/delete").Shows(422, "bob@example.com").Says("[role=alert]", "Tick the box")
		s.Post(bob+"/delete", "confirm", "true").LeadsTo(list)
		s.Get(list).Says("[data-flash]", "deleted").Lacks("tbody a[href='" + bob + "']")
		s.Get(bob).Shows(404, "Page not found")
	})
}

// Who has signed in is shown with how providers know them and when they were last
// seen, by themselves and in traffic.
func TestAUserIsSeen(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tenant := withTenant(t, db)
	now := models.Now()
	var user models.EndUser
	err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
		user, _, err = directory.Provision(tx, directory.ExternalIdentity{
			Tenant:        strings.TrimPrefix(tenant, "/tenants/"),
			Issuer:        "oidc:https://id.example",
			Subject:       "sub-7",
			Email:         "ana@example.com",
			EmailVerified: true,
			Name:          "Ana",
		}, now)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := db.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	at := now.Truncate(time.Hour)
	s.Server.Usage.Recorder.Observe(usage.Call{
		ProjectID: shop.ID,
		Owner:     user.ID + " (http://localhost/oauth/cli_1)",
		Start:     at,
		Status:    200,
		Route:     "/*",
	})

	hour := at.UTC().Format("2 Jan 2006, 15:04") + " UTC"
	s.Get(tenant+"/users").Says("tbody", "active").Says("tbody", hour).Says("tbody", now.UTC().Format("2 Jan 2006"))
	s.Get("/users/"+user.ID).
		Shows(200, "Ana").
		Says("dl", "Last active"+hour).
		Says("dl", "Emailana@example.com").
		Says("section[aria-labelledby=identities]", "sub-7at oidc:https://id.example")
}

func TestGroupsOnTheirPages(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tenant := withTenant(t, db)
	list := tenant + "/groups"
	s.Get(list).Shows(200, "default").Says("main", "No groups yet")
	s.Post(list, "name", "All Staff", "display_name", "Staff").
		Shows(422, "default").
		Holds("name", "All Staff").
		Holds("display_name", "Staff").
		Says("#group-name-error", "lower-case")
	staff := makesOn(s, list, "name", "staff", "display_name", "All staff")
	s.Post(list, "name", "staff").Shows(409, "default").Says("#group-name-error", "Choose another name")
	leads, heads := makesOn(s, list, "name", "leads"), makesOn(s, list, "name", "heads")
	ana := makesOn(s, tenant+"/users", "email", "ana@example.com")

	s.Post(staff+"/members", "email", "eve@example.com").Shows(422, "All staff").Holds("email", "eve@example.com").
		Says("#add-email-error", "No user of this tenant")
	s.Post(staff+"/members", "email", "Ana@example.com").LeadsTo(staff)
	s.Get(staff).Says("section[aria-labelledby=members]", "ana@example.com").Lacks("[name=role]")
	s.Get(list).Says("main", "1 user").Says("main", "0 users")

	nest := func(outer, inner string) *controlplane.Page {
		return s.Post(outer+"/children", "child", strings.TrimPrefix(inner, "/groups/"))
	}
	nest(staff, leads).LeadsTo(staff + "#children")
	nest(leads, heads).LeadsTo(leads + "#children")
	nest(heads, staff).
		Shows(422, "heads").
		Says("#nest-child-error", "heads is in leads, which is in staff already").
		Says("#nest-child option[selected]", "All staff")
	s.Get(leads).
		Says("main", "Its members are also in All staff").
		Says("section[aria-labelledby=children]", "heads")
	unnest := staff + "/children/" + strings.TrimPrefix(leads, "/groups/") + "/remove"
	s.Post(unnest).Shows(200, "Remove leads from All staff").Says("[data-undo]", "add it again")
	s.Post(unnest, "confirm", "true").LeadsTo(staff + "#children")
	s.Post(unnest).Shows(404, "Page not found")
	nest(heads, staff).LeadsTo(heads + "#children")

	opened := s.Get(staff).Revision("display_name")
	s.Post(staff, "revision", opened, "name", "crew", "display_name", "Crew").LeadsTo(staff)
	s.Post(staff, "revision", s.Get(staff).Revision("display_name"), "name", "leads", "display_name", "Crew").
		Shows(409, "Crew").
		Holds("name", "leads").
		Says("#group-name-error", "Choose another")
	s.Post(staff, "revision", opened, "name", "mine", "display_name", "Mine").
		Shows(412, "Changed since you opened it").
		Says("tbody", "crew").
		Says("tbody", "mine")

	s.Post(staff+"/delete").Shows(422, "Crew").Says("[role=alert]", "Tick the box")
	s.Post(staff+"/delete", "confirm", "true").LeadsTo(list)
	s.Get(staff).Shows(404, "Page not found")
	s.Get(ana).Shows(200, "ana@example.com").Says("section[aria-labelledby=groups]", "No groups yet")
}

func TestWhoMayComeInOnItsPage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tenant := withTenant(t, db)
	signup, staff := tenant+"/signup", makesOn(s, tenant+"/groups", "name", "staff")
	s.Get(signup).Shows(200, "default").Says("main", "No addresses are approved yet").Lacks("#invite-only[checked]")
	s.Post(signup, "invite_only", "true").LeadsTo(signup)
	if s.Get(signup).Find("#invite-only[checked]").Length() != 1 {
		t.Error("it is still open")
	}
	s.Post(signup).LeadsTo(signup)
	s.Get(signup).Lacks("#invite-only[checked]")

	s.Post(signup+"/approvals", "value", "example", "groups", strings.TrimPrefix(staff, "/groups/")).
		Shows(422, "default").
		Holds("value", "example").
		Says("#approve-value-error", "such as example.com").
		Says("label:has(input[name=groups][checked])", "staff")
	s.Post(signup+"/approvals", "value", "Example.com", "groups", strings.TrimPrefix(staff, "/groups/")).
		LeadsTo(signup)
	s.Post(signup+"/approvals", "value", "eve@example.org").LeadsTo(signup)
	s.Post(signup+"/approvals", "value", "example.com").
		Shows(409, "default").
		Says("#approve-value-error", "approves of example.com already")
	page := s.Get(signup).
		Says("main", "every address of the domain · into staff").
		Says("main", "this address · into no group")
	end := page.Find("form[action*='/approvals/']").First().AttrOr("action", "")
	s.Post(end).Shows(200, "Remove the approval of example.com")
	if left := s.Get(signup).Find("form[action*='/approvals/']").Length(); left != 2 {
		t.Errorf("before the tick %d approvals are left", left)
	}
	s.Post(end, "confirm", "true").LeadsTo(signup)
	if left := s.Get(signup).Find("form[action*='/approvals/']").Length(); left != 1 {
		t.Errorf("%d approvals are left", left)
	}
}
