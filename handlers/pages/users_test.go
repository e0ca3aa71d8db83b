package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/directory"
	"postern/service/usage"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

// withTenant returns a site with the project shop, and the path of the project's own tenant.
func withTenant(t *testing.T, db *models.DB) (s *controlplane.Browser, tenant string) {
	t.Helper()
	s, _ = controlplane.NewOwnerWithShop(t, db)
	tenant = s.Get("/projects/shop/tenants").Find("tbody a[href^='/tenants/']").AttrOr("href", "")
	return s, tenant
}

// made posts a form that makes something and returns the address of its page.
func createOn(s *controlplane.Browser, path string, form ...string) string {
	s.T.Helper()
	got := s.Post(path, form...)
	to := got.Header.Get("Location")
	got.LeadsTo(to)
	return to
}

func TestUsers_pages(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tenant := withTenant(t, db)
		list := tenant + "/users"
		s.Get(tenant).Says("nav.tabs a[href='"+list+"']", "Users").
			Says("nav[aria-label=Project] [aria-current]", "Tenants").
			Lacks("nav[aria-label=Team] [aria-current]")
		s.Get(list).Shows(200, "default").Says("main", "No users yet").Lacks("form[role=search]")
		staff := createOn(s, tenant+"/groups", "name", "staff")
		s.Post(list, "email", "ana", "name", "Ana", "groups", strings.TrimPrefix(staff, "/groups/")).
			Shows(422, "default").
			Holds("email", "ana").
			Holds("name", "Ana").
			Says("#user-email-error", "ana@example.com").
			Says("details[open]", "Invite a user").
			Says("label:has(input[name=groups][checked])", "staff")
		group := strings.TrimPrefix(staff, "/groups/")
		ana := createOn(s, list, "email", "ana@example.com", "name", "Ana", "groups", group)
		s.Post(list, "email", "ANA@example.com").Shows(409, "default").Says("#user-email-error", "Use another address")
		bob := createOn(s, list, "email", "bob@example.com")
		s.Post("/projects/shop/login", "tenant", strings.TrimPrefix(tenant, "/tenants/"), "name", "web")
		s.Get(bob).Says("select[name=app_client] option", "web")

		s.Get(list).
			Says("tbody", "Ana").
			Says("tbody", "bob@example.com").
			Says("tbody", "invited").
			Says("tbody", "never").
			Says("tbody", "none in the last 7 days")
		s.Get(list+"?q=bob").
			Says("tbody", "bob@example.com").Lacks("tbody a[href='"+ana+"']").
			Says(".filter-menu a[href='"+list+"?q=bob&state=frozen']", "Frozen")
		s.Get(list+"?state=frozen").Says("main", "No users found").Says("main a.btn", "Show all users")

		page := s.Get(ana).
			Shows(200, "Ana").
			Says("dl", "ana@example.com (not confirmed by a provider)").
			Says("dl", "Last callnone in the last 7 days").
			Says("section[aria-labelledby=identities]", "No identities yet").
			Says("section[aria-labelledby=groups]", "staff")
		opened := page.Revision("email")
		s.Post(ana, "revision", opened, "name", "Ana F.", "email", "ana@example.com").LeadsTo(ana)
		s.Post(ana, "revision", s.Get(ana).Revision("email"), "name", "Kept", "email", "nowhere").
			Shows(422, "Ana F.").
			Holds("name", "Kept").
			Says("#change-email-error", "Use an email")
		s.Post(ana, "revision", s.Get(ana).Revision("email"), "name", "Kept", "email", "bob@example.com").
			Shows(409, "Ana F.").
			Says("#change-email-error", "has a user with this")
		s.Post(ana, "revision", opened, "name", "Mine", "email", "ana@example.com").
			Shows(412, "Changed since you opened this page").
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

		s.Post(bob+"/delete").Shows(422, "bob@example.com").Says("[role=alert]", "Check the box")
		s.Post(bob+"/delete", "confirm", "true").LeadsTo(list)
		s.Get(list).Says("[data-flash]", "Deleted").Lacks("tbody a[href='" + bob + "']")
		s.Get(bob).Shows(404, "Page not found")
	})
}

// The page of a user who has signed in shows their identities at providers, their last sign-in and their last call.
func TestUser_signIn(t *testing.T) {
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

	hour := "time[title='" + ui.Exact(at) + "']"
	list := s.Get(tenant+"/users").Says("tbody", "active")
	if list.Find("tbody "+hour).Length() == 0 || list.Find("tbody time").Length() != 3 {
		t.Errorf("the list does not say when the user was created and seen: %s", list.Find("tbody").Text())
	}
	shown := s.Get("/users/"+user.ID).
		Shows(200, "Ana").
		Says("dl", "Emailana@example.com").
		Says("section[aria-labelledby=identities]", "sub-7from oidc:https://id.example")
	if shown.Find("dt:contains('Last call') + dd "+hour).Length() != 1 {
		t.Errorf("the user's page does not say when they last called: %s", shown.Find("dl").Text())
	}
}

func TestGroups_pages(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tenant := withTenant(t, db)
	list := tenant + "/groups"
	s.Get(list).Shows(200, "default").Says("main", "No groups yet")
	s.Post(list, "name", "All Staff", "display_name", "Staff").
		Shows(422, "default").
		Holds("name", "All Staff").
		Holds("display_name", "Staff").
		Says("#group-name-error", "lowercase")
	staff := createOn(s, list, "name", "staff", "display_name", "All staff")
	s.Post(list, "name", "staff").Shows(409, "default").Says("#group-name-error", "Choose another name")
	leads, heads := createOn(s, list, "name", "leads"), createOn(s, list, "name", "heads")
	ana := createOn(s, tenant+"/users", "email", "ana@example.com")

	s.Post(staff+"/members", "email", "eve@example.com").Shows(422, "All staff").Holds("email", "eve@example.com").
		Says("#add-email-error", "No user in this tenant")
	s.Post(staff+"/members", "email", "Ana@example.com").LeadsTo(staff)
	s.Get(staff).Says("section[aria-labelledby=members]", "ana@example.com").Lacks("[name=role]")
	s.Get(list).Says("main", "1 user").Says("main", "0 users")

	s.Get(staff).Says("section[aria-labelledby=owners]", "No apps yet")
	s.Post(staff+"/owners", "owner", "usr_1").Shows(422, "All staff").Holds("owner", "usr_1").
		Says("#add-owner-error", "ID of a user")
	s.Post(staff+"/owners", "owner", "billing/eu").LeadsTo(staff + "#owners")
	s.Get(staff).Says("section[aria-labelledby=owners]", "billing/eu").
		Says("section[aria-labelledby=owners]", "no keys in this tenant")
	s.Get(list).Says("main", "1 user, 1 app")
	s.Get(staff+"?owners_q=reports").Says("section[aria-labelledby=owners]", "No apps")
	s.Post(staff+"/owners/remove", "owner", "billing/eu").Shows(200, "Remove billing/eu from All staff").
		Says("main", "its keys will lose access")
	s.Post(staff+"/owners/remove", "owner", "billing/eu", "confirm", "true").LeadsTo(staff + "#owners")
	s.Post(staff+"/owners/remove", "owner", "billing/eu", "confirm", "true").Shows(404, "Page not found")

	nest := func(outer, inner string) *controlplane.Page {
		return s.Post(outer+"/children", "child", strings.TrimPrefix(inner, "/groups/"))
	}
	nest(staff, leads).LeadsTo(staff + "#children")
	nest(leads, heads).LeadsTo(leads + "#children")
	nest(heads, staff).
		Shows(422, "heads").
		Says("#nest-child-error", "heads is already in leads, which is in staff").
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
		Shows(412, "Changed since you opened this page").
		Says("tbody", "crew").
		Says("tbody", "mine")

	s.Post(staff+"/delete").Shows(422, "Crew").Says("[role=alert]", "Check the box")
	s.Post(staff+"/delete", "confirm", "true").LeadsTo(list)
	s.Get(staff).Shows(404, "Page not found")
	s.Get(ana).Shows(200, "ana@example.com").Says("section[aria-labelledby=groups]", "No groups yet")
}

func TestSignupPolicy_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tenant := withTenant(t, db)
	signup, staff := tenant+"/signup", createOn(s, tenant+"/groups", "name", "staff")
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
		Says("#approve-value-error", "already has an approval for example.com")
	page := s.Get(signup).
		Says("main", "every address in the domain · groups: staff").
		Says("main", "this address · no groups")
	end := page.Find("form[action*='/approvals/']").First().AttrOr("action", "")
	s.Post(end).Shows(200, "Remove the approval for example.com")
	if left := s.Get(signup).Find("form[action*='/approvals/']").Length(); left != 2 {
		t.Errorf("before the tick %d approvals are left", left)
	}
	s.Post(end, "confirm", "true").LeadsTo(signup)
	if left := s.Get(signup).Find("form[action*='/approvals/']").Length(); left != 1 {
		t.Errorf("%d approvals are left", left)
	}
}

// TestProjectUsers_manyTenants asks for a tenant where a project has too many for one list.
func TestProjectUsers_manyTenants(t *testing.T) {
	t.Parallel()
	s, own := withTenant(t, state.OpenSQLite(t))
	createOn(s, own+"/users", "email", "ana@example.com")
	for i := range models.MaxMerged {
		s.Post("/projects/shop/tenants", "name", fmt.Sprintf("t%d", i), "display_name", fmt.Sprintf("Tenant %d", i)).
			LeadsTo("/projects/shop/tenants")
	}
	const list = "/projects/shop/users"
	s.Get(list).Shows(200, "Users").Says("main", "No tenant selected").Lacks("tbody").
		Says("main a[href='/projects/shop/tenants']", "All tenants of this project")
	s.Get(list+"?q=ana&sort=name").Says("main", "No tenant selected")
	chosen := s.Get(list).Find("main a[href*='tenant=']").First().AttrOr("href", "")
	s.Get(chosen).Shows(200, "Users").Lacks("main:contains('No tenant selected')")
}

// TestProjectUsers lists the users of all tenants of a project on one page, which says of which tenant they are once
// there are several.
func TestProjectUsers(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, own := withTenant(t, db)
		const list = "/projects/shop/users"
		s.Get("/projects/shop").Says("nav[aria-label=Project] a[href='"+list+"']", "Users")
		s.Get(list).Shows(200, "Users").
			Says("nav[aria-label=Project] [aria-current]", "Users").
			Says("main", "No users yet").
			Says("main a[href='"+own+"/users']", "the project's tenant")
		createOn(s, own+"/users", "email", "ana@example.com", "name", "Ana")
		s.Get(list).Says("tbody", "Ana").Lacks("tbody a[href$='/users']")

		s.Post("/projects/shop/tenants", "name", "acme", "display_name", "Acme Ltd").LeadsTo("/projects/shop/tenants")
		acme := s.Get("/projects/shop/tenants").Find("tbody a:contains('Acme Ltd')").AttrOr("href", "")
		for _, email := range []string{"bob@example.com", "cy@example.com", "dee@example.com"} {
			createOn(s, acme+"/users", "email", email)
		}
		elsewhere := createOn(s, "/tenants", "name", "other", "team", s.Get("/tenants").Value("[name=team]"))
		createOn(s, elsewhere+"/users", "email", "eve@example.com")
		all := s.Get(list).Says("tbody", "Ana").Says("tbody a[href='"+acme+"/users']", "Acme Ltd").Says("tbody", "cy@")
		if n := all.Find("tbody tr").Length(); n != 4 {
			t.Errorf("the page lists %d users, want the four of the project's tenants", n)
		}
		id := strings.TrimPrefix(acme, "/tenants/")
		narrowed := s.Get(list+"?tenant="+id).Says(".chips", "Tenant: Acme Ltd").Says("tbody", "bob@example.com")
		if n := narrowed.Find("tbody tr").Length(); n != 3 {
			t.Errorf("the filter leaves %d users, want the three of Acme", n)
		}
		s.Get(list+"?q=ana&sort=name").Says("tbody", "Ana").Lacks("tbody a[href='" + acme + "/users']")
		s.Get(list+"?tenant="+strings.TrimPrefix(elsewhere, "/tenants/")).Says("main", "Ignored")
	})
}
