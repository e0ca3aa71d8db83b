package handlers_test

import "postern/service/access"

// projectGuards are the routes of projects, exports and usage.
var projectGuards = map[string]guard{
	"GET /projects/:project/created": {action: access.ProjectRead},
	"GET /projects":                  {action: access.ProjectRead, outsider: 200},
	"GET /imports":                   {action: access.ProjectRead, outsider: 200},
	// In the caller's own team, and without a zip.
	"POST /imports":                 {action: access.ProjectImport, owner: 422, outsider: 422, silent: true},
	"POST /imports/preview":         {action: access.ProjectImport, owner: 422, outsider: 422, silent: true},
	"POST /imports/plan":            {action: access.ProjectImport, owner: 422, outsider: 422, silent: true},
	"POST /imports/:import":         {body: "theirs=true"},
	"GET /imports/:import/download": {action: access.ProjectImport},
	"POST /imports/:import/apply":   {owner: 422, silent: true}, // without an ETag
	"POST /imports/:import/delete":  {body: "confirm=true"},
	"POST /imports/:import/undo":    {needs: "applied", body: "confirm=true", audited: true, several: true},
	"GET /projects/new":             {action: access.ProjectRead, outsider: 200},
	// In the caller's own team, of which the outsider is the owner.
	"POST /projects/new": {
		action:   access.ProjectCreate,
		body:     "target=http://127.0.0.1:9/moved",
		outsider: 303,
	},
	"GET /projects/:project":                          {action: access.ProjectRead},
	"GET /exports/:export":                            {action: access.ExportRead},
	"GET /projects/:project/settings":                 {action: access.ProjectRead},
	"GET /projects/:project/limits":                   {action: access.ProjectRead},
	"GET /projects/:project/versions/:version/access": {action: access.ProjectRead},
	"POST /projects/:project/settings":                {action: access.ProjectUpdate, body: "display_name=Renamed"},
	"POST /projects/:project/versions/:version/access": {
		action: access.ProjectUpdate,
		body:   "mode=passthrough&methods=api_key&keyless=reject",
	},
	"POST /projects/:project/versions":         {action: access.ProjectUpdate, body: "name=2.0.0"},
	"GET /projects/:project/versions/:version": {action: access.UsageRead},
	"POST /projects/:project/versions/:version": {
		action: access.ProjectUpdate,
		body:   "name=1.1.0",
	},
	"POST /projects/:project/versions/:version/delete": {
		action: access.ProjectUpdate,
		needs:  "two versions",
		body:   "confirm=true",
	},
	"POST /projects/:project/versions/:version/environments": {
		action: access.ProjectUpdate,
		body:   "name=staging&target=http://127.0.0.1:9/staging",
	},
	"GET /projects/:project/versions/:version/environments/:environment": {action: access.UsageRead},
	"POST /projects/:project/versions/:version/environments/:environment": {
		action: access.ProjectUpdate,
		body:   "name=live",
	},
	"POST /projects/:project/versions/:version/environments/:environment/delete": {
		action: access.ProjectUpdate,
		needs:  "two environments",
		body:   "confirm=true",
	},
	"POST /projects/:project/limits": {
		action: access.ProjectUpdate,
		body:   "limit_of=key&limit_window=minute&limit_calls=10",
	},
	"POST /projects/:project/cors": {action: access.ProjectUpdate, body: "origins=https://app.example"},
	"POST /projects/:project/versions/:version/addresses": {
		action: access.ProjectUpdate,
		body:   "ip_deny=192.0.2.0%2F24",
	},
	"POST /projects/:project/versions/:version/environments/:environment/target": {
		action: access.ProjectUpdate,
		body:   "target=http://127.0.0.1:9/moved",
	},
	"POST /projects/:project/versions/:version/environments/:environment/targets": {
		action: access.ProjectUpdate,
		body:   "url=http://127.0.0.1:9&weight=1&url=http://127.0.0.1:10&weight=2&balance=hash%3Downer",
	},
	"POST /projects/:project/versions/:version/environments/:environment/checks": {
		action: access.ProjectUpdate,
		body:   "path=/healthz&statuses=204",
	},
	"POST /projects/:project/versions/:version/environments/:environment/breaker": {
		action: access.ProjectUpdate,
		body:   "failures=20",
	},
	"POST /projects/:project/versions/:version/environments/:environment/timeouts": {
		action: access.ProjectUpdate,
		body:   "response_ms=90000",
	},
	"POST /projects/:project/versions/:version/environments/:environment/retries": {
		action: access.ProjectUpdate,
		body:   "max=2&on=503",
	},
	"POST /projects/:project/versions/:version/environments/:environment/http": {
		action: access.ProjectUpdate,
		body:   "http=auto",
	},
	"POST /projects/:project/versions/:version/environments/:environment/tls": {
		action: access.ProjectUpdate,
		needs:  "https target",
		body:   "system=true&server_name=api.internal",
	},
	"POST /projects/:project/versions/:version/environments/:environment/host-header": {
		action: access.ProjectUpdate,
		body:   "host_header=api.internal",
	},
	"POST /projects/:project/versions/:version/environments/:environment/check": {
		action: access.ProjectUpdate,
		owner:  200,
		silent: true,
	},
	"GET /projects/:project/versions/:version/environments/:environment/upstream-headers": {action: access.ProjectRead},
	"POST /projects/:project/versions/:version/environments/:environment/upstream-headers": {
		action: access.ProjectUpdate,
		body:   "name=X-Upstream-Token&secret_value=s3cret",
	},
	"GET /projects/:project/versions/:version/environments/:environment/upstream-headers/:name": {
		action: access.ProjectUpdate,
		needs:  "upstream header",
	},
	"POST /projects/:project/versions/:version/environments/:environment/upstream-headers/:name/remove": {
		action: access.ProjectUpdate,
		needs:  "upstream header",
		body:   "confirm=true",
	},
	"GET /projects/:project/versions/:version/environments/:environment/client-certificate": {
		action: access.ProjectRead,
	},
	"POST /projects/:project/versions/:version/environments/:environment/client-certificate": {
		action: access.ProjectUpdate,
		needs:  "https target",
		body:   "certificate={certificate}&private_key={private_key}",
	},
	"POST /projects/:project/versions/:version/environments/:environment/client-certificate/remove": {
		action: access.ProjectUpdate,
		needs:  "client certificate",
		body:   "confirm=true",
	},
	"GET /projects/:project/call-signing":  {action: access.ProjectRead},
	"POST /projects/:project/call-signing": {action: access.ProjectUpdate},
	"POST /projects/:project/call-signing/rotate": {
		action: access.ProjectUpdate,
		needs:  "call signing",
		body:   "confirm=true",
	},
	"POST /projects/:project/call-signing/disable": {
		action: access.ProjectUpdate,
		needs:  "call signing",
		body:   "confirm=true",
	},
	"GET /projects/:project/export":         {action: access.ExportRead},
	"GET /projects/:project/export/preview": {action: access.ExportRead},
	"POST /projects/:project/export":        {action: access.ExportCreate, body: "format=data"},
	"GET /exports/:export/download":         {action: access.ExportDownload, needs: "ready", audited: true},
	"GET /exports/:export/ledger/download":  {action: access.ExportDownload, needs: "ready", audited: true},
	"GET /exports/:export/ledger":           {action: access.ExportRead, needs: "ready"},
	"POST /exports/:export/cancel":          {action: access.ExportCreate, body: "confirm=true"},

	"POST /proxy": {
		body:      `{"target":"http://127.0.0.1:9/moved"}`,
		anonymous: 201,
		outsider:  201,
	},
	"GET /api/v1/projects":                   {outsider: 200},
	"PATCH /api/v1/projects/:project":        {body: `{"display_name":"Renamed"}`},
	"GET /projects/:project/delete":          {action: access.ProjectRead},
	"POST /projects/:project/delete":         {action: access.ProjectDelete, body: "confirm=true"},
	"POST /projects/:project/restore":        {action: access.ProjectRestore, needs: "deleted"},
	"GET /bin":                               {action: access.ProjectRead, outsider: 200},
	"POST /api/v1/projects/:project/restore": {needs: "deleted"},
	"POST /projects/:project/move": {
		action: access.ProjectMove,
		body:   "team={team}&confirm=true", // where it is
		silent: true,
	},
	"POST /api/v1/projects/:project/move": {
		body:   `{"team":"{team}"}`, // where it is; the tests of service/projects move it
		silent: true,
	},
	"PATCH /api/v1/projects/:project/versions/:version": {body: `{"requests_auth":{"mode":"passthrough"}}`},
	"POST /api/v1/projects/:project/versions":           {body: `{"name":"2.0.0"}`},
	"POST /api/v1/projects/:project/versions/:version/environments": {
		body: `{"name":"staging","target":"http://127.0.0.1:9/staging"}`,
	},
	"DELETE /api/v1/projects/:project/versions/:version":                           {needs: "two versions"},
	"DELETE /api/v1/projects/:project/versions/:version/environments/:environment": {needs: "two environments"},
	"PATCH /api/v1/projects/:project/versions/:version/environments/:environment": {
		body: `{"target":"http://127.0.0.1:9/moved"}`,
	},
	"POST /api/v1/projects/:project/versions/:version/environments/:environment/check": {
		action: access.ProjectUpdate,
		silent: true,
	},
	"POST /api/v1/projects/:project/versions/:version/token-issuers/test": {
		action: access.ProjectUpdate,
		body:   `{"iss":"http://127.0.0.1:9","aud":"shop"}`,
		silent: true,
	},
	"POST /api/v1/projects/:project/versions/:version/introspection/test": {
		action: access.ProjectUpdate,
		body:   `{"opaque":{"endpoint":"http://127.0.0.1:9/introspect"}}`,
		silent: true,
	},
	"GET /api/v1/projects/:project/versions/:version/environments/:environment/upstream-headers/:name": {
		needs: "upstream header",
	},
	"PUT /api/v1/projects/:project/versions/:version/environments/:environment/upstream-headers/:name": {
		body: `{"value":"s3cret"}`,
	},
	"DELETE /api/v1/projects/:project/versions/:version/environments/:environment/upstream-headers/:name": {
		needs: "upstream header",
	},
	"GET /api/v1/projects/:project/versions/:version/environments/:environment/client-certificate": {
		needs: "client certificate",
	},
	"PUT /api/v1/projects/:project/versions/:version/environments/:environment/client-certificate": {
		needs: "https target",
		body:  `{"certificate":"{certificate}","private_key":"{private_key}"}`,
	},
	"DELETE /api/v1/projects/:project/versions/:version/environments/:environment/client-certificate": {
		needs: "client certificate",
	},
	"DELETE /api/v1/projects/:project/call-signing":      {needs: "call signing"},
	"POST /api/v1/projects/:project/call-signing/rotate": {needs: "call signing"},
	"GET /api/v1/projects/:project/exports/preview":      {query: "?format=gateway"},
	"PUT /api/v1/projects/:project/takedown":             {operator: true, body: `{"reason":"Phishing"}`},
	"DELETE /api/v1/projects/:project/takedown":          {operator: true, needs: "taken"},
	"POST /api/v1/projects/:project/exports":             {body: `{"format":"data"}`},
	"GET /api/v1/exports/:export/ledger":                 {needs: "ready"},
	"POST /api/v1/imports":                               {query: "?team={team}&name={name}", body: "{zip}"},
	"GET /api/v1/imports":                                {outsider: 200, otherKey: 403},
	"GET /api/v1/imports/:import/result":                 {needs: "applied"},
	"PATCH /api/v1/imports/:import":                      {body: `{"allow_weak":true}`},
	"POST /api/v1/imports/:import/apply":                 {owner: 422, silent: true}, // without an ETag
	"POST /api/v1/imports/:import/undo":                  {needs: "applied", audited: true, several: true},
	"GET /api/v1/exports/:export/events":                 {needs: "ready"},
	"GET /api/v1/exports/:export/download":               {needs: "ready", audited: true},
	"GET /api/v1/exports/:export/ledger/download":        {needs: "ready", audited: true},
}
