package ascode

import "postern/core/contract"

const (
	tenantRoute = "/tenants/:tenant"
	userRoute   = "/users/:user"
	groupRoute  = "/groups/:group"
)

var tenantPages = map[string]Page{
	"/products":            shows(contract.ListProducts, groupingList...),
	"/products/:product":   shows(contract.GetProduct).and("get-product-deletion", ""),
	"/tenants":             shows(contract.ListTenants, groupingList...),
	tenantRoute:            shows(contract.GetTenant).and("get-tenant-cors", "cors show --tenant {tenant}"),
	tenantRoute + "/users": shows(contract.ListUsers, userQuery...),
	userRoute: shows(contract.GetUser).
		alsoShows(contract.ListUserSessions,
			sorted("sessions_sort", "sessions_dir", "-created", "-last_seen", "expires")).
		alsoShows(contract.ListConsents),
	userRoute + "/invitation": shows(contract.GetUser),
	tenantRoute + "/signup": shows(contract.GetSignupPolicy).
		alsoShows(contract.ListApprovals, listQuery("created", "value")...),
	tenantRoute + "/groups": shows(contract.ListGroups, listQuery("name", "-created")...),
	groupRoute: shows(contract.GetGroup).
		alsoShows(contract.ListGroupMembers, listQuery("name", "role")...).
		alsoShows(contract.ListGroupOwners, listOf("owners_", "owner", "role")...),
}

// userQuery are the search, the filter and the order of a list of users.
var userQuery = []Field{
	Text("q", "q", "--search"), Text("state", "state", "--state"),
	sorted("sort", "dir", "-created", "name", "state", "-last_login"),
}

// groupingList are the team, the search and the order of a list of products or tenants.
var groupingList = append([]Field{Text("team", "team", "--team")}, listQuery("created", "name")...)

var tenantForms = map[string][]Call{
	"/products":          submits(contract.CreateProduct, "name", "display_name", "team"),
	"/products/:product": submits(contract.UpdateProduct, "display_name"),
	"/products/:product/delete": {
		{When: has("typed_name"), Operation: "delete-product", Command: "products delete {product} --yes",
			Query: []Field{confirmName}},
		{Operation: "delete-product", Command: "products delete {product} --yes"},
	},
	"/tenants":            submits(contract.CreateTenant, "name", "display_name", "fallback_owner", "team"),
	tenantRoute:           submits(contract.UpdateTenant, "display_name", "fallback_owner"),
	tenantRoute + "/cors": corsCalls(contract.SetTenantCORS, contract.RemoveTenantCORS),
	tenantRoute + "/delete": {{
		Operation: "delete-tenant", Command: "tenants delete {tenant} --yes", Query: []Field{confirmName},
	}},
}

// userForms are those of a tenant's users and groups, and of who may sign in.
var userForms = map[string][]Call{
	tenantRoute + "/projects": submits(contract.AttachTenant),
	tenantRoute + "/users":    submits(contract.CreateUser, "email", "name", "groups"),
	userRoute:                 submits(contract.UpdateUser, "name", "email"),
	userRoute + "/freeze":     submits(contract.FreezeUser),
	userRoute + "/unfreeze":   submits(contract.UnfreezeUser),
	userRoute + "/invitation": submits(contract.CreateUserInvitation, "app_client"),
	userRoute + "/delete":     submits(contract.DeleteUser),
	userRoute + "/groups": {{
		Operation: contract.SetGroupMember.ID, Command: "groups members set {group} {user} member",
		Fields: []Field{Fixed("role", "member")},
	}},
	userRoute + "/sessions/end-all":                 submits(contract.EndUserSessions),
	userRoute + "/sessions/:session/end":            submits(contract.EndUserSession),
	userRoute + "/consents/:client/withdraw":        submits(contract.WithdrawConsent),
	tenantRoute + "/signup":                         submits(contract.UpdateSignupPolicy, "invite_only"),
	tenantRoute + "/signup/approvals":               submits(contract.CreateApproval, "value", "groups"),
	tenantRoute + "/signup/approvals/:approval/end": submits(contract.DeleteApproval),

	tenantRoute + "/groups": submits(contract.CreateGroup, "name", "display_name"),
	groupRoute:              submits(contract.UpdateGroup, "name", "display_name"),
	groupRoute + "/delete":  submits(contract.DeleteGroup),
	groupRoute + "/members": {{
		Operation: contract.SetGroupMember.ID, Command: "groups members set {group} USER member",
		Params: map[string]string{"user": "USER"}, Fields: []Field{Fixed("role", "member")},
		Note: "USER is the user's ID. To find it, run postern users list TENANT --email ADDRESS.",
	}},
	groupRoute + "/members/:user/remove": submits(contract.RemoveGroupMember),
	groupRoute + "/owners": {{
		Operation: contract.SetGroupOwner.ID, Command: "groups owners set {group} {owner} member",
		Fields: []Field{Text("owner", "owner", "").Need(), Fixed("role", "member")},
	}},
	groupRoute + "/owners/remove": {{
		Operation: contract.RemoveGroupOwner.ID, Command: commandOf(contract.RemoveGroupOwner),
		Query: []Field{Text("owner", "owner", "").Need()},
	}},
	groupRoute + "/children":               submits(contract.NestGroup),
	groupRoute + "/children/:child/remove": submits(contract.UnnestGroup),
}
