package handlers_test

import (
	"strconv"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// anonymous has the answer of every route to a caller without a credential: a status, a
// path that it redirects to, or "in" for the sign-in page.
var anonymous = merge(
	anonymousLife, anonymousSettings, anonymousExports, anonymousLogin, projectAnonymous, domainAnonymous,
	ruleAnonymous, openAPIAnonymous, transformAnonymous, usageAnonymous, webhookAnonymous,
	map[string]string{
		"GET /healthz":                        "200",
		"GET /readyz":                         "200",
		"GET /metrics":                        "200",
		"GET /.well-known/postern-export-key": "200",
		"GET /static/*file":                   "404",
		"GET /openapi.json":                   "200",
		"GET /openapi.yaml":                   "200",
		"GET /openapi-3.0.json":               "200",
		"GET /openapi-3.0.yaml":               "200",

		"GET /":               "/projects",
		"GET /signin":         "200",
		"POST /signin":        "401",
		"POST /signout":       "/signin",
		"POST /theme":         "/",
		"POST /sidebar":       "/",
		"GET /welcome/:code":  "410",
		"POST /welcome/:code": "422",
		"GET /docs":           "200", "GET /docs/:page": "404", "GET /docs/reference/:tag": "404",
		"GET /recover": "200", "POST /recover": "404",
		"GET /recover/:code":  "410",
		"POST /recover/:code": "410",
		"GET /email/:code":    "410", "POST /email/:code": "410",
		"GET /claim/:code":  "in",
		"POST /claim/:code": "in",

		"POST /account":                  "in",
		"GET /account/password":          "in",
		"GET /signup":                    "403",
		"POST /signup":                   "422",
		"POST /signin/:provider":         "404",
		"GET /signin/:provider/callback": "404", "POST /signin/:provider/callback": "404",
		"GET /invite/:code":  "410",
		"POST /invite/:code": "in",
		"POST /team":         "/projects",

		"GET /account":                                       "in",
		"POST /account/password":                             "in",
		"GET /account/delete":                                "in",
		"POST /account/delete":                               "in",
		"GET /account/sessions":                              "in",
		"POST /account/sessions/end-others":                  "in",
		"POST /account/sessions/:session/end":                "in",
		"GET /account/signins":                               "in",
		"POST /account/signins/link/:provider":               "in",
		"POST /account/signins/:identity/unlink":             "in",
		"GET /teams":                                         "in",
		"POST /teams":                                        "in",
		"GET /teams/:team":                                   "in",
		"POST /teams/:team/rename":                           "in",
		"POST /teams/:team/leave":                            "in",
		"POST /teams/:team/members/:account/role":            "in",
		"POST /teams/:team/members/:account/remove":          "in",
		"POST /teams/:team/invitations":                      "in",
		"POST /teams/:team/invitations/:invitation/revoke":   "in",
		"GET /api/v1/teams":                                  "401",
		"POST /api/v1/teams":                                 "401",
		"GET /api/v1/teams/:team":                            "401",
		"PATCH /api/v1/teams/:team":                          "401",
		"POST /api/v1/teams/:team/leave":                     "401",
		"GET /api/v1/teams/:team/members":                    "401",
		"GET /api/v1/teams/:team/members/:account":           "401",
		"PATCH /api/v1/teams/:team/members/:account":         "401",
		"DELETE /api/v1/teams/:team/members/:account":        "401",
		"GET /api/v1/teams/:team/invitations":                "401",
		"POST /api/v1/teams/:team/invitations":               "401",
		"GET /api/v1/teams/:team/invitations/:invitation":    "401",
		"DELETE /api/v1/teams/:team/invitations/:invitation": "401",
		"POST /api/v1/invitations/accept":                    "401",
		"GET /api/v1/sessions":                               "401",
		"DELETE /api/v1/sessions/:session":                   "401",
		"POST /api/v1/sessions/end-others":                   "401",

		"GET /projects":                                                                   "in",
		"GET /projects/new":                                                               "in",
		"POST /projects/new":                                                              "in",
		"GET /projects/:project":                                                          "in",
		"POST /projects/:project/settings":                                                "in",
		"POST /projects/:project/cors":                                                    "in",
		"POST /projects/:project/limits":                                                  "in",
		"POST /projects/:project/product":                                                 "in",
		"POST /projects/:project/environments/:environment":                               "in",
		"GET /projects/:project/call-signing":                                             "in",
		"POST /projects/:project/call-signing":                                            "in",
		"POST /projects/:project/call-signing/rotate":                                     "in",
		"POST /projects/:project/call-signing/disable":                                    "in",
		"POST /projects/:project/environments/:environment/check":                         "in",
		"GET /projects/:project/environments/:environment/upstream-headers":               "in",
		"GET /projects/:project/environments/:environment/upstream-headers/:name":         "in",
		"POST /projects/:project/environments/:environment/upstream-headers":              "in",
		"POST /projects/:project/environments/:environment/upstream-headers/:name/remove": "in",
		"GET /projects/:project/environments/:environment/client-certificate":             "in",
		"POST /projects/:project/environments/:environment/client-certificate":            "in",
		"POST /projects/:project/environments/:environment/client-certificate/remove":     "in",
		"POST /projects/:project/keys":                                                    "in",
		"GET /projects/:project/keys/:key":                                                "in",
		"POST /projects/:project/keys/:key":                                               "in",
		"POST /projects/:project/keys/:key/freeze":                                        "in",
		"POST /projects/:project/keys/:key/unfreeze":                                      "in",
		"POST /projects/:project/keys/:key/revoke":                                        "in",
		"POST /projects/:project/keys/:key/rotate":                                        "in",
		"GET /projects/:project/key-types":                                                "in",
		"POST /projects/:project/key-types":                                               "in",
		"GET /projects/:project/key-types/:key_type":                                      "in",
		"POST /projects/:project/key-types/:key_type":                                     "in",
		"POST /projects/:project/key-types/:key_type/delete":                              "in",
		"GET /projects/:project/tenants":                                                  "in",
		"POST /projects/:project/tenants":                                                 "in",
		"GET /projects/:project/tenants/:tenant":                                          "in",
		"POST /projects/:project/tenants/:tenant/detach":                                  "in",
		"GET /products":                                 "in",
		"POST /products":                                "in",
		"GET /products/:product":                        "in",
		"POST /products/:product":                       "in",
		"POST /products/:product/delete":                "in",
		"GET /tenants":                                  "in",
		"POST /tenants":                                 "in",
		"GET /tenants/:tenant":                          "in",
		"POST /tenants/:tenant":                         "in",
		"POST /tenants/:tenant/cors":                    "in",
		"POST /tenants/:tenant/delete":                  "in",
		"GET /tenants/:tenant/users":                    "in",
		"POST /tenants/:tenant/users":                   "in",
		"GET /users/:user":                              "in",
		"POST /users/:user":                             "in",
		"POST /users/:user/freeze":                      "in",
		"POST /users/:user/unfreeze":                    "in",
		"POST /users/:user/delete":                      "in",
		"GET /users/:user/invitation":                   "in",
		"POST /users/:user/invitation":                  "in",
		"POST /users/:user/groups":                      "in",
		"POST /users/:user/sessions/end-all":            "in",
		"POST /users/:user/sessions/:session/end":       "in",
		"POST /users/:user/consents/:client/withdraw":   "in",
		"GET /tenants/:tenant/entry":                    "in",
		"POST /tenants/:tenant/entry":                   "in",
		"POST /tenants/:tenant/approvals":               "in",
		"POST /tenants/:tenant/approvals/:approval/end": "in",
		"GET /tenants/:tenant/groups":                   "in",
		"POST /tenants/:tenant/groups":                  "in",
		"GET /groups/:group":                            "in",
		"POST /groups/:group":                           "in",
		"POST /groups/:group/delete":                    "in",
		"POST /groups/:group/members":                   "in",
		"POST /groups/:group/members/:user/remove":      "in",
		"POST /groups/:group/children":                  "in",
		"POST /groups/:group/children/:child/remove":    "in",
		"GET /audit":                                    "in",

		"GET /oauth/:client/tested":                "in",
		"GET /oauth/:client/login/:attempt":        "403",
		"POST /oauth/:client/login/:attempt":       "403",
		"GET /brand/:color":                        "404",
		"GET /settings/tokens/:token":              "in",
		"GET /settings/tokens/:token/secret":       "in",
		"GET /claimed":                             "in",
		"GET /device/approved":                     "in",
		"GET /device/denied":                       "in",
		"GET /projects/:project/created":           "in",
		"GET /projects/:project/keys/:key/secret":  "in",
		"GET /teams/:team/invitations/:invitation": "in",

		"GET /oauth/:client/.well-known/openid-configuration":        "404",
		"GET /oauth/:client/.well-known/oauth-authorization-server":  "404",
		"GET /.well-known/oauth-authorization-server/oauth/:client":  "404",
		"GET /oauth/:client/jwks.json":                               "404",
		"POST /oauth/:client/revoke":                                 "401",
		"OPTIONS /oauth/:client/revoke":                              "204",
		"POST /oauth/:client/introspect":                             "401",
		"POST /oauth/:client/token":                                  "401",
		"OPTIONS /oauth/:client/token":                               "204",
		"GET /oauth/:client/userinfo":                                "401",
		"POST /oauth/:client/userinfo":                               "401",
		"OPTIONS /oauth/:client/userinfo":                            "204",
		"GET /oauth/:client/authorize":                               "400",
		"POST /oauth/:client/authorize":                              "400",
		"GET /oauth/:client/login/:attempt/:provider":                "403",
		"GET /oauth/:client/callback/:provider":                      "403",
		"POST /oauth/:client/callback/:provider":                     "/oauth/cli_1/callback/idp_1",
		"POST /oauth/:client/consent":                                "403",
		"GET /oauth/:client/logout":                                  "404",
		"POST /oauth/:client/logout":                                 "404",
		"POST /oauth/:client/logout/confirm":                         "404",
		"GET /oauth/:client/account":                                 "404",
		"POST /oauth/:client/account/signin":                         "404",
		"POST /oauth/:client/account/link":                           "404",
		"GET /oauth/:client/invitation/:code":                        "404",
		"POST /oauth/:client/invitation/:code":                       "404",
		"POST /oauth/:client/account/providers/:identity/unlink":     "404",
		"POST /oauth/:client/account/sessions/:session/end":          "404",
		"POST /oauth/:client/account/sessions/end-all":               "404",
		"POST /oauth/:client/account/consents/:application/withdraw": "404",
		"POST /oauth/:client/account/delete":                         "404",
		"GET /oauth/:client/brand.css":                               "404",

		"GET /api/v1/tenants/:tenant/app-clients":        "401",
		"POST /api/v1/tenants/:tenant/app-clients":       "401",
		"GET /api/v1/app-clients/:client":                "401",
		"PATCH /api/v1/app-clients/:client":              "401",
		"POST /api/v1/app-clients/:client/freeze":        "401",
		"POST /api/v1/app-clients/:client/unfreeze":      "401",
		"DELETE /api/v1/app-clients/:client":             "401",
		"GET /api/v1/app-clients/:client/providers":      "401",
		"POST /api/v1/app-clients/:client/providers":     "401",
		"PATCH /api/v1/providers/:provider":              "401",
		"POST /api/v1/providers/:provider/test":          "401",
		"DELETE /api/v1/providers/:provider":             "401",
		"GET /api/v1/providers/:provider/group-mappings": "401",
		"PUT /api/v1/providers/:provider/group-mappings": "401",

		"GET /api/v1/tenants/:tenant/users":                         "401",
		"POST /api/v1/tenants/:tenant/users":                        "401",
		"GET /api/v1/users/:user":                                   "401",
		"GET /api/v1/users/:user/sessions":                          "401",
		"POST /api/v1/users/:user/sessions/end-all":                 "401",
		"DELETE /api/v1/users/:user/sessions/:session":              "401",
		"GET /api/v1/users/:user/consents":                          "401",
		"DELETE /api/v1/users/:user/consents/:client":               "401",
		"PATCH /api/v1/users/:user":                                 "401",
		"DELETE /api/v1/users/:user":                                "401",
		"POST /api/v1/users/:user/freeze":                           "401",
		"POST /api/v1/users/:user/invitation":                       "401",
		"POST /api/v1/users/:user/unfreeze":                         "401",
		"GET /api/v1/tenants/:tenant/entry":                         "401",
		"PUT /api/v1/tenants/:tenant/entry":                         "401",
		"GET /api/v1/tenants/:tenant/approvals":                     "401",
		"POST /api/v1/tenants/:tenant/approvals":                    "401",
		"DELETE /api/v1/tenants/:tenant/approvals/:approval":        "401",
		"GET /api/v1/tenants/:tenant/groups":                        "401",
		"POST /api/v1/tenants/:tenant/groups":                       "401",
		"GET /api/v1/groups/:group":                                 "401",
		"PATCH /api/v1/groups/:group":                               "401",
		"DELETE /api/v1/groups/:group":                              "401",
		"GET /api/v1/groups/:group/members":                         "401",
		"PUT /api/v1/groups/:group/members/:user":                   "401",
		"DELETE /api/v1/groups/:group/members/:user":                "401",
		"PUT /api/v1/groups/:group/children/:child":                 "401",
		"DELETE /api/v1/groups/:group/children/:child":              "401",
		"GET /api/v1/tenants/:tenant/scim/v2/ServiceProviderConfig": "401",
		"GET /api/v1/tenants/:tenant/scim/v2/ResourceTypes":         "401",
		"GET /api/v1/tenants/:tenant/scim/v2/ResourceTypes/:id":     "401",
		"GET /api/v1/tenants/:tenant/scim/v2/Schemas":               "401",
		"GET /api/v1/tenants/:tenant/scim/v2/Schemas/:id":           "401",
		"GET /api/v1/tenants/:tenant/scim/v2/Users":                 "401",
		"POST /api/v1/tenants/:tenant/scim/v2/Users":                "401",
		"GET /api/v1/tenants/:tenant/scim/v2/Users/:id":             "401",
		"PUT /api/v1/tenants/:tenant/scim/v2/Users/:id":             "401",
		"PATCH /api/v1/tenants/:tenant/scim/v2/Users/:id":           "401",
		"DELETE /api/v1/tenants/:tenant/scim/v2/Users/:id":          "401",
		"GET /api/v1/tenants/:tenant/scim/v2/Groups":                "401",
		"POST /api/v1/tenants/:tenant/scim/v2/Groups":               "401",
		"GET /api/v1/tenants/:tenant/scim/v2/Groups/:id":            "401",
		"PUT /api/v1/tenants/:tenant/scim/v2/Groups/:id":            "401",
		"PATCH /api/v1/tenants/:tenant/scim/v2/Groups/:id":          "401",
		"DELETE /api/v1/tenants/:tenant/scim/v2/Groups/:id":         "401",
		"POST /api/v1/tenants/:tenant/scim/v2/.search":              "401",
		"POST /api/v1/tenants/:tenant/scim/v2/Users/.search":        "401",
		"POST /api/v1/tenants/:tenant/scim/v2/Groups/.search":       "401",

		"GET /settings/tokens":                "in",
		"POST /settings/tokens":               "in",
		"POST /settings/tokens/:token/revoke": "in",
		"GET /device":                         "in",
		"POST /device":                        "in",
		"POST /oauth/device_authorization":    "400",
		"POST /oauth/token":                   "400",
		"GET /api/v1/whoami":                  "401",
		"GET /api/v1/tokens":                  "401",
		"POST /api/v1/tokens":                 "401",
		"GET /api/v1/tokens/:token":           "401",
		"PATCH /api/v1/tokens/:token":         "401",
		"DELETE /api/v1/tokens/:token":        "401",

		"POST /api/v1/claim":              "401",
		"POST /proxy":                     "400", // open; the body is wrong
		"GET /api/v1/projects":            "401",
		"GET /api/v1/projects/:project":   "401",
		"PATCH /api/v1/projects/:project": "401",
		"PATCH /api/v1/projects/:project/environments/:environment":                         "401",
		"GET /api/v1/projects/:project/call-signing":                                        "401",
		"PUT /api/v1/projects/:project/call-signing":                                        "401",
		"DELETE /api/v1/projects/:project/call-signing":                                     "401",
		"POST /api/v1/projects/:project/call-signing/rotate":                                "401",
		"GET /api/v1/projects/:project/environments/:environment/client-certificate":        "401",
		"PUT /api/v1/projects/:project/environments/:environment/client-certificate":        "401",
		"DELETE /api/v1/projects/:project/environments/:environment/client-certificate":     "401",
		"POST /api/v1/projects/:project/environments/:environment/check":                    "401",
		"POST /api/v1/projects/:project/versions/:version/token-issuers/test":               "401",
		"POST /api/v1/projects/:project/versions/:version/introspection/test":               "401",
		"GET /api/v1/projects/:project/environments/:environment/upstream-headers":          "401",
		"PUT /api/v1/projects/:project/environments/:environment/upstream-headers/:name":    "401",
		"DELETE /api/v1/projects/:project/environments/:environment/upstream-headers/:name": "401",
		"GET /api/v1/projects/:project/key-types":                                           "401",
		"POST /api/v1/projects/:project/key-types":                                          "401",
		"GET /api/v1/projects/:project/key-types/:key_type":                                 "401",
		"PATCH /api/v1/projects/:project/key-types/:key_type":                               "401",
		"DELETE /api/v1/projects/:project/key-types/:key_type":                              "401",
		"GET /api/v1/projects/:project/cors":                                                "401",
		"PUT /api/v1/projects/:project/cors":                                                "401",
		"DELETE /api/v1/projects/:project/cors":                                             "401",
		"GET /api/v1/tenants/:tenant/cors":                                                  "401",
		"PUT /api/v1/tenants/:tenant/cors":                                                  "401",
		"DELETE /api/v1/tenants/:tenant/cors":                                               "401",
		"GET /api/v1/projects/:project/api-scopes":                                          "401",
		"PUT /api/v1/projects/:project/api-scopes":                                          "401",
		"GET /api/v1/products":                                                              "401",
		"POST /api/v1/products":                                                             "401",
		"GET /api/v1/products/:product":                                                     "401",
		"PATCH /api/v1/products/:product":                                                   "401",
		"DELETE /api/v1/products/:product":                                                  "401",
		"GET /api/v1/tenants":                                                               "401",
		"POST /api/v1/tenants":                                                              "401",
		"GET /api/v1/tenants/:tenant":                                                       "401",
		"PATCH /api/v1/tenants/:tenant":                                                     "401",
		"DELETE /api/v1/tenants/:tenant":                                                    "401",
		"PUT /api/v1/projects/:project/tenants/:tenant":                                     "401",
		"DELETE /api/v1/projects/:project/tenants/:tenant":                                  "401",
		"GET /api/v1/projects/:project/keys":                                                "401",
		"POST /api/v1/projects/:project/keys":                                               "401",
		"GET /api/v1/keys/:key":                                                             "401",
		"PATCH /api/v1/keys/:key":                                                           "401",
		"POST /api/v1/keys/:key/rotate":                                                     "401",
		"POST /api/v1/keys/:key/freeze":                                                     "401",
		"POST /api/v1/keys/:key/unfreeze":                                                   "401",
		"POST /api/v1/keys/:key/revoke":                                                     "401",
		"GET /api/v1/audit":                                                                 "401",
		"GET /api/v1/audit/verify":                                                          "401",
		"PATCH /api/v1/account":                                                             "401",
	})

func TestRoutes_anonymous(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db) // so that there is something to protect
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "shop", "require_keys", "true").
		Shows(200, "shop is ready")
	s.Client.Jar = nil
	declared := map[string]bool{}
	for _, route := range controlplane.Routes(s.Server) {
		name := route.Method + " " + route.Path
		want, ok := anonymous[name]
		declared[name] = true
		if !ok {
			t.Errorf("%s is not declared in this test: add what an anonymous caller gets", name)
			continue
		}
		if got := answerTo(s, route.Method, route.Path); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name := range anonymous {
		if !declared[name] {
			t.Errorf("%s is declared here and is no route", name)
		}
	}
}

// answerTo calls a route and returns its answer as the table above has it.
func answerTo(s *controlplane.Browser, method, route string) string {
	path := filledIn(route)
	header := []string{"Content-Type", "application/x-www-form-urlencoded"}
	body := ""
	if strings.HasPrefix(path, "/api/") || path == "/proxy" {
		header = []string{"Content-Type", "application/json", "Accept", "application/json"}
		body = "[" // the credential must be checked before the body is parsed
	}
	got := s.Do(method, path, body, header)
	to := got.Header.Get("Location")
	switch {
	case to == "":
		return strconv.Itoa(got.Status)
	case strings.HasPrefix(to, "/signin") && route != "/signout":
		return "in"
	}
	return to
}

// filledIn replaces the parameters of a route: the project exists, nothing else does.
func filledIn(route string) string {
	return strings.NewReplacer(
		":project", "shop", ":key_type", "kty_1", ":product", "prd_1", ":key", "key_1", ":export", "exp_1",
		":version", "ver_1", ":environment", "env_1", ":code", "nothing", ":team", "team_1", ":account",
		"acc_1", ":invitation", "inv_1", ":session", "ses_1", ":identity", "idn_1", ":tenant", "tnt_1",
		":client", "cli_1", ":application", "cli_1", ":attempt", "lgn_1", ":provider", "idp_1",
		":name", "X-Upstream-Token", "*file", "nothing",
	).Replace(route)
}
