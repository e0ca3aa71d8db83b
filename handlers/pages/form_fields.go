package pages

import (
	"strings"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/views/ui"
)

// internalFields can be in every form: that it is sent once, that the object has not changed since, and that the
// visitor means it.
var internalFields = []string{ui.NonceField, "revision", "confirm", "typed_name"}

const anEnvironment = "/projects/:project/versions/:version/environments/:environment"

// formFields are the other fields of the forms, by route. A name that ends in * stands for one field for each window of
// a limit. Forms with a file are read by their handlers, unless they come without its parts.
var formFields = map[string]string{
	"/signin":                            "email next password",
	"/signin/:provider":                  "next",
	"/signup":                            "email name next password",
	"/welcome/:code":                     "email name password",
	"/recover":                           "email",
	"/recover/:code":                     "password",
	"/theme":                             "return_to theme",
	"/sidebar":                           "rail return_to",
	"/team":                              "team",
	"/claim/:code":                       "team",
	"/account":                           "email name password",
	"/account/password":                  "old_password password revoke_tokens",
	"/account/delete":                    "password",
	"/teams":                             "name",
	"/teams/:team/rename":                "name",
	"/teams/:team/members/:account/role": "role",
	"/teams/:team/invitations":           "email role",
	"/settings/tokens":                   "expires_at name scopes",
	webhooksPath:                         "description events team url",
	webhooksPath + "/:webhook":           "description events url",
	webhooksPath + "/:webhook/switch":    "enabled",
	"/device":                            "decision user_code",
	searchPath:                           "project q",
	"/projects/new":                      "name require_keys target",
	"/imports":                           "name zip",
	"/imports/preview":                   "name zip",
	"/projects/:project/delete":          "now",
	"/projects/:project/move":            "team",
	"/projects/:project/settings":        "display_name",
	"/projects/:project/limits":          "do limit_calls limit_window limit_of",
	"/projects/:project/cors": "app_origins credentials exposed_headers headers " +
		"max_age methods origins",
	"/projects/:project/product":                                     "in_product new_product",
	"/projects/:project/relations":                                   "object tenant user",
	"/projects/:project/relations/import":                            "file",
	"/projects/:project/relations/forget":                            "tenant user object",
	"/projects/:project/tenants":                                     "display_name fallback_owner name tenant",
	"/projects/:project/api-scopes":                                  "description name",
	"/projects/:project/api-scopes/:scope":                           "description",
	"/projects/:project/api-audience":                                "audience",
	"/projects/:project/versions":                                    "copy_from name",
	"/projects/:project/versions/:version":                           "name",
	"/projects/:project/versions/:version/environments":              "name target",
	"/projects/:project/versions/:version/environments/:environment": "name",

	anEnvironment + "/target":             "target",
	anEnvironment + "/upstream-headers":   "name secret_value",
	anEnvironment + "/client-certificate": "certificate private_key",

	"/projects/:project/versions/:version/access": "do fallback_owner introspection " +
		"introspection_audience introspection_client introspection_issuer introspection_method introspection_secret " +
		"introspection_secret_token " +
		"keyless methods mode issuer issuer_audience issuer_jwks_url issuer_tenant issuer_removed secret_token",
	"/projects/:project/versions/:version/addresses":        "ip_allow ip_deny",
	"/projects/:project/versions/:version/rules":            "default read_write_scopes rules rules_mode",
	"/projects/:project/versions/:version/transforms":       "transforms",
	"/projects/:project/versions/:version/openapi":          "openapi_document openapi_url",
	"/projects/:project/versions/:version/openapi/settings": "validation publication",
	"/projects/:project/call-signing/rotate":                "when",
	"/projects/:project/domains":                            "environment host",
	"/projects/:project/domains/:domain":                    "environment",
	"/projects/:project/export": "consumers format keys " +
		"password recipient secrets",
	"/projects/:project/keys": "allowed_cidrs description environment expires_at key_type " +
		"limits_of owner product tenant limits_*",
	"/projects/:project/keys/change":         "do key",
	"/projects/:project/keys/:key":           "allowed_cidrs description expires_at limits_of limits_*",
	"/projects/:project/keys/:key/rotate":    "grace_seconds",
	"/projects/:project/key-types":           "expires_in name scopes limits_*",
	"/projects/:project/key-types/:key_type": "expires_in name scopes limits_*",
	"/projects/:project/login":               "confidential name redirect_uris tenant",
	anAppClient: "access_minutes algorithm backchannel_logout_uri logout_uris " +
		"name pkce redirect_uris refresh_days",
	anAppClient + "/access":    "api_scopes grant_types",
	anAppClient + "/branding":  "color logo_url title welcome",
	anAppClient + "/preview":   "color logo_url title welcome",
	anAppClient + "/secret":    "kind",
	anAppClient + "/providers": "issuer managed type",
	anAppClient + "/providers/:provider": "audience authoritative_domains client_id client_secret client_token " +
		"enabled label response_mode scopes sign_in_domains upstream_token type issuer",
	anAppClient + "/providers/:provider/switch": "enabled",
	groupMappings:              "claim claim_value group match",
	productsPath:               "display_name name team",
	productsPath + "/:product": "display_name",
	tenantsPath:                "display_name fallback_owner name team",
	tenantsPath + "/:tenant":   "display_name fallback_owner",
	tenantsPath + "/:tenant/cors": "app_origins credentials exposed_headers headers " +
		"max_age methods origins",
	tenantsPath + "/:tenant/users":        "email groups name",
	"/users/:user":                        "email name",
	"/users/:user/invitation":             "app_client",
	"/users/:user/groups":                 "group",
	signupPage:                            "invite_only",
	signupPage + "/approvals":             "groups value",
	tenantsPath + "/:tenant/groups":       "display_name name",
	"/groups/:group":                      "display_name name",
	"/groups/:group/members":              "email",
	"/groups/:group/members/:user/remove": "from",
	"/groups/:group/children":             "child",
}

// knowingFields has a form refuse fields that it doesn't have, before anything else is looked at. They would be
// ignored.
func knowingFields(route string, page pageHandler) pageHandler {
	known := map[string]bool{}
	for _, name := range append(strings.Fields(formFields[route]), internalFields...) {
		prefix, isWindows := strings.CutSuffix(name, "*")
		known[name] = !isWindows
		for w := snapshot.Second; isWindows && w < snapshot.Windows; w++ {
			known[prefix+w.String()] = true
		}
	}
	return func(v *visit) (web.Answer, error) {
		if err := web.CheckFields(v.c.Request.PostForm, known); err != nil {
			return web.Answer{}, err
		}
		return page(v)
	}
}
