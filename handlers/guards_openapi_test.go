package handlers_test

import "postern/service/access"

// openAPIGuards are the routes of versions' OpenAPI documents.
var openAPIGuards = map[string]guard{
	"GET /projects/:project/versions/:version/openapi": {action: access.ProjectRead},
	"POST /projects/:project/versions/:version/openapi": {
		action: access.ProjectUpdate,
		body: "openapi_document=%7B%22openapi%22%3A%223.1.0%22%2C%22info%22%3A%7B%22title%22%3A%22Posted%22%2C" +
			"%22version%22%3A%221%22%7D%2C%22paths%22%3A%7B%7D%7D",
	},
	"POST /projects/:project/versions/:version/openapi/remove": {action: access.ProjectUpdate, body: "confirm=true"},
	"POST /projects/:project/versions/:version/openapi/settings": {
		action: access.ProjectUpdate,
		body:   "validation=off&publication=public",
	},
	"GET /projects/:project/versions/:version/openapi/operation": {
		action: access.ProjectRead,
		query:  "?method=GET&path=/orders",
	},
	"GET /api/v1/projects/:project/versions/:version/openapi": {action: access.ProjectRead},
	"PUT /api/v1/projects/:project/versions/:version/openapi": {
		action: access.ProjectUpdate,
		body:   `{"openapi":"3.1.0","info":{"title":"Guarded","version":"1"},"paths":{}}`,
	},
	"DELETE /api/v1/projects/:project/versions/:version/openapi":         {action: access.ProjectUpdate, owner: 204},
	"GET /api/v1/projects/:project/versions/:version/openapi/operations": {action: access.ProjectRead},
	"GET /api/v1/projects/:project/versions/:version/openapi/rules":      {action: access.ProjectRead},
	"PUT /api/v1/projects/:project/versions/:version/openapi/settings": {
		body: `{"validation":"off","publication":"public"}`,
	},
}
