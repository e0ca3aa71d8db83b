package handlers_test

// anonymousLife is the part of anonymous about deleting and restoring.
var anonymousLife = map[string]string{
	"GET /api/v1/projects/:project/deletion": "401",
	"GET /api/v1/products/:product/deletion": "401",
	"GET /api/v1/tenants/:tenant/deletion":   "401",
	"GET /api/v1/teams/:team/deletion":       "401",
	"GET /api/v1/account/deletion":           "401",
	"POST /api/v1/account/delete":            "401",
	"DELETE /api/v1/teams/:team":             "401",
	"POST /teams/:team/delete":               "in",
	"GET /projects/:project/delete":          "in",
	"POST /projects/:project/delete":         "in",
	"POST /projects/:project/move":           "in",
	"POST /projects/:project/restore":        "in",
	"GET /bin":                               "in",
	"DELETE /api/v1/projects/:project":       "401",
	"POST /api/v1/projects/:project/restore": "401",
	"POST /api/v1/projects/:project/move":    "401",
}

// anonymousSettings is the part of anonymous about pages of a project's settings.
var anonymousSettings = map[string]string{
	"GET /search":                                     "in",
	"POST /as-code":                                   "in",
	"POST /search":                                    "in",
	"GET /teams/:team/settings":                       "in",
	"GET /shortcuts":                                  "in",
	"POST /projects/:project/keys/change":             "in",
	"GET /projects/:project/keys":                     "in",
	"GET /projects/:project/settings":                 "in",
	"GET /projects/:project/limits":                   "in",
	"GET /projects/:project/versions/:version/access": "in",
}
