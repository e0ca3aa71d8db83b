package handlers_test

import (
	"net/http"

	"postern/service/access"
)

// usageGuards are the routes of usage and of the log of requests.
var usageGuards = map[string]guard{
	"GET /projects/:project/usage":                    {action: access.UsageRead},
	"GET /projects/:project/usage.csv":                {action: access.UsageRead},
	"GET /projects/:project/requests":                 {action: access.UsageRead},
	"GET /projects/:project/requests/:request":        {action: access.UsageRead, owner: http.StatusNotFound},
	"GET /api/v1/projects/:project/usage":             {action: access.UsageRead},
	"GET /api/v1/projects/:project/requests":          {action: access.UsageRead},
	"GET /api/v1/projects/:project/requests/:request": {action: access.UsageRead, owner: http.StatusNotFound},
}
