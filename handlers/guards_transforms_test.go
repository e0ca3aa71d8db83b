package handlers_test

import "postern/service/access"

// transformGuards are the routes of the changes to a version's requests and responses.
var transformGuards = map[string]guard{
	"GET /projects/:project/versions/:version/transforms": {action: access.ProjectRead},
	"POST /projects/:project/versions/:version/transforms": {
		action: access.ProjectUpdate,
		body:   "transforms=request+remove+X-Posted",
	},
	"GET /api/v1/projects/:project/versions/:version/transforms": {action: access.ProjectRead},
	"PUT /api/v1/projects/:project/versions/:version/transforms": {
		action: access.ProjectUpdate,
		body:   `{"request":{"add":{"headers":["X-Guarded:1"]}},"response":{}}`,
	},
}

// transformAnonymous is what a caller without a credential gets.
var transformAnonymous = map[string]string{
	"GET /projects/:project/versions/:version/transforms":        "in",
	"POST /projects/:project/versions/:version/transforms":       "in",
	"GET /api/v1/projects/:project/versions/:version/transforms": "401",
	"PUT /api/v1/projects/:project/versions/:version/transforms": "401",
}
