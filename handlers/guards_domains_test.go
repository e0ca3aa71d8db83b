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
	"GET /api/v1/projects/:project/domains":          {action: access.ProjectRead},
	"POST /api/v1/projects/:project/domains": {
		action: access.DomainChange,
		body:   `{"host":"www-{number}.example.com","environment":"prod"}`,
		owner:  201,
	},
	"GET /api/v1/projects/:project/domains/:domain": {action: access.ProjectRead},
	"PATCH /api/v1/projects/:project/domains/:domain": {
		action: access.DomainChange,
		needs:  "two environments",
		body:   `{"environment":"dev"}`,
	},
	"POST /api/v1/projects/:project/domains/:domain/verify": {action: access.DomainChange},
	"DELETE /api/v1/projects/:project/domains/:domain":      {action: access.DomainChange, owner: 204},
	"PUT /api/v1/projects/:project/domains/:domain/approval": {
		action:   access.DomainApprove,
		operator: true,
	},
	"DELETE /api/v1/projects/:project/domains/:domain/approval": {
		action:   access.DomainApprove,
		operator: true,
		needs:    "approved",
	},
}

// domainAnonymous is what a caller without a credential gets.
var domainAnonymous = map[string]string{
	"GET /projects/:project/domains":                            "in",
	"POST /projects/:project/domains":                           "in",
	"GET /projects/:project/domains/:domain":                    "in",
	"POST /projects/:project/domains/:domain":                   "in",
	"POST /projects/:project/domains/:domain/verify":            "in",
	"POST /projects/:project/domains/:domain/remove":            "in",
	"GET /api/v1/projects/:project/domains":                     "401",
	"POST /api/v1/projects/:project/domains":                    "401",
	"GET /api/v1/projects/:project/domains/:domain":             "401",
	"PATCH /api/v1/projects/:project/domains/:domain":           "401",
	"DELETE /api/v1/projects/:project/domains/:domain":          "401",
	"POST /api/v1/projects/:project/domains/:domain/verify":     "401",
	"PUT /api/v1/projects/:project/domains/:domain/approval":    "401",
	"DELETE /api/v1/projects/:project/domains/:domain/approval": "401",
}
