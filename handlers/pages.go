package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/static"
)

// pages mounts the dashboard: every route of it is in this file.
func (s *Server) pages(r *gin.Engine) {
	assets := gin.WrapH(static.Handler())
	r.GET(static.Prefix+"*file", assets)
	r.HEAD(static.Prefix+"*file", assets)

	p := pageRouter{server: s, gin: r}
	s.signInPages(p)
	s.accountPages(p)
	s.settingsPages(p)
	s.projectPages(p)
	s.keyPages(p)
	s.appClientPages(p)
	s.tenantPages(p)
	s.userPages(p)
}

// signInPages are open to everybody: sign-in, sign-up and what browsers keep.
func (s *Server) signInPages(p pageRouter) {
	p.open("GET", "/", s.home)
	p.open("GET", "/signin", s.askSignIn)
	p.open("POST", "/signin", s.signIn)
	p.open("POST", "/signin/:provider", s.beginElsewhere)
	p.openOnce("/signin/:provider/callback", s.returnFromElsewhere) // uses up its state, which HEAD must not
	p.open("GET", "/signup", s.askSignUp)
	p.open("POST", "/signup", s.signUp)
	p.open("POST", "/signout", s.signOut)
	p.open("GET", "/invite/:code", s.askInvite)
	p.open("GET", "/welcome/:code", s.askWelcome)
	p.open("POST", "/welcome/:code", s.welcome)
	p.open("GET", "/brand/:color", s.showBrand)
	p.openOnce("/oauth/:client/tested", s.showTrial) // uses up the code of a trial, which HEAD must not
	p.open("POST", "/theme", s.chooseTheme)
	p.open("POST", "/team", s.chooseTeam)
}

// accountPages are the visitor's own account, claims and teams.
func (s *Server) accountPages(p pageRouter) {
	p.signedIn("GET", "/claim/:code", s.askClaim)
	p.signedIn("POST", "/claim/:code", s.claim)
	p.signedIn("GET", claimedPath, s.showClaimed)

	p.signedIn("POST", "/invite/:code", s.acceptInvite)

	p.signedIn("GET", "/account", s.askPassword)
	p.signedIn("POST", "/account/password", s.savePassword)
	p.signedIn("GET", "/account/sessions", s.showSessionsPage)
	p.signedIn("POST", "/account/sessions/end-others", s.endOtherSessionsPage)
	p.signedIn("POST", "/account/sessions/:session/end", s.endSessionPage)
	p.signedIn("GET", "/account/signins", s.showLinked)
	p.signedIn("POST", "/account/signins/link/:provider", s.beginLink)
	p.signedIn("POST", "/account/signins/:identity/unlink", s.unlink)

	p.signedIn("GET", "/teams", s.showTeams)
	p.signedIn("POST", "/teams", s.makeTeam)
	p.signedIn("GET", "/teams/:team", s.showTeam)
	p.signedIn("POST", "/teams/:team/rename", s.saveTeamName)
	p.signedIn("POST", "/teams/:team/leave", s.leaveTeamPage)
	p.signedIn("POST", "/teams/:team/members/:account/role", s.saveRole)
	p.signedIn("POST", "/teams/:team/members/:account/remove", s.removeMemberPage)
	p.secretForm("/teams/:team/invitations", s.makeInvitation)
	p.signedIn("GET", "/teams/:team/invitations/:invitation", s.showInvitationLink)
	p.signedIn("POST", "/teams/:team/invitations/:invitation/revoke", s.revokeInvitationPage)
}

// settingsPages are access tokens, webhooks, signing in a command line, and the audit log.
func (s *Server) settingsPages(p pageRouter) {
	p.signedIn("GET", "/settings/tokens", s.showTokens)
	p.secretForm("/settings/tokens", s.makeToken)
	p.signedIn("GET", "/settings/tokens/:token/secret", s.showNewToken)
	p.signedIn("GET", "/settings/tokens/:token", s.askRevokeToken)
	p.signedIn("POST", "/settings/tokens/:token/revoke", s.revokeTokenPage)
	p.signedIn("GET", webhooksPath, s.showWebhooks)
	p.secretForm(webhooksPath, s.makeWebhook)
	p.signedIn("GET", webhooksPath+"/:webhook", s.showWebhookPage)
	p.signedIn("POST", webhooksPath+"/:webhook", s.saveWebhook)
	p.signedIn("POST", webhooksPath+"/:webhook/switch", s.switchWebhook)
	p.secretForm(webhooksPath+"/:webhook/rotate", s.rotateWebhookPage)
	p.signedIn("GET", webhooksPath+"/:webhook/secret", s.showWebhookSecret)
	p.signedIn("POST", webhooksPath+"/:webhook/delete", s.deleteWebhookPage)
	p.signedIn("POST", webhooksPath+"/:webhook/deliveries/:delivery/redeliver", s.redeliverPage)

	p.signedIn("GET", "/device", s.askDevice)
	p.signedIn("POST", "/device", s.decideDevice)
	p.signedIn("GET", deviceApproved, s.showDecided)
	p.signedIn("GET", deviceDenied, s.showDecided)
	p.signedIn("GET", auditPath, s.showAuditPage)
}

// projectPages are projects, their settings, calls and exports.
func (s *Server) projectPages(p pageRouter) {
	p.signedIn("GET", "/projects", s.showProjects)
	p.signedIn("GET", "/projects/new", s.askProject)
	p.secretForm("/projects/new", s.makeProject)
	p.signedIn("GET", "/projects/:project/created", s.showCreatedProject)
	p.signedIn("GET", "/projects/:project", s.configure)
	p.signedIn("POST", "/projects/:project/settings", s.saveSettings)
	p.signedIn("POST", "/projects/:project/versions/:version/access", s.saveAccess)
	p.signedIn("POST", "/projects/:project/limits", s.saveLimits)
	p.signedIn("POST", "/projects/:project/product", s.saveProduct)
	p.signedIn("POST", "/projects/:project/versions/:version/addresses", s.saveRanges)
	p.signedIn("POST", "/projects/:project/environments/:environment", s.saveTarget)

	p.signedIn("GET", "/projects/:project/tenants", s.showProjectTenants)
	p.signedIn("POST", "/projects/:project/tenants", s.addProjectTenant)
	p.signedIn("GET", "/projects/:project/tenants/:tenant", s.askDetach)
	p.signedIn("POST", "/projects/:project/tenants/:tenant/detach", s.detachProjectTenant)

	p.signedIn("GET", "/projects/:project/usage", s.showUsagePage)
	p.signedIn("GET", "/projects/:project/requests", s.showRequestsPage)

	p.signedIn("GET", "/projects/:project/export", s.askExport)
	p.signedIn("POST", "/projects/:project/export", s.startExport)
	p.signedIn("GET", "/exports/:export", s.showExportPage)
	p.signedInOnce("/exports/:export/download", s.downloadPage) // every download is recorded, which HEAD is not
	p.signedIn("POST", "/exports/:export/cancel", s.cancelExportPage)
}

// keyPages are API keys and key types.
func (s *Server) keyPages(p pageRouter) {
	p.secretForm("/projects/:project/keys", s.makeKey)
	p.signedIn("GET", "/projects/:project/keys/:key", s.showKeyPage)
	p.signedIn("POST", "/projects/:project/keys/:key", s.saveKeyPage)
	p.signedIn("POST", "/projects/:project/keys/:key/freeze", s.freezeKeyPage)
	p.signedIn("POST", "/projects/:project/keys/:key/unfreeze", s.unfreezeKeyPage)
	p.signedIn("POST", "/projects/:project/keys/:key/revoke", s.revokeKeyPage)
	p.secretForm("/projects/:project/keys/:key/rotate", s.rotateKeyPage)
	p.signedIn("GET", "/projects/:project/keys/:key/secret", s.showKeySecret)

	p.signedIn("GET", "/projects/:project/key-types", s.showKeyTypes)
	p.signedIn("POST", "/projects/:project/key-types", s.makeKeyType)
	p.signedIn("GET", "/projects/:project/key-types/:key_type", s.showKeyTypePage)
	p.signedIn("POST", "/projects/:project/key-types/:key_type", s.saveKeyType)
	p.signedIn("POST", "/projects/:project/key-types/:key_type/delete", s.deleteKeyTypePage)
}

// appClientPages are hosted login, as a project's owner sets it up.
func (s *Server) appClientPages(p pageRouter) {
	one := "/projects/:project/login/:client"
	p.signedIn("GET", "/projects/:project/login", s.showLoginTab)
	p.secretForm("/projects/:project/login", s.makeAppClient)
	p.signedIn("GET", one, s.showAppClient)
	p.signedIn("POST", one, s.saveAppClient)
	p.signedIn("POST", one+"/branding", s.saveBranding)
	p.signedIn("POST", one+"/preview", s.previewBranding)
	p.secretForm(one+"/secret", s.changeClientSecret)
	p.signedIn("GET", one+"/secret", s.showClientSecret)
	p.signedIn("POST", one+"/test", s.tryLogin)
	p.signedIn("POST", one+"/delete", s.deleteAppClientPage)
	p.signedIn("GET", one+"/providers", s.askProvider)
	p.signedIn("POST", one+"/providers", s.makeProvider)
	p.signedIn("GET", one+"/providers/:provider", s.showProviderPage)
	p.signedIn("POST", one+"/providers/:provider", s.saveProvider)
	p.signedIn("POST", one+"/providers/:provider/switch", s.switchProvider)
	p.signedIn("POST", one+"/providers/:provider/delete", s.deleteProviderPage)
}

// tenantPages are products and tenants.
func (s *Server) tenantPages(p pageRouter) {
	p.signedIn("GET", productsPath, s.showProducts)
	p.signedIn("POST", productsPath, s.makeProduct)
	p.signedIn("GET", productsPath+"/:product", s.showProduct)
	p.signedIn("POST", productsPath+"/:product", s.renameProduct)
	p.signedIn("POST", productsPath+"/:product/delete", s.deleteProductPage)
	p.signedIn("GET", tenantsPath, s.showTenants)
	p.signedIn("POST", tenantsPath, s.makeTenant)
	p.signedIn("GET", tenantsPath+"/:tenant", s.showTenant)
	p.signedIn("POST", tenantsPath+"/:tenant", s.saveTenant)
	p.signedIn("POST", tenantsPath+"/:tenant/delete", s.deleteTenantPage)
}

// userPages are a tenant's users, groups, and who may sign in.
func (s *Server) userPages(p pageRouter) {
	p.signedIn("GET", tenantsPath+"/:tenant/users", s.showUsers)
	p.signedIn("POST", tenantsPath+"/:tenant/users", s.expectUser)
	p.signedIn("GET", "/users/:user", s.showUserPage)
	p.signedIn("POST", "/users/:user", s.saveUser)
	p.signedIn("POST", "/users/:user/freeze", s.freezeUserPage)
	p.signedIn("POST", "/users/:user/unfreeze", s.unfreezeUserPage)
	p.signedIn("POST", "/users/:user/delete", s.deleteUserPage)
	p.signedIn("POST", "/users/:user/groups", s.joinGroup)
	p.signedIn("GET", tenantsPath+"/:tenant/entry", s.showEntry)
	p.signedIn("POST", tenantsPath+"/:tenant/entry", s.saveEntry)
	p.signedIn("POST", tenantsPath+"/:tenant/approvals", s.approve)
	p.signedIn("POST", tenantsPath+"/:tenant/approvals/:approval/end", s.endApproval)

	p.signedIn("GET", tenantsPath+"/:tenant/groups", s.showGroups)
	p.signedIn("POST", tenantsPath+"/:tenant/groups", s.makeGroup)
	p.signedIn("GET", "/groups/:group", s.showGroupPage)
	p.signedIn("POST", "/groups/:group", s.saveGroup)
	p.signedIn("POST", "/groups/:group/delete", s.deleteGroupPage)
	p.signedIn("POST", "/groups/:group/members", s.putMember)
	p.signedIn("POST", "/groups/:group/members/:user/remove", s.removeMemberOfGroup)
	p.signedIn("POST", "/groups/:group/children", s.nestGroupPage)
	p.signedIn("POST", "/groups/:group/children/:child/remove", s.unnestGroupPage)
}

// pageRouter mounts pages. net/http leaves the body out of the answers to HEAD (RFC
// 9110, 9.3.2), so that the handler of GET serves both.
type pageRouter struct {
	server *Server
	gin    *gin.Engine
}

// open mounts a page or form that needs no session.
func (p pageRouter) open(method, path string, page pageHandler) {
	p.handle(method, path, p.server.open(page))
}

// openOnce mounts a page that a GET changes something for, which a HEAD must not.
func (p pageRouter) openOnce(path string, page pageHandler) {
	p.gin.GET(path, p.server.open(page))
}

// signedIn mounts a page or form that leads to sign-in without a session.
func (p pageRouter) signedIn(method, path string, page pageHandler) {
	if method == http.MethodPost {
		page = p.server.idempotentForm(page, false)
	}
	p.handle(method, path, p.server.inside(page))
}

// signedInOnce is signedIn for a page that a GET changes something for.
func (p pageRouter) signedInOnce(path string, page pageHandler) {
	p.gin.GET(path, p.server.inside(page))
}

// secretForm mounts a form whose success leads to a page that shows a secret once.
func (p pageRouter) secretForm(path string, page pageHandler) {
	p.gin.POST(path, p.server.inside(p.server.idempotentForm(page, true)))
}

func (p pageRouter) handle(method, path string, page gin.HandlerFunc) {
	p.gin.Handle(method, path, page)
	if method == http.MethodGet {
		p.gin.HEAD(path, page)
	}
}

func (s *Server) home(*visit) (answer, error) { return goTo("/projects"), nil }

// downloadPage answers with the file itself, or as a page why there is none.
func (s *Server) downloadPage(v *visit) (answer, error) {
	s.serveExport(v.c, s.Exports)
	return answer{}, nil
}

// chooseTheme keeps the choice in the browser: it belongs to a screen, not to an
// account.
func (s *Server) chooseTheme(v *visit) (answer, error) {
	theme := v.posted("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	s.setCookie(v.c.Writer, themeCookie, theme, themeTTL)
	to := localPath(v.posted("return_to"))
	if to == "" {
		to = "/"
	}
	return answer{to: to, status: http.StatusSeeOther}, nil
}
