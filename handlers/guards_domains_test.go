package handlers_test

import "postern/service/access"

// domainGuards are the routes of custom host names.
var domainGuards = map[string]guard{
	"GET /projects/:project/domains": {action: access.ProjectRead},
	"POST /projects/:project/domains": {
		action: access.DomainChange,
		body:   "host=www-{number}.example.com&environment=prod",
	},
	"GET /projects/:project/domains/:domain": {action: access.ProjectRead},
	"POST /projects/:project/domains/:domain": {
		action: access.DomainChange,
		needs:  "two environments",
		body:   "environment=dev",
	},
	"POST /projects/:project/domains/:domain/verify": {action: access.DomainChange},
	"POST /projects/:project/domains/:domain/remove": {action: access.DomainChange, body: "confirm=true"},
	"POST /api/v1/projects/:project/domains": {
		body: `{"host":"www-{number}.example.com","environment":"prod"}`,
	},
	"PATCH /api/v1/projects/:project/domains/:domain": {
		needs: "two environments",
		body:  `{"environment":"dev"}`,
	},
	"PUT /api/v1/projects/:project/domains/:domain/approval":    {operator: true},
	"DELETE /api/v1/projects/:project/domains/:domain/approval": {operator: true, needs: "approved"},
}
