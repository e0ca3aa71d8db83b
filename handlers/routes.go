package handlers

import (
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"postern/platform/fault"
)

// routes is every route of the control plane on one screen.
func (s *Server) routes(r *gin.Engine) {
	r.NoRoute(func(c *gin.Context) { s.refuse(c, notFound()) })
	r.NoMethod(func(c *gin.Context) { s.respond(c.Writer, c.Request, wrongMethod(c.Request.Method)) })
	for _, method := range []string{http.MethodGet, http.MethodHead} { // load balancers ask with either
		r.Handle(method, "/healthz", gin.WrapF(s.health))
		r.Handle(method, "/readyz", func(c *gin.Context) { s.readiness(c.Writer, c.Request, s.Ready) })
	}
	r.GET("/metrics", gin.WrapF(s.showMetrics))
	r.GET("/.well-known/postern-export-key", s.showExportKeys)
	s.pages(r)
	s.issuers(r)

	api := s.newAPI(r)
	route(s, api, "create-proxy", "POST", "/proxy", 201, "Put a proxy in front of an API", s.createProxy)

	route(s, api, "claim", "POST", "/api/v1/claim", 200, "Take over an unclaimed workspace", s.claimWorkspace)

	route(s, api, "list-teams", "GET", "/api/v1/teams", 200, "List teams", s.listTeams)
	route(s, api, "create-team", "POST", "/api/v1/teams", 201, "Make a team", s.createTeam)
	route(s, api, "get-team", "GET", "/api/v1/teams/{team}", 200, "Get a team", s.getTeam)
	route(s, api, "rename-team", "PATCH", "/api/v1/teams/{team}", 200, "Rename a team", s.renameTeam)
	route(s, api, "leave-team", "POST", "/api/v1/teams/{team}/leave", 204, "Leave a team", s.leaveTeam)
	route(s, api, "list-members", "GET", "/api/v1/teams/{team}/members", 200, "List a team's members", s.listMembers)
	route(s, api, "change-role", "PATCH", "/api/v1/teams/{team}/members/{account}", 200, "Change a member's role", s.changeRole)
	route(s, api, "remove-member", "DELETE", "/api/v1/teams/{team}/members/{account}", 204, "Take a member out of a team", s.removeMember)
	route(s, api, "list-invitations", "GET", "/api/v1/teams/{team}/invitations", 200, "List open invitations", s.listInvitations)
	route(s, api, "create-invitation", "POST", "/api/v1/teams/{team}/invitations", 201, "Make an invitation's link", s.createInvitation)
	route(s, api, "revoke-invitation", "DELETE", "/api/v1/teams/{team}/invitations/{invitation}", 204, "Revoke an invitation", s.revokeInvitation)
	route(s, api, "accept-invitation", "POST", "/api/v1/invitations/accept", 200, "Join a team by an invitation", s.acceptInvitation)

	route(s, api, "list-sessions", "GET", "/api/v1/sessions", 200, "List where the account is signed in", s.listSessions)
	route(s, api, "end-session", "DELETE", "/api/v1/sessions/{session}", 204, "Sign out in one place", s.endSession)
	route(s, api, "end-other-sessions", "POST", "/api/v1/sessions/end-others", 200, "Sign out everywhere else", s.endOtherSessions)

	route(s, api, "whoami", "GET", "/api/v1/whoami", 200, "Show whom a credential stands for", s.whoami)
	route(s, api, "list-tokens", "GET", "/api/v1/tokens", 200, "List access tokens", s.listTokens)
	route(s, api, "create-token", "POST", "/api/v1/tokens", 201, "Create an access token", s.createToken)
	route(s, api, "revoke-token", "DELETE", "/api/v1/tokens/{token}", 204, "Revoke an access token", s.revokeToken)
	r.POST("/oauth/device_authorization", s.authorizeDevice)
	r.POST("/oauth/token", s.exchangeDevice)

	route(s, api, "list-projects", "GET", "/api/v1/projects", 200, "List projects", s.listProjects)
	route(s, api, "get-project", "GET", "/api/v1/projects/{project}", 200, "Get a project", s.getProject)
	route(s, api, "update-project", "PATCH", "/api/v1/projects/{project}", 200, "Change a project's settings", s.updateProject)
	route(s, api, "update-version", "PATCH", "/api/v1/projects/{project}/versions/{version}", 200, "Change a version's access policy", s.updateVersion)
	route(s, api, "update-environment", "PATCH", "/api/v1/projects/{project}/environments/{environment}", 200, "Change an environment's target", s.updateEnvironment)

	route(s, api, "list-key-types", "GET", "/api/v1/projects/{project}/key-types", 200, "List a project's key types", s.listKeyTypes)
	route(s, api, "create-key-type", "POST", "/api/v1/projects/{project}/key-types", 201, "Create a key type", s.createKeyType)
	route(s, api, "update-key-type", "PATCH", "/api/v1/projects/{project}/key-types/{key_type}", 200, "Change a key type", s.updateKeyType)
	route(s, api, "delete-key-type", "DELETE", "/api/v1/projects/{project}/key-types/{key_type}", 204, "Delete a key type that no key is of", s.deleteKeyType)

	route(s, api, "list-products", "GET", "/api/v1/products", 200, "List products", s.listProducts)
	route(s, api, "create-product", "POST", "/api/v1/products", 201, "Create a product", s.createProduct)
	route(s, api, "get-product", "GET", "/api/v1/products/{product}", 200, "Get a product", s.getProduct)
	route(s, api, "update-product", "PATCH", "/api/v1/products/{product}", 200, "Change a product's display name", s.updateProduct)
	route(s, api, "delete-product", "DELETE", "/api/v1/products/{product}", 204, "Delete a product without projects", s.deleteProduct)

	route(s, api, "list-tenants", "GET", "/api/v1/tenants", 200, "List tenants", s.listTenants)
	route(s, api, "create-tenant", "POST", "/api/v1/tenants", 201, "Create a tenant", s.createTenant)
	route(s, api, "get-tenant", "GET", "/api/v1/tenants/{tenant}", 200, "Get a tenant", s.getTenant)
	route(s, api, "update-tenant", "PATCH", "/api/v1/tenants/{tenant}", 200, "Change a tenant", s.updateTenant)
	route(s, api, "delete-tenant", "DELETE", "/api/v1/tenants/{tenant}", 204, "Delete an unused tenant", s.deleteTenant)
	route(s, api, "attach-tenant", "PUT", "/api/v1/projects/{project}/tenants/{tenant}", 200, "Make a project serve a tenant", s.attachTenant)
	route(s, api, "detach-tenant", "DELETE", "/api/v1/projects/{project}/tenants/{tenant}", 204, "End that a project serves a tenant", s.detachTenant)
	route(s, api, "take-down-project", "PUT", "/api/v1/projects/{project}/takedown", 200, "Take a project down (operators)", s.takeDownProject)
	route(s, api, "restore-project", "DELETE", "/api/v1/projects/{project}/takedown", 200, "Lift a takedown (operators)", s.restoreProject)

	route(s, api, "list-keys", "GET", "/api/v1/projects/{project}/keys", 200, "List API keys", s.listKeys)
	route(s, api, "create-key", "POST", "/api/v1/projects/{project}/keys", 201, "Create an API key", s.createKey)
	route(s, api, "get-key", "GET", "/api/v1/keys/{key}", 200, "Get an API key", s.getKey)
	route(s, api, "update-key", "PATCH", "/api/v1/keys/{key}", 200, "Change an API key", s.updateKey)
	route(s, api, "rotate-key", "POST", "/api/v1/keys/{key}/rotate", 200, "Give an API key a new secret", s.rotateKey)
	route(s, api, "freeze-key", "POST", "/api/v1/keys/{key}/freeze", 200, "Freeze an API key", s.freezeKey)
	route(s, api, "unfreeze-key", "POST", "/api/v1/keys/{key}/unfreeze", 200, "Unfreeze an API key", s.unfreezeKey)
	route(s, api, "revoke-key", "POST", "/api/v1/keys/{key}/revoke", 200, "Revoke an API key for good", s.revokeKey)

	route(s, api, "list-exports", "GET", "/api/v1/projects/{project}/exports", 200, "List exports", s.listExports)
	route(s, api, "create-export", "POST", "/api/v1/projects/{project}/exports", 202, "Take a project away as a zip", s.createExport)
	route(s, api, "get-export", "GET", "/api/v1/exports/{export}", 200, "Get an export and its progress", s.getExport)
	route(s, api, "cancel-export", "POST", "/api/v1/exports/{export}/cancel", 200, "Cancel an unfinished export", s.cancelExport)
	r.GET("/api/v1/exports/:export/download", s.identify, s.downloadExport)

	route(s, api, "list-webhooks", "GET", "/api/v1/webhooks", 200, "List webhooks", s.listWebhooks)
	route(s, api, "create-webhook", "POST", "/api/v1/webhooks", 201, "Tell an address what happens", s.createWebhook)
	route(s, api, "get-webhook", "GET", "/api/v1/webhooks/{webhook}", 200, "Get a webhook", s.getWebhook)
	route(s, api, "update-webhook", "PATCH", "/api/v1/webhooks/{webhook}", 200, "Change a webhook", s.updateWebhook)
	route(s, api, "rotate-webhook", "POST", "/api/v1/webhooks/{webhook}/rotate", 200, "Give a webhook a new secret", s.rotateWebhook)
	route(s, api, "delete-webhook", "DELETE", "/api/v1/webhooks/{webhook}", 204, "Delete a webhook", s.deleteWebhook)
	route(s, api, "list-deliveries", "GET", "/api/v1/webhooks/{webhook}/deliveries", 200, "List what a webhook was sent", s.listDeliveries)
	route(s, api, "redeliver", "POST", "/api/v1/webhooks/{webhook}/deliveries/{delivery}/redeliver", 200, "Send an event once more", s.redeliver)

	route(s, api, "get-usage", "GET", usageRoute, 200, "Sum up calls", s.getUsage)
	route(s, api, "list-requests", "GET", requestsRoute, 200, "List the latest requests, or follow them", s.listRequests)
	describeUsage(api.OpenAPI())

	route(s, api, "list-app-clients", "GET", "/api/v1/tenants/{tenant}/app-clients", 200, "List a tenant's app clients", s.listAppClients)
	route(s, api, "create-app-client", "POST", "/api/v1/tenants/{tenant}/app-clients", 201, "Create an app client", s.createAppClient)
	route(s, api, "get-app-client", "GET", "/api/v1/app-clients/{client}", 200, "Get an app client", s.getAppClient)
	route(s, api, "update-app-client", "PATCH", "/api/v1/app-clients/{client}", 200, "Change an app client", s.updateAppClient)
	route(s, api, "delete-app-client", "DELETE", "/api/v1/app-clients/{client}", 204, "Delete an app client", s.deleteAppClient)
	route(s, api, "list-providers", "GET", "/api/v1/app-clients/{client}/providers", 200, "List an app client's providers", s.listProviders)
	route(s, api, "create-provider", "POST", "/api/v1/app-clients/{client}/providers", 201, "Offer another provider", s.createProvider)
	route(s, api, "update-provider", "PATCH", "/api/v1/providers/{provider}", 200, "Change a provider", s.updateProvider)
	route(s, api, "delete-provider", "DELETE", "/api/v1/providers/{provider}", 204, "Offer a provider no more", s.deleteProvider)

	people := "/api/v1/tenants/{tenant}"
	route(s, api, "list-users", "GET", people+"/users", 200, "List a tenant's users", s.listUsers)
	route(s, api, "create-user", "POST", people+"/users", 201, "Expect a user", s.createUser)
	route(s, api, "get-user", "GET", "/api/v1/users/{user}", 200, "Get a user", s.getUser)
	route(s, api, "update-user", "PATCH", "/api/v1/users/{user}", 200, "Change a user", s.updateUser)
	route(s, api, "freeze-user", "POST", "/api/v1/users/{user}/freeze", 200, "Freeze a user", s.freezeUser)
	route(s, api, "unfreeze-user", "POST", "/api/v1/users/{user}/unfreeze", 200, "Unfreeze a user", s.unfreezeUser)
	route(s, api, "delete-user", "DELETE", "/api/v1/users/{user}", 204, "Delete a user", s.deleteUser)
	route(s, api, "get-entry", "GET", people+"/entry", 200, "Tell who may come to a tenant", s.getEntry)
	route(s, api, "set-entry", "PUT", people+"/entry", 200, "Say who may come to a tenant", s.setEntry)
	route(s, api, "list-approvals", "GET", people+"/approvals", 200, "List who is approved beforehand", s.listApprovals)
	route(s, api, "create-approval", "POST", people+"/approvals", 201, "Approve of an address or a domain", s.createApproval)
	route(s, api, "delete-approval", "DELETE", people+"/approvals/{approval}", 204, "End an approval", s.deleteApproval)

	route(s, api, "list-groups", "GET", people+"/groups", 200, "List a tenant's groups", s.listGroups)
	route(s, api, "create-group", "POST", people+"/groups", 201, "Make a group", s.createGroup)
	route(s, api, "get-group", "GET", "/api/v1/groups/{group}", 200, "Get a group", s.getGroup)
	route(s, api, "update-group", "PATCH", "/api/v1/groups/{group}", 200, "Change a group", s.updateGroup)
	route(s, api, "delete-group", "DELETE", "/api/v1/groups/{group}", 204, "Delete a group", s.deleteGroup)
	route(s, api, "list-group-members", "GET", "/api/v1/groups/{group}/members", 200, "List who is in a group directly", s.listGroupMembers)
	route(s, api, "set-group-member", "PUT", "/api/v1/groups/{group}/members/{user}", 200, "Put a user into a group", s.setGroupMember)
	route(s, api, "remove-group-member", "DELETE", "/api/v1/groups/{group}/members/{user}", 204, "Take a user out of a group", s.removeGroupMember)
	route(s, api, "nest-group", "PUT", "/api/v1/groups/{group}/children/{child}", 200, "Put a group into a group", s.nestGroup)
	route(s, api, "unnest-group", "DELETE", "/api/v1/groups/{group}/children/{child}", 204, "Take a group out of a group", s.unnestGroup)
	s.provisioning(r)

	route(s, api, "list-audit", "GET", "/api/v1/audit", 200, "List what was done and refused", s.listAudit)
	route(s, api, "verify-audit", "GET", "/api/v1/audit/verify", 200, "Tell whether the audit log is whole", s.verifyAudit)
}

func notFound() error {
	return fault.New(fault.NotFound, "not_found", "There is nothing at this address.")
}

func wrongMethod(method string) error {
	return frameworkProblem(http.StatusMethodNotAllowed, method+" is not among the methods of this address; Allow names them.")
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
