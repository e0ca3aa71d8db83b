package handlers_test

import "postern/service/access"

// openAPIGuards are the routes of versions' OpenAPI documents.
var openAPIGuards = map[string]guard{
	"GET /api/v1/projects/:project/versions/:version/openapi": {action: access.ProjectRead},
	"PUT /api/v1/projects/:project/versions/:version/openapi": {
		action: access.ProjectUpdate,
		body:   `{"openapi":"3.1.0","info":{"title":"Guarded","version":"1"},"paths":{}}`,
	},
	"DELETE /api/v1/projects/:project/versions/:version/openapi":         {action: access.ProjectUpdate, owner: 204},
	"GET /api/v1/projects/:project/versions/:version/openapi/operations": {action: access.ProjectRead},
	"GET /api/v1/projects/:project/versions/:version/openapi/rules":      {action: access.ProjectRead},
}

// openAPIAnonymous is what a caller without a credential gets.
var openAPIAnonymous = map[string]string{
	"GET /api/v1/projects/:project/versions/:version/openapi":            "401",
	"PUT /api/v1/projects/:project/versions/:version/openapi":            "401",
	"DELETE /api/v1/projects/:project/versions/:version/openapi":         "401",
	"GET /api/v1/projects/:project/versions/:version/openapi/operations": "401",
	"GET /api/v1/projects/:project/versions/:version/openapi/rules":      "401",
}
