package api

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
)

// Mount adds the routes of the JSON API. All of them are in this file, or in a
// function that it calls with r. It returns functions that write the OpenAPI document, and
// its outline.
func (h *Handler) Mount(r *gin.Engine) (document, outlined func() ([]byte, error)) {
	r.GET("/.well-known/postern-export-key", h.showExportKeys)
	r.POST("/oauth/device_authorization", h.authorizeDevice)
	r.POST("/oauth/token", h.exchangeDevice)

	api := h.newAPI(r)
	h.accountRoutes(api)
	h.projectRoutes(api)
	h.upstreamRoutes(api)
	h.groupingRoutes(api)
	h.domainRoutes(api)
	h.keyRoutes(api)
	h.exportRoutes(api)
	h.loginRoutes(api)
	h.groupRoutes(api)
	h.importRoutes(r, api)
	h.exportFiles(r, api)
	for _, describe := range []func(*huma.OpenAPI){
		describeEvents, describeTags, describeProblems, describeRaw, describeNulls, describeExamples,
	} {
		describe(api.OpenAPI())
	}
	return api.OpenAPI().MarshalJSON, func() ([]byte, error) { return outline(api.OpenAPI()) }
}

// accountRoutes adds teams, sessions and credentials of accounts.
func (h *Handler) accountRoutes(api huma.API) {
	serve(h, api, contract.ClaimWorkspace, h.Accounts.Claim)

	serveList(h, api, contract.ListTeams, h.Accounts.Teams)
	serve(h, api, contract.CreateTeam, h.Accounts.CreateTeam)
	serve(h, api, contract.GetTeam, h.Accounts.Team)
	serve(h, api, contract.UpdateTeam, h.Accounts.UpdateTeam)
	serve(h, api, contract.GetTeamDeletion, h.Accounts.TeamDeletion)
	serve(h, api, contract.DeleteTeam, h.Accounts.DeleteTeam)
	serve(h, api, contract.LeaveTeam, h.Accounts.Leave)

	serveList(h, api, contract.ListTeamMembers, h.Accounts.Members)
	serve(h, api, contract.GetTeamMember, h.Accounts.Member)
	serve(h, api, contract.UpdateTeamMember, h.Accounts.UpdateMember)
	serve(h, api, contract.RemoveTeamMember, h.Accounts.RemoveMember)

	serveList(h, api, contract.ListInvitations, h.Accounts.Invitations)
	serve(h, api, contract.CreateInvitation, h.invite)
	serve(h, api, contract.GetInvitation, h.Accounts.Invitation)
	serve(h, api, contract.RevokeInvitation, h.Accounts.RevokeInvitation)
	serve(h, api, contract.AcceptInvitation, h.Accounts.Accept)

	serveList(h, api, contract.ListSessions, h.Accounts.Sessions)
	serve(h, api, contract.EndSession, h.Accounts.EndSession)
	serve(h, api, contract.EndOtherSessions, h.Accounts.EndOtherSessions)
	serve(h, api, contract.UpdateAccount, h.Accounts.UpdateProfile)
	serve(h, api, contract.GetAccountDeletion, h.Accounts.AccountDeletion)
	serve(h, api, contract.DeleteAccount, h.Accounts.DeleteAccount)
	serve(h, api, contract.GetWhoami, h.whoami)

	serveList(h, api, contract.ListTokens, h.Tokens.List)
	serve(h, api, contract.CreateToken, h.Tokens.Create)
	serve(h, api, contract.GetToken, h.Tokens.Get)
	serve(h, api, contract.UpdateToken, h.Tokens.Update)
	serve(h, api, contract.RevokeToken, h.Tokens.Revoke)
}

// projectRoutes adds projects with their versions, environments and key types.
func (h *Handler) projectRoutes(api huma.API) {
	const project = "/api/v1/projects/{project}"
	route(h, api, "create-proxy", "POST", "/proxy", 201, "Create a proxy", h.createProxy)

	route(h, api, "list-projects", "GET", "/api/v1/projects", 200, "List projects", h.listProjects)
	route(h, api, "get-project", "GET", project, 200, "Get a project", h.getProject)
	route(h, api, "update-project", "PATCH", project, 200, "Update a project", h.updateProject)
	route(h, api, "create-version", "POST", project+"/versions", 201,
		"Add a version as a copy of another one", h.createVersion)
	route(h, api, "create-environment", "POST", project+"/versions/{version}/environments", 201,
		"Add an environment to a version", h.createEnvironment)
	route(h, api, "delete-project", "DELETE", project, 200,
		"Delete a project: to the bin, or for good", h.deleteProject)
	route(h, api, "get-project-deletion", "GET", project+"/deletion", 200,
		"Show what deleting a project takes along", h.getProjectDeletion)
	route(h, api, "restore-project", "POST", project+"/restore", 200,
		"Restore a deleted project", h.restoreProject)
	route(h, api, "move-project", "POST", project+"/move", 200, "Move a project to another team", h.moveProject)
	route(h, api, "update-version", "PATCH", project+"/versions/{version}", 200,
		"Update a version's access policy", h.updateVersion)
	route(h, api, "get-version-callers", "GET", project+"/versions/{version}/callers", 200,
		"List who calls a version", h.getVersionCallers)
	route(h, api, "delete-version", "DELETE", project+"/versions/{version}", 204,
		"Remove a version", h.deleteVersion)
	serve(h, api, contract.Explain, h.Projects.Explain)
	h.ruleRoutes(api)
	serveList(h, api, contract.ListRelations, h.Relations.List)
	serve(h, api, contract.AddRelations, h.Relations.Add)
	serve(h, api, contract.RemoveRelations, h.Relations.Remove)
	serve(h, api, contract.GetTransforms, h.Projects.Transforms)
	serve(h, api, contract.SetTransforms, h.Projects.SetTransforms)
	h.openAPIRoutes(api)
	route(h, api, "get-environment-callers", "GET",
		project+"/versions/{version}/environments/{environment}/callers", 200,
		"List who calls an environment", h.getEnvironmentCallers)
	route(h, api, "delete-environment", "DELETE", project+"/versions/{version}/environments/{environment}", 204,
		"Remove an environment", h.deleteEnvironment)
	route(h, api, "update-environment", "PATCH", project+"/environments/{environment}", 200,
		"Update an environment", h.updateEnvironment)

	serve(h, api, contract.ListKeyTypes, h.Projects.KeyTypes)
	serve(h, api, contract.CreateKeyType, h.Projects.CreateKeyType)
	serve(h, api, contract.GetKeyType, h.Projects.KeyType)
	serve(h, api, contract.UpdateKeyType, h.Projects.UpdateKeyType)
	serve(h, api, contract.DeleteKeyType, h.Projects.DeleteKeyType)
}

// upstreamRoutes adds what upstreams recognize a project's calls by.
func (h *Handler) upstreamRoutes(api huma.API) {
	const (
		project     = "/api/v1/projects/{project}"
		environment = project + "/environments/{environment}"
	)
	serve(h, api, contract.CheckTarget, h.Diagnostics.Target)
	serve(h, api, contract.TestTokenIssuer, h.Diagnostics.Issuer)
	serve(h, api, contract.TestIntrospection, h.Diagnostics.Introspection)
	route(h, api, "list-upstream-headers", "GET", environment+"/upstream-headers", 200,
		"List the headers that an environment sets for its upstream", h.listUpstreamHeaders)
	route(h, api, "set-upstream-header", "PUT", environment+"/upstream-headers/{name}", 200,
		"Set a header for an environment's upstream", h.setUpstreamHeader)
	route(h, api, "remove-upstream-header", "DELETE",
		environment+"/upstream-headers/{name}", 204,
		"Remove a header for an environment's upstream", h.removeUpstreamHeader)
	route(h, api, "get-client-certificate", "GET", environment+"/client-certificate", 200,
		"Show the certificate that an environment presents to its upstream", h.getClientCertificate)
	route(h, api, "set-client-certificate", "PUT", environment+"/client-certificate", 200,
		"Present a certificate to an environment's upstream", h.setClientCertificate)
	route(h, api, "remove-client-certificate", "DELETE", environment+"/client-certificate", 204,
		"Stop presenting a certificate to an environment's upstream", h.removeClientCertificate)
	route(h, api, "get-call-signing", "GET", project+"/call-signing", 200,
		"Show how calls to upstreams are signed", h.getCallSigning)
	route(h, api, "enable-call-signing", "PUT", project+"/call-signing", 200,
		"Sign calls to upstreams", h.enableCallSigning)
	route(h, api, "disable-call-signing", "DELETE", project+"/call-signing", 204,
		"Stop signing calls to upstreams", h.disableCallSigning)
	route(h, api, "rotate-call-signing-key", "POST", project+"/call-signing/rotate", 200,
		"Rotate the key that signs calls to upstreams", h.rotateCallSigningKey)
}

// groupingRoutes adds products and tenants.
func (h *Handler) groupingRoutes(api huma.API) {
	const project = "/api/v1/projects/{project}"
	serveList(h, api, contract.ListProducts, h.Projects.Products)
	serve(h, api, contract.CreateProduct, h.Projects.CreateProduct)
	serve(h, api, contract.GetProduct, h.Projects.Product)
	serve(h, api, contract.UpdateProduct, h.Projects.UpdateProduct)
	serve(h, api, contract.DeleteProduct, h.Projects.DeleteProduct)
	serve(h, api, contract.GetProductDeletion, h.Projects.ProductDeletion)

	serveList(h, api, contract.ListTenants, h.Projects.Tenants)
	serve(h, api, contract.CreateTenant, h.Projects.CreateTenant)
	serve(h, api, contract.GetTenant, h.Projects.Tenant)
	serve(h, api, contract.UpdateTenant, h.Projects.UpdateTenant)
	serve(h, api, contract.DeleteTenant, h.Projects.DeleteTenant)
	serve(h, api, contract.GetTenantDeletion, h.Projects.TenantDeletion)
	serve(h, api, contract.AttachTenant, h.Projects.Attach)
	serve(h, api, contract.DetachTenant, h.Projects.Detach)
	route(h, api, "take-down-project", "PUT", project+"/takedown", 200,
		"Take a project down (operators)", h.takeDownProject)
	route(h, api, "lift-takedown", "DELETE", project+"/takedown", 200,
		"Lift a takedown (operators)", h.liftTakedown)
}

// domainRoutes adds the custom domains of projects.
func (h *Handler) domainRoutes(api huma.API) {
	serveList(h, api, contract.ListDomains, h.Domains.List)
	serve(h, api, contract.CreateDomain, h.Domains.Create)
	serve(h, api, contract.GetDomain, h.Domains.Get)
	serve(h, api, contract.UpdateDomain, h.Domains.Update)
	serve(h, api, contract.VerifyDomain, h.Domains.Verify)
	serve(h, api, contract.DeleteDomain, h.Domains.Delete)
	serve(h, api, contract.ApproveDomain, h.Domains.Approve)
	serve(h, api, contract.DisapproveDomain, h.Domains.Disapprove)
}

// keyRoutes adds API keys, usage and the live request log.
func (h *Handler) keyRoutes(api huma.API) {
	serveList(h, api, contract.ListKeys, h.Keys.List)
	serve(h, api, contract.CreateKey, h.Keys.Create)
	serve(h, api, contract.GetKey, h.Keys.Get)
	serve(h, api, contract.UpdateKey, h.Keys.Update)
	serve(h, api, contract.RotateKey, h.Keys.Rotate)
	serve(h, api, contract.FreezeKey, h.Keys.Freeze)
	serve(h, api, contract.UnfreezeKey, h.Keys.Unfreeze)
	serve(h, api, contract.RevokeKey, h.Keys.Revoke)

	serve(h, api, contract.GetUsage, h.Usage.Usage)
	serve(h, api, contract.ListRequests, h.Usage.Requests)
	serve(h, api, contract.GetRequest, h.Usage.Request)
}

// exportRoutes adds exports, webhooks and the audit log.
func (h *Handler) exportRoutes(api huma.API) {
	const (
		project = "/api/v1/projects/{project}"
	)
	serveList(h, api, contract.ListExports, h.Exports.List)
	serve(h, api, contract.CreateExport, h.Exports.Create)
	route(h, api, "preview-export", "GET", project+"/exports/preview", 200,
		"Preview the ledger of an export", h.previewExport)
	serve(h, api, contract.GetExport, h.Exports.Get)
	serve(h, api, contract.CancelExport, h.Exports.Cancel)
	route(h, api, "get-export-ledger", "GET", "/api/v1/exports/{export}/ledger", 200,
		"Get the ledger of an export", h.getExportLedger)

	serveList(h, api, contract.ListWebhooks, h.Webhooks.List)
	serve(h, api, contract.CreateWebhook, h.Webhooks.Create)
	serve(h, api, contract.GetWebhook, h.Webhooks.Get)
	serve(h, api, contract.UpdateWebhook, h.Webhooks.Update)
	serve(h, api, contract.RotateWebhook, h.Webhooks.Rotate)
	serve(h, api, contract.DeleteWebhook, h.Webhooks.Delete)
	serve(h, api, contract.TestWebhook, h.Webhooks.SendTest)
	serve(h, api, contract.GetDelivery, h.Webhooks.Delivery)
	serveList(h, api, contract.ListDeliveries, h.Webhooks.Deliveries)
	serve(h, api, contract.Redeliver, h.Webhooks.Redeliver)

	serveList(h, api, contract.ListAuditEntries, h.Audit.List)
	serve(h, api, contract.GetAuditEntry, h.Audit.Get)
	serve(h, api, contract.VerifyAudit, h.Audit.Verify)
}

// loginRoutes adds hosted login: app clients, providers, users and the sign-in policy.
func (h *Handler) loginRoutes(api huma.API) {
	const (
		tenant = "/api/v1/tenants/{tenant}"
		client = "/api/v1/app-clients/{client}"
	)
	serve(h, api, contract.GetAPIScopes, h.Projects.APIScopes)
	serve(h, api, contract.SetAPIScopes, h.Projects.SetAPIScopes)
	serve(h, api, contract.GetCORS, h.Projects.CORS)
	serve(h, api, contract.SetCORS, h.Projects.SetCORS)
	serve(h, api, contract.RemoveCORS, h.Projects.RemoveCORS)
	serve(h, api, contract.GetTenantCORS, h.Projects.TenantCORS)
	serve(h, api, contract.SetTenantCORS, h.Projects.SetTenantCORS)
	serve(h, api, contract.RemoveTenantCORS, h.Projects.RemoveTenantCORS)

	serveList(h, api, contract.ListAppClients, h.Login.Clients)
	serve(h, api, contract.CreateAppClient, h.Login.CreateClient)
	serve(h, api, contract.GetAppClient, h.Login.Client)
	serve(h, api, contract.UpdateAppClient, h.Login.UpdateClient)
	serve(h, api, contract.FreezeAppClient, h.Login.FreezeClient)
	serve(h, api, contract.UnfreezeAppClient, h.Login.UnfreezeClient)
	serve(h, api, contract.RotateAppClientKey, h.Login.RotateSigningKey)
	serve(h, api, contract.DeleteAppClient, h.Login.DeleteClient)

	route(h, api, "list-providers", "GET", client+"/providers", 200, "List an app client's providers", h.listProviders)
	route(h, api, "create-provider", "POST", client+"/providers", 201, "Add a provider", h.createProvider)
	route(h, api, "update-provider", "PATCH", "/api/v1/providers/{provider}", 200,
		"Update a provider", h.updateProvider)
	route(h, api, "test-provider", "POST", "/api/v1/providers/{provider}/test", 200,
		"Test a provider without a user who signs in", h.testProvider)
	route(h, api, "delete-provider", "DELETE", "/api/v1/providers/{provider}", 204,
		"Remove a provider", h.deleteProvider)
	serve(h, api, contract.GetGroupMappings, h.Login.GroupMappings)
	serve(h, api, contract.SetGroupMappings, h.Login.SetGroupMappings)

	serveList(h, api, contract.ListUsers, h.Directory.Users)
	serve(h, api, contract.CreateUser, h.Directory.CreateUser)
	serve(h, api, contract.GetUser, h.Directory.User)
	serve(h, api, contract.UpdateUser, h.Directory.UpdateUser)
	serve(h, api, contract.FreezeUser, h.Directory.Freeze)
	serve(h, api, contract.UnfreezeUser, h.Directory.Unfreeze)
	serve(h, api, contract.CreateUserInvitation, h.Login.InviteUser)
	serve(h, api, contract.DeleteUser, h.Directory.DeleteUser)
	serveList(h, api, contract.ListUserSessions, h.Login.Sessions)
	serve(h, api, contract.EndUserSession, h.Login.EndSession)
	serve(h, api, contract.EndUserSessions, h.Login.EndSessions)
	serveList(h, api, contract.ListConsents, h.Login.Consents)
	serve(h, api, contract.WithdrawConsent, h.Login.WithdrawConsent)
	route(h, api, "get-entry", "GET", tenant+"/entry", 200, "Get a tenant's sign-in policy", h.getEntry)
	route(h, api, "set-entry", "PUT", tenant+"/entry", 200, "Set a tenant's sign-in policy", h.setEntry)

	route(h, api, "list-approvals", "GET", tenant+"/approvals", 200, "List approvals", h.listApprovals)
	route(h, api, "create-approval", "POST", tenant+"/approvals", 201,
		"Create an approval", h.createApproval)
	route(h, api, "delete-approval", "DELETE", tenant+"/approvals/{approval}", 204,
		"Delete an approval", h.deleteApproval)
}

// groupRoutes adds the groups of a tenant.
func (h *Handler) groupRoutes(api huma.API) {
	serveList(h, api, contract.ListGroups, h.Directory.Groups)
	serve(h, api, contract.CreateGroup, h.Directory.CreateGroup)
	serve(h, api, contract.GetGroup, h.Directory.Group)
	serve(h, api, contract.UpdateGroup, h.Directory.UpdateGroup)
	serve(h, api, contract.DeleteGroup, h.Directory.DeleteGroup)
	serveList(h, api, contract.ListGroupMembers, h.Directory.Members)
	serve(h, api, contract.SetGroupMember, h.Directory.SetMember)
	serve(h, api, contract.RemoveGroupMember, h.Directory.RemoveMember)
	serve(h, api, contract.NestGroup, h.Directory.Nest)
	serve(h, api, contract.UnnestGroup, h.Directory.Unnest)
}
