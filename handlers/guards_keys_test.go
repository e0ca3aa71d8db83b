package handlers_test

import "postern/service/access"

// keyGuards are the routes of API keys and key types.
var keyGuards = map[string]guard{
	"GET /projects/:project/keys/:key/secret":     {action: access.KeyRead},
	"GET /projects/:project/keys":                 {action: access.ProjectRead},
	"POST /projects/:project/keys":                {action: access.KeyCreate, body: "owner=billing"},
	"GET /projects/:project/keys/import":          {action: access.ProjectRead},
	"POST /projects/:project/keys/import":         {action: access.KeyCreate, owner: 422, silent: true},
	"POST /projects/:project/keys/import/preview": {action: access.KeyCreate, owner: 422, silent: true},
	"POST /projects/:project/keys/check": {
		action:  access.KeyChange,
		body:    "secret=k9J2hG5fD8sA1pO4",
		audited: true,
		owner:   200,
	},
	"GET /projects/:project/keys/:key":           {action: access.KeyRead},
	"POST /projects/:project/keys/:key":          {action: access.KeyChange, body: "description=For+the+invoices"},
	"POST /projects/:project/keys/change":        {action: access.KeyChange, body: "do=freeze&confirm=true&key={key}"},
	"POST /projects/:project/keys/:key/freeze":   {action: access.KeyChange},
	"POST /projects/:project/keys/:key/unfreeze": {action: access.KeyChange, needs: "frozen"},
	"POST /projects/:project/keys/:key/revoke":   {action: access.KeyChange, body: "confirm=true"},
	"POST /projects/:project/keys/:key/rotate":   {action: access.KeyChange, body: "grace_seconds=0&confirm=true"},
	"GET /projects/:project/key-types":           {action: access.ProjectRead},
	"POST /projects/:project/key-types":          {action: access.ProjectUpdate, body: "name=bronze&scopes=read"},
	"GET /projects/:project/key-types/:key_type": {action: access.ProjectRead},
	"POST /projects/:project/key-types/:key_type": {
		action: access.ProjectUpdate,
		body:   "scopes=read&limits_minute=11",
	},
	"POST /projects/:project/key-types/:key_type/delete": {action: access.ProjectUpdate, body: "confirm=true"},

	"POST /api/v1/projects/:project/key-types":            {body: `{"name":"silver","scopes":["read"]}`},
	"PATCH /api/v1/projects/:project/key-types/:key_type": {body: `{"limits":{"minute":10}}`},
	"PATCH /api/v1/keys/:key":                             {body: `{"description":"For the invoices"}`},
	"POST /api/v1/projects/:project/keys":                 {body: `{"owner":"billing"}`},
	"POST /api/v1/projects/:project/keys/import": {
		body:    `[{"owner":"billing","key":"k9J2hG5fD8sA1pO4iU7yT0rE","key_type":"full"}]`,
		audited: true,
	},
	"POST /api/v1/projects/:project/keys/check": {body: `{"key":"k9J2hG5fD8sA1pO4"}`, audited: true},
	"POST /api/v1/keys/:key/unfreeze":           {needs: "frozen"},
}
