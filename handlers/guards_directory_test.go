package handlers_test

import "postern/service/access"

// directoryGuards are the routes of a tenant's users and groups.
var directoryGuards = map[string]guard{
	"GET /tenants/:tenant/users":  {action: access.UserRead},
	"POST /tenants/:tenant/users": {action: access.UserUpdate, body: "email=new@example.com"},
	"GET /users/:user":            {action: access.UserRead},
	"POST /users/:user": {
		action: access.UserUpdate,
		body:   "name=Renamed&email=ana@example.com",
	},
	"POST /users/:user/freeze":     {action: access.UserUpdate},
	"POST /users/:user/unfreeze":   {action: access.UserUpdate, needs: "frozen user"},
	"POST /users/:user/delete":     {action: access.UserUpdate, body: "confirm=true"},
	"GET /users/:user/invitation":  {action: access.UserRead},
	"POST /users/:user/invitation": {action: access.UserUpdate},
	"POST /users/:user/groups":     {action: access.UserUpdate, body: "group={group}"},
	"POST /users/:user/sessions/end-all": {
		action: access.UserUpdate,
		needs:  "signed in",
		body:   "confirm=true",
	},
	"POST /users/:user/sessions/:session/end": {
		action: access.UserUpdate,
		needs:  "signed in",
		body:   "confirm=true",
	},
	"POST /users/:user/consents/:client/withdraw": {
		action: access.UserUpdate,
		needs:  "signed in",
		body:   "confirm=true",
	},
	"GET /tenants/:tenant/signup":                          {action: access.UserRead},
	"POST /tenants/:tenant/signup":                         {action: access.UserUpdate, body: "invite_only=true"},
	"POST /tenants/:tenant/signup/approvals":               {action: access.UserUpdate, body: "value=example.com"},
	"POST /tenants/:tenant/signup/approvals/:approval/end": {action: access.UserUpdate, body: "confirm=true"},
	"GET /tenants/:tenant/groups":                          {action: access.UserRead},
	"POST /tenants/:tenant/groups":                         {action: access.UserUpdate, body: "name=admins"},
	"GET /groups/:group":                                   {action: access.UserRead},
	"POST /groups/:group":                                  {action: access.UserUpdate, body: "name=renamed"},
	"POST /groups/:group/delete":                           {action: access.UserUpdate, body: "confirm=true"},
	"POST /groups/:group/members":                          {action: access.UserUpdate, body: "email=ana@example.com"},
	"POST /groups/:group/members/:user/remove": {
		action: access.UserUpdate, needs: "member", body: "confirm=true",
	},
	"POST /groups/:group/children": {action: access.UserUpdate, body: "child={child}"},
	"POST /groups/:group/children/:child/remove": {
		action: access.UserUpdate, needs: "nested", body: "confirm=true",
	},

	"GET /api/v1/tenants/:tenant/users": {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/users": {
		action: access.UserUpdate,
		body:   `{"email":"new@example.com"}`,
		owner:  201,
	},
	"GET /api/v1/users/:user":                      {action: access.UserRead},
	"GET /api/v1/users/:user/sessions":             {action: access.UserRead},
	"POST /api/v1/users/:user/sessions/end-all":    {action: access.UserUpdate, needs: "signed in"},
	"DELETE /api/v1/users/:user/sessions/:session": {action: access.UserUpdate, needs: "signed in", owner: 204},
	"GET /api/v1/users/:user/consents":             {action: access.UserRead},
	"DELETE /api/v1/users/:user/consents/:client":  {action: access.UserUpdate, needs: "signed in", owner: 204},
	"PATCH /api/v1/users/:user":                    {action: access.UserUpdate, body: `{"name":"Renamed"}`},
	"DELETE /api/v1/users/:user":                   {action: access.UserUpdate, owner: 204},
	"POST /api/v1/users/:user/freeze":              {action: access.UserUpdate},
	"POST /api/v1/users/:user/invitation":          {action: access.UserUpdate, owner: 201, body: `{}`},
	"POST /api/v1/users/:user/unfreeze":            {action: access.UserUpdate, needs: "frozen user"},
	"GET /api/v1/tenants/:tenant/signup":           {action: access.UserRead},
	"PATCH /api/v1/tenants/:tenant/signup":         {action: access.UserUpdate, body: `{"invite_only":true}`},
	"GET /api/v1/tenants/:tenant/signup/approvals": {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/signup/approvals": {
		action: access.UserUpdate,
		body:   `{"kind":"domain","value":"example.com"}`,
		owner:  201,
	},
	"GET /api/v1/tenants/:tenant/signup/approvals/:approval": {action: access.UserRead},
	"PATCH /api/v1/tenants/:tenant/signup/approvals/:approval": {
		action: access.UserUpdate,
		body:   `{"groups":["{group}"]}`,
	},
	"DELETE /api/v1/tenants/:tenant/signup/approvals/:approval": {action: access.UserUpdate, owner: 204},
	"GET /api/v1/tenants/:tenant/groups":                        {action: access.UserRead},
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
	"DELETE /api/v1/groups/:group":                 {action: access.UserUpdate, owner: 204},
	"GET /api/v1/groups/:group/members":            {action: access.UserRead},
	"PUT /api/v1/groups/:group/members/:user":      {action: access.UserUpdate, body: `{"role":"member"}`},
	"DELETE /api/v1/groups/:group/members/:user":   {action: access.UserUpdate, needs: "member", owner: 204},
	"PUT /api/v1/groups/:group/children/:child":    {action: access.UserUpdate},
	"DELETE /api/v1/groups/:group/children/:child": {action: access.UserUpdate, needs: "nested", owner: 204},
}

// scimGuards are the routes of user provisioning (RFC 7644).
var scimGuards = map[string]guard{
	"GET /api/v1/tenants/:tenant/scim/v2/ServiceProviderConfig": {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/ResourceTypes":         {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/ResourceTypes/:id":     {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/Schemas":               {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/Schemas/:id":           {action: access.UserRead},
	"GET /api/v1/tenants/:tenant/scim/v2/Users":                 {action: access.UserRead},
	"POST /api/v1/tenants/:tenant/scim/v2/.search": {
		action: access.UserRead,
		body:   `{"count":1}`,
		silent: true,
	},
	"POST /api/v1/tenants/:tenant/scim/v2/Users/.search": {
		action: access.UserRead,
		body:   `{"count":1}`,
		silent: true,
	},
	"POST /api/v1/tenants/:tenant/scim/v2/Groups/.search": {
		action: access.UserRead,
		body:   `{"count":1}`,
		silent: true,
	},
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
}
