// Package login serves a project's settings for hosted login: app clients, providers, group mappings and API scopes.
//
// It leaves the settings and permissions to service/appclients, and the pages on which users sign in to handlers/oidc.
package login

import (
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/appclients"
	"postern/service/diagnostics"
	"postern/service/login"
	"postern/service/projects"
)

// Handler serves the pages of hosted login.
type Handler struct {
	Diagnostics *diagnostics.Service
	AppClients  *appclients.Service
	Login       *login.Service
	Projects    *projects.Service
	Web         *web.Site
}

// Routes with several pages and forms below.
const (
	anAppClient   = "/projects/:project/login/:client"
	groupMappings = anAppClient + "/providers/:provider/group-mappings"
)

// Mount mounts the pages of hosted login.
func (h *Handler) Mount(p page.Router) {
	p.Open("GET", "/brand/:color", h.showBrand)
	p.OpenOnce("/oauth/:client/tested", h.showTestLogin) // uses up the code of a test login, which HEAD must not
	p.SignedIn("GET", "/projects/:project/api-scopes", h.showAPIScopes)
	p.SignedIn("POST", "/projects/:project/api-scopes", h.addAPIScope, "description name")
	p.SignedIn("GET", "/projects/:project/api-scopes/:scope", h.showAPIScope)
	p.SignedIn("POST", "/projects/:project/api-scopes/:scope", h.saveAPIScope, "description")
	p.SignedIn("POST", "/projects/:project/api-scopes/:scope/remove", h.removeAPIScope)
	p.SignedIn("POST", "/projects/:project/api-audience", h.saveAPIAudience, "audience")
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
