package handlers_test

import (
	"strconv"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// anonymous has the answers of routes that need no credential to a caller without one: a status, or a path that it
// redirects to. Other routes answer 401, and pages lead to the sign-in page.
var anonymous = map[string]string{
	"GET /oauth/:client/groups":                          "401",
	"OPTIONS /oauth/:client/groups":                      "204",
	"GET /oauth/:client/groups/:group/members":           "401",
	"OPTIONS /oauth/:client/groups/:group/members":       "204",
	"PUT /oauth/:client/groups/:group/members/:user":     "401",
	"DELETE /oauth/:client/groups/:group/members/:user":  "401",
	"OPTIONS /oauth/:client/groups/:group/members/:user": "204",
	"GET /healthz":                        "200",
	"GET /readyz":                         "200",
	"GET /metrics":                        "200",
	"GET /.well-known/postern-export-key": "200",
	"GET /static/*file":                   "404",
	"GET /openapi.json":                   "200",
	"GET /openapi.yaml":                   "200",
	"GET /openapi-3.0.json":               "200",
	"GET /openapi-3.0.yaml":               "200",
	"GET /":                               "/projects",
	"GET /signin":                         "200",
	"POST /signin":                        "401",
	"POST /signout":                       "/signin",
	"POST /theme":                         "/",
	"POST /sidebar":                       "/",
	"GET /welcome/:code":                  "410",
	"POST /welcome/:code":                 "422",
	"GET /docs":                           "200",
	"GET /docs/:page":                     "404",
	"GET /docs/reference/:tag":            "404",
	"GET /recover":                        "200",
	"POST /recover":                       "404",
	"GET /recover/:code":                  "410",
	"POST /recover/:code":                 "410",
	"GET /email/:code":                    "410",
	"POST /email/:code":                   "410",
	"GET /signup":                         "403",
	"POST /signup":                        "422",
	"POST /signin/:provider":              "404",
	"GET /signin/:provider/callback":      "404",
	"POST /signin/:provider/callback":     "404",
	"GET /invite/:code":                   "410",
	"POST /team":                          "/projects",
	"GET /oauth/:client/tested":           signInPage,
	"GET /oauth/:client/login/:attempt":   "403",
	"POST /oauth/:client/login/:attempt":  "403",
	"GET /brand/:color":                   "404",
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
	"POST /oauth/device_authorization":                           "400",
	"POST /oauth/token":                                          "400",
	"POST /proxy":                                                "400", // open; the body is wrong
}

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
		switch {
		case ok:
		case guards[name].open:
			t.Errorf("%s is not declared in this test: add what an anonymous caller gets", name)
			continue
		case controlplane.IsAPI(route.Path):
			want = "401"
		default:
			want = signInPage
		}
		if got := answerTo(s, route.Method, route.Path); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name := range anonymous {
		if !declared[name] {
			t.Errorf("%s is declared here and is not a route", name)
		}
	}
}

const signInPage = "the sign-in page"

// answerTo calls a route and returns its answer in the form of the table above.
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
		return signInPage
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
		":import", "pln_1", ":name", "X-Upstream-Token", "*file", "nothing",
	).Replace(route)
}
