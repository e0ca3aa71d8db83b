package handlers_test

import (
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/directory"
	"postern/service/usage"
	"postern/testkit/state"
)

// withTenant is a site with the project shop and the path of its own tenant.
func withTenant(t *testing.T, db *models.DB) (s *site, tenant string) {
	t.Helper()
	s, _ = withShop(t, db)
	tenant = s.get("/projects/shop/tenants").Find("tbody a[href^='/tenants/']").AttrOr("href", "")
	return s, tenant
}

// made posts a form that makes something and returns the address of its page.
func makesOn(s *site, path string, form ...string) string {
	s.t.Helper()
	got := s.post(path, form...)
	to := got.header.Get("Location")
	got.leadsTo(to)
	return to
}

func TestUsersOnTheirPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tenant := withTenant(t, db)
		list := tenant + "/users"
		s.get(tenant).says("nav.tabs a[href='"+list+"']", "Users")
		s.get(list).is(200, "default").says("main", "No users yet").lacks("form[role=search]")
		staff := makesOn(s, tenant+"/groups", "name", "staff")
		s.post(list, "email", "ana", "name", "Ana", "groups", strings.TrimPrefix(staff, "/groups/")).is(422, "default").
			holds("email", "ana").
			holds("name", "Ana").
			says("#user-email-error", "ana@example.com").
			says("details[open]", "Expect a user").
			says("label:has(input[name=groups][checked])", "staff")
		ana := makesOn(s, list, "email", "ana@example.com", "name", "Ana", "groups", strings.TrimPrefix(staff, "/groups/"))
		s.post(list, "email", "ANA@example.com").is(409, "default").says("#user-email-error", "Use another address")
		bob := makesOn(s, list, "email", "bob@example.com")

		s.get(list).
			says("tbody", "Ana").
			says("tbody", "bob@example.com").
			says("tbody", "expected").
			says("tbody", "never").
			says("tbody", "not lately")
		s.get(list+"?q=bob").
			says("tbody", "bob@example.com").lacks("tbody a[href='"+ana+"']").
			says("form[role=search] option[value=frozen]", "Frozen")
		s.get(list+"?state=frozen").says("main", "No users found").says("main a.btn", "Show all users")

		page := s.get(ana).
			is(200, "Ana").
			says("dl", "ana@example.com (not confirmed by a provider)").
			says("dl", "Seen in trafficnot lately").
			says("section[aria-labelledby=identities]", "Not here so far").
			says("section[aria-labelledby=groups]", "staff")
		opened := page.revisionAt("email")
		s.post(ana, "revision", opened, "name", "Ana F.", "email", "ana@example.com").leadsTo(ana)
		s.post(ana, "revision", s.get(ana).revisionAt("email"), "name", "Kept", "email", "nowhere").
			is(422, "Ana F.").
			holds("name", "Kept").
			says("#change-email-error", "Give an e-mail")
		s.post(ana, "revision", s.get(ana).revisionAt("email"), "name", "Kept", "email", "bob@example.com").
			is(409, "Ana F.").
			says("#change-email-error", "has a user with this")
		s.post(ana, "revision", opened, "name", "Mine", "email", "ana@example.com").
			is(412, "Changed since you opened it").
			says("tbody", "Ana F.").
			says("tbody", "Mine")

		s.post(ana + "/freeze").leadsTo(ana)
		s.get(ana).says(".badge", "frozen").says("main", "Unfreeze").lacks("form[action$='/freeze']")
		s.get(list+"?state=frozen").says("tbody", "Ana F.")
		s.post(ana + "/unfreeze").leadsTo(ana)
		s.get(ana).says(".badge", "expected")

		s.post(staff+"/members/"+strings.TrimPrefix(ana, "/users/")+"/remove", "from", "user").leadsTo(ana + "#groups")
		s.get(ana).says("section[aria-labelledby=groups]", "In no group").says("#join-group option", "staff")
		s.post(ana+"/groups", "group", strings.TrimPrefix(staff, "/groups/")).leadsTo(ana + "#groups")
		s.get(ana).says("section[aria-labelledby=groups]", "member").lacks("#join-group").lacks("[name=role]")

		s.post(bob+"/delete").is(422, "bob@example.com").says("[role=alert]", "Tick the box")
		s.post(bob+"/delete", "confirm", "true").leadsTo(list)
		s.get(list).says("[data-flash]", "deleted").lacks("tbody a[href='" + bob + "']")
		s.get(bob).is(404, "There is nothing here")
	})
}

// Who has signed in is shown with how providers know them and when they were last
// seen, by themselves and in traffic.
func TestAUserIsSeen(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tenant := withTenant(t, db)
		now := models.Now()
		var user models.EndUser
		err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
			user, _, err = directory.Arrive(tx, directory.Arrival{Tenant: strings.TrimPrefix(tenant, "/tenants/"), Issuer: "oidc:https://id.example", Subject: "sub-7",
				Email: "ana@example.com", EmailVerified: true, Name: "Ana"}, now)
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
		s.server.Usage.Recorder.Observe(usage.Call{ProjectID: shop.ID, Owner: user.ID + " (http://localhost/oauth/cli_1)", Start: at, Status: 200, Route: "/*"})

		hour := at.UTC().Format("2 Jan 2006, 15:04") + " UTC"
		s.get(tenant+"/users").says("tbody", "active").says("tbody", hour).says("tbody", now.UTC().Format("2 Jan 2006"))
		s.get("/users/"+user.ID).is(200, "Ana").says("dl", "Seen in traffic"+hour).says("dl", "E-mailana@example.com").
			says("section[aria-labelledby=identities]", "sub-7at oidc:https://id.example")
	})
}

func TestGroupsOnTheirPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tenant := withTenant(t, db)
		list := tenant + "/groups"
		s.get(list).is(200, "default").says("main", "No groups yet")
		s.post(list, "name", "All Staff", "display_name", "Staff").
			is(422, "default").
			holds("name", "All Staff").
			holds("display_name", "Staff").
			says("#group-name-error", "lower-case")
		staff := makesOn(s, list, "name", "staff", "display_name", "All staff")
		s.post(list, "name", "staff").is(409, "default").says("#group-name-error", "Choose another name")
		leads, heads := makesOn(s, list, "name", "leads"), makesOn(s, list, "name", "heads")
		ana := makesOn(s, tenant+"/users", "email", "ana@example.com")

		s.post(staff+"/members", "email", "eve@example.com").is(422, "All staff").holds("email", "eve@example.com").
			says("#add-email-error", "No user of this tenant")
		s.post(staff+"/members", "email", "Ana@example.com").leadsTo(staff)
		s.get(staff).says("section[aria-labelledby=members]", "ana@example.com").lacks("[name=role]")
		s.get(list).says("main", "1 user").says("main", "0 users")

		nest := func(outer, inner string) *seen {
			return s.post(outer+"/children", "child", strings.TrimPrefix(inner, "/groups/"))
		}
		nest(staff, leads).leadsTo(staff + "#children")
		nest(leads, heads).leadsTo(leads + "#children")
		nest(heads, staff).
			is(422, "heads").
			says("#nest-child-error", "heads is in leads, which is in staff already").
			says("#nest-child option[selected]", "All staff")
		s.get(leads).
			says("main", "Its members are also in All staff").
			says("section[aria-labelledby=children]", "heads")
		s.post(staff + "/children/" + strings.TrimPrefix(leads, "/groups/") + "/remove").leadsTo(staff + "#children")
		nest(heads, staff).leadsTo(heads + "#children")

		opened := s.get(staff).revisionAt("display_name")
		s.post(staff, "revision", opened, "name", "crew", "display_name", "Crew").leadsTo(staff)
		s.post(staff, "revision", s.get(staff).revisionAt("display_name"), "name", "leads", "display_name", "Crew").
			is(409, "Crew").
			holds("name", "leads").
			says("#group-name-error", "Choose another")
		s.post(staff, "revision", opened, "name", "mine", "display_name", "Mine").
			is(412, "Changed since you opened it").
			says("tbody", "crew").
			says("tbody", "mine")

		s.post(staff+"/delete").is(422, "Crew").says("[role=alert]", "Tick the box")
		s.post(staff+"/delete", "confirm", "true").leadsTo(list)
		s.get(staff).is(404, "There is nothing here")
		s.get(ana).is(200, "ana@example.com").says("section[aria-labelledby=groups]", "In no group")
	})
}

func TestWhoMayComeInOnItsPage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tenant := withTenant(t, db)
		entry, staff := tenant+"/entry", makesOn(s, tenant+"/groups", "name", "staff")
		s.get(entry).is(200, "default").says("main", "No addresses are approved yet").lacks("#invite-only[checked]")
		s.post(entry, "invite_only", "true").leadsTo(entry)
		if s.get(entry).Find("#invite-only[checked]").Length() != 1 {
			t.Error("it is still open")
		}
		s.post(entry).leadsTo(entry)
		s.get(entry).lacks("#invite-only[checked]")

		s.post(tenant+"/approvals", "value", "example", "groups", strings.TrimPrefix(staff, "/groups/")).
			is(422, "default").
			holds("value", "example").
			says("#approve-value-error", "such as example.com").
			says("label:has(input[name=groups][checked])", "staff")
		s.post(tenant+"/approvals", "value", "Example.com", "groups", strings.TrimPrefix(staff, "/groups/")).
			leadsTo(entry)
		s.post(tenant+"/approvals", "value", "eve@example.org").leadsTo(entry)
		s.post(tenant+"/approvals", "value", "example.com").
			is(409, "default").
			says("#approve-value-error", "approves of example.com already")
		page := s.get(entry).
			says("main", "every address of the domain · into staff").
			says("main", "this address · into no group")
		end := page.Find("form[action*='/approvals/']").First().AttrOr("action", "")
		s.post(end).leadsTo(entry)
		if left := s.get(entry).Find("form[action*='/approvals/']").Length(); left != 1 {
			t.Errorf("%d approvals are left", left)
		}
	})
}
