package handlers_test

// anonymousExports is the part of anonymous about exports.
var anonymousExports = map[string]string{
	"GET /projects/:project/export":                 "in",
	"POST /projects/:project/export":                "in",
	"GET /projects/:project/export/preview":         "in",
	"GET /exports/:export":                          "in",
	"GET /exports/:export/download":                 "in",
	"GET /exports/:export/ledger":                   "in",
	"GET /exports/:export/ledger/download":          "in",
	"POST /exports/:export/cancel":                  "in",
	"GET /api/v1/projects/:project/exports":         "401",
	"GET /api/v1/projects/:project/exports/preview": "401",
	"POST /api/v1/projects/:project/exports":        "401",
	"GET /api/v1/exports/:export":                   "401",
	"POST /api/v1/exports/:export/cancel":           "401",
	"GET /api/v1/exports/:export/download":          "401",
	"GET /api/v1/exports/:export/events":            "401",
	"GET /api/v1/exports/:export/ledger":            "401",
	"GET /api/v1/exports/:export/ledger/download":   "401",
}
