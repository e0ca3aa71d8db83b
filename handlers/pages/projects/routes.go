// Package projects serves the pages of projects: their list and settings, versions with what they ask of callers,
// environments with their upstreams, domains and relations.
//
// It leaves the rules about all of these to the services.
package projects

import (
	"strings"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/accounts"
	"postern/service/diagnostics"
	"postern/service/domains"
	"postern/service/exports"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/relations"
	"postern/service/usage"
)

// Handler serves the pages of projects.
type Handler struct {
	Accounts    *accounts.Service
	Diagnostics *diagnostics.Service
	Domains     *domains.Service
	Exports     *exports.Service
	Keys        *keys.Service
	Projects    *projects.Service
	Relations   *relations.Service
	Usage       *usage.Service
	Web         *web.Site
}

// Routes with several pages and forms below.
const (
	anEnvironment = "/projects/:project/versions/:version/environments/:environment"
)

// Mount mounts the pages of projects.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", "/projects", h.showProjects)
	p.SignedIn("GET", "/projects/new", h.showNewProject)
	p.SecretForm("/projects/new", h.createProject, "name require_keys target")
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
	p.SignedIn("POST", "/projects/:project/versions", h.createVersion, "copy_from name")
	p.SignedIn("GET", "/projects/:project/versions/:version", h.showPlace)
	p.SignedIn("POST", "/projects/:project/versions/:version", h.renamePlace, "name")
	p.SignedIn("POST", "/projects/:project/versions/:version/delete", h.removePlace)
	p.SignedIn("POST", "/projects/:project/versions/:version/environments", h.createEnvironment, "name target")
	p.SignedIn("GET", "/projects/:project/versions/:version/environments/:environment", h.showPlace)
	p.SignedIn("POST", "/projects/:project/versions/:version/environments/:environment", h.renamePlace, "name")
	p.SignedIn("POST", "/projects/:project/versions/:version/environments/:environment/delete", h.removePlace)
	p.SignedIn("POST", "/projects/:project/versions/:version/environments/:environment/target", h.saveTarget, "target")
	p.SignedIn("POST", anEnvironment+"/targets", h.saveTargets, "balance balance_header do url weight")
	p.SignedIn("POST", anEnvironment+"/checks", h.saveChecks, strings.Join(checkMembers, " "))
	p.SignedIn("POST", anEnvironment+"/breaker", h.saveBreaker, strings.Join(breakerMembers, " "))
	p.SignedIn("POST", anEnvironment+"/timeouts", h.saveTimeouts, strings.Join(timeoutMembers, " "))
	p.SignedIn("POST", anEnvironment+"/retries", h.saveRetries, strings.Join(retryMembers, " "))
	p.SignedIn("POST", anEnvironment+"/http", h.saveHTTP, "http")
	p.SignedIn("POST", anEnvironment+"/tls", h.saveTLS, strings.Join(tlsMembers, " "))
	p.SignedIn("POST", anEnvironment+"/host-header", h.saveHostHeader, "host_header")
	p.SignedIn("GET", "/projects/:project/versions/:version/access", accessPage.handler(h))
	p.SignedIn("POST", "/projects/:project/versions/:version/access", h.saveAccess,
		strings.Join(accessMembers, " "),
		"do fallback_owner introspection introspection_audience introspection_client introspection_issuer "+
			"introspection_method introspection_secret introspection_secret_token issuer issuer_audience "+
			"issuer_jwks_url issuer_tenant issuer_removed key_in key_in_name key_in_prefix key_in_prefix_use "+
			"key_send_metadata secret_token")
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
	p.SignedIn("POST", "/projects/:project/domains", h.addDomain,
		"environment host methods path_prefix strip_prefix")
	p.SignedIn("GET", "/projects/:project/domains/:domain", h.showDomain)
	p.SignedIn("POST", "/projects/:project/domains/:domain", h.moveDomain,
		"environment methods path_prefix strip_prefix")
	p.SignedIn("POST", "/projects/:project/domains/:domain/verify", h.verifyDomain)
	p.SignedIn("POST", "/projects/:project/domains/:domain/remove", h.removeDomain)
}
