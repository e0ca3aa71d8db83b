package handlers_test

import "postern/service/access"

// ruleGuards are the routes of what a version's routes require.
var ruleGuards = map[string]guard{
	"GET /api/v1/projects/:project/explain":          {action: access.ProjectRead},
	"GET /projects/:project/explain":                 {action: access.ProjectRead},
	"GET /projects/:project/versions/:version/rules": {action: access.UsageRead},
	"POST /projects/:project/versions/:version/rules": {
		action: access.ProjectUpdate,
		body:   "default=allow&rules_mode=shadow&rules=GET+/posted+scopes%3Dread",
	},
	"PUT /api/v1/projects/:project/versions/:version/rules": {
		body: `{"default":"allow","mode":"enforce","read_write_scopes":false,` +
			`"rules":[{"methods":["GET"],"path":"/guarded","scopes":["read"]}]}`,
	},
	"GET /api/v1/projects/:project/versions/:version/rules/shadow": {action: access.UsageRead},
	"GET /api/v1/projects/:project/versions/:version/rules/missed": {action: access.UsageRead},
	"GET /api/v1/projects/:project/relations":                      {action: access.ProjectRead},
	"POST /api/v1/projects/:project/relations": {
		action: access.ProjectUpdate,
		body:   `{"user":"billing","object":"order:42"}`,
	},
	"GET /projects/:project/relations": {action: access.UsageRead},
	"POST /projects/:project/relations": {
		action: access.ProjectUpdate,
		body:   "user=billing&object=order:43",
	},
	"POST /projects/:project/relations/import": {action: access.ProjectUpdate, owner: 422, silent: true},
	"GET /projects/:project/relations/forget": {
		action: access.ProjectRead,
		query:  "?object=order:42&user=billing",
	},
	"POST /projects/:project/relations/forget": {
		action: access.ProjectUpdate,
		body:   "object=order:42&user=billing&confirm=true",
	},
	"DELETE /api/v1/projects/:project/relations": {action: access.ProjectUpdate, query: "?object=order:42"},
}
