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
	anEnvironment = "/projects/:project/versions/:version/environments/:environment"
)

// Mount mounts the dashboard. All of its routes are in this file.
func (h *Handler) Mount(r *gin.Engine) {
	assets := gin.WrapH(static.Handler())
	r.GET(static.Prefix+"*file", assets)
	r.HEAD(static.Prefix+"*file", assets)

	p := pageRouter{server: &server{
		Web: h.Web, Accounts: h.Accounts, Idempotency: h.Idempotency, WithCode: h.withCode,
	}, gin: r}
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
	p.open("POST", "/signin", h.signIn, "email next password")
	p.open("POST", "/signin/:provider", h.startFederated, "next")
	p.openOnce("/signin/:provider/callback", h.federatedCallback) // uses up its state, which HEAD must not
	p.openAnswer("/signin/:provider/callback", h.federatedCallbackByPost)
	p.open("GET", "/signup", h.showSignUp)
	p.open("POST", "/signup", h.signUp, "email name next password")
	p.open("POST", "/signout", h.signOut)
	p.open("GET", "/invite/:code", h.showInvite)
	p.open("GET", "/welcome/:code", h.showWelcome)
	p.open("POST", "/welcome/:code", h.welcome, "email name password")
	p.open("GET", "/recover", h.showForgotten)
	p.open("POST", "/recover", h.mailRecovery, "email")
	p.open("GET", "/recover/:code", h.showRecovery)
	p.open("POST", "/recover/:code", h.saveRecovered, "password")
	p.open("GET", "/email/:code", h.showConfirmation)
	p.open("POST", "/email/:code", h.confirmEmail)
	p.open("GET", "/docs", h.showDocs)
	p.open("GET", "/docs/:page", h.showDocsPage)
	p.open("GET", "/docs/reference/:tag", h.showReference)
	p.open("GET", "/brand/:color", h.showBrand)
	p.openOnce("/oauth/:client/tested", h.showTestLogin) // uses up the code of a test login, which HEAD must not
	p.open("POST", "/theme", h.chooseTheme, "return_to theme")
	p.open("POST", "/sidebar", h.chooseSidebar, "rail return_to")
	p.open("POST", "/team", h.chooseTeam, "team")
}

// accountPages are the visitor's account, claims and teams.
func (h *Handler) accountPages(p pageRouter) {
	p.signedIn("GET", "/claim/:code", h.showClaim)
	p.signedIn("POST", "/claim/:code", h.claim, "team")
	p.signedIn("GET", claimedPath, h.showClaimed)

	p.signedIn("POST", "/invite/:code", h.acceptInvite)

	p.signedIn("GET", "/account", h.showProfile)
	p.signedIn("POST", "/account", h.saveProfile, "email name password")
	p.signedIn("GET", "/account/password", h.showPassword)
	p.signedIn("POST", "/account/password", h.savePassword, "old_password password revoke_tokens")
	p.signedIn("GET", "/account/delete", h.showDeleteAccount)
	p.signedIn("POST", "/account/delete", h.deleteAccount, "password")
	p.signedIn("GET", "/account/sessions", h.showSessions)
	p.signedIn("POST", "/account/sessions/end-others", h.endOtherSessions)
	p.signedIn("POST", "/account/sessions/:session/end", h.endSession)
	p.signedIn("GET", "/account/signins", h.showLinked)
	p.signedIn("POST", "/account/signins/link/:provider", h.beginLink)
	p.signedIn("POST", "/account/signins/:identity/unlink", h.unlink)

	p.signedIn("GET", "/teams", h.showTeams)
	p.signedIn("POST", "/teams", h.createTeam, "name")
	p.signedIn("GET", "/teams/:team", h.showTeam)
	p.signedIn("GET", "/teams/:team/settings", h.showTeamSettings)
	p.signedIn("POST", "/teams/:team/rename", h.saveTeamName, "name")
	p.signedIn("POST", "/teams/:team/leave", h.leaveTeam)
	p.signedIn("POST", "/teams/:team/delete", h.deleteTeam)
	p.signedIn("POST", "/teams/:team/members/:account/role", h.saveRole, "role")
	p.signedIn("POST", "/teams/:team/members/:account/remove", h.removeMember)
	p.secretForm("/teams/:team/invitations", h.createInvitation, "email role")
	p.signedIn("GET", "/teams/:team/invitations/:invitation", h.showInvitationLink)
	p.signedIn("POST", "/teams/:team/invitations/:invitation/revoke", h.revokeInvitation)
}

// settingsPages are access tokens, webhooks, the sign-in of a command line, and the audit
// log.
func (h *Handler) settingsPages(p pageRouter) {
	p.signedIn("GET", "/settings/tokens", h.showTokens)
	p.secretForm("/settings/tokens", h.createToken, "expires_at name scopes")
	p.signedIn("GET", "/settings/tokens/:token/secret", h.showNewToken)
	p.signedIn("GET", "/settings/tokens/:token", h.showRevokeToken)
	p.signedIn("POST", "/settings/tokens/:token/revoke", h.revokeToken)
	p.signedIn("GET", webhooksPath, h.showWebhooks)
	p.secretForm(webhooksPath, h.createWebhook, "description events team url")
	p.signedIn("GET", webhooksPath+"/:webhook", h.showWebhook)
	p.signedIn("POST", webhooksPath+"/:webhook", h.saveWebhook, "description events url")
	p.signedIn("POST", webhooksPath+"/:webhook/switch", h.switchWebhook, "enabled")
	p.secretForm(webhooksPath+"/:webhook/rotate", h.rotateWebhook)
	p.signedIn("GET", webhooksPath+"/:webhook/secret", h.showWebhookSecret)
	p.signedIn("POST", webhooksPath+"/:webhook/delete", h.deleteWebhook)
	p.signedIn("POST", webhooksPath+"/:webhook/test", h.testWebhook)
	p.signedIn("GET", webhooksPath+"/:webhook/deliveries/:delivery", h.showDelivery)
	p.signedIn("POST", webhooksPath+"/:webhook/deliveries/:delivery/redeliver", h.redeliver)

	p.signedIn("GET", "/device", h.showDevice)
	p.signedIn("POST", "/device", h.decideDevice, "decision user_code")
	p.signedIn("GET", deviceApproved, h.showDecided)
	p.signedIn("GET", deviceDenied, h.showDecided)
	p.signedIn("GET", auditPath, h.showAudit)

	p.signedIn("GET", searchPath, h.showSearch)
	p.signedIn("POST", searchPath, h.showSearch, "project q")
	p.signedIn("GET", "/shortcuts", h.showShortcuts)
	p.handle("POST", codePath, p.server.requireSession(h.showCode)) // not signedIn: it isn't a form, and changes nothing
}

// projectPages are projects and their settings.
func (h *Handler) projectPages(p pageRouter) {
	p.signedIn("GET", "/projects", h.showProjects)
	p.signedIn("GET", "/projects/new", h.showNewProject)
	p.secretForm("/projects/new", h.createProject, "name require_keys target")
	p.signedIn("GET", "/imports", h.showImport)
	p.signedIn("POST", "/imports", h.importProject, "name zip")
	p.signedIn("POST", "/imports/preview", h.previewImport, "name zip")
	p.signedIn("GET", "/projects/:project/created", h.showCreatedProject)
	p.signedIn("GET", "/projects/:project", h.showOverview)
	p.signedIn("GET", binPath, h.showBin)
	p.signedIn("GET", "/projects/:project/delete", h.showDeleteProject)
	p.signedIn("POST", "/projects/:project/delete", h.deleteProject, "now")
	p.signedIn("POST", "/projects/:project/move", h.moveProject, "team")
	p.signedIn("POST", "/projects/:project/restore", h.restoreProject)
	p.signedIn("GET", "/projects/:project/settings", settingsPage.handler(h))
	p.signedIn("POST", "/projects/:project/settings", h.saveSettings, "display_name")
	p.signedIn("GET", "/projects/:project/limits", limitsPage.handler(h))
	p.signedIn("POST", "/projects/:project/limits", h.saveLimits, "do limit_calls limit_window limit_of")
	p.signedIn("POST", "/projects/:project/cors", h.saveCORS,
		"app_origins credentials exposed_headers headers max_age methods origins")
	p.signedIn("POST", "/projects/:project/product", h.saveProduct, "in_product new_product")
	p.signedIn("GET", "/projects/:project/relations", h.showRelations)
	p.signedIn("POST", "/projects/:project/relations", h.addRelation, "object tenant user")
	p.signedIn("POST", "/projects/:project/relations/import", h.importRelations, "file")
	p.signedIn("GET", "/projects/:project/relations/forget", h.showForgetRelation)
	p.signedIn("POST", "/projects/:project/relations/forget", h.forgetRelation, "tenant user object")
	p.signedIn("GET", "/projects/:project/tenants", h.showProjectTenants)
	p.signedIn("POST", "/projects/:project/tenants", h.addProjectTenant, "display_name fallback_owner name tenant")
	p.signedIn("GET", "/projects/:project/tenants/:tenant", h.showDetach)
	p.signedIn("POST", "/projects/:project/tenants/:tenant/detach", h.detachProjectTenant)
	p.signedIn("GET", "/projects/:project/api-scopes", h.showAPIScopes)
	p.signedIn("POST", "/projects/:project/api-scopes", h.addAPIScope, "description name")
	p.signedIn("GET", "/projects/:project/api-scopes/:scope", h.showAPIScope)
	p.signedIn("POST", "/projects/:project/api-scopes/:scope", h.saveAPIScope, "description")
	p.signedIn("POST", "/projects/:project/api-scopes/:scope/remove", h.removeAPIScope)
	p.signedIn("POST", "/projects/:project/api-audience", h.saveAPIAudience, "audience")
}

// versionPages are versions with what they ask of callers, and their environments.
func (h *Handler) versionPages(p pageRouter) {
	p.signedIn("POST", "/projects/:project/versions", h.createVersion, "copy_from name")
	p.signedIn("GET", "/projects/:project/versions/:version", h.showPlace)
	p.signedIn("POST", "/projects/:project/versions/:version", h.renamePlace, "name")
	p.signedIn("POST", "/projects/:project/versions/:version/delete", h.removePlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments", h.createEnvironment, "name target")
	p.signedIn("GET", "/projects/:project/versions/:version/environments/:environment", h.showPlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments/:environment", h.renamePlace, "name")
	p.signedIn("POST", "/projects/:project/versions/:version/environments/:environment/delete", h.removePlace)
	p.signedIn("POST", "/projects/:project/versions/:version/environments/:environment/target", h.saveTarget, "target")
	p.signedIn("GET", "/projects/:project/versions/:version/access", accessPage.handler(h))
	p.signedIn("POST", "/projects/:project/versions/:version/access", h.saveAccess,
		"do fallback_owner introspection introspection_audience introspection_client introspection_issuer introspection_method introspection_secret introspection_secret_token "+
			"keyless methods mode issuer issuer_audience issuer_jwks_url issuer_tenant issuer_removed secret_token")
	p.signedIn("POST", "/projects/:project/versions/:version/addresses", h.saveRanges, "ip_allow ip_deny")
	p.signedIn("GET", "/projects/:project/versions/:version/rules", h.showRules)
	p.signedIn("POST", "/projects/:project/versions/:version/rules", h.saveRules,
		"default read_write_scopes rules rules_mode")
	p.signedIn("GET", "/projects/:project/versions/:version/transforms", h.showTransforms)
	p.signedIn("POST", "/projects/:project/versions/:version/transforms", h.saveTransforms, "transforms")
	p.signedIn("GET", "/projects/:project/versions/:version/openapi", h.showOpenAPI)
	p.signedIn("POST", "/projects/:project/versions/:version/openapi", h.saveOpenAPI, "openapi_document openapi_url")
	p.signedIn("POST", "/projects/:project/versions/:version/openapi/remove", h.removeOpenAPI)
	p.signedIn("POST", "/projects/:project/versions/:version/openapi/settings", h.saveOpenAPISettings,
		"validation publication")
	p.signedIn("GET", "/projects/:project/versions/:version/openapi/operation", h.showOperation)
}

// upstreamPages are what environments send to their upstreams, and host names.
func (h *Handler) upstreamPages(p pageRouter) {
	p.signedIn("POST", anEnvironment+"/check", h.checkTarget)
	p.signedIn("GET", anEnvironment+"/upstream-headers", h.showUpstreamHeaders)
	p.signedIn("POST", anEnvironment+"/upstream-headers", h.setUpstreamHeader, "name secret_value")
	p.signedIn("GET", anEnvironment+"/upstream-headers/:name", h.showUpstreamHeader)
	p.signedIn("POST", anEnvironment+"/upstream-headers/:name/remove", h.removeUpstreamHeader)
	p.signedIn("GET", anEnvironment+"/client-certificate", h.showClientCertificate)
	p.signedIn("POST", anEnvironment+"/client-certificate", h.setClientCertificate, "certificate private_key")
	p.signedIn("POST", anEnvironment+"/client-certificate/remove", h.removeClientCertificate)
	p.signedIn("GET", "/projects/:project/call-signing", h.showCallSigning)
	p.signedIn("POST", "/projects/:project/call-signing", h.enableCallSigning)
	p.signedIn("POST", "/projects/:project/call-signing/rotate", h.rotateCallSigningKey, "when")
	p.signedIn("POST", "/projects/:project/call-signing/disable", h.disableCallSigning)
	p.signedIn("GET", "/projects/:project/domains", h.showDomains)
	p.signedIn("POST", "/projects/:project/domains", h.addDomain, "environment host")
	p.signedIn("GET", "/projects/:project/domains/:domain", h.showDomain)
	p.signedIn("POST", "/projects/:project/domains/:domain", h.moveDomain, "environment")
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
	p.signedIn("POST", "/projects/:project/export", h.startExport, "consumers format keys password recipient secrets")
	p.signedIn("GET", "/projects/:project/export/preview", h.previewExport)
	p.signedIn("GET", "/exports/:export", h.showExport)
	p.signedIn("GET", "/exports/:export/ledger", h.showLedger)
	p.signedInOnce("/exports/:export/ledger/download", h.downloadLedger)
	p.signedInOnce("/exports/:export/download", h.downloadPage) // every download is recorded, which HEAD is not
	p.signedIn("POST", "/exports/:export/cancel", h.cancelExport)
}

// keyPages are API keys and key types.
func (h *Handler) keyPages(p pageRouter) {
	p.signedIn("GET", "/projects/:project/keys", h.showKeys)
	p.secretForm("/projects/:project/keys", h.createKey,
		"allowed_cidrs description environment expires_at key_type limits_of owner product tenant limits_*")
	p.signedIn("POST", "/projects/:project/keys/change", h.changeKeys, "do key")
	p.signedIn("GET", "/projects/:project/keys/:key", h.showKey)
	p.signedIn("POST", "/projects/:project/keys/:key", h.saveKey,
		"allowed_cidrs description expires_at limits_of limits_*")
	p.signedIn("POST", "/projects/:project/keys/:key/freeze", h.freezeKey)
	p.signedIn("POST", "/projects/:project/keys/:key/unfreeze", h.unfreezeKey)
	p.signedIn("POST", "/projects/:project/keys/:key/revoke", h.revokeKey)
	p.secretForm("/projects/:project/keys/:key/rotate", h.rotateKey, "grace_seconds")
	p.signedIn("GET", "/projects/:project/keys/:key/secret", h.showKeySecret)

	p.signedIn("GET", "/projects/:project/key-types", h.showKeyTypes)
	p.signedIn("POST", "/projects/:project/key-types", h.createKeyType, "expires_in name scopes limits_*")
	p.signedIn("GET", "/projects/:project/key-types/:key_type", h.showKeyType)
	p.signedIn("POST", "/projects/:project/key-types/:key_type", h.saveKeyType, "expires_in name scopes limits_*")
	p.signedIn("POST", "/projects/:project/key-types/:key_type/delete", h.deleteKeyType)
}

// appClientPages are a project's settings for hosted login.
func (h *Handler) appClientPages(p pageRouter) {
	const one = anAppClient
	p.signedIn("GET", "/projects/:project/login", h.showLoginTab)
	p.secretForm("/projects/:project/login", h.createAppClient, "confidential name redirect_uris tenant")
	p.signedIn("GET", one, h.showAppClient)
	p.signedIn("POST", one, h.saveAppClient,
		"access_minutes algorithm backchannel_logout_uri logout_uris name pkce redirect_uris refresh_days")
	p.signedIn("POST", one+"/access", h.saveClientAccess, "api_scopes grant_types")
	p.signedIn("POST", one+"/freeze", h.freezeAppClient)
	p.signedIn("POST", one+"/unfreeze", h.unfreezeAppClient)
	p.signedIn("POST", one+"/signing-keys", h.rotateClientKey)
	p.signedIn("POST", one+"/branding", h.saveBranding, "color logo_url title welcome")
	p.signedIn("POST", one+"/preview", h.previewBranding, "color logo_url title welcome")
	p.secretForm(one+"/secret", h.changeClientSecret, "kind")
	p.signedIn("GET", one+"/secret", h.showClientSecret)
	p.signedIn("POST", one+"/test", h.startTestLogin)
	p.signedIn("POST", one+"/delete", h.deleteAppClient)
	p.signedIn("GET", one+"/providers", h.showNewProvider)
	p.signedIn("POST", one+"/providers", h.createProvider, "issuer managed type")
	p.signedIn("GET", one+"/providers/:provider", h.showProvider)
	p.signedIn("POST", one+"/providers/:provider", h.saveProvider,
		"audience authoritative_domains client_id client_secret client_token enabled "+
			"label response_mode scopes sign_in_domains upstream_token type issuer")
	p.signedIn("POST", one+"/providers/:provider/switch", h.switchProvider, "enabled")
	p.signedIn("POST", one+"/providers/:provider/test", h.testProvider)
	p.signedIn("POST", one+"/providers/:provider/delete", h.deleteProvider)
	const mappings = groupMappings
	p.signedIn("GET", mappings, h.showGroupMappings)
	p.signedIn("POST", mappings, h.addGroupMapping, "claim claim_value group match")
	p.signedIn("GET", mappings+"/:mapping", h.showGroupMapping)
	p.signedIn("POST", mappings+"/:mapping/remove", h.removeGroupMapping)
}

// tenantPages are products and tenants.
func (h *Handler) tenantPages(p pageRouter) {
	p.signedIn("GET", productsPath, h.showProducts)
	p.signedIn("POST", productsPath, h.createProduct, "display_name name team")
	p.signedIn("GET", productsPath+"/:product", h.showProduct)
	p.signedIn("POST", productsPath+"/:product", h.renameProduct, "display_name")
	p.signedIn("POST", productsPath+"/:product/delete", h.deleteProduct)
	p.signedIn("GET", tenantsPath, h.showTenants)
	p.signedIn("POST", tenantsPath, h.createTenant, "display_name fallback_owner name team")
	p.signedIn("GET", tenantsPath+"/:tenant", h.showTenant)
	p.signedIn("POST", tenantsPath+"/:tenant", h.saveTenant, "display_name fallback_owner")
	p.signedIn("POST", tenantsPath+"/:tenant/cors", h.saveTenantCORS,
		"app_origins credentials exposed_headers headers max_age methods origins")
	p.signedIn("POST", tenantsPath+"/:tenant/delete", h.deleteTenant)
}

// userPages are a tenant's users and groups, and who may sign in.
func (h *Handler) userPages(p pageRouter) {
	p.signedIn("GET", tenantsPath+"/:tenant/users", h.showUsers)
	p.signedIn("POST", tenantsPath+"/:tenant/users", h.inviteUser, "email groups name")
	p.signedIn("GET", "/users/:user", h.showUser)
	p.signedIn("POST", "/users/:user", h.saveUser, "email name")
	p.signedIn("POST", "/users/:user/freeze", h.freezeUser)
	p.signedIn("POST", "/users/:user/unfreeze", h.unfreezeUser)
	p.secretForm("/users/:user/invitation", h.createUserInvitation, "app_client")
	p.signedIn("GET", "/users/:user/invitation", h.showUserInvitation)
	p.signedIn("POST", "/users/:user/delete", h.deleteUser)
	p.signedIn("POST", "/users/:user/groups", h.joinGroup, "group")
	p.signedIn("POST", "/users/:user/sessions/end-all", h.endUserSessions)
	p.signedIn("POST", "/users/:user/sessions/:session/end", h.endUserSession)
	p.signedIn("POST", "/users/:user/consents/:client/withdraw", h.withdrawUserConsent)
	p.signedIn("GET", signupPage, h.showSignup)
	p.signedIn("POST", signupPage, h.saveSignupPolicy, "invite_only")
	p.signedIn("POST", signupPage+"/approvals", h.createApproval, "groups value")
	p.signedIn("POST", signupPage+"/approvals/:approval/end", h.endApproval)

	p.signedIn("GET", tenantsPath+"/:tenant/groups", h.showGroups)
	p.signedIn("POST", tenantsPath+"/:tenant/groups", h.createGroup, "display_name name")
	p.signedIn("GET", "/groups/:group", h.showGroup)
	p.signedIn("POST", "/groups/:group", h.saveGroup, "display_name name")
	p.signedIn("POST", "/groups/:group/delete", h.deleteGroup)
	p.signedIn("POST", "/groups/:group/members", h.addGroupMember, "email")
	p.signedIn("POST", "/groups/:group/members/:user/remove", h.removeGroupMember, "from")
	p.signedIn("POST", "/groups/:group/children", h.nestGroup, "child")
	p.signedIn("POST", "/groups/:group/children/:child/remove", h.unnestGroup)
}
