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
	"GET /api/v1/projects/:project/versions/:version/rules": {action: access.ProjectRead},
	"PUT /api/v1/projects/:project/versions/:version/rules": {
		action: access.ProjectUpdate,
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

// ruleAnonymous is what a caller without a credential gets.
var ruleAnonymous = map[string]string{
	"GET /api/v1/projects/:project/explain":                        "401",
	"GET /projects/:project/explain":                               "in",
	"GET /projects/:project/versions/:version/rules":               "in",
	"POST /projects/:project/versions/:version/rules":              "in",
	"GET /api/v1/projects/:project/versions/:version/rules":        "401",
	"PUT /api/v1/projects/:project/versions/:version/rules":        "401",
	"GET /api/v1/projects/:project/versions/:version/rules/shadow": "401",
	"GET /api/v1/projects/:project/versions/:version/rules/missed": "401",
	"GET /api/v1/projects/:project/relations":                      "401",
	"POST /api/v1/projects/:project/relations":                     "401",
	"DELETE /api/v1/projects/:project/relations":                   "401",
	"GET /projects/:project/relations":                             "in",
	"POST /projects/:project/relations":                            "in",
	"POST /projects/:project/relations/import":                     "in",
	"GET /projects/:project/relations/forget":                      "in",
	"POST /projects/:project/relations/forget":                     "in",
}
