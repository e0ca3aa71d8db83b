package pages

import (
	"github.com/gin-gonic/gin"

	"postern/static"
)

// Routes with several pages and forms below.
const (
	anAppClient   = "/projects/:project/login/:client"
	groupMappings = anAppClient + "/providers/:provider/group-mappings"
	signupPage    = tenantsPath + "/:tenant/signup"
)

// Mount mounts the dashboard. All of its routes are in this file.
func (h *Handler) Mount(r *gin.Engine) {
	assets := gin.WrapH(static.Handler())
	r.GET(static.Prefix+"*file", assets)
	r.HEAD(static.Prefix+"*file", assets)

	p := pageRouter{server: h, gin: r}
	h.signInPages(p)
	h.accountPages(p)
	h.settingsPages(p)
	h.projectPages(p)
	h.versionPages(p)
	h.upstreamPages(p)
	h.callPages(p)
	h.exportPages(p)
	h.keyPages(p)
	h.appClientPages(p)
	h.tenantPages(p)
	h.userPages(p)
}

// signInPages need no session: sign-in, sign-up, and settings that the browser keeps.
func (h *Handler) signInPages(p pageRouter) {
	p.open("GET", "/", h.home)
	p.open("GET", "/signin", h.showSignIn)
	p.open("POST", "/signin", h.signIn)
	p.open("POST", "/signin/:provider", h.startFederated)
	p.openOnce("/signin/:provider/callback", h.federatedCallback) // uses up its state, which HEAD must not
	p.openAnswer("/signin/:provider/callback", h.federatedCallbackByPost)
	p.open("GET", "/signup", h.showSignUp)
	p.open("POST", "/signup", h.signUp)
	p.open("POST", "/signout", h.signOut)
	p.open("GET", "/invite/:code", h.showInvite)
	p.open("GET", "/welcome/:code", h.showWelcome)
	p.open("POST", "/welcome/:code", h.welcome)
	p.open("GET", "/recover", h.showForgotten)
	p.open("POST", "/recover", h.mailRecovery)
	p.open("GET", "/recover/:code", h.showRecovery)
	p.open("POST", "/recover/:code", h.saveRecovered)
	p.open("GET", "/email/:code", h.showConfirmation)
	p.open("POST", "/email/:code", h.confirmEmail)
	p.open("GET", "/docs", h.showDocs)
	p.open("GET", "/docs/:page", h.showDocsPage)
	p.open("GET", "/docs/reference/:tag", h.showReference)
	p.open("GET", "/brand/:color", h.showBrand)
	p.openOnce("/oauth/:client/tested", h.showTestLogin) // uses up the code of a test login, which HEAD must not
	p.open("POST", "/theme", h.chooseTheme)
	p.open("POST", "/sidebar", h.chooseSidebar)
	p.open("POST", "/team", h.chooseTeam)
}

// accountPages are the visitor's account, claims and teams.
func (h *Handler) accountPages(p pageRouter) {
	p.signedIn("GET", "/claim/:code", h.showClaim)
	p.signedIn("POST", "/claim/:code", h.claim)
	p.signedIn("GET", claimedPath, h.showClaimed)

	p.signedIn("POST", "/invite/:code", h.acceptInvite)

	p.signedIn("GET", "/account", h.showProfile)
	p.signedIn("POST", "/account", h.saveProfile)
	p.signedIn("GET", "/account/password", h.showPassword)
	p.signedIn("POST", "/account/password", h.savePassword)
	p.signedIn("GET", "/account/delete", h.showDeleteAccount)
	p.signedIn("POST", "/account/delete", h.deleteAccount)
	p.signedIn("GET", "/account/sessions", h.showSessions)
	p.signedIn("POST", "/account/sessions/end-others", h.endOtherSessions)
	p.signedIn("POST", "/account/sessions/:session/end", h.endSession)
	p.signedIn("GET", "/account/signins", h.showLinked)
	p.signedIn("POST", "/account/signins/link/:provider", h.beginLink)
	p.signedIn("POST", "/account/signins/:identity/unlink", h.unlink)

	p.signedIn("GET", "/teams", h.showTeams)
	p.signedIn("POST", "/teams", h.createTeam)
	p.signedIn("GET", "/teams/:team", h.showTeam)
	p.signedIn("GET", "/teams/:team/settings", h.showTeamSettings)
	p.signedIn("POST", "/teams/:team/rename", h.saveTeamName)
	p.signedIn("POST", "/teams/:team/leave", h.leaveTeam)
	p.signedIn("POST", "/teams/:team/delete", h.deleteTeam)
	p.signedIn("POST", "/teams/:team/members/:account/role", h.saveRole)
	p.signedIn("POST", "/teams/:team/members/:account/remove", h.removeMember)
	p.secretForm("/teams/:team/invitations", h.createInvitation)
	p.signedIn("GET", "/teams/:team/invitations/:invitation", h.showInvitationLink)
	p.signedIn("POST", "/teams/:team/invitations/:invitation/revoke", h.revokeInvitation)
}

// settingsPages are access tokens, webhooks, the sign-in of a command line, and the audit
// log.
func (h *Handler) settingsPages(p pageRouter) {
	p.signedIn("GET", "/settings/tokens", h.showTokens)
	p.secretForm("/settings/tokens", h.createToken)
	p.signedIn("GET", "/settings/tokens/:token/secret", h.showNewToken)
	p.signedIn("GET", "/settings/tokens/:token", h.showRevokeToken)
	p.signedIn("POST", "/settings/tokens/:token/revoke", h.revokeToken)
	p.signedIn("GET", webhooksPath, h.showWebhooks)
	p.secretForm(webhooksPath, h.createWebhook)
	p.signedIn("GET", webhooksPath+"/:webhook", h.showWebhook)
	p.signedIn("POST", webhooksPath+"/:webhook", h.saveWebhook)
	p.signedIn("POST", webhooksPath+"/:webhook/switch", h.switchWebhook)
	p.secretForm(webhooksPath+"/:webhook/rotate", h.rotateWebhook)
	p.signedIn("GET", webhooksPath+"/:webhook/secret", h.showWebhookSecret)
	p.signedIn("POST", webhooksPath+"/:webhook/delete", h.deleteWebhook)
	p.signedIn("POST", webhooksPath+"/:webhook/test", h.testWebhook)
	p.signedIn("GET", webhooksPath+"/:webhook/deliveries/:delivery", h.showDelivery)
	p.signedIn("POST", webhooksPath+"/:webhook/deliveries/:delivery/redeliver", h.redeliver)

	p.signedIn("GET", "/device", h.showDevice)
	p.signedIn("POST", "/device", h.decideDevice)
	p.signedIn("GET", deviceApproved, h.showDecided)
	p.signedIn("GET", deviceDenied, h.showDecided)
	p.signedIn("GET", auditPath, h.showAudit)

	p.signedIn("GET", searchPath, h.showSearch)
	p.signedIn("POST", searchPath, h.showSearch)
	p.signedIn("GET", "/shortcuts", h.showShortcuts)
	p.handle("POST", codePath, h.requireSession(h.showCode)) // not signedIn: it isn't a form, and changes nothing
}

// projectPages are projects and their settings.
func (h *Handler) projectPages(p pageRouter) {
	p.signedIn("GET", "/projects", h.showProjects)
	p.signedIn("GET", "/projects/new", h.showNewProject)
	p.secretForm("/projects/new", h.createProject)
	p.signedIn("GET", "/imports", h.showImport)
	p.signedIn("POST", "/imports", h.importProject)
	p.signedIn("POST", "/imports/preview", h.previewImport)
	p.signedIn("GET", "/projects/:project/created", h.showCreatedProject)
	p.signedIn("GET", "/projects/:project", h.showOverview)
	p.signedIn("GET", binPath, h.showBin)
	p.signedIn("GET", "/projects/:project/delete", h.showDeleteProject)
	p.signedIn("POST", "/projects/:project/delete", h.deleteProject)
	p.signedIn("POST", "/projects/:project/move", h.moveProject)
	p.signedIn("POST", "/projects/:project/restore", h.restoreProject)
	p.signedIn("GET", "/projects/:project/settings", settingsPage.handler(h))
	p.signedIn("POST", "/projects/:project/settings", h.saveSettings)
	p.signedIn("GET", "/projects/:project/limits", limitsPage.handler(h))
	p.signedIn("POST", "/projects/:project/limits", h.saveLimits)
	p.signedIn("POST", "/projects/:project/cors", h.saveCORS)
	p.signedIn("POST", "/projects/:project/product", h.saveProduct)
	p.signedIn("GET", "/projects/:project/relations", h.showRelations)
	p.signedIn("POST", "/projects/:project/relations", h.addRelation)
	p.signedIn("POST", "/projects/:project/relations/import", h.importRelations)
	p.signedIn("GET", "/projects/:project/relations/forget", h.showForgetRelation)
	p.signedIn("POST", "/projects/:project/relations/forget", h.forgetRelation)
	p.signedIn("GET", "/projects/:project/tenants", h.showProjectTenants)
	p.signedIn("POST", "/projects/:project/tenants", h.addProjectTenant)
	p.signedIn("GET", "/projects/:project/tenants/:tenant", h.showDetach)
	p.signedIn("POST", "/projects/:project/tenants/:tenant/detach", h.detachProjectTenant)
	p.signedIn("GET", "/projects/:project/api-scopes", h.showAPIScopes)
	p.signedIn("POST", "/projects/:project/api-scopes", h.addAPIScope)
	p.signedIn("GET", "/projects/:project/api-scopes/:scope", h.showAPIScope)
	p.signedIn("POST", "/projects/:project/api-scopes/:scope", h.saveAPIScope)
	p.signedIn("POST", "/projects/:project/api-scopes/:scope/remove", h.removeAPIScope)
	p.signedIn("POST", "/projects/:project/api-audience", h.saveAPIAudience)
}

// versionPages are versions with what they ask of callers, and their environments.
func (h *Handler) versionPages(p pageRouter) {
	p.signedIn("POST", "/projects/:project/versions", h.createVersion)
	p.signedIn("GET", "/projects/:project/versions/:version", h.showPlace)
	p.signedIn("POST", "/projects/:project/versions/:version", h.renamePlace)
	p.signedIn("POST", "/projects/:project/versions/:version/delete", h.removePlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments", h.createEnvironment)
	p.signedIn("GET", "/projects/:project/versions/:version/environments/:environment", h.showPlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments/:environment", h.renamePlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments/:environment/delete", h.removePlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments/:environment/target", h.saveTarget)
	p.signedIn("GET", "/projects/:project/versions/:version/access", accessPage.handler(h))
	p.signedIn("POST", "/projects/:project/versions/:version/access", h.saveAccess)
	p.signedIn("POST", "/projects/:project/versions/:version/addresses", h.saveRanges)
	p.signedIn("GET", "/projects/:project/versions/:version/rules", h.showRules)
	p.signedIn("POST", "/projects/:project/versions/:version/rules", h.saveRules)
	p.signedIn("GET", "/projects/:project/versions/:version/transforms", h.showTransforms)
	p.signedIn("POST", "/projects/:project/versions/:version/transforms", h.saveTransforms)
	p.signedIn("GET", "/projects/:project/versions/:version/openapi", h.showOpenAPI)
	p.signedIn("POST", "/projects/:project/versions/:version/openapi", h.saveOpenAPI)
	p.signedIn("POST", "/projects/:project/versions/:version/openapi/remove", h.removeOpenAPI)
	p.signedIn("POST", "/projects/:project/versions/:version/openapi/settings", h.saveOpenAPISettings)
	p.signedIn("GET", "/projects/:project/versions/:version/openapi/operation", h.showOperation)
}

// upstreamPages are what environments send to their upstreams, and host names.
func (h *Handler) upstreamPages(p pageRouter) {
	p.signedIn("POST", anEnvironment+"/check", h.checkTarget)
	p.signedIn("GET", anEnvironment+"/upstream-headers", h.showUpstreamHeaders)
	p.signedIn("POST", anEnvironment+"/upstream-headers", h.setUpstreamHeader)
	p.signedIn("GET", anEnvironment+"/upstream-headers/:name", h.showUpstreamHeader)
	p.signedIn("POST", anEnvironment+"/upstream-headers/:name/remove", h.removeUpstreamHeader)
	p.signedIn("GET", anEnvironment+"/client-certificate", h.showClientCertificate)
	p.signedIn("POST", anEnvironment+"/client-certificate", h.setClientCertificate)
	p.signedIn("POST", anEnvironment+"/client-certificate/remove", h.removeClientCertificate)
	p.signedIn("GET", "/projects/:project/call-signing", h.showCallSigning)
	p.signedIn("POST", "/projects/:project/call-signing", h.enableCallSigning)
	p.signedIn("POST", "/projects/:project/call-signing/rotate", h.rotateCallSigningKey)
	p.signedIn("POST", "/projects/:project/call-signing/disable", h.disableCallSigning)
	p.signedIn("GET", "/projects/:project/domains", h.showDomains)
	p.signedIn("POST", "/projects/:project/domains", h.addDomain)
	p.signedIn("GET", "/projects/:project/domains/:domain", h.showDomain)
	p.signedIn("POST", "/projects/:project/domains/:domain", h.moveDomain)
	p.signedIn("POST", "/projects/:project/domains/:domain/verify", h.verifyDomain)
	p.signedIn("POST", "/projects/:project/domains/:domain/remove", h.removeDomain)
}

// callPages are usage, the log of requests and explanations.
func (h *Handler) callPages(p pageRouter) {
	p.signedIn("GET", "/projects/:project/usage", h.showUsage)
	p.signedIn("GET", "/projects/:project/usage.csv", h.downloadUsage)
	p.signedIn("GET", "/projects/:project/requests", h.showRequests)
	p.signedIn("GET", "/projects/:project/requests/:request", h.showRequest)
	p.signedIn("GET", "/projects/:project/explain", h.showExplain)
}

// exportPages are exports.
func (h *Handler) exportPages(p pageRouter) {
	p.signedIn("GET", "/projects/:project/export", h.showExportForm)
	p.signedIn("POST", "/projects/:project/export", h.startExport)
	p.signedIn("GET", "/projects/:project/export/preview", h.previewExport)
	p.signedIn("GET", "/exports/:export", h.showExport)
	p.signedIn("GET", "/exports/:export/ledger", h.showLedger)
	p.signedInOnce("/exports/:export/ledger/download", h.downloadLedger)
	p.signedInOnce("/exports/:export/download", h.downloadPage) // every download is recorded, which HEAD is not
	p.signedIn("POST", "/exports/:export/cancel", h.cancelExport)
}

// keyPages are API keys and key types.
func (h *Handler) keyPages(p pageRouter) {
	p.signedIn("GET", "/projects/:project/keys", keysPage.handler(h))
	p.secretForm("/projects/:project/keys", h.createKey)
	p.signedIn("POST", "/projects/:project/keys/change", h.changeKeys)
	p.signedIn("GET", "/projects/:project/keys/:key", h.showKey)
	p.signedIn("POST", "/projects/:project/keys/:key", h.saveKey)
	p.signedIn("POST", "/projects/:project/keys/:key/freeze", h.freezeKey)
	p.signedIn("POST", "/projects/:project/keys/:key/unfreeze", h.unfreezeKey)
	p.signedIn("POST", "/projects/:project/keys/:key/revoke", h.revokeKey)
	p.secretForm("/projects/:project/keys/:key/rotate", h.rotateKey)
	p.signedIn("GET", "/projects/:project/keys/:key/secret", h.showKeySecret)

	p.signedIn("GET", "/projects/:project/key-types", h.showKeyTypes)
	p.signedIn("POST", "/projects/:project/key-types", h.createKeyType)
	p.signedIn("GET", "/projects/:project/key-types/:key_type", h.showKeyType)
	p.signedIn("POST", "/projects/:project/key-types/:key_type", h.saveKeyType)
	p.signedIn("POST", "/projects/:project/key-types/:key_type/delete", h.deleteKeyType)
}

// appClientPages are a project's settings for hosted login.
func (h *Handler) appClientPages(p pageRouter) {
	const one = anAppClient
	p.signedIn("GET", "/projects/:project/login", h.showLoginTab)
	p.secretForm("/projects/:project/login", h.createAppClient)
	p.signedIn("GET", one, h.showAppClient)
	p.signedIn("POST", one, h.saveAppClient)
	p.signedIn("POST", one+"/access", h.saveClientAccess)
	p.signedIn("POST", one+"/freeze", h.freezeAppClient)
	p.signedIn("POST", one+"/unfreeze", h.unfreezeAppClient)
	p.signedIn("POST", one+"/signing-keys", h.rotateClientKey)
	p.signedIn("POST", one+"/branding", h.saveBranding)
	p.signedIn("POST", one+"/preview", h.previewBranding)
	p.secretForm(one+"/secret", h.changeClientSecret)
	p.signedIn("GET", one+"/secret", h.showClientSecret)
	p.signedIn("POST", one+"/test", h.startTestLogin)
	p.signedIn("POST", one+"/delete", h.deleteAppClient)
	p.signedIn("GET", one+"/providers", h.showNewProvider)
	p.signedIn("POST", one+"/providers", h.createProvider)
	p.signedIn("GET", one+"/providers/:provider", h.showProvider)
	p.signedIn("POST", one+"/providers/:provider", h.saveProvider)
	p.signedIn("POST", one+"/providers/:provider/switch", h.switchProvider)
	p.signedIn("POST", one+"/providers/:provider/test", h.testProvider)
	p.signedIn("POST", one+"/providers/:provider/delete", h.deleteProvider)
	const mappings = groupMappings
	p.signedIn("GET", mappings, h.showGroupMappings)
	p.signedIn("POST", mappings, h.addGroupMapping)
	p.signedIn("GET", mappings+"/:mapping", h.showGroupMapping)
	p.signedIn("POST", mappings+"/:mapping/remove", h.removeGroupMapping)
}

// tenantPages are products and tenants.
func (h *Handler) tenantPages(p pageRouter) {
	p.signedIn("GET", productsPath, h.showProducts)
	p.signedIn("POST", productsPath, h.createProduct)
	p.signedIn("GET", productsPath+"/:product", h.showProduct)
	p.signedIn("POST", productsPath+"/:product", h.renameProduct)
	p.signedIn("POST", productsPath+"/:product/delete", h.deleteProduct)
	p.signedIn("GET", tenantsPath, h.showTenants)
	p.signedIn("POST", tenantsPath, h.createTenant)
	p.signedIn("GET", tenantsPath+"/:tenant", h.showTenant)
	p.signedIn("POST", tenantsPath+"/:tenant", h.saveTenant)
	p.signedIn("POST", tenantsPath+"/:tenant/cors", h.saveTenantCORS)
	p.signedIn("POST", tenantsPath+"/:tenant/delete", h.deleteTenant)
}

// userPages are a tenant's users and groups, and who may sign in.
func (h *Handler) userPages(p pageRouter) {
	p.signedIn("GET", tenantsPath+"/:tenant/users", h.showUsers)
	p.signedIn("POST", tenantsPath+"/:tenant/users", h.inviteUser)
	p.signedIn("GET", "/users/:user", h.showUser)
	p.signedIn("POST", "/users/:user", h.saveUser)
	p.signedIn("POST", "/users/:user/freeze", h.freezeUser)
	p.signedIn("POST", "/users/:user/unfreeze", h.unfreezeUser)
	p.secretForm("/users/:user/invitation", h.createUserInvitation)
	p.signedIn("GET", "/users/:user/invitation", h.showUserInvitation)
	p.signedIn("POST", "/users/:user/delete", h.deleteUser)
	p.signedIn("POST", "/users/:user/groups", h.joinGroup)
	p.signedIn("POST", "/users/:user/sessions/end-all", h.endUserSessions)
	p.signedIn("POST", "/users/:user/sessions/:session/end", h.endUserSession)
	p.signedIn("POST", "/users/:user/consents/:client/withdraw", h.withdrawUserConsent)
	p.signedIn("GET", signupPage, h.showSignup)
	p.signedIn("POST", signupPage, h.saveSignupPolicy)
	p.signedIn("POST", signupPage+"/approvals", h.createApproval)
	p.signedIn("POST", signupPage+"/approvals/:approval/end", h.endApproval)

	p.signedIn("GET", tenantsPath+"/:tenant/groups", h.showGroups)
	p.signedIn("POST", tenantsPath+"/:tenant/groups", h.createGroup)
	p.signedIn("GET", "/groups/:group", h.showGroup)
	p.signedIn("POST", "/groups/:group", h.saveGroup)
	p.signedIn("POST", "/groups/:group/delete", h.deleteGroup)
	p.signedIn("POST", "/groups/:group/members", h.addGroupMember)
	p.signedIn("POST", "/groups/:group/members/:user/remove", h.removeGroupMember)
	p.signedIn("POST", "/groups/:group/children", h.nestGroup)
	p.signedIn("POST", "/groups/:group/children/:child/remove", h.unnestGroup)
}
