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
	serveUpload(h, api, contract.ImportProject, h.Imports.Allow, h.Imports.Import)
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
	add(h, api, contract.CreateProxy.Operation, h.createProxy)

	serveList(h, api, contract.ListProjects, h.Projects.List)
	serve(h, api, contract.GetProject, h.Projects.Project)
	serve(h, api, contract.UpdateProject, h.Projects.Update)
	serve(h, api, contract.DeleteProject, h.Projects.Delete)
	serve(h, api, contract.GetProjectDeletion, h.Projects.Deletion)
	serve(h, api, contract.RestoreProject, h.Projects.Restore)
	serve(h, api, contract.MoveProject, h.Projects.Move)
	serve(h, api, contract.TakeDownProject, h.Projects.TakeDown)
	serve(h, api, contract.LiftTakedown, h.Projects.LiftTakedown)

	serve(h, api, contract.ListVersions, h.Projects.Versions)
	serve(h, api, contract.CreateVersion, h.Projects.CreateVersion)
	serve(h, api, contract.GetVersion, h.Projects.Version)
	serve(h, api, contract.UpdateVersion, h.Projects.UpdateVersion)
	serve(h, api, contract.DeleteVersion, h.Projects.DeleteVersion)
	serve(h, api, contract.GetVersionCallers, h.Projects.VersionCallers)

	serve(h, api, contract.ListEnvironments, h.Projects.Environments)
	serve(h, api, contract.CreateEnvironment, h.Projects.CreateEnvironment)
	serve(h, api, contract.GetEnvironment, h.Projects.Environment)
	serve(h, api, contract.UpdateEnvironment, h.Projects.UpdateEnvironment)
	serve(h, api, contract.DeleteEnvironment, h.Projects.DeleteEnvironment)
	serve(h, api, contract.GetEnvironmentCallers, h.Projects.EnvironmentCallers)

	serve(h, api, contract.Explain, h.Projects.Explain)
	h.ruleRoutes(api)
	serveList(h, api, contract.ListRelations, h.Relations.List)
	serve(h, api, contract.AddRelations, h.Relations.Add)
	serve(h, api, contract.RemoveRelations, h.Relations.Remove)
	serve(h, api, contract.GetTransforms, h.Projects.Transforms)
	serve(h, api, contract.SetTransforms, h.Projects.SetTransforms)
	h.openAPIRoutes(api)

	serve(h, api, contract.ListKeyTypes, h.Projects.KeyTypes)
	serve(h, api, contract.CreateKeyType, h.Projects.CreateKeyType)
	serve(h, api, contract.GetKeyType, h.Projects.KeyType)
	serve(h, api, contract.UpdateKeyType, h.Projects.UpdateKeyType)
	serve(h, api, contract.DeleteKeyType, h.Projects.DeleteKeyType)
}

// upstreamRoutes adds what upstreams recognize a project's calls by.
func (h *Handler) upstreamRoutes(api huma.API) {
	serve(h, api, contract.CheckTarget, h.Diagnostics.Target)
	serve(h, api, contract.TestTokenIssuer, h.Diagnostics.Issuer)
	serve(h, api, contract.TestIntrospection, h.Diagnostics.Introspection)

	serve(h, api, contract.ListUpstreamHeaders, h.Projects.UpstreamHeaders)
	serve(h, api, contract.GetUpstreamHeader, h.Projects.UpstreamHeader)
	serve(h, api, contract.SetUpstreamHeader, h.Projects.SetUpstreamHeader)
	serve(h, api, contract.RemoveUpstreamHeader, h.Projects.RemoveUpstreamHeader)
	serve(h, api, contract.GetClientCertificate, h.Projects.ClientCertificate)
	serve(h, api, contract.SetClientCertificate, h.Projects.SetClientCertificate)
	serve(h, api, contract.RemoveClientCertificate, h.Projects.RemoveClientCertificate)
	serve(h, api, contract.GetCallSigning, h.Projects.CallSigning)
	serve(h, api, contract.EnableCallSigning, h.Projects.EnableCallSigning)
	serve(h, api, contract.DisableCallSigning, h.Projects.DisableCallSigning)
	serve(h, api, contract.RotateCallSigningKey, h.Projects.RotateSigningKey)
}

// groupingRoutes adds products and tenants.
func (h *Handler) groupingRoutes(api huma.API) {
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

// loginRoutes adds hosted login: app clients, providers, users and the sign-up policy.
func (h *Handler) loginRoutes(api huma.API) {
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

	serve(h, api, contract.ListProviders, h.Login.ProvidersOf)
	serve(h, api, contract.CreateProvider, h.Login.CreateProvider)
	serve(h, api, contract.GetProvider, h.Login.Provider)
	serve(h, api, contract.UpdateProvider, h.Login.UpdateProvider)
	serve(h, api, contract.DeleteProvider, h.Login.DeleteProvider)
	serve(h, api, contract.TestProvider, h.Diagnostics.Provider)
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
	serve(h, api, contract.GetSignupPolicy, h.Directory.SignupPolicy)
	serve(h, api, contract.UpdateSignupPolicy, h.Directory.UpdateSignupPolicy)

	serveList(h, api, contract.ListApprovals, h.Directory.Approvals)
	serve(h, api, contract.CreateApproval, h.Directory.CreateApproval)
	serve(h, api, contract.GetApproval, h.Directory.Approval)
	serve(h, api, contract.UpdateApproval, h.Directory.UpdateApproval)
	serve(h, api, contract.DeleteApproval, h.Directory.DeleteApproval)
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
