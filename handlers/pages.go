package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/static"
)

// pages is every route of the dashboard on one screen. Those of open take
// anybody; those of inside lead to the sign-in page where there is no session.
func (s *Server) pages(r *gin.Engine) {
	assets := gin.WrapH(static.Handler())
	r.GET(static.Prefix+"*file", assets)
	r.HEAD(static.Prefix+"*file", assets)

	handle := func(method, path string, page gin.HandlerFunc) {
		r.Handle(method, path, page)
		if method == http.MethodGet {
			r.HEAD(path, page) // net/http leaves the body out (RFC 9110, 9.3.2)
		}
	}
	open := func(method, path string, page pageHandler) { handle(method, path, s.open(page)) }
	open("GET", "/", s.home)
	open("GET", "/signin", s.askSignIn)
	open("POST", "/signin", s.signIn)
	open("POST", "/signin/:provider", s.beginElsewhere)
	r.GET("/signin/:provider/callback", s.open(s.returnFromElsewhere)) // uses up its state, which HEAD must not
	open("GET", "/signup", s.askSignUp)
	open("POST", "/signup", s.signUp)
	open("POST", "/signout", s.signOut)
	open("GET", "/invite/:code", s.askInvite)
	open("GET", "/welcome/:code", s.askWelcome)
	open("POST", "/welcome/:code", s.welcome)
	open("GET", "/brand/:color", s.showBrand)
	open("POST", "/theme", s.chooseTheme)
	open("POST", "/team", s.chooseTeam)

	inside := func(method, path string, page pageHandler) {
		if method == http.MethodPost {
			page = s.idempotentForm(page, false)
		}
		handle(method, path, s.inside(page))
	}
	// The forms whose success leads to a page that shows a secret once.
	discloses := func(path string, page pageHandler) {
		r.POST(path, s.inside(s.idempotentForm(page, true)))
	}
	inside("GET", "/claim/:code", s.askClaim)
	inside("POST", "/claim/:code", s.claim)
	inside("GET", claimedPath, s.showClaimed)

	inside("POST", "/invite/:code", s.acceptInvite)

	inside("GET", "/account", s.askPassword)
	inside("POST", "/account/password", s.savePassword)
	inside("GET", "/account/sessions", s.showSessionsPage)
	inside("POST", "/account/sessions/end-others", s.endOtherSessionsPage)
	inside("POST", "/account/sessions/:session/end", s.endSessionPage)
	inside("GET", "/account/signins", s.showLinked)
	inside("POST", "/account/signins/link/:provider", s.beginLink)
	inside("POST", "/account/signins/:identity/unlink", s.unlink)

	inside("GET", "/teams", s.showTeams)
	inside("POST", "/teams", s.makeTeam)
	inside("GET", "/teams/:team", s.showTeam)
	inside("POST", "/teams/:team/rename", s.saveTeamName)
	inside("POST", "/teams/:team/leave", s.leaveTeamPage)
	inside("POST", "/teams/:team/members/:account/role", s.saveRole)
	inside("POST", "/teams/:team/members/:account/remove", s.removeMemberPage)
	discloses("/teams/:team/invitations", s.makeInvitation)
	inside("GET", "/teams/:team/invitations/:invitation", s.showInvitationLink)
	inside("POST", "/teams/:team/invitations/:invitation/revoke", s.revokeInvitationPage)

	inside("GET", "/settings/tokens", s.showTokens)
	discloses("/settings/tokens", s.makeToken)
	inside("GET", "/settings/tokens/:token/secret", s.showNewToken)
	inside("GET", "/settings/tokens/:token", s.askRevokeToken)
	inside("POST", "/settings/tokens/:token/revoke", s.revokeTokenPage)
	inside("GET", webhooksPath, s.showWebhooks)
	discloses(webhooksPath, s.makeWebhook)
	inside("GET", webhooksPath+"/:webhook", s.showWebhookPage)
	inside("POST", webhooksPath+"/:webhook", s.saveWebhook)
	inside("POST", webhooksPath+"/:webhook/switch", s.switchWebhook)
	discloses(webhooksPath+"/:webhook/rotate", s.rotateWebhookPage)
	inside("GET", webhooksPath+"/:webhook/secret", s.showWebhookSecret)
	inside("POST", webhooksPath+"/:webhook/delete", s.deleteWebhookPage)
	inside("POST", webhooksPath+"/:webhook/deliveries/:delivery/redeliver", s.redeliverPage)

	inside("GET", "/device", s.askDevice)
	inside("POST", "/device", s.decideDevice)
	inside("GET", deviceApproved, s.showDecided)
	inside("GET", deviceDenied, s.showDecided)
	inside("GET", auditPath, s.showAuditPage)

	inside("GET", "/projects", s.showProjects)
	inside("GET", "/projects/new", s.askProject)
	discloses("/projects/new", s.makeProject)
	inside("GET", "/projects/:project/created", s.showCreatedProject)
	inside("GET", "/projects/:project", s.configure)
	inside("POST", "/projects/:project/settings", s.saveSettings)
	inside("POST", "/projects/:project/versions/:version/access", s.saveAccess)
	inside("POST", "/projects/:project/limits", s.saveLimits)
	inside("POST", "/projects/:project/product", s.saveProduct)
	inside("POST", "/projects/:project/versions/:version/addresses", s.saveRanges)
	inside("POST", "/projects/:project/environments/:environment", s.saveTarget)

	discloses("/projects/:project/keys", s.makeKey)
	inside("GET", "/projects/:project/keys/:key", s.showKeyPage)
	inside("POST", "/projects/:project/keys/:key", s.saveKeyPage)
	inside("POST", "/projects/:project/keys/:key/freeze", s.freezeKeyPage)
	inside("POST", "/projects/:project/keys/:key/unfreeze", s.unfreezeKeyPage)
	inside("POST", "/projects/:project/keys/:key/revoke", s.revokeKeyPage)
	discloses("/projects/:project/keys/:key/rotate", s.rotateKeyPage)
	inside("GET", "/projects/:project/keys/:key/secret", s.showKeySecret)

	inside("GET", "/projects/:project/key-types", s.showKeyTypes)
	inside("POST", "/projects/:project/key-types", s.makeKeyType)
	inside("GET", "/projects/:project/key-types/:key_type", s.showKeyTypePage)
	inside("POST", "/projects/:project/key-types/:key_type", s.saveKeyType)
	inside("POST", "/projects/:project/key-types/:key_type/delete", s.deleteKeyTypePage)

	inside("GET", "/projects/:project/tenants", s.showProjectTenants)
	inside("POST", "/projects/:project/tenants", s.addProjectTenant)
	inside("GET", "/projects/:project/tenants/:tenant", s.askDetach)
	inside("POST", "/projects/:project/tenants/:tenant/detach", s.detachProjectTenant)

	one := "/projects/:project/login/:client"
	inside("GET", "/projects/:project/login", s.showLoginTab)
	discloses("/projects/:project/login", s.makeAppClient)
	inside("GET", one, s.showAppClient)
	inside("POST", one, s.saveAppClient)
	inside("POST", one+"/branding", s.saveBranding)
	inside("POST", one+"/preview", s.previewBranding)
	discloses(one+"/secret", s.changeClientSecret)
	inside("GET", one+"/secret", s.showClientSecret)
	inside("POST", one+"/test", s.tryLogin)
	inside("POST", one+"/delete", s.deleteAppClientPage)
	inside("GET", one+"/providers", s.askProvider)
	inside("POST", one+"/providers", s.makeProvider)
	inside("GET", one+"/providers/:provider", s.showProviderPage)
	inside("POST", one+"/providers/:provider", s.saveProvider)
	inside("POST", one+"/providers/:provider/switch", s.switchProvider)
	inside("POST", one+"/providers/:provider/delete", s.deleteProviderPage)

	inside("GET", "/projects/:project/usage", s.showUsagePage)
	inside("GET", "/projects/:project/requests", s.showRequestsPage)

	inside("GET", "/projects/:project/export", s.askExport)
	inside("POST", "/projects/:project/export", s.startExport)
	inside("GET", "/exports/:export", s.showExportPage)
	r.GET("/exports/:export/download", s.inside(s.downloadPage)) // every download is recorded, which HEAD is not
	inside("POST", "/exports/:export/cancel", s.cancelExportPage)

	inside("GET", productsPath, s.showProducts)
	inside("POST", productsPath, s.makeProduct)
	inside("GET", productsPath+"/:product", s.showProduct)
	inside("POST", productsPath+"/:product", s.renameProduct)
	inside("POST", productsPath+"/:product/delete", s.deleteProductPage)
	inside("GET", tenantsPath, s.showTenants)
	inside("POST", tenantsPath, s.makeTenant)
	inside("GET", tenantsPath+"/:tenant", s.showTenant)
	inside("POST", tenantsPath+"/:tenant", s.saveTenant)
	inside("POST", tenantsPath+"/:tenant/delete", s.deleteTenantPage)

	inside("GET", tenantsPath+"/:tenant/users", s.showUsers)
	inside("POST", tenantsPath+"/:tenant/users", s.expectUser)
	inside("GET", "/users/:user", s.showUserPage)
	inside("POST", "/users/:user", s.saveUser)
	inside("POST", "/users/:user/freeze", s.freezeUserPage)
	inside("POST", "/users/:user/unfreeze", s.unfreezeUserPage)
	inside("POST", "/users/:user/delete", s.deleteUserPage)
	inside("POST", "/users/:user/groups", s.joinGroup)
	inside("GET", tenantsPath+"/:tenant/entry", s.showEntry)
	inside("POST", tenantsPath+"/:tenant/entry", s.saveEntry)
	inside("POST", tenantsPath+"/:tenant/approvals", s.approve)
	inside("POST", tenantsPath+"/:tenant/approvals/:approval/end", s.endApproval)

	inside("GET", tenantsPath+"/:tenant/groups", s.showGroups)
	inside("POST", tenantsPath+"/:tenant/groups", s.makeGroup)
	inside("GET", "/groups/:group", s.showGroupPage)
	inside("POST", "/groups/:group", s.saveGroup)
	inside("POST", "/groups/:group/delete", s.deleteGroupPage)
	inside("POST", "/groups/:group/members", s.putMember)
	inside("POST", "/groups/:group/members/:user/remove", s.removeMemberOfGroup)
	inside("POST", "/groups/:group/children", s.nestGroupPage)
	inside("POST", "/groups/:group/children/:child/remove", s.unnestGroupPage)
}

func (s *Server) home(*visit) (answer, error) { return goTo("/projects"), nil }

// downloadPage answers with the file itself, or as a page why there is none.
func (s *Server) downloadPage(v *visit) (answer, error) {
	s.downloadExport(v.c)
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
