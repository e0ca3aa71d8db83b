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
	r.POST(contract.DevicePath, h.authorizeDevice)
	r.POST(contract.DeviceTokenPath, h.exchangeDevice)

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
	h.importRoutes(api)
	for _, describe := range []func(*huma.OpenAPI){
		describeEvents, describeTags, describeProblems, describeRaw, describeNulls, describeExamples,
	} {
		describe(api.OpenAPI())
	}
	return api.OpenAPI().MarshalJSON, func() ([]byte, error) { return outline(api.OpenAPI()) }
}

// importRoutes adds imports of zips and of other gateways' files.
func (h *Handler) importRoutes(api huma.API) {
	h.serveImport(api)
	serve(h, api, contract.ListImports, h.Plans.List)
	serveTagged(h, api, contract.GetImportPlan, h.Plans.Get)
	serve(h, api, contract.GetImportResult, h.Plans.Applied)
	serveTagged(h, api, contract.UpdateImportPlan, h.Plans.Update)
	serveFile(h, api, contract.DownloadImportPlan, h.Plans.Download, h.Plans.MayRead)
	serveNone(h, api, contract.DeleteImportPlan, h.Plans.Delete)
	serve(h, api, contract.ApplyImport, h.Plans.Apply)
	serveNone(h, api, contract.UndoImport, h.Plans.Undo)
}

// accountRoutes adds teams, sessions and credentials of accounts.
func (h *Handler) accountRoutes(api huma.API) {
	serve(h, api, contract.ClaimWorkspace, h.Accounts.Claim)

	serveList(h, api, contract.ListTeams, h.Accounts.Teams)
	serveTagged(h, api, contract.CreateTeam, h.Accounts.CreateTeam)
	serveTagged(h, api, contract.GetTeam, h.Accounts.Team)
	serveTagged(h, api, contract.UpdateTeam, h.Accounts.UpdateTeam)
	serve(h, api, contract.GetTeamDeletion, h.Accounts.TeamDeletion)
	serveNone(h, api, contract.DeleteTeam, h.Accounts.DeleteTeam)
	serveNone(h, api, contract.LeaveTeam, h.Accounts.Leave)

	serveList(h, api, contract.ListTeamMembers, h.Accounts.Members)
	serveTagged(h, api, contract.GetTeamMember, h.Accounts.Member)
	serveTagged(h, api, contract.UpdateTeamMember, h.Accounts.UpdateMember)
	serveNone(h, api, contract.RemoveTeamMember, h.Accounts.RemoveMember)

	serveList(h, api, contract.ListInvitations, h.Accounts.Invitations)
	serve(h, api, contract.CreateInvitation, h.invite)
	serve(h, api, contract.GetInvitation, h.Accounts.Invitation)
	serveNone(h, api, contract.RevokeInvitation, h.Accounts.RevokeInvitation)
	serveTagged(h, api, contract.AcceptInvitation, h.Accounts.Accept)

	serveList(h, api, contract.ListSessions, h.Accounts.Sessions)
	serveNone(h, api, contract.EndSession, h.Accounts.EndSession)
	serve(h, api, contract.EndOtherSessions, h.Accounts.EndOtherSessions)
	serve(h, api, contract.UpdateAccount, h.Accounts.UpdateProfile)
	serve(h, api, contract.GetAccountDeletion, h.Accounts.AccountDeletion)
	serveNone(h, api, contract.DeleteAccount, h.Accounts.DeleteAccount)
	serve(h, api, contract.GetWhoami, h.whoami)

	serveList(h, api, contract.ListTokens, h.Tokens.List)
	serveTagged(h, api, contract.CreateToken, h.Tokens.Create)
	serveTagged(h, api, contract.GetToken, h.Tokens.Get)
	serveTagged(h, api, contract.UpdateToken, h.Tokens.Update)
	serveNone(h, api, contract.RevokeToken, h.Tokens.Revoke)
}

// projectRoutes adds projects with their versions, environments and key types.
func (h *Handler) projectRoutes(api huma.API) {
	add(h, api, &contract.CreateProxy.Operation, h.createProxy)

	serveList(h, api, contract.ListProjects, h.Projects.List)
	serveTagged(h, api, contract.GetProject, h.Projects.Project)
	serveTagged(h, api, contract.UpdateProject, h.Projects.Update)
	serveTagged(h, api, contract.DeleteProject, h.Projects.Delete)
	serve(h, api, contract.GetProjectDeletion, h.Projects.Deletion)
	serveTagged(h, api, contract.RestoreProject, h.Projects.Restore)
	serveTagged(h, api, contract.MoveProject, h.Projects.Move)
	serve(h, api, contract.TakeDownProject, h.Projects.TakeDown)
	serve(h, api, contract.LiftTakedown, h.Projects.LiftTakedown)

	serve(h, api, contract.ListVersions, h.Projects.Versions)
	serveTagged(h, api, contract.CreateVersion, h.Projects.CreateVersion)
	serveTagged(h, api, contract.GetVersion, h.Projects.Version)
	serveTagged(h, api, contract.UpdateVersion, h.Projects.UpdateVersion)
	serveNone(h, api, contract.DeleteVersion, h.Projects.DeleteVersion)
	serve(h, api, contract.GetVersionCallers, h.Projects.VersionCallers)

	serve(h, api, contract.ListEnvironments, h.Projects.Environments)
	serveTagged(h, api, contract.CreateEnvironment, h.Projects.CreateEnvironment)
	serveTagged(h, api, contract.GetEnvironment, h.Projects.Environment)
	serveTagged(h, api, contract.UpdateEnvironment, h.Projects.UpdateEnvironment)
	serveNone(h, api, contract.DeleteEnvironment, h.Projects.DeleteEnvironment)
	serve(h, api, contract.GetEnvironmentCallers, h.Projects.EnvironmentCallers)

	serve(h, api, contract.Explain, h.Projects.Explain)
	h.ruleRoutes(api)
	serveList(h, api, contract.ListRelations, h.Relations.List)
	serve(h, api, contract.AddRelations, h.Relations.Add)
	serve(h, api, contract.RemoveRelations, h.Relations.Remove)
	serveTagged(h, api, contract.GetTransforms, h.Projects.Transforms)
	serveTagged(h, api, contract.SetTransforms, h.Projects.SetTransforms)
	h.openAPIRoutes(api)

	serve(h, api, contract.ListKeyTypes, h.Projects.KeyTypes)
	serveTagged(h, api, contract.CreateKeyType, h.Projects.CreateKeyType)
	serveTagged(h, api, contract.GetKeyType, h.Projects.KeyType)
	serveTagged(h, api, contract.UpdateKeyType, h.Projects.UpdateKeyType)
	serveNone(h, api, contract.DeleteKeyType, h.Projects.DeleteKeyType)
}

// upstreamRoutes adds the health of upstreams, and the credentials by which they recognize a project's calls.
func (h *Handler) upstreamRoutes(api huma.API) {
	serve(h, api, contract.CheckTarget, h.Diagnostics.Target)
	serve(h, api, contract.TestTokenIssuer, h.Diagnostics.Issuer)
	serve(h, api, contract.TestIntrospection, h.Diagnostics.Introspection)

	serve(h, api, contract.ListUpstreams, h.Usage.Upstreams)
	serve(h, api, contract.ListUpstreamHeaders, h.Projects.UpstreamHeaders)
	serve(h, api, contract.GetUpstreamHeader, h.Projects.UpstreamHeader)
	serve(h, api, contract.SetUpstreamHeader, h.Projects.SetUpstreamHeader)
	serveNone(h, api, contract.RemoveUpstreamHeader, h.Projects.RemoveUpstreamHeader)
	serve(h, api, contract.GetClientCertificate, h.Projects.ClientCertificate)
	serve(h, api, contract.SetClientCertificate, h.Projects.SetClientCertificate)
	serveNone(h, api, contract.RemoveClientCertificate, h.Projects.RemoveClientCertificate)
	serve(h, api, contract.GetCallSigning, h.Projects.CallSigning)
	serve(h, api, contract.EnableCallSigning, h.Projects.EnableCallSigning)
	serveNone(h, api, contract.DisableCallSigning, h.Projects.DisableCallSigning)
	serve(h, api, contract.RotateCallSigningKey, h.Projects.RotateSigningKey)
}

// groupingRoutes adds products and tenants.
func (h *Handler) groupingRoutes(api huma.API) {
	serveList(h, api, contract.ListProducts, h.Projects.Products)
	serveTagged(h, api, contract.CreateProduct, h.Projects.CreateProduct)
	serveTagged(h, api, contract.GetProduct, h.Projects.Product)
	serveTagged(h, api, contract.UpdateProduct, h.Projects.UpdateProduct)
	serveNone(h, api, contract.DeleteProduct, h.Projects.DeleteProduct)
	serve(h, api, contract.GetProductDeletion, h.Projects.ProductDeletion)

	serveList(h, api, contract.ListTenants, h.Projects.Tenants)
	serveTagged(h, api, contract.CreateTenant, h.Projects.CreateTenant)
	serveTagged(h, api, contract.GetTenant, h.Projects.Tenant)
	serveTagged(h, api, contract.UpdateTenant, h.Projects.UpdateTenant)
	serveNone(h, api, contract.DeleteTenant, h.Projects.DeleteTenant)
	serve(h, api, contract.GetTenantDeletion, h.Projects.TenantDeletion)
	serveTagged(h, api, contract.AttachTenant, h.Projects.Attach)
	serveNone(h, api, contract.DetachTenant, h.Projects.Detach)
}

// domainRoutes adds the custom domains of projects.
func (h *Handler) domainRoutes(api huma.API) {
	serveList(h, api, contract.ListDomains, h.Domains.List)
	serveTagged(h, api, contract.CreateDomain, h.Domains.Create)
	serveTagged(h, api, contract.GetDomain, h.Domains.Get)
	serveTagged(h, api, contract.UpdateDomain, h.Domains.Update)
	serveTagged(h, api, contract.VerifyDomain, h.Domains.Verify)
	serveNone(h, api, contract.DeleteDomain, h.Domains.Delete)
	serve(h, api, contract.ApproveDomain, h.Domains.Approve)
	serve(h, api, contract.DisapproveDomain, h.Domains.Disapprove)
}

// keyRoutes adds API keys, usage and the live request log.
func (h *Handler) keyRoutes(api huma.API) {
	serveList(h, api, contract.ListKeys, h.Keys.List)
	serveTagged(h, api, contract.CreateKey, h.Keys.Create)
	serveTagged(h, api, contract.GetKey, h.Keys.Get)
	serveTagged(h, api, contract.UpdateKey, h.Keys.Update)
	serveTagged(h, api, contract.RotateKey, h.Keys.Rotate)
	serveTagged(h, api, contract.FreezeKey, h.Keys.Freeze)
	serveTagged(h, api, contract.UnfreezeKey, h.Keys.Unfreeze)
	serveTagged(h, api, contract.RevokeKey, h.Keys.Revoke)
	h.serveKeyImport(api)
	serve(h, api, contract.CheckKey, h.Keys.Check)

	serve(h, api, contract.GetUsage, h.Usage.Usage)
	serve(h, api, contract.ListRequests, h.Usage.Requests)
	serve(h, api, contract.GetRequest, h.Usage.Request)
}

// exportRoutes adds exports, webhooks and the audit log.
func (h *Handler) exportRoutes(api huma.API) {
	serveList(h, api, contract.ListExports, h.Exports.List)
	serve(h, api, contract.CreateExport, h.Exports.Create)
	serve(h, api, contract.PreviewExport, h.Exports.Preview)
	serve(h, api, contract.GetExport, h.Exports.Get)
	serve(h, api, contract.CancelExport, h.Exports.Cancel)
	serveEvents(h, api, contract.FollowExport, h.Exports.Follow, h.Exports.MayRead)
	serveFile(h, api, contract.DownloadExport, h.Exports.Open, h.Exports.MayDownload)
	serveList(h, api, contract.GetExportLedger, h.Exports.LedgerLines)
	serveFile(h, api, contract.DownloadExportLedger, h.Exports.OpenLedger, h.Exports.MayDownloadLedger)

	serveList(h, api, contract.ListWebhooks, h.Webhooks.List)
	serveTagged(h, api, contract.CreateWebhook, h.Webhooks.Create)
	serveTagged(h, api, contract.GetWebhook, h.Webhooks.Get)
	serveTagged(h, api, contract.UpdateWebhook, h.Webhooks.Update)
	serveTagged(h, api, contract.RotateWebhook, h.Webhooks.Rotate)
	serveNone(h, api, contract.DeleteWebhook, h.Webhooks.Delete)
	serve(h, api, contract.TestWebhook, h.Webhooks.SendTest)
	serve(h, api, contract.GetDelivery, h.Webhooks.Delivery)
	serveList(h, api, contract.ListDeliveries, h.Webhooks.Deliveries)
	serve(h, api, contract.Redeliver, h.Webhooks.Redeliver)

	serveList(h, api, contract.ListAuditEntries, h.Audit.List)
	serve(h, api, contract.GetAuditEntry, h.Audit.Get)
	serve(h, api, contract.VerifyAudit, h.Audit.Verify)
}

// loginRoutes adds hosted login: app clients, providers, users and the sign-up policy.
func (h *Handler) loginRoutes(api huma.API) {
	serveTagged(h, api, contract.GetAPIScopes, h.Projects.APIScopes)
	serveTagged(h, api, contract.SetAPIScopes, h.Projects.SetAPIScopes)
	serveTagged(h, api, contract.GetCORS, h.Projects.CORS)
	serveTagged(h, api, contract.SetCORS, h.Projects.SetCORS)
	serveNone(h, api, contract.RemoveCORS, h.Projects.RemoveCORS)
	serveTagged(h, api, contract.GetTenantCORS, h.Projects.TenantCORS)
	serveTagged(h, api, contract.SetTenantCORS, h.Projects.SetTenantCORS)
	serveNone(h, api, contract.RemoveTenantCORS, h.Projects.RemoveTenantCORS)

	serveList(h, api, contract.ListAppClients, h.AppClients.Clients)
	serveTagged(h, api, contract.CreateAppClient, h.AppClients.CreateClient)
	serveTagged(h, api, contract.GetAppClient, h.AppClients.Client)
	serveTagged(h, api, contract.UpdateAppClient, h.AppClients.UpdateClient)
	serveTagged(h, api, contract.FreezeAppClient, h.AppClients.FreezeClient)
	serveTagged(h, api, contract.UnfreezeAppClient, h.AppClients.UnfreezeClient)
	serve(h, api, contract.RotateAppClientKey, h.Login.RotateSigningKey)
	serveNone(h, api, contract.DeleteAppClient, h.AppClients.DeleteClient)

	serve(h, api, contract.ListProviders, h.AppClients.ProvidersOf)
	serveTagged(h, api, contract.CreateProvider, h.AppClients.CreateProvider)
	serveTagged(h, api, contract.GetProvider, h.AppClients.Provider)
	serveTagged(h, api, contract.UpdateProvider, h.AppClients.UpdateProvider)
	serveNone(h, api, contract.DeleteProvider, h.AppClients.DeleteProvider)
	serve(h, api, contract.TestProvider, h.Diagnostics.Provider)
	serveTagged(h, api, contract.GetGroupMappings, h.AppClients.GroupMappings)
	serveTagged(h, api, contract.SetGroupMappings, h.AppClients.SetGroupMappings)

	serveList(h, api, contract.ListUsers, h.Directory.Users)
	serveList(h, api, contract.ListProjectUsers, h.Directory.ProjectUsers)
	serveTagged(h, api, contract.CreateUser, h.Directory.CreateUser)
	serveTagged(h, api, contract.GetUser, h.Directory.User)
	serveTagged(h, api, contract.UpdateUser, h.Directory.UpdateUser)
	serveTagged(h, api, contract.FreezeUser, h.Directory.Freeze)
	serveTagged(h, api, contract.UnfreezeUser, h.Directory.Unfreeze)
	serve(h, api, contract.CreateUserInvitation, h.Login.InviteUser)
	serveNone(h, api, contract.DeleteUser, h.Directory.DeleteUser)
	serveList(h, api, contract.ListUserSessions, h.Login.Sessions)
	serveNone(h, api, contract.EndUserSession, h.Login.EndSession)
	serve(h, api, contract.EndUserSessions, h.Login.EndSessions)
	serveList(h, api, contract.ListConsents, h.Login.Consents)
	serveNone(h, api, contract.WithdrawConsent, h.Login.WithdrawConsent)
	serveTagged(h, api, contract.GetSignupPolicy, h.Directory.SignupPolicy)
	serveTagged(h, api, contract.UpdateSignupPolicy, h.Directory.UpdateSignupPolicy)

	serveList(h, api, contract.ListApprovals, h.Directory.Approvals)
	serveTagged(h, api, contract.CreateApproval, h.Directory.CreateApproval)
	serveTagged(h, api, contract.GetApproval, h.Directory.Approval)
	serveTagged(h, api, contract.UpdateApproval, h.Directory.UpdateApproval)
	serveNone(h, api, contract.DeleteApproval, h.Directory.DeleteApproval)
}

// groupRoutes adds the groups of a tenant.
func (h *Handler) groupRoutes(api huma.API) {
	serveList(h, api, contract.ListGroups, h.Directory.Groups)
	serveTagged(h, api, contract.CreateGroup, h.Directory.CreateGroup)
	serveTagged(h, api, contract.GetGroup, h.Directory.Group)
	serveTagged(h, api, contract.UpdateGroup, h.Directory.UpdateGroup)
	serveNone(h, api, contract.DeleteGroup, h.Directory.DeleteGroup)
	serveList(h, api, contract.ListGroupMembers, h.Directory.Members)
	serveTagged(h, api, contract.SetGroupMember, h.Directory.SetMember)
	serveNone(h, api, contract.RemoveGroupMember, h.Directory.RemoveMember)
	serveList(h, api, contract.ListGroupOwners, h.Directory.Owners)
	serveTagged(h, api, contract.SetGroupOwner, h.Directory.SetOwner)
	serveNone(h, api, contract.RemoveGroupOwner, h.Directory.RemoveOwner)
	serveTagged(h, api, contract.NestGroup, h.Directory.Nest)
	serveNone(h, api, contract.UnnestGroup, h.Directory.Unnest)
}
