package handlers_test

import "postern/service/access"

// transformsBody is the body of a PUT of transforms, which has each list, also an empty one.
const transformsBody = `{"request":{"add":{"headers":["X-Guarded:1"],"query":[],"body":[]},` +
	`"remove":{"headers":[],"query":[],"body":[]},"rename":{"headers":[],"query":[],"body":[]},` +
	`"replace":{"headers":[],"query":[],"body":[]},"append":{"headers":[],"query":[],"body":[]}},` +
	`"response":{"remove":{"headers":[],"body":[]},"rename":{"headers":[],"body":[]},` +
	`"replace":{"headers":[],"body":[],"body_types":[]},"add":{"headers":[],"body":[],"body_types":[]},` +
	`"append":{"headers":[],"body":[],"body_types":[]}}}`

// transformGuards are the routes of the changes to a version's requests and responses.
var transformGuards = map[string]guard{
	"GET /projects/:project/versions/:version/transforms": {action: access.ProjectRead},
	"POST /projects/:project/versions/:version/transforms": {
		action: access.ProjectUpdate,
		body:   "transforms=request+remove+X-Posted",
	},
	"PUT /api/v1/projects/:project/versions/:version/transforms": {body: transformsBody},
}
