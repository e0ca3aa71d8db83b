// Package tenants serves the pages of a team's tenants, with their users, groups and sign-up policies.
//
// It leaves tenants to service/projects, people and who may join to service/directory, and their sessions to
// service/login.
package tenants

import (
	"postern/handlers/page"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/login"
	"postern/service/projects"
	"postern/service/usage"
)

// Handler serves the pages of tenants.
type Handler struct {
	Directory  *directory.Service
	AppClients *appclients.Service
	Login      *login.Service
	Projects   *projects.Service
	Usage      *usage.Service
}

// Routes with several pages and forms below.
const (
	signupPage = page.TenantsPath + "/:tenant/signup"
)

// Mount mounts the pages of tenants.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", page.TenantsPath, h.showTenants)
	p.SignedIn("POST", page.TenantsPath, h.createTenant, "display_name fallback_owner name team")
	p.SignedIn("GET", page.TenantsPath+"/:tenant", h.showTenant)
	p.SignedIn("POST", page.TenantsPath+"/:tenant", h.saveTenant, "display_name fallback_owner")
	p.SignedIn("POST", page.TenantsPath+"/:tenant/projects", h.attachToProject, "project")
	p.SignedIn("POST", page.TenantsPath+"/:tenant/cors", h.saveTenantCORS,
		"app_origins credentials exposed_headers headers max_age methods origins")
	p.SignedIn("POST", page.TenantsPath+"/:tenant/delete", h.deleteTenant)
	p.SignedIn("GET", page.TenantsPath+"/:tenant/users", h.showUsers)
	p.SignedIn("POST", page.TenantsPath+"/:tenant/users", h.inviteUser, "email groups name")
	p.SignedIn("GET", "/projects/:project/users", h.showProjectUsers)
	p.SignedIn("GET", "/users/:user", h.showUser)
	p.SignedIn("POST", "/users/:user", h.saveUser, "email name")
	p.SignedIn("POST", "/users/:user/freeze", h.freezeUser)
	p.SignedIn("POST", "/users/:user/unfreeze", h.unfreezeUser)
	p.SecretForm("/users/:user/invitation", h.createUserInvitation, "app_client")
	p.SignedIn("GET", "/users/:user/invitation", h.showUserInvitation)
	p.SignedIn("POST", "/users/:user/delete", h.deleteUser)
	p.SignedIn("POST", "/users/:user/groups", h.joinGroup, "group")
	p.SignedIn("POST", "/users/:user/sessions/end-all", h.endUserSessions)
	p.SignedIn("POST", "/users/:user/sessions/:session/end", h.endUserSession)
	p.SignedIn("POST", "/users/:user/consents/:client/withdraw", h.withdrawUserConsent)
	p.SignedIn("GET", signupPage, h.showSignup)
	p.SignedIn("POST", signupPage, h.saveSignupPolicy, "invite_only")
	p.SignedIn("POST", signupPage+"/approvals", h.createApproval, "groups value")
	p.SignedIn("POST", signupPage+"/approvals/:approval/end", h.endApproval)
	p.SignedIn("GET", page.TenantsPath+"/:tenant/groups", h.showGroups)
	p.SignedIn("POST", page.TenantsPath+"/:tenant/groups", h.createGroup, "display_name name")
	p.SignedIn("GET", "/groups/:group", h.showGroup)
	p.SignedIn("POST", "/groups/:group", h.saveGroup, "display_name name")
	p.SignedIn("POST", "/groups/:group/delete", h.deleteGroup)
	p.SignedIn("POST", "/groups/:group/members", h.addGroupMember, "email")
	p.SignedIn("POST", "/groups/:group/members/:user/remove", h.removeGroupMember, "from")
	p.SignedIn("POST", "/groups/:group/owners", h.addGroupOwner, "owner")
	p.SignedIn("POST", "/groups/:group/owners/remove", h.removeGroupOwner, "owner")
	p.SignedIn("POST", "/groups/:group/children", h.nestGroup, "child")
	p.SignedIn("POST", "/groups/:group/children/:child/remove", h.unnestGroup)
}
