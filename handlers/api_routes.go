package handlers

import (
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"
)

// apiRoutes mounts the JSON API: every route of it is in this file.
func (s *Server) apiRoutes(r *gin.Engine) {
	r.GET("/.well-known/postern-export-key", s.showExportKeys)
	r.POST("/oauth/device_authorization", s.authorizeDevice)
	r.POST("/oauth/token", s.exchangeDevice)
	r.GET("/api/v1/exports/:export/download", s.identify, s.downloadExport)

	api := s.newAPI(r)
	s.accountRoutes(api)
	s.projectRoutes(api)
	s.keyRoutes(api)
	s.exportRoutes(api)
	s.loginRoutes(api)
	s.groupRoutes(api)
	describeUsage(api.OpenAPI())
}

// accountRoutes are teams, sessions and credentials of accounts.
func (s *Server) accountRoutes(api huma.API) {
	const team = "/api/v1/teams/{team}"
	route(s, api, "claim", "POST", "/api/v1/claim", 200, "Take over an unclaimed workspace", s.claimWorkspace)

	route(s, api, "list-teams", "GET", "/api/v1/teams", 200, "List teams", s.listTeams)
	route(s, api, "create-team", "POST", "/api/v1/teams", 201, "Make a team", s.createTeam)
	route(s, api, "get-team", "GET", team, 200, "Get a team", s.getTeam)
	route(s, api, "rename-team", "PATCH", team, 200, "Rename a team", s.renameTeam)
	route(s, api, "leave-team", "POST", team+"/leave", 204, "Leave a team", s.leaveTeam)

	route(s, api, "list-members", "GET", team+"/members", 200, "List a team's members", s.listMembers)
	route(s, api, "change-role", "PATCH", team+"/members/{account}", 200, "Change a member's role", s.changeRole)
	route(s, api, "remove-member", "DELETE", team+"/members/{account}", 204,
		"Take a member out of a team", s.removeMember)

	route(s, api, "list-invitations", "GET", team+"/invitations", 200, "List open invitations", s.listInvitations)
	route(s, api, "create-invitation", "POST", team+"/invitations", 201,
		"Make an invitation's link", s.createInvitation)
	route(s, api, "revoke-invitation", "DELETE", team+"/invitations/{invitation}", 204,
		"Revoke an invitation", s.revokeInvitation)
	route(s, api, "accept-invitation", "POST", "/api/v1/invitations/accept", 200,
		"Join a team by an invitation", s.acceptInvitation)

	route(s, api, "list-sessions", "GET", "/api/v1/sessions", 200,
		"List where the account is signed in", s.listSessions)
	route(s, api, "end-session", "DELETE", "/api/v1/sessions/{session}", 204, "Sign out in one place", s.endSession)
	route(s, api, "end-other-sessions", "POST", "/api/v1/sessions/end-others", 200,
		"Sign out everywhere else", s.endOtherSessions)
	route(s, api, "whoami", "GET", "/api/v1/whoami", 200, "Show whom a credential stands for", s.whoami)

	route(s, api, "list-tokens", "GET", "/api/v1/tokens", 200, "List access tokens", s.listTokens)
	route(s, api, "create-token", "POST", "/api/v1/tokens", 201, "Create an access token", s.createToken)
	route(s, api, "revoke-token", "DELETE", "/api/v1/tokens/{token}", 204, "Revoke an access token", s.revokeToken)
}

// projectRoutes are projects with their settings, and what groups them.
func (s *Server) projectRoutes(api huma.API) {
	const (
		project = "/api/v1/projects/{project}"
		tenant  = "/api/v1/tenants/{tenant}"
	)
	route(s, api, "create-proxy", "POST", "/proxy", 201, "Put a proxy in front of an API", s.createProxy)

	route(s, api, "list-projects", "GET", "/api/v1/projects", 200, "List projects", s.listProjects)
	route(s, api, "get-project", "GET", project, 200, "Get a project", s.getProject)
	route(s, api, "update-project", "PATCH", project, 200, "Change a project's settings", s.updateProject)
	route(s, api, "update-version", "PATCH", project+"/versions/{version}", 200,
		"Change a version's access policy", s.updateVersion)
	route(s, api, "update-environment", "PATCH", project+"/environments/{environment}", 200,
		"Change an environment's target", s.updateEnvironment)

	route(s, api, "list-key-types", "GET", project+"/key-types", 200, "List a project's key types", s.listKeyTypes)
	route(s, api, "create-key-type", "POST", project+"/key-types", 201, "Create a key type", s.createKeyType)
	route(s, api, "update-key-type", "PATCH", project+"/key-types/{key_type}", 200,
		"Change a key type", s.updateKeyType)
	route(s, api, "delete-key-type", "DELETE", project+"/key-types/{key_type}", 204,
		"Delete a key type that no key is of", s.deleteKeyType)

	route(s, api, "list-products", "GET", "/api/v1/products", 200, "List products", s.listProducts)
	route(s, api, "create-product", "POST", "/api/v1/products", 201, "Create a product", s.createProduct)
	route(s, api, "get-product", "GET", "/api/v1/products/{product}", 200, "Get a product", s.getProduct)
	route(s, api, "update-product", "PATCH", "/api/v1/products/{product}", 200,
		"Change a product's display name", s.updateProduct)
	route(s, api, "delete-product", "DELETE", "/api/v1/products/{product}", 204,
		"Delete a product without projects", s.deleteProduct)

	route(s, api, "list-tenants", "GET", "/api/v1/tenants", 200, "List tenants", s.listTenants)
	route(s, api, "create-tenant", "POST", "/api/v1/tenants", 201, "Create a tenant", s.createTenant)
	route(s, api, "get-tenant", "GET", tenant, 200, "Get a tenant", s.getTenant)
	route(s, api, "update-tenant", "PATCH", tenant, 200, "Change a tenant", s.updateTenant)
	route(s, api, "delete-tenant", "DELETE", tenant, 204, "Delete an unused tenant", s.deleteTenant)
	route(s, api, "attach-tenant", "PUT", project+"/tenants/{tenant}", 200,
		"Make a project serve a tenant", s.attachTenant)
	route(s, api, "detach-tenant", "DELETE", project+"/tenants/{tenant}", 204,
		"End that a project serves a tenant", s.detachTenant)
	route(s, api, "take-down-project", "PUT", project+"/takedown", 200,
		"Take a project down (operators)", s.takeDownProject)
	route(s, api, "restore-project", "DELETE", project+"/takedown", 200,
		"Lift a takedown (operators)", s.restoreProject)
}

// keyRoutes are API keys and the calls made with them.
func (s *Server) keyRoutes(api huma.API) {
	const (
		project = "/api/v1/projects/{project}"
		key     = "/api/v1/keys/{key}"
	)
	route(s, api, "list-keys", "GET", project+"/keys", 200, "List API keys", s.listKeys)
	route(s, api, "create-key", "POST", project+"/keys", 201, "Create an API key", s.createKey)
	route(s, api, "get-key", "GET", key, 200, "Get an API key", s.getKey)
	route(s, api, "update-key", "PATCH", key, 200, "Change an API key", s.updateKey)
	route(s, api, "rotate-key", "POST", key+"/rotate", 200, "Give an API key a new secret", s.rotateKey)
	route(s, api, "freeze-key", "POST", key+"/freeze", 200, "Freeze an API key", s.freezeKey)
	route(s, api, "unfreeze-key", "POST", key+"/unfreeze", 200, "Unfreeze an API key", s.unfreezeKey)
	route(s, api, "revoke-key", "POST", key+"/revoke", 200, "Revoke an API key for good", s.revokeKey)
	route(s, api, "get-usage", "GET", usageRoute, 200, "Sum up calls", s.getUsage)

	route(s, api, "list-requests", "GET", requestsRoute, 200,
		"List the latest requests, or follow them", s.listRequests)
}

// exportRoutes are exports, webhooks and the audit log.
func (s *Server) exportRoutes(api huma.API) {
	const (
		project = "/api/v1/projects/{project}"
		webhook = "/api/v1/webhooks/{webhook}"
	)
	route(s, api, "list-exports", "GET", project+"/exports", 200, "List exports", s.listExports)
	route(s, api, "create-export", "POST", project+"/exports", 202, "Take a project away as a zip", s.createExport)
	route(s, api, "get-export", "GET", "/api/v1/exports/{export}", 200, "Get an export and its progress", s.getExport)
	route(s, api, "cancel-export", "POST", "/api/v1/exports/{export}/cancel", 200,
		"Cancel an unfinished export", s.cancelExport)

	route(s, api, "list-webhooks", "GET", "/api/v1/webhooks", 200, "List webhooks", s.listWebhooks)
	route(s, api, "create-webhook", "POST", "/api/v1/webhooks", 201, "Tell an address what happens", s.createWebhook)
	route(s, api, "get-webhook", "GET", webhook, 200, "Get a webhook", s.getWebhook)
	route(s, api, "update-webhook", "PATCH", webhook, 200, "Change a webhook", s.updateWebhook)
	route(s, api, "rotate-webhook", "POST", webhook+"/rotate", 200, "Give a webhook a new secret", s.rotateWebhook)
	route(s, api, "delete-webhook", "DELETE", webhook, 204, "Delete a webhook", s.deleteWebhook)

	route(s, api, "list-deliveries", "GET", webhook+"/deliveries", 200,
		"List what a webhook was sent", s.listDeliveries)
	route(s, api, "redeliver", "POST", webhook+"/deliveries/{delivery}/redeliver", 200,
		"Send an event once more", s.redeliver)

	route(s, api, "list-audit", "GET", "/api/v1/audit", 200, "List what was done and refused", s.listAudit)
	route(s, api, "verify-audit", "GET", "/api/v1/audit/verify", 200,
		"Tell whether the audit log is whole", s.verifyAudit)
}

// loginRoutes are hosted login: app clients, providers, and the users who sign in.
func (s *Server) loginRoutes(api huma.API) {
	const (
		tenant = "/api/v1/tenants/{tenant}"
		client = "/api/v1/app-clients/{client}"
		user   = "/api/v1/users/{user}"
	)
	route(s, api, "list-app-clients", "GET", tenant+"/app-clients", 200,
		"List a tenant's app clients", s.listAppClients)
	route(s, api, "create-app-client", "POST", tenant+"/app-clients", 201, "Create an app client", s.createAppClient)
	route(s, api, "get-app-client", "GET", client, 200, "Get an app client", s.getAppClient)
	route(s, api, "update-app-client", "PATCH", client, 200, "Change an app client", s.updateAppClient)
	route(s, api, "delete-app-client", "DELETE", client, 204, "Delete an app client", s.deleteAppClient)

	route(s, api, "list-providers", "GET", client+"/providers", 200, "List an app client's providers", s.listProviders)
	route(s, api, "create-provider", "POST", client+"/providers", 201, "Offer another provider", s.createProvider)
	route(s, api, "update-provider", "PATCH", "/api/v1/providers/{provider}", 200,
		"Change a provider", s.updateProvider)
	route(s, api, "delete-provider", "DELETE", "/api/v1/providers/{provider}", 204,
		"Offer a provider no more", s.deleteProvider)

	route(s, api, "list-users", "GET", tenant+"/users", 200, "List a tenant's users", s.listUsers)
	route(s, api, "create-user", "POST", tenant+"/users", 201, "Expect a user", s.createUser)
	route(s, api, "get-user", "GET", user, 200, "Get a user", s.getUser)
	route(s, api, "update-user", "PATCH", user, 200, "Change a user", s.updateUser)
	route(s, api, "freeze-user", "POST", user+"/freeze", 200, "Freeze a user", s.freezeUser)
	route(s, api, "unfreeze-user", "POST", user+"/unfreeze", 200, "Unfreeze a user", s.unfreezeUser)
	route(s, api, "delete-user", "DELETE", user, 204, "Delete a user", s.deleteUser)
	route(s, api, "get-entry", "GET", tenant+"/entry", 200, "Tell who may come to a tenant", s.getEntry)
	route(s, api, "set-entry", "PUT", tenant+"/entry", 200, "Say who may come to a tenant", s.setEntry)

	route(s, api, "list-approvals", "GET", tenant+"/approvals", 200, "List who is approved beforehand", s.listApprovals)
	route(s, api, "create-approval", "POST", tenant+"/approvals", 201,
		"Approve of an address or a domain", s.createApproval)
	route(s, api, "delete-approval", "DELETE", tenant+"/approvals/{approval}", 204, "End an approval", s.deleteApproval)
}

// groupRoutes are the groups of a tenant.
func (s *Server) groupRoutes(api huma.API) {
	const (
		tenant = "/api/v1/tenants/{tenant}"
		group  = "/api/v1/groups/{group}"
	)
	route(s, api, "list-groups", "GET", tenant+"/groups", 200, "List a tenant's groups", s.listGroups)
	route(s, api, "create-group", "POST", tenant+"/groups", 201, "Make a group", s.createGroup)
	route(s, api, "get-group", "GET", group, 200, "Get a group", s.getGroup)
	route(s, api, "update-group", "PATCH", group, 200, "Change a group", s.updateGroup)
	route(s, api, "delete-group", "DELETE", group, 204, "Delete a group", s.deleteGroup)

	route(s, api, "list-group-members", "GET", group+"/members", 200,
		"List who is in a group directly", s.listGroupMembers)
	route(s, api, "set-group-member", "PUT", group+"/members/{user}", 200, "Put a user into a group", s.setGroupMember)
	route(s, api, "remove-group-member", "DELETE", group+"/members/{user}", 204,
		"Take a user out of a group", s.removeGroupMember)
	route(s, api, "nest-group", "PUT", group+"/children/{child}", 200, "Put a group into a group", s.nestGroup)
	route(s, api, "unnest-group", "DELETE", group+"/children/{child}", 204,
		"Take a group out of a group", s.unnestGroup)
}

// setFrameworks sets what huma and Gin keep for the whole process, once: a
// process may build several servers at the same time.
var setFrameworks = sync.OnceFunc(func() {
	huma.NewError, huma.NewErrorWithContext = frameworkProblem, problemInContext
	huma.ValidateStrictCasing = true
	gin.SetMode(gin.ReleaseMode)
})

func (s *Server) newAPI(r *gin.Engine) huma.API {
	c := huma.DefaultConfig("Postern", s.Version)
	c.Info.Description = "An API gateway that its customers can always leave."
	c.Servers = []*huma.Server{{URL: s.Config.PublicURL}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "/openapi", "", ""
	c.CreateHooks = nil // no $schema member in answers
	strict := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshalBody}
	c.Formats = map[string]huma.Format{"application/json": strict, "json": strict} // the second for …+json
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "An access token of an account, or a workspace key as POST /proxy answers it."},
	}
	return humagin.NewWithGroup(r, r.Group("/", s.identify, s.knows, s.once, s.orEvents), c)
}
