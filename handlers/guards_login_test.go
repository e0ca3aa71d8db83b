package handlers_test

import "postern/service/access"

// oidcGuards are the endpoints of hosted login, which browsers and app clients call.
var oidcGuards = map[string]guard{
	"GET /oauth/:client/.well-known/openid-configuration":        {open: true},
	"GET /oauth/:client/.well-known/oauth-authorization-server":  {open: true},
	"GET /.well-known/oauth-authorization-server/oauth/:client":  {open: true},
	"GET /oauth/:client/jwks.json":                               {open: true},
	"POST /oauth/:client/token":                                  {open: true},
	"POST /oauth/:client/revoke":                                 {open: true},
	"OPTIONS /oauth/:client/revoke":                              {open: true},
	"POST /oauth/:client/introspect":                             {open: true},
	"OPTIONS /oauth/:client/token":                               {open: true},
	"GET /oauth/:client/userinfo":                                {open: true},
	"POST /oauth/:client/userinfo":                               {open: true},
	"OPTIONS /oauth/:client/userinfo":                            {open: true},
	"GET /oauth/:client/groups":                                  {open: true},
	"OPTIONS /oauth/:client/groups":                              {open: true},
	"GET /oauth/:client/groups/:group/members":                   {open: true},
	"OPTIONS /oauth/:client/groups/:group/members":               {open: true},
	"PUT /oauth/:client/groups/:group/members/:user":             {open: true},
	"DELETE /oauth/:client/groups/:group/members/:user":          {open: true},
	"OPTIONS /oauth/:client/groups/:group/members/:user":         {open: true},
	"GET /oauth/:client/authorize":                               {open: true},
	"POST /oauth/:client/authorize":                              {open: true},
	"GET /oauth/:client/login/:attempt/:provider":                {open: true},
	"GET /oauth/:client/callback/:provider":                      {open: true},
	"POST /oauth/:client/callback/:provider":                     {open: true},
	"POST /oauth/:client/consent":                                {open: true},
	"GET /oauth/:client/logout":                                  {open: true},
	"POST /oauth/:client/logout":                                 {open: true},
	"POST /oauth/:client/logout/confirm":                         {open: true},
	"GET /oauth/:client/account":                                 {open: true},
	"POST /oauth/:client/account/signin":                         {open: true},
	"POST /oauth/:client/account/link":                           {open: true},
	"GET /oauth/:client/invitation/:code":                        {open: true},
	"POST /oauth/:client/invitation/:code":                       {open: true},
	"POST /oauth/:client/account/providers/:identity/unlink":     {open: true},
	"POST /oauth/:client/account/sessions/:session/end":          {open: true},
	"POST /oauth/:client/account/sessions/end-all":               {open: true},
	"POST /oauth/:client/account/consents/:application/withdraw": {open: true},
	"POST /oauth/:client/account/delete":                         {open: true},
	"GET /oauth/:client/brand.css":                               {open: true},
	"GET /oauth/:client/tested":                                  {open: true},
	"GET /oauth/:client/login/:attempt":                          {open: true},
	"POST /oauth/:client/login/:attempt":                         {open: true},
	"GET /brand/:color":                                          {open: true},
}

// loginGuards are the routes of app clients and their providers.
var loginGuards = map[string]guard{
	"POST /projects/:project/login/:client/test": {action: access.LoginUpdate},
	"POST /projects/:project/login/:client/providers/:provider/test": {
		action: access.LoginUpdate,
		owner:  200,
		silent: true,
	},
	"GET /projects/:project/login": {action: access.LoginRead},
	"POST /projects/:project/login": {
		action: access.LoginUpdate,
		body:   "tenant={tenant}&name=mobile-{number}",
	},
	"GET /projects/:project/login/:client": {action: access.LoginRead},
	"POST /projects/:project/login/:client": {
		action: access.LoginUpdate,
		body:   "name=web-2&access_minutes=5&refresh_days=0&algorithm=ES256",
	},
	"POST /projects/:project/login/:client/branding": {action: access.LoginUpdate, body: "title=Shop"},
	"POST /projects/:project/login/:client/preview": {
		action: access.LoginRead,
		body:   "title=Shop",
		silent: true,
		owner:  200,
	},
	"POST /projects/:project/login/:client/secret": {
		action: access.LoginUpdate,
		body:   "kind=confidential&confirm=true",
	},
	"GET /projects/:project/login/:client/secret":              {action: access.LoginRead},
	"POST /projects/:project/login/:client/delete":             {action: access.LoginUpdate, body: "typed_name=web"},
	"GET /projects/:project/login/:client/providers":           {action: access.LoginUpdate},
	"POST /projects/:project/login/:client/providers":          {action: access.LoginUpdate, body: "type=facebook"},
	"GET /projects/:project/login/:client/providers/:provider": {action: access.LoginRead},
	"POST /projects/:project/login/:client/providers/:provider": {
		action: access.LoginUpdate,
		body:   "client_id=other&client_token=service&upstream_token=service&enabled=true",
	},
	"POST /projects/:project/login/:client/providers/:provider/switch": {
		action: access.LoginUpdate,
		body:   "enabled=false",
	},
	"POST /projects/:project/login/:client/providers/:provider/delete": {
		action: access.LoginUpdate,
		body:   "confirm=true",
	},

	"GET /projects/:project/login/:client/providers/:provider/group-mappings": {action: access.LoginRead},
	"POST /projects/:project/login/:client/providers/:provider/group-mappings": {
		action: access.LoginUpdate,
		body:   "claim=groups&match=exact&claim_value=staff&group={group}",
	},
	"GET /projects/:project/login/:client/providers/:provider/group-mappings/:mapping": {action: access.LoginUpdate},
	"POST /projects/:project/login/:client/providers/:provider/group-mappings/:mapping/remove": {
		action: access.LoginUpdate,
		body:   "confirm=true",
	},
	"POST /projects/:project/login/:client/access": {
		action: access.LoginUpdate,
		body:   "grant_types=authorization_code",
	},
	"POST /projects/:project/login/:client/freeze":       {action: access.LoginUpdate},
	"POST /projects/:project/login/:client/unfreeze":     {action: access.LoginUpdate, needs: "frozen client"},
	"POST /projects/:project/login/:client/signing-keys": {action: access.LoginUpdate},

	"GET /projects/:project/api-scopes":        {action: access.ProjectRead},
	"POST /projects/:project/api-scopes":       {action: access.ProjectUpdate, body: "name=orders:write"},
	"GET /projects/:project/api-scopes/:scope": {action: access.ProjectRead},
	"POST /projects/:project/api-scopes/:scope": {
		action: access.ProjectUpdate,
		body:   "description=see orders",
	},
	"POST /projects/:project/api-scopes/:scope/remove": {action: access.ProjectUpdate, body: "confirm=true"},
	"POST /projects/:project/api-audience": {
		action: access.ProjectUpdate,
		body:   "audience=https://api-{number}.example.com",
	},

	"PUT /api/v1/projects/:project/cors":    {body: allOfCORS},
	"DELETE /api/v1/projects/:project/cors": {needs: "cors"},
	"PUT /api/v1/tenants/:tenant/cors":      {body: allOfCORS},
	"DELETE /api/v1/tenants/:tenant/cors":   {needs: "tenant cors"},

	"PUT /api/v1/projects/:project/api-scopes": {body: `{"audience":"","scopes":[{"name":"orders:read"}]}`},

	"POST /api/v1/tenants/:tenant/app-clients":   {body: `{"name":"mobile"}`},
	"PATCH /api/v1/app-clients/:client":          {body: `{"branding":{"title":"Shop"}}`},
	"POST /api/v1/app-clients/:client/unfreeze":  {needs: "frozen client"},
	"POST /api/v1/app-clients/:client/providers": {body: `{"type":"google","client_id":"x"}`},
	"PATCH /api/v1/providers/:provider":          {body: `{"enabled":false}`},
	"POST /api/v1/providers/:provider/test":      {action: access.LoginUpdate, silent: true},
	"PUT /api/v1/providers/:provider/group-mappings": {
		body: `{"mappings":[{"claim":"groups","value":"staff","group":"{group}"}]}`,
	},
}

// allOfCORS is a body of settings for CORS: they are replaced as a whole.
const allOfCORS = `{"origins":["https://app.example"],"app_origins":false,"methods":[],"headers":[],` +
	`"exposed_headers":[],"credentials":false,"max_age":null}`
