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
	"POST /groups/:group/owners": {action: access.UserUpdate, body: "owner=billing"},
	"POST /groups/:group/owners/remove": {
		action: access.UserUpdate, needs: "group owner", body: "owner=billing&confirm=true",
	},
	"POST /groups/:group/children": {action: access.UserUpdate, body: "child={child}"},
	"POST /groups/:group/children/:child/remove": {
		action: access.UserUpdate, needs: "nested", body: "confirm=true",
	},

	"POST /api/v1/tenants/:tenant/users":                       {body: `{"email":"new@example.com"}`},
	"POST /api/v1/users/:user/sessions/end-all":                {needs: "signed in"},
	"DELETE /api/v1/users/:user/sessions/:session":             {needs: "signed in"},
	"DELETE /api/v1/users/:user/consents/:client":              {needs: "signed in"},
	"PATCH /api/v1/users/:user":                                {body: `{"name":"Renamed"}`},
	"POST /api/v1/users/:user/invitation":                      {body: `{}`},
	"POST /api/v1/users/:user/unfreeze":                        {needs: "frozen user"},
	"PATCH /api/v1/tenants/:tenant/signup":                     {body: `{"invite_only":true}`},
	"POST /api/v1/tenants/:tenant/signup/approvals":            {body: `{"kind":"domain","value":"example.com"}`},
	"PATCH /api/v1/tenants/:tenant/signup/approvals/:approval": {body: `{"groups":["{group}"]}`},
	"POST /api/v1/tenants/:tenant/groups":                      {body: `{"name":"admins"}`},
	"PATCH /api/v1/groups/:group":                              {body: `{"display_name":"Renamed"}`},
	"PUT /api/v1/groups/:group/members/:user":                  {body: `{"role":"member"}`},
	"DELETE /api/v1/groups/:group/members/:user":               {needs: "member"},
	"POST /api/v1/groups/:group/owners":                        {body: `{"owner":"billing","role":"member"}`},
	"DELETE /api/v1/groups/:group/owners":                      {needs: "group owner", query: "?owner=billing"},
	"DELETE /api/v1/groups/:group/children/:child":             {needs: "nested"},
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
