package handlers_test

import (
	"net/http"
	"slices"

	"postern/service/access"
	"postern/testkit/controlplane"
)

// guard is what a route asks of its caller: an action, from which follows what a
// viewer, a member and an owner get, or open. Zero statuses mean the usual: not
// found for a stranger; OK for who may, or for a changing form a redirect.
type guard struct {
	open     bool // to anybody: TestEveryRouteAnswersTheAnonymousAsDeclared says with what
	action   access.Action
	body     string // JSON on the API, a form on pages, with {code}, {invite}, {device}, {product} and {team}
	needs    string // frozen: of the key; ready: of the export; taken: the project down; token: one of the owner's; shared: a tenant of the team's; attached: that, served
	operator bool   // for who runs the installation; whoever does not, finds nothing, in their own team too
	recorded bool   // in the audit log, although it is a GET
	silent   bool   // changes nothing that the audit log would tell of
	nobody   int    // without a credential
	stranger int    // another account, with a team of its own
	key      int    // another workspace's key, where it differs from stranger
	owner    int
}

// personal tells whether an account does it for itself, in whatever teams it is.
func (g guard) personal() bool { return slices.Contains(access.Personal(), g.action) }

// guards declares every route there is.
var guards = joined(loginTabGuards, webhookGuards, map[string]guard{
	"GET /healthz": {
		open: true,
	}, "GET /readyz": {open: true}, "GET /metrics": {open: true}, "GET /.well-known/postern-export-key": {open: true}, "GET /static/*file": {open: true},
	"GET /openapi.json": {
		open: true,
	}, "GET /openapi.yaml": {open: true}, "GET /openapi-3.0.json": {open: true}, "GET /openapi-3.0.yaml": {open: true},
	"GET /": {
		open: true,
	}, "GET /signin": {open: true}, "POST /signin": {open: true}, "POST /signout": {open: true}, "POST /theme": {open: true},
	"GET /welcome/:code": {
		open: true,
	}, "POST /welcome/:code": {open: true}, "GET /signup": {open: true}, "POST /signup": {open: true},
	"POST /signin/:provider": {
		open: true,
	}, "GET /signin/:provider/callback": {open: true}, "GET /invite/:code": {open: true}, "POST /team": {open: true},

	// Who holds a code may look at what it claims; only into a team of one's own.
	"GET /claim/:code":  {action: access.WorkspaceClaim, stranger: 200},
	"POST /claim/:code": {action: access.WorkspaceClaim, stranger: 404, body: "team={team}"},

	"POST /invite/:code": {action: access.InvitationAccept},

	"GET /account": {action: access.AccountRead, stranger: 200},
	"POST /account/password": {
		action: access.AccountUpdate,
		body:   "old_password=four+unrelated+words&password=four+unrelated+words",
	},
	"GET /account/sessions":               {action: access.AccountRead, stranger: 200},
	"POST /account/sessions/end-others":   {action: access.AccountUpdate},
	"POST /account/sessions/:session/end": {action: access.AccountUpdate, stranger: 404},
	"GET /account/signins":                {action: access.AccountRead, stranger: 200},
	"POST /account/signins/link/:provider": {
		action: access.AccountUpdate,
		owner:  200,
		silent: true,
	}, // its callback links
	"POST /account/signins/:identity/unlink": {action: access.AccountUpdate, stranger: 404},

	"GET /teams":                                       {action: access.TeamRead, stranger: 200},
	"POST /teams":                                      {action: access.TeamCreate, body: "name=Payments"},
	"GET /teams/:team":                                 {action: access.TeamRead},
	"POST /teams/:team/rename":                         {action: access.TeamUpdate, body: "name=Renamed"},
	"POST /teams/:team/leave":                          {action: access.MemberLeave, body: "confirm=true"},
	"POST /teams/:team/members/:account/role":          {action: access.MemberChange, body: "role=viewer"},
	"POST /teams/:team/members/:account/remove":        {action: access.MemberChange},
	"POST /teams/:team/invitations":                    {action: access.InvitationCreate, body: "role=viewer"},
	"POST /teams/:team/invitations/:invitation/revoke": {action: access.InvitationRevoke},

	"GET /api/v1/teams": {action: access.TeamRead, stranger: 200},
	"POST /api/v1/teams": {
		action: access.TeamCreate,
		body:   `{"name":"Payments"}`,
		key:    403,
		owner:  201,
	},
	"GET /api/v1/teams/:team":                     {action: access.TeamRead},
	"PATCH /api/v1/teams/:team":                   {action: access.TeamUpdate, body: `{"name":"Renamed"}`},
	"POST /api/v1/teams/:team/leave":              {action: access.MemberLeave, owner: 204},
	"GET /api/v1/teams/:team/members":             {action: access.MemberRead},
	"PATCH /api/v1/teams/:team/members/:account":  {action: access.MemberChange, body: `{"role":"viewer"}`},
	"DELETE /api/v1/teams/:team/members/:account": {action: access.MemberChange, owner: 204},
	"GET /api/v1/teams/:team/invitations":         {action: access.InvitationRead},
	"POST /api/v1/teams/:team/invitations": {
		action: access.InvitationCreate,
		body:   `{"role":"viewer"}`,
		owner:  201,
	},
	"DELETE /api/v1/teams/:team/invitations/:invitation": {action: access.InvitationRevoke, owner: 204},
	"POST /api/v1/invitations/accept": {
		action: access.InvitationAccept,
		body:   `{"code":"{invite}"}`,
		key:    403,
	},
	"GET /api/v1/sessions": {action: access.AccountRead, stranger: 200, key: 403},
	"DELETE /api/v1/sessions/:session": {
		action:   access.AccountUpdate,
		stranger: 404,
		key:      403,
		owner:    204,
	},
	"POST /api/v1/sessions/end-others": {action: access.AccountUpdate, key: 403},

	"GET /settings/tokens":  {action: access.TokenRead, stranger: 200},
	"POST /settings/tokens": {action: access.TokenCreate, body: "name=ci&scopes=read"},
	"POST /settings/tokens/:token/revoke": {
		action:   access.TokenRevoke,
		needs:    "token",
		stranger: 404,
		body:     "confirm=true",
	},
	"GET /settings/tokens/:token":        {action: access.TokenRead, needs: "token", stranger: 404},
	"GET /settings/tokens/:token/secret": {action: access.TokenRead, needs: "token", stranger: 404},
	"GET /claimed": {
		action:   access.WorkspaceClaim,
		stranger: 303,
		owner:    303,
		silent:   true,
	},
	"GET /device":                              {action: access.TokenRead, stranger: 200},
	"GET /device/approved":                     {action: access.TokenRead, stranger: 200},
	"GET /device/denied":                       {action: access.TokenRead, stranger: 200},
	"GET /projects/:project/created":           {action: access.ProjectRead},
	"GET /projects/:project/keys/:key/secret":  {action: access.KeyRead},
	"GET /teams/:team/invitations/:invitation": {action: access.InvitationRead},
	"POST /device": {
		action: access.DeviceApprove,
		body:   "user_code={device}&decision=approve",
	},
	"POST /oauth/device_authorization": {open: true},
	"POST /oauth/token":                {open: true},

	"GET /api/v1/whoami": {action: access.AccountRead, stranger: 200},
	"GET /api/v1/tokens": {action: access.TokenRead, stranger: 200},
	"POST /api/v1/tokens": {
		action: access.TokenCreate,
		body:   `{"name":"ci","scopes":["read"]}`,
		key:    403,
		owner:  201,
	},
	"DELETE /api/v1/tokens/:token": {action: access.TokenRevoke, needs: "token", stranger: 404, owner: 204},

	"GET /audit": {action: access.AuditRead, stranger: 200},

	"GET /projects":     {action: access.ProjectRead, stranger: 200},
	"GET /projects/new": {action: access.ProjectRead, stranger: 200},
	// In the caller's own team, where a stranger is the owner.
	"POST /projects/new": {
		action:   access.ProjectCreate,
		body:     "target=http://127.0.0.1:9/moved",
		stranger: 303,
	},
	"GET /projects/:project":           {action: access.ProjectRead},
	"GET /exports/:export":             {action: access.ExportRead},
	"POST /projects/:project/settings": {action: access.ProjectUpdate, body: "display_name=Renamed"},
	"POST /projects/:project/versions/:version/access": {
		action: access.ProjectUpdate,
		body:   "mode=passthrough&methods=api_key&keyless=reject",
	},
	"POST /projects/:project/limits": {action: access.ProjectUpdate, body: "key.minute=10"},
	"GET /projects/:project/tenants": {action: access.TenantRead},
	"POST /projects/:project/tenants": {
		action: access.ProjectUpdate,
		needs:  "shared",
		body:   "tenant=tenant-{number}",
	},
	"GET /projects/:project/tenants/:tenant": {action: access.TenantRead, needs: "attached"},
	"POST /projects/:project/tenants/:tenant/detach": {
		action: access.ProjectUpdate,
		needs:  "attached",
		body:   "confirm=true",
	},
	"GET /products": {action: access.ProductRead, stranger: 200},
	"POST /products": {
		action: access.ProductCreate,
		body:   "name={name}&team={team}",
	},
	"GET /products/:product":         {action: access.ProductRead},
	"POST /products/:product":        {action: access.ProductUpdate, body: "display_name=Renamed"},
	"POST /products/:product/delete": {action: access.ProductDelete, body: "confirm=true"},
	"GET /tenants":                   {action: access.TenantRead, stranger: 200},
	"POST /tenants": {
		action: access.TenantCreate,
		body:   "name={name}&team={team}",
	},
	"GET /tenants/:tenant":  {action: access.TenantRead},
	"POST /tenants/:tenant": {action: access.TenantUpdate, body: "display_name=Renamed"},
	"POST /tenants/:tenant/delete": {
		action: access.TenantDelete,
		needs:  "shared",
		body:   "confirm=true",
	},
	"GET /tenants/:tenant/users":  {action: access.UserRead},
	"POST /tenants/:tenant/users": {action: access.UserUpdate, body: "email=new@example.com"},
	"GET /users/:user":            {action: access.UserRead},
	"POST /users/:user": {
		action: access.UserUpdate,
		body:   "name=Renamed&email=ana@example.com",
	},
	"POST /users/:user/freeze":   {action: access.UserUpdate},
	"POST /users/:user/unfreeze": {action: access.UserUpdate, needs: "frozen user"},
	"POST /users/:user/delete":   {action: access.UserUpdate, body: "confirm=true"},
	"POST /users/:user/groups": {
		action: access.UserUpdate,
		body:   "group={group}&role=member",
	},
	"GET /tenants/:tenant/entry":                    {action: access.UserRead},
	"POST /tenants/:tenant/entry":                   {action: access.UserUpdate, body: "invite_only=true"},
	"POST /tenants/:tenant/approvals":               {action: access.UserUpdate, body: "value=example.com"},
	"POST /tenants/:tenant/approvals/:approval/end": {action: access.UserUpdate},
	"GET /tenants/:tenant/groups":                   {action: access.UserRead},
	"POST /tenants/:tenant/groups":                  {action: access.UserUpdate, body: "name=admins"},
	"GET /groups/:group":                            {action: access.UserRead},
	"POST /groups/:group":                           {action: access.UserUpdate, body: "name=renamed"},
	"POST /groups/:group/delete":                    {action: access.UserUpdate, body: "confirm=true"},
	"POST /groups/:group/members":                   {action: access.UserUpdate, body: "email=ana@example.com"},
	"POST /groups/:group/members/:user/remove":      {action: access.UserUpdate, needs: "member"},
	"POST /groups/:group/children":                  {action: access.UserUpdate, body: "child={child}"},
	"POST /groups/:group/children/:child/remove":    {action: access.UserUpdate, needs: "nested"},
	"POST /projects/:project/product":               {action: access.ProjectUpdate, body: "in_product={product}"},
	"POST /projects/:project/versions/:version/addresses": {
		action: access.ProjectUpdate,
		body:   "ip_deny=192.0.2.0%2F24",
	},
	"POST /projects/:project/environments/:environment": {
		action: access.ProjectUpdate,
		body:   "target=http://127.0.0.1:9/moved",
	},
	"POST /projects/:project/keys":     {action: access.KeyCreate, body: "owner=billing"},
	"GET /projects/:project/keys/:key": {action: access.KeyRead},
	"POST /projects/:project/keys/:key": {
		action: access.KeyChange,
		body:   "description=For+the+invoices",
	},
	"POST /projects/:project/keys/:key/freeze":   {action: access.KeyChange},
	"POST /projects/:project/keys/:key/unfreeze": {action: access.KeyChange, needs: "frozen"},
	"POST /projects/:project/keys/:key/revoke":   {action: access.KeyChange, body: "confirm=true"},
	"POST /projects/:project/keys/:key/rotate":   {action: access.KeyChange, body: "grace_seconds=0"},
	"GET /projects/:project/key-types":           {action: access.ProjectRead},
	"POST /projects/:project/key-types": {
		action: access.ProjectUpdate,
		body:   "name=bronze&scopes=read",
	},
	"GET /projects/:project/key-types/:key_type": {action: access.ProjectRead},
	"POST /projects/:project/key-types/:key_type": {
		action: access.ProjectUpdate,
		body:   "scopes=read&limits_minute=11",
	},
	"POST /projects/:project/key-types/:key_type/delete": {action: access.ProjectUpdate, body: "confirm=true"},
	"GET /projects/:project/export":                      {action: access.ExportRead},
	"GET /projects/:project/usage":                       {action: access.UsageRead},
	"GET /projects/:project/requests":                    {action: access.UsageRead},
	"POST /projects/:project/export":                     {action: access.ExportCreate, body: "format=data"},
	"GET /exports/:export/download": {
		action:   access.ExportDownload,
		needs:    "ready",
		recorded: true,
	},
	"POST /exports/:export/cancel": {action: access.ExportCreate},

	"POST /api/v1/claim": {
		action:   access.WorkspaceClaim,
		stranger: 404,
		body:     `{"code":"{code}","team":"{team}"}`,
		key:      403,
	},
	"POST /proxy": {
		action:   access.ProjectCreate,
		body:     `{"target":"http://127.0.0.1:9/moved"}`,
		nobody:   201,
		stranger: 201,
		owner:    201,
	},
	"GET /api/v1/projects":          {action: access.ProjectRead, stranger: 200},
	"GET /api/v1/projects/:project": {action: access.ProjectRead},
	"PATCH /api/v1/projects/:project": {
		action: access.ProjectUpdate,
		body:   `{"display_name":"Renamed"}`,
	},
	"PATCH /api/v1/projects/:project/versions/:version": {
		action: access.ProjectUpdate,
		body:   `{"requests_auth":{"mode":"passthrough"}}`,
	},
	"PATCH /api/v1/projects/:project/environments/:environment": {
		action: access.ProjectUpdate,
		body:   `{"target":"http://127.0.0.1:9/moved"}`,
	},
	"GET /api/v1/projects/:project/key-types": {action: access.ProjectRead},
	"POST /api/v1/projects/:project/key-types": {
		action: access.ProjectUpdate,
		body:   `{"name":"silver","scopes":["read"]}`,
		owner:  201,
	},
	"PATCH /api/v1/projects/:project/key-types/:key_type": {
		action: access.ProjectUpdate,
		body:   `{"limits":{"minute":10}}`,
	},
	"DELETE /api/v1/projects/:project/key-types/:key_type": {action: access.ProjectUpdate, owner: 204},
	"GET /api/v1/products":                                 {action: access.ProductRead, stranger: 200},
	// In the caller's own team, where a stranger is the owner.
	"POST /api/v1/products": {
		action:   access.ProductCreate,
		body:     `{"name":"{name}"}`,
		stranger: 201,
		owner:    201,
	},
	"GET /api/v1/products/:product": {action: access.ProductRead},
	"PATCH /api/v1/products/:product": {
		action: access.ProductUpdate,
		body:   `{"display_name":"Renamed"}`,
	},
	"DELETE /api/v1/products/:product": {action: access.ProductDelete, owner: 204},
	"GET /api/v1/tenants":              {action: access.TenantRead, stranger: 200},
	"POST /api/v1/tenants": {
		action:   access.TenantCreate,
		body:     `{"name":"{name}"}`,
		stranger: 201,
		owner:    201,
	},
	"GET /api/v1/tenants/:tenant": {action: access.TenantRead},
	"PATCH /api/v1/tenants/:tenant": {
		action: access.TenantUpdate,
		body:   `{"display_name":"Renamed"}`,
	},
	"DELETE /api/v1/tenants/:tenant":                {action: access.TenantDelete, needs: "shared", owner: 204},
	"PUT /api/v1/projects/:project/tenants/:tenant": {action: access.ProjectUpdate, needs: "shared"},
	"DELETE /api/v1/projects/:project/tenants/:tenant": {
		action: access.ProjectUpdate,
		needs:  "attached",
		owner:  204,
	},
	"PATCH /api/v1/keys/:key": {
		action: access.KeyChange,
		body:   `{"description":"For the invoices"}`,
	},
	"GET /api/v1/projects/:project/keys": {action: access.KeyRead},
	"POST /api/v1/projects/:project/keys": {
		action: access.KeyCreate,
		body:   `{"owner":"billing"}`,
		owner:  201,
	},
	"GET /api/v1/keys/:key":                 {action: access.KeyRead},
	"POST /api/v1/keys/:key/rotate":         {action: access.KeyChange},
	"POST /api/v1/keys/:key/freeze":         {action: access.KeyChange},
	"POST /api/v1/keys/:key/unfreeze":       {action: access.KeyChange, needs: "frozen"},
	"POST /api/v1/keys/:key/revoke":         {action: access.KeyChange},
	"GET /api/v1/projects/:project/exports": {action: access.ExportRead},
	"GET /api/v1/projects/:project/usage":   {action: access.UsageRead},
	"PUT /api/v1/projects/:project/takedown": {
		action:   access.ProjectTakedown,
		operator: true,
		body:     `{"reason":"Phishing"}`,
	},
	"DELETE /api/v1/projects/:project/takedown": {
		action:   access.ProjectTakedown,
		operator: true,
		needs:    "taken",
	},
	"GET /oauth/:client/.well-known/openid-configuration": {
		open: true,
	}, "GET /oauth/:client/jwks.json": {open: true}, "POST /oauth/:client/token": {open: true},
	"POST /oauth/:client/revoke": {open: true}, "OPTIONS /oauth/:client/revoke": {open: true},
	"OPTIONS /oauth/:client/token": {
		open: true,
	}, "GET /oauth/:client/userinfo": {open: true}, "POST /oauth/:client/userinfo": {open: true},
	"OPTIONS /oauth/:client/userinfo": {
		open: true,
	}, "GET /oauth/:client/authorize": {open: true}, "POST /oauth/:client/authorize": {open: true},
	"GET /oauth/:client/login/:attempt/:provider": {
		open: true,
	}, "GET /oauth/:client/callback/:provider": {open: true}, "POST /oauth/:client/consent": {open: true},
	"GET /oauth/:client/logout": {
		open: true,
	}, "POST /oauth/:client/logout": {open: true}, "GET /oauth/:client/brand.css": {open: true},

	"GET /api/v1/tenants/:tenant/app-clients":   {action: access.LoginRead},
	"POST /api/v1/tenants/:tenant/app-clients":  {action: access.LoginUpdate, body: `{"name":"mobile"}`, owner: 201},
	"GET /api/v1/app-clients/:client":           {action: access.LoginRead},
	"PATCH /api/v1/app-clients/:client":         {action: access.LoginUpdate, body: `{"branding":{"title":"Shop"}}`},
	"DELETE /api/v1/app-clients/:client":        {action: access.LoginUpdate, owner: 204},
	"GET /api/v1/app-clients/:client/providers": {action: access.LoginRead},
	"POST /api/v1/app-clients/:client/providers": {
		action: access.LoginUpdate,
		body:   `{"type":"google","client_id":"x"}`,
		owner:  201,
	},
	"PATCH /api/v1/providers/:provider":  {action: access.LoginUpdate, body: `{"enabled":false}`},
	"DELETE /api/v1/providers/:provider": {action: access.LoginUpdate, owner: 204},

	"GET /api/v1/tenants/:tenant/users": {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/users": {
		action: access.UserUpdate,
		body:   `{"email":"new@example.com"}`,
		owner:  201,
	},
	"GET /api/v1/users/:user": {action: access.UserRead},
	"PATCH /api/v1/users/:user": {
		action: access.UserUpdate,
		body:   `{"name":"Renamed"}`,
	},
	"DELETE /api/v1/users/:user":        {action: access.UserUpdate, owner: 204},
	"POST /api/v1/users/:user/freeze":   {action: access.UserUpdate},
	"POST /api/v1/users/:user/unfreeze": {action: access.UserUpdate, needs: "frozen user"},
	"GET /api/v1/tenants/:tenant/entry": {action: access.UserRead},
	"PUT /api/v1/tenants/:tenant/entry": {
		action: access.UserUpdate,
		body:   `{"invite_only":true}`,
	},
	"GET /api/v1/tenants/:tenant/approvals": {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/approvals": {
		action: access.UserUpdate,
		body:   `{"kind":"domain","value":"example.com"}`,
		owner:  201,
	},
	"DELETE /api/v1/tenants/:tenant/approvals/:approval": {action: access.UserUpdate, owner: 204},
	"GET /api/v1/tenants/:tenant/groups":                 {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/groups": {
		action: access.UserUpdate,
		body:   `{"name":"admins"}`,
		owner:  201,
	},
	"GET /api/v1/groups/:group": {action: access.UserRead},
	"PATCH /api/v1/groups/:group": {
		action: access.UserUpdate,
		body:   `{"display_name":"Renamed"}`,
	},
	"DELETE /api/v1/groups/:group":            {action: access.UserUpdate, owner: 204},
	"GET /api/v1/groups/:group/members":       {action: access.UserRead},
	"PUT /api/v1/groups/:group/members/:user": {action: access.UserUpdate, body: `{"role":"member"}`},
	"DELETE /api/v1/groups/:group/members/:user": {
		action: access.UserUpdate,
		needs:  "member",
		owner:  204,
	},
	"PUT /api/v1/groups/:group/children/:child": {action: access.UserUpdate},
	"DELETE /api/v1/groups/:group/children/:child": {
		action: access.UserUpdate,
		needs:  "nested",
		owner:  204,
	},
	"GET /api/v1/tenants/:tenant/scim/v2/ServiceProviderConfig": {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/ResourceTypes":         {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/ResourceTypes/:id":     {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/Schemas":               {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/Schemas/:id":           {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/Users":                 {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/scim/v2/Users": {
		action: access.UserUpdate,
		body:   `{"userName":"new@example.com"}`,
		owner:  201,
	},
	"GET /api/v1/tenants/:tenant/scim/v2/Users/:id": {action: access.UserRead},
	"PUT /api/v1/tenants/:tenant/scim/v2/Users/:id": {
		action: access.UserUpdate,
		body:   `{"userName":"put@example.com"}`,
	},
	"PATCH /api/v1/tenants/:tenant/scim/v2/Users/:id": {
		action: access.UserUpdate,
		body:   `{"Operations":[{"op":"Replace","path":"displayName","value":"Renamed"}]}`,
	},
	"DELETE /api/v1/tenants/:tenant/scim/v2/Users/:id": {action: access.UserUpdate, owner: 204},
	"GET /api/v1/tenants/:tenant/scim/v2/Groups":       {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/scim/v2/Groups": {
		action: access.UserUpdate,
		body:   `{"displayName":"Admins"}`,
		owner:  201,
	},
	"GET /api/v1/tenants/:tenant/scim/v2/Groups/:id": {action: access.UserRead},
	"PUT /api/v1/tenants/:tenant/scim/v2/Groups/:id": {
		action: access.UserUpdate,
		body:   `{"displayName":"Renamed"}`,
	},
	"PATCH /api/v1/tenants/:tenant/scim/v2/Groups/:id": {
		action: access.UserUpdate,
		body:   `{"Operations":[{"op":"replace","value":{"displayName":"Renamed"}}]}`,
	},
	"DELETE /api/v1/tenants/:tenant/scim/v2/Groups/:id": {action: access.UserUpdate, owner: 204},

	"GET /api/v1/webhooks": {
		action:   access.WebhookRead,
		stranger: 200,
		key:      403,
	},
	"POST /api/v1/webhooks": {
		action: access.WebhookChange,
		body:   `{"url":"http://8.8.8.8/hook","team":"{team}"}`,
		owner:  201,
	},
	"GET /api/v1/webhooks/:webhook": {action: access.WebhookRead, needs: "webhook"},
	"PATCH /api/v1/webhooks/:webhook": {
		action: access.WebhookChange,
		needs:  "webhook",
		body:   `{"enabled":false}`,
	},
	"POST /api/v1/webhooks/:webhook/rotate": {action: access.WebhookChange, needs: "webhook"},
	"DELETE /api/v1/webhooks/:webhook": {
		action: access.WebhookChange,
		needs:  "webhook",
		owner:  204,
	},
	"GET /api/v1/webhooks/:webhook/deliveries":                      {action: access.WebhookRead, needs: "webhook"},
	"POST /api/v1/webhooks/:webhook/deliveries/:delivery/redeliver": {action: access.WebhookChange, needs: "webhook"},
	"GET /api/v1/audit":                      {action: access.AuditRead, stranger: 200},
	"GET /api/v1/audit/verify":               {action: access.AuditRead, stranger: 200},
	"GET /api/v1/projects/:project/requests": {action: access.UsageRead},
	"POST /api/v1/projects/:project/exports": {
		action: access.ExportCreate,
		body:   `{"format":"data"}`,
		owner:  202,
	},
	"GET /api/v1/exports/:export":         {action: access.ExportRead},
	"POST /api/v1/exports/:export/cancel": {action: access.ExportCreate},
	"GET /api/v1/exports/:export/download": {
		action:   access.ExportDownload,
		needs:    "ready",
		recorded: true,
	},
})

func or(status, usual int) int {
	if status != 0 {
		return status
	}
	return usual
}

// filled replaces zero by the usual.
func (g guard) filled(method, route string) guard {
	nobody, owner := http.StatusUnauthorized, http.StatusOK
	if !controlplane.IsAPI(route) {
		nobody = http.StatusSeeOther // to the sign-in page
		if method != http.MethodGet {
			owner = http.StatusSeeOther
		}
	}
	g.nobody, g.owner = or(g.nobody, nobody), or(g.owner, owner)
	if !g.personal() {
		g.stranger = or(g.stranger, http.StatusNotFound)
	}
	g.key = or(g.key, g.stranger)
	return g
}
