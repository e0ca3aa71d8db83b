package pages

import (
	"github.com/gin-gonic/gin"

	"postern/handlers/page"
	"postern/handlers/pages/audit"
	"postern/handlers/pages/manual"
	"postern/handlers/pages/search"
	"postern/handlers/pages/tokens"
	"postern/handlers/pages/webhooks"
	"postern/static"
)

// Routes with several pages and forms below.
const (
	anAppClient   = "/projects/:project/login/:client"
	groupMappings = anAppClient + "/providers/:provider/group-mappings"
	signupPage    = page.TenantsPath + "/:tenant/signup"
	anEnvironment = "/projects/:project/versions/:version/environments/:environment"
)

// Mount mounts the dashboard. All of its routes are in this file.
func (h *Handler) Mount(r *gin.Engine) {
	assets := gin.WrapH(static.Handler())
	r.GET(static.Prefix+"*file", assets)
	r.HEAD(static.Prefix+"*file", assets)

	p := page.Router{Server: &page.Server{
		Web: h.Web, Accounts: h.Accounts, Idempotency: h.Idempotency, WithCode: h.withCode,
	}, Gin: r}
	(&webhooks.Handler{Webhooks: h.Webhooks}).Mount(p)
	(&tokens.Handler{Tokens: h.Tokens}).Mount(p)
	(&audit.Handler{Audit: h.Audit}).Mount(p)
	(&search.Handler{Directory: h.Directory, Keys: h.Keys, Projects: h.Projects}).Mount(p)
	(&manual.Handler{Document: h.Document, Web: h.Web}).Mount(p)
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
func (h *Handler) signInPages(p page.Router) {
	p.Open("GET", "/", h.home)
	p.Open("GET", "/signin", h.showSignIn)
	p.Open("POST", "/signin", h.signIn, "email next password")
	p.Open("POST", "/signin/:provider", h.startFederated, "next")
	p.OpenOnce("/signin/:provider/callback", h.federatedCallback) // uses up its state, which HEAD must not
	p.OpenAnswer("/signin/:provider/callback", h.federatedCallbackByPost)
	p.Open("GET", "/signup", h.showSignUp)
	p.Open("POST", "/signup", h.signUp, "email name next password")
	p.Open("POST", "/signout", h.signOut)
	p.Open("GET", "/invite/:code", h.showInvite)
	p.Open("GET", "/welcome/:code", h.showWelcome)
	p.Open("POST", "/welcome/:code", h.welcome, "email name password")
	p.Open("GET", "/recover", h.showForgotten)
	p.Open("POST", "/recover", h.mailRecovery, "email")
	p.Open("GET", "/recover/:code", h.showRecovery)
	p.Open("POST", "/recover/:code", h.saveRecovered, "password")
	p.Open("GET", "/email/:code", h.showConfirmation)
	p.Open("POST", "/email/:code", h.confirmEmail)
	p.Open("GET", "/brand/:color", h.showBrand)
	p.OpenOnce("/oauth/:client/tested", h.showTestLogin) // uses up the code of a test login, which HEAD must not
	p.Open("POST", "/theme", h.chooseTheme, "return_to theme")
	p.Open("POST", "/sidebar", h.chooseSidebar, "rail return_to")
	p.Open("POST", "/team", h.chooseTeam, "team")
}

// accountPages are the visitor's account, claims and teams.
func (h *Handler) accountPages(p page.Router) {
	p.SignedIn("GET", "/claim/:code", h.showClaim)
	p.SignedIn("POST", "/claim/:code", h.claim, "team")
	p.SignedIn("GET", claimedPath, h.showClaimed)

	p.SignedIn("POST", "/invite/:code", h.acceptInvite)

	p.SignedIn("GET", "/account", h.showProfile)
	p.SignedIn("POST", "/account", h.saveProfile, "email name password")
	p.SignedIn("GET", "/account/password", h.showPassword)
	p.SignedIn("POST", "/account/password", h.savePassword, "old_password password revoke_tokens")
	p.SignedIn("GET", "/account/delete", h.showDeleteAccount)
	p.SignedIn("POST", "/account/delete", h.deleteAccount, "password")
	p.SignedIn("GET", "/account/sessions", h.showSessions)
	p.SignedIn("POST", "/account/sessions/end-others", h.endOtherSessions)
	p.SignedIn("POST", "/account/sessions/:session/end", h.endSession)
	p.SignedIn("GET", "/account/signins", h.showLinked)
	p.SignedIn("POST", "/account/signins/link/:provider", h.beginLink)
	p.SignedIn("POST", "/account/signins/:identity/unlink", h.unlink)

	p.SignedIn("GET", "/teams", h.showTeams)
	p.SignedIn("POST", "/teams", h.createTeam, "name")
	p.SignedIn("GET", "/teams/:team", h.showTeam)
	p.SignedIn("GET", "/teams/:team/settings", h.showTeamSettings)
	p.SignedIn("POST", "/teams/:team/rename", h.saveTeamName, "name")
	p.SignedIn("POST", "/teams/:team/leave", h.leaveTeam)
	p.SignedIn("POST", "/teams/:team/delete", h.deleteTeam)
	p.SignedIn("POST", "/teams/:team/members/:account/role", h.saveRole, "role")
	p.SignedIn("POST", "/teams/:team/members/:account/remove", h.removeMember)
	p.SecretForm("/teams/:team/invitations", h.createInvitation, "email role")
	p.SignedIn("GET", "/teams/:team/invitations/:invitation", h.showInvitationLink)
	p.SignedIn("POST", "/teams/:team/invitations/:invitation/revoke", h.revokeInvitation)
}

// settingsPages are access tokens, webhooks, the sign-in of a command line, and the audit
// log.
func (h *Handler) settingsPages(p page.Router) {

	// Not SignedIn: it isn't a form, and changes nothing.
	p.Handle("POST", codePath, p.Server.RequireSession(h.showCode))
}

// projectPages are projects and their settings.
func (h *Handler) projectPages(p page.Router) {
	p.SignedIn("GET", "/projects", h.showProjects)
	p.SignedIn("GET", "/projects/new", h.showNewProject)
	p.SecretForm("/projects/new", h.createProject, "name require_keys target")
	p.SignedIn("GET", "/imports", h.showImport)
	p.SignedIn("POST", "/imports", h.importProject, "name zip")
	p.SignedIn("POST", "/imports/preview", h.previewImport, "name zip")
	p.SignedIn("GET", "/projects/:project/created", h.showCreatedProject)
	p.SignedIn("GET", "/projects/:project", h.showOverview)
	p.SignedIn("GET", binPath, h.showBin)
	p.SignedIn("GET", "/projects/:project/delete", h.showDeleteProject)
	p.SignedIn("POST", "/projects/:project/delete", h.deleteProject, "now")
	p.SignedIn("POST", "/projects/:project/move", h.moveProject, "team")
	p.SignedIn("POST", "/projects/:project/restore", h.restoreProject)
	p.SignedIn("GET", "/projects/:project/settings", settingsPage.handler(h))
	p.SignedIn("POST", "/projects/:project/settings", h.saveSettings, "display_name")
	p.SignedIn("GET", "/projects/:project/limits", limitsPage.handler(h))
	p.SignedIn("POST", "/projects/:project/limits", h.saveLimits, "do limit_calls limit_window limit_of")
	p.SignedIn("POST", "/projects/:project/cors", h.saveCORS,
		"app_origins credentials exposed_headers headers max_age methods origins")
	p.SignedIn("POST", "/projects/:project/product", h.saveProduct, "in_product new_product")
	p.SignedIn("GET", "/projects/:project/relations", h.showRelations)
	p.SignedIn("POST", "/projects/:project/relations", h.addRelation, "object tenant user")
	p.SignedIn("POST", "/projects/:project/relations/import", h.importRelations, "file")
	p.SignedIn("GET", "/projects/:project/relations/forget", h.showForgetRelation)
	p.SignedIn("POST", "/projects/:project/relations/forget", h.forgetRelation, "tenant user object")
	p.SignedIn("GET", "/projects/:project/tenants", h.showProjectTenants)
	p.SignedIn("POST", "/projects/:project/tenants", h.addProjectTenant, "display_name fallback_owner name tenant")
	p.SignedIn("GET", "/projects/:project/tenants/:tenant", h.showDetach)
	p.SignedIn("POST", "/projects/:project/tenants/:tenant/detach", h.detachProjectTenant)
	p.SignedIn("GET", "/projects/:project/api-scopes", h.showAPIScopes)
	p.SignedIn("POST", "/projects/:project/api-scopes", h.addAPIScope, "description name")
	p.SignedIn("GET", "/projects/:project/api-scopes/:scope", h.showAPIScope)
	p.SignedIn("POST", "/projects/:project/api-scopes/:scope", h.saveAPIScope, "description")
	p.SignedIn("POST", "/projects/:project/api-scopes/:scope/remove", h.removeAPIScope)
	p.SignedIn("POST", "/projects/:project/api-audience", h.saveAPIAudience, "audience")
}

// versionPages are versions with what they ask of callers, and their environments.
func (h *Handler) versionPages(p page.Router) {
	p.SignedIn("POST", "/projects/:project/versions", h.createVersion, "copy_from name")
	p.SignedIn("GET", "/projects/:project/versions/:version", h.showPlace)
	p.SignedIn("POST", "/projects/:project/versions/:version", h.renamePlace, "name")
	p.SignedIn("POST", "/projects/:project/versions/:version/delete", h.removePlace)
	p.SignedIn("POST", "/projects/:project/versions/:version/environments", h.createEnvironment, "name target")
	p.SignedIn("GET", "/projects/:project/versions/:version/environments/:environment", h.showPlace)
	p.SignedIn("POST", "/projects/:project/versions/:version/environments/:environment", h.renamePlace, "name")
	p.SignedIn("POST", "/projects/:project/versions/:version/environments/:environment/delete", h.removePlace)
	p.SignedIn("POST", "/projects/:project/versions/:version/environments/:environment/target", h.saveTarget, "target")
	p.SignedIn("GET", "/projects/:project/versions/:version/access", accessPage.handler(h))
	p.SignedIn("POST", "/projects/:project/versions/:version/access", h.saveAccess,
		"do fallback_owner introspection introspection_audience introspection_client introspection_issuer "+
			"introspection_method introspection_secret introspection_secret_token keyless methods mode issuer "+
			"issuer_audience issuer_jwks_url issuer_tenant issuer_removed secret_token")
	p.SignedIn("POST", "/projects/:project/versions/:version/addresses", h.saveRanges, "ip_allow ip_deny")
	p.SignedIn("GET", "/projects/:project/versions/:version/rules", h.showRules)
	p.SignedIn("POST", "/projects/:project/versions/:version/rules", h.saveRules,
		"default read_write_scopes rules rules_mode")
	p.SignedIn("GET", "/projects/:project/versions/:version/transforms", h.showTransforms)
	p.SignedIn("POST", "/projects/:project/versions/:version/transforms", h.saveTransforms, "transforms")
	p.SignedIn("GET", "/projects/:project/versions/:version/openapi", h.showOpenAPI)
	p.SignedIn("POST", "/projects/:project/versions/:version/openapi", h.saveOpenAPI, "openapi_document openapi_url")
	p.SignedIn("POST", "/projects/:project/versions/:version/openapi/remove", h.removeOpenAPI)
	p.SignedIn("POST", "/projects/:project/versions/:version/openapi/settings", h.saveOpenAPISettings,
		"validation publication")
	p.SignedIn("GET", "/projects/:project/versions/:version/openapi/operation", h.showOperation)
}

// upstreamPages are what environments send to their upstreams, and host names.
func (h *Handler) upstreamPages(p page.Router) {
	p.SignedIn("POST", anEnvironment+"/check", h.checkTarget)
	p.SignedIn("GET", anEnvironment+"/upstream-headers", h.showUpstreamHeaders)
	p.SignedIn("POST", anEnvironment+"/upstream-headers", h.setUpstreamHeader, "name secret_value")
	p.SignedIn("GET", anEnvironment+"/upstream-headers/:name", h.showUpstreamHeader)
	p.SignedIn("POST", anEnvironment+"/upstream-headers/:name/remove", h.removeUpstreamHeader)
	p.SignedIn("GET", anEnvironment+"/client-certificate", h.showClientCertificate)
	p.SignedIn("POST", anEnvironment+"/client-certificate", h.setClientCertificate, "certificate private_key")
	p.SignedIn("POST", anEnvironment+"/client-certificate/remove", h.removeClientCertificate)
	p.SignedIn("GET", "/projects/:project/call-signing", h.showCallSigning)
	p.SignedIn("POST", "/projects/:project/call-signing", h.enableCallSigning)
	p.SignedIn("POST", "/projects/:project/call-signing/rotate", h.rotateCallSigningKey, "when")
	p.SignedIn("POST", "/projects/:project/call-signing/disable", h.disableCallSigning)
	p.SignedIn("GET", "/projects/:project/domains", h.showDomains)
	p.SignedIn("POST", "/projects/:project/domains", h.addDomain, "environment host")
	p.SignedIn("GET", "/projects/:project/domains/:domain", h.showDomain)
	p.SignedIn("POST", "/projects/:project/domains/:domain", h.moveDomain, "environment")
	p.SignedIn("POST", "/projects/:project/domains/:domain/verify", h.verifyDomain)
	p.SignedIn("POST", "/projects/:project/domains/:domain/remove", h.removeDomain)
}

// callPages are usage, the log of requests and explanations.
func (h *Handler) callPages(p page.Router) {
	p.SignedIn("GET", "/projects/:project/usage", h.showUsage)
	p.SignedIn("GET", "/projects/:project/usage.csv", h.downloadUsage)
	p.SignedIn("GET", "/projects/:project/requests", h.showRequests)
	p.SignedIn("GET", "/projects/:project/requests/:request", h.showRequest)
	p.SignedIn("GET", "/projects/:project/explain", h.showExplain)
}

// exportPages are exports.
func (h *Handler) exportPages(p page.Router) {
	p.SignedIn("GET", "/projects/:project/export", h.showExportForm)
	p.SignedIn("POST", "/projects/:project/export", h.startExport, "consumers format keys password recipient secrets")
	p.SignedIn("GET", "/projects/:project/export/preview", h.previewExport)
	p.SignedIn("GET", "/exports/:export", h.showExport)
	p.SignedIn("GET", "/exports/:export/ledger", h.showLedger)
	p.SignedInOnce("/exports/:export/ledger/download", h.downloadLedger)
	p.SignedInOnce("/exports/:export/download", h.downloadPage) // every download is recorded, which HEAD is not
	p.SignedIn("POST", "/exports/:export/cancel", h.cancelExport)
}

// keyPages are API keys and key types.
func (h *Handler) keyPages(p page.Router) {
	p.SignedIn("GET", "/projects/:project/keys", h.showKeys)
	p.SecretForm("/projects/:project/keys", h.createKey,
		"allowed_cidrs description environment expires_at key_type limits_of owner product tenant limits_*")
	p.SignedIn("POST", "/projects/:project/keys/change", h.changeKeys, "do key")
	p.SignedIn("GET", "/projects/:project/keys/:key", h.showKey)
	p.SignedIn("POST", "/projects/:project/keys/:key", h.saveKey,
		"allowed_cidrs description expires_at limits_of limits_*")
	p.SignedIn("POST", "/projects/:project/keys/:key/freeze", h.freezeKey)
	p.SignedIn("POST", "/projects/:project/keys/:key/unfreeze", h.unfreezeKey)
	p.SignedIn("POST", "/projects/:project/keys/:key/revoke", h.revokeKey)
	p.SecretForm("/projects/:project/keys/:key/rotate", h.rotateKey, "grace_seconds")
	p.SignedIn("GET", "/projects/:project/keys/:key/secret", h.showKeySecret)

	p.SignedIn("GET", "/projects/:project/key-types", h.showKeyTypes)
	p.SignedIn("POST", "/projects/:project/key-types", h.createKeyType, "expires_in name scopes limits_*")
	p.SignedIn("GET", "/projects/:project/key-types/:key_type", h.showKeyType)
	p.SignedIn("POST", "/projects/:project/key-types/:key_type", h.saveKeyType, "expires_in name scopes limits_*")
	p.SignedIn("POST", "/projects/:project/key-types/:key_type/delete", h.deleteKeyType)
}

// appClientPages are a project's settings for hosted login.
func (h *Handler) appClientPages(p page.Router) {
	p.SignedIn("GET", "/projects/:project/login", h.showLoginTab)
	p.SecretForm("/projects/:project/login", h.createAppClient, "confidential name redirect_uris tenant")
	p.SignedIn("GET", anAppClient, h.showAppClient)
	p.SignedIn("POST", anAppClient, h.saveAppClient,
		"access_minutes algorithm backchannel_logout_uri logout_uris name pkce redirect_uris refresh_days")
	p.SignedIn("POST", anAppClient+"/access", h.saveClientAccess, "api_scopes grant_types")
	p.SignedIn("POST", anAppClient+"/freeze", h.freezeAppClient)
	p.SignedIn("POST", anAppClient+"/unfreeze", h.unfreezeAppClient)
	p.SignedIn("POST", anAppClient+"/signing-keys", h.rotateClientKey)
	p.SignedIn("POST", anAppClient+"/branding", h.saveBranding, "color logo_url title welcome")
	p.SignedIn("POST", anAppClient+"/preview", h.previewBranding, "color logo_url title welcome")
	p.SecretForm(anAppClient+"/secret", h.changeClientSecret, "kind")
	p.SignedIn("GET", anAppClient+"/secret", h.showClientSecret)
	p.SignedIn("POST", anAppClient+"/test", h.startTestLogin)
	p.SignedIn("POST", anAppClient+"/delete", h.deleteAppClient)
	p.SignedIn("GET", anAppClient+"/providers", h.showNewProvider)
	p.SignedIn("POST", anAppClient+"/providers", h.createProvider, "issuer managed type")
	p.SignedIn("GET", anAppClient+"/providers/:provider", h.showProvider)
	p.SignedIn("POST", anAppClient+"/providers/:provider", h.saveProvider,
		"audience authoritative_domains client_id client_secret client_token enabled "+
			"label response_mode scopes sign_in_domains upstream_token type issuer")
	p.SignedIn("POST", anAppClient+"/providers/:provider/switch", h.switchProvider, "enabled")
	p.SignedIn("POST", anAppClient+"/providers/:provider/test", h.testProvider)
	p.SignedIn("POST", anAppClient+"/providers/:provider/delete", h.deleteProvider)
	p.SignedIn("GET", groupMappings, h.showGroupMappings)
	p.SignedIn("POST", groupMappings, h.addGroupMapping, "claim claim_value group match")
	p.SignedIn("GET", groupMappings+"/:mapping", h.showGroupMapping)
	p.SignedIn("POST", groupMappings+"/:mapping/remove", h.removeGroupMapping)
}

// tenantPages are products and tenants.
func (h *Handler) tenantPages(p page.Router) {
	p.SignedIn("GET", productsPath, h.showProducts)
	p.SignedIn("POST", productsPath, h.createProduct, "display_name name team")
	p.SignedIn("GET", productsPath+"/:product", h.showProduct)
	p.SignedIn("POST", productsPath+"/:product", h.renameProduct, "display_name")
	p.SignedIn("POST", productsPath+"/:product/delete", h.deleteProduct)
	p.SignedIn("GET", page.TenantsPath, h.showTenants)
	p.SignedIn("POST", page.TenantsPath, h.createTenant, "display_name fallback_owner name team")
	p.SignedIn("GET", page.TenantsPath+"/:tenant", h.showTenant)
	p.SignedIn("POST", page.TenantsPath+"/:tenant", h.saveTenant, "display_name fallback_owner")
	p.SignedIn("POST", page.TenantsPath+"/:tenant/cors", h.saveTenantCORS,
		"app_origins credentials exposed_headers headers max_age methods origins")
	p.SignedIn("POST", page.TenantsPath+"/:tenant/delete", h.deleteTenant)
}

// userPages are a tenant's users and groups, and who may sign in.
func (h *Handler) userPages(p page.Router) {
	p.SignedIn("GET", page.TenantsPath+"/:tenant/users", h.showUsers)
	p.SignedIn("POST", page.TenantsPath+"/:tenant/users", h.inviteUser, "email groups name")
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
	p.SignedIn("POST", "/groups/:group/children", h.nestGroup, "child")
	p.SignedIn("POST", "/groups/:group/children/:child/remove", h.unnestGroup)
}
