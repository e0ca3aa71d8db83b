package ascode

import (
	"net/url"
	"strings"

	"postern/core/contract"
)

const (
	tenantRoute = "/tenants/:tenant"
	userRoute   = "/users/:user"
	groupRoute  = "/groups/:group"
)

var tenantPages = map[string]Page{
	"/products":          shows(contract.ListProducts, groupingList...),
	"/products/:product": shows(contract.GetProduct).and("get-product-deletion", ""),
	"/tenants":           shows(contract.ListTenants, groupingList...),
	tenantRoute:          shows(contract.GetTenant).and("get-tenant-cors", "cors show --tenant {tenant}"),
	tenantRoute + "/users": reads("list-users", "users list {tenant}", Text("q", "q", "--search"),
		Text("state", "state", "--state"), sorted("sort", "dir", "-created", "name", "state", "-last_login")),
	userRoute: reads("get-user", "users show {user}").and("list-user-sessions", "users sessions list {user}",
		sorted("sessions_sort", "sessions_dir", "-created", "-last_seen", "expires")).
		and("list-consents", "users consents list {user}"),
	userRoute + "/invitation": reads("get-user", "users show {user}"),
	tenantRoute + "/entry": reads("get-entry", "users entry show {tenant}").
		and("list-approvals", "users approvals list {tenant}", listQuery("created", "value")...),
	tenantRoute + "/groups": reads("list-groups", "groups list {tenant}", listQuery("name", "-created")...),
	groupRoute: reads("get-group", "groups show {group}").
		and("list-group-members", "groups members {group}", listQuery("name", "role")...),
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
	"/tenants":  submits(contract.CreateTenant, "name", "display_name", "fallback_owner", "team"),
	tenantRoute: submits(contract.UpdateTenant, "display_name", "fallback_owner"),
	tenantRoute + "/cors": corsCalls("set-tenant-cors", "cors set --tenant {tenant}", "remove-tenant-cors",
		"cors remove --tenant {tenant}"),
	tenantRoute + "/delete": {{
		Operation: "delete-tenant", Command: "tenants delete {tenant} --yes", Query: []Field{confirmName},
	}},
}

// userForms are those of a tenant's users and groups, and of who may sign in.
var userForms = map[string][]Call{
	tenantRoute + "/users": does("create-user", "users create {tenant} {email}", Text("email", "email", "").Need(),
		Text("name", "name", "--name"), Several("groups", "groups", "--groups")),
	userRoute: does("update-user", "users update {user}", Text("name", "name", "--name").Keep(),
		Text("email", "email", "--email").Keep()),
	userRoute + "/freeze":   does("freeze-user", "users freeze {user}"),
	userRoute + "/unfreeze": does("unfreeze-user", "users unfreeze {user}"),
	userRoute + "/invitation": does("create-user-invitation", "users invite {user}",
		Text("app_client", "app_client", "--app-client").Need()),
	userRoute + "/delete": does("delete-user", "users delete {user}"),
	userRoute + "/groups": {{
		Operation: "set-group-member", Command: "groups add {group} {user}",
		Fields: []Field{Fixed("role", "member")},
	}},
	userRoute + "/sessions/end-all":      does("end-user-sessions", "users sessions end-all {user}"),
	userRoute + "/sessions/:session/end": does("end-user-session", "users sessions end {user} {session}"),
	userRoute + "/consents/:client/withdraw": does("withdraw-consent",
		"users consents withdraw {user} {client}"),
	tenantRoute + "/entry": {
		{
			When: is("invite_only", "true"), Operation: "set-entry", Command: "users entry invite-only {tenant}",
			Fields: []Field{Fixed("invite_only", true)},
		},
		{
			Operation: "set-entry", Command: "users entry open {tenant}",
			Fields: []Field{Fixed("invite_only", false)},
		},
	},
	tenantRoute + "/approvals": does("create-approval", "users approvals create {tenant} {value}",
		Func("kind", "kind", func(form url.Values) (any, [][]string) {
			if strings.Contains(form.Get("value"), "@") {
				return "email", nil
			}
			return "domain", nil
		}), Text("value", "value", "").Need(), Several("groups", "groups", "--groups")),
	tenantRoute + "/approvals/:approval/end": does("delete-approval", "users approvals delete {tenant} {approval}"),

	tenantRoute + "/groups": does("create-group", "groups create {tenant} {name}", Text("name", "name", "").Need(),
		Text("display_name", "display_name", "--display-name")),
	groupRoute: does("update-group", "groups update {group}", Text("name", "name", "--name"),
		Text("display_name", "display_name", "--display-name").Keep()),
	groupRoute + "/delete": does("delete-group", "groups delete {group}"),
	groupRoute + "/members": {{
		Operation: "set-group-member", Command: "groups add {group} USER", Params: map[string]string{"user": "USER"},
		Fields: []Field{Fixed("role", "member")},
		Note:   "USER is the user's id: postern users list TENANT --email ADDRESS.",
	}},
	groupRoute + "/members/:user/remove":   does("remove-group-member", "groups remove {group} {user}"),
	groupRoute + "/children":               does("nest-group", "groups nest {group} {child}"),
	groupRoute + "/children/:child/remove": does("unnest-group", "groups unnest {group} {child}"),
}
