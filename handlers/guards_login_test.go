package handlers_test

import (
	"net/http"

	"postern/service/access"
)

// loginTabGuards are those of the pages about a project's app clients.
var loginTabGuards = map[string]guard{
	"GET /oauth/:client/tested":                  {open: true}, // to the account that began it, in its browser
	"GET /oauth/:client/login/:attempt":          {open: true},
	"POST /projects/:project/login/:client/test": {action: access.LoginUpdate},
	"GET /brand/:color":                          {open: true},
	"GET /projects/:project/login":               {action: access.LoginRead},
	"POST /projects/:project/login": {
		action: access.LoginUpdate,
		body:   "tenant={tenant}&name=mobile-{number}",
	},
	"GET /projects/:project/login/:client": {action: access.LoginRead},
	"POST /projects/:project/login/:client": {
		action: access.LoginUpdate,
		body:   "name=web-2&access_minutes=5&refresh_days=0&algorithm=ES256",
	},
	"POST /projects/:project/login/:client/branding": {action: access.LoginUpdate, body: "title=Shop"},
	"POST /projects/:project/login/:client/preview": {
		action: access.LoginRead,
		body:   "title=Shop",
		silent: true,
		owner:  http.StatusOK,
	},
	"POST /projects/:project/login/:client/secret": {
		action: access.LoginUpdate,
		body:   "kind=confidential&confirm=true",
	},
	"GET /projects/:project/login/:client/secret":     {action: access.LoginRead},
	"POST /projects/:project/login/:client/delete":    {action: access.LoginUpdate, body: "confirm=true"},
	"GET /projects/:project/login/:client/providers":  {action: access.LoginUpdate},
	"POST /projects/:project/login/:client/providers": {action: access.LoginUpdate, body: "type=facebook"},

	"GET /projects/:project/login/:client/providers/:provider": {action: access.LoginRead},
	"POST /projects/:project/login/:client/providers/:provider": {
		action: access.LoginUpdate,
		body:   "client_id=other&tokens=service/service&enabled=true",
	},
	"POST /projects/:project/login/:client/providers/:provider/switch": {
		action: access.LoginUpdate,
		body:   "enabled=false",
	},
	"POST /projects/:project/login/:client/providers/:provider/delete": {
		action: access.LoginUpdate,
		body:   "confirm=true",
	},
}
