package realm

import (
	"slices"
	"strings"

	"postern/core/snapshot"
)

// clientScope is a ClientScopeRepresentation: a scope that an app client can request.
type clientScope struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Protocol    string            `json:"protocol"`
	Attributes  map[string]string `json:"attributes"`
	Mappers     []mapper          `json:"protocolMappers"`
}

// scopeMapping says which roles of users a client scope lets into tokens.
type scopeMapping struct {
	Scope string   `json:"clientScope"`
	Roles []string `json:"roles"`
}

// The client scopes that every client has, those that Keycloak's own clients also have, and those that a client can
// request. A realm that declares client scopes has no others: Keycloak then leaves its own out, including basic with
// the claim sub.
var (
	alwaysScopes   = []string{"basic", "acr", "web-origins"}
	keycloakScopes = []string{"roles", "profile", "email"}
	optionalScopes = []string{"groups", managesGroups, offlineAccess, "address", "phone"}
	openIDScopes   = append([]string{"profile", "email"}, optionalScopes...)
)

// offlineAccess is the scope, and the role that users need for it.
const offlineAccess = "offline_access"

// managesGroups is the scope by which applications manage groups at Postern. In the realm it only keeps Keycloak from
// refusing sign-ins that request it.
const managesGroups = "groups:manage"

// HasScope reports whether the realm can have an API scope of that name: Keycloak's own scopes use some names.
func HasScope(name string) bool {
	return !slices.ContainsFunc(builtInScopes(), func(s clientScope) bool { return s.Name == name })
}

// ScopePlace returns the place of an API scope among the realm's client scopes.
func ScopePlace(api snapshot.API, name string) int {
	place := 0
	for _, one := range api.Scopes {
		if one.Name == name {
			return place
		}
		if HasScope(one.Name) {
			place++
		}
	}
	return place
}

// clientScopes lists the scopes of the project's API, and then Keycloak's own.
func (s Source) clientScopes() []clientScope {
	var out []clientScope
	api := s.Project.API
	for _, one := range api.Scopes {
		if !HasScope(one.Name) {
			continue
		}
		text := one.Description
		if text == "" {
			text = "use its API with the permission " + one.Name
		}
		scope := newScope(one.Name, text)
		scope.Description = one.Description
		if api.Audience != "" {
			scope.Mappers = []mapper{inAccessToken("audience", "oidc-audience-mapper", map[string]string{
				"included.custom.audience": api.Audience,
			})}
		}
		out = append(out, scope)
	}
	return append(out, builtInScopes()...)
}

// newScope returns a scope that tokens list. Users see the text on the consent page, unless it is "".
func newScope(name, text string, mappers ...mapper) clientScope {
	out := clientScope{Name: name, Protocol: protocol, Mappers: mappers, Attributes: map[string]string{
		"include.in.token.scope":    "true",
		"display.on.consent.screen": "false",
	}}
	if text != "" {
		out.Attributes["display.on.consent.screen"] = "true"
		out.Attributes["consent.screen.text"] = text
	}
	if out.Mappers == nil {
		out.Mappers = []mapper{}
	}
	return out
}

// unlisted leaves the scope out of tokens.
func unlisted(s clientScope) clientScope {
	s.Attributes["include.in.token.scope"] = "false"
	return s
}

// builtInScopes are those that Keycloak gives a realm that declares none, as far as app clients and Keycloak's own
// clients need them (OIDCLoginProtocolFactory of Keycloak 26), and groups.
func builtInScopes() []clientScope {
	return []clientScope{
		unlisted(newScope("basic", "",
			inAccessToken("sub", "oidc-sub-mapper", map[string]string{}),
			inTokens("auth_time", "oidc-usersessionmodel-note-mapper", map[string]string{
				"user.session.note": "AUTH_TIME", "claim.name": "auth_time", "jsonType.label": "long",
			}))),
		unlisted(newScope("acr", "", inTokens("acr loa level", "oidc-acr-mapper", map[string]string{}))),
		unlisted(newScope("web-origins", "",
			inAccessToken("allowed web origins", "oidc-allowed-origins-mapper", map[string]string{}))),
		unlisted(newScope("roles", "",
			inAccessToken("realm roles", "oidc-usermodel-realm-role-mapper", map[string]string{
				"claim.name": "realm_access.roles", "jsonType.label": "String", "multivalued": "true",
			}),
			inAccessToken("client roles", "oidc-usermodel-client-role-mapper", map[string]string{
				"claim.name": "resource_access.${client_id}.roles", "jsonType.label": "String", "multivalued": "true",
			}),
			inAccessToken("audience resolve", "oidc-audience-resolve-mapper", map[string]string{}))),
		unlisted(newScope("service_account", "")),
		profileScope(),
		newScope("email", "see your email address", ofUser("email", "email"),
			everywhere("email verified", "oidc-usermodel-property-mapper", map[string]string{
				"user.attribute": "emailVerified", "claim.name": "email_verified", "jsonType.label": "boolean",
			})),
		newScope("groups", "see which groups you're in",
			mapper{Name: "names of groups", Protocol: protocol, Mapper: "oidc-group-membership-mapper",
				Config: map[string]string{
					"claim.name": ClaimGroups, "full.path": "false",
					"id.token.claim": "true", "userinfo.token.claim": "true", "access.token.claim": "false",
				}}),
		unlisted(newScope(managesGroups, "")),
		newScope(offlineAccess, "keep you signed in until you sign out"),
		unlisted(newScope("address", "")),
		unlisted(newScope("phone", "")),
	}
}

// profileClaims are the claims of a user's profile that are attributes, because Keycloak has no field for them.
var profileClaims = []string{
	"middle_name", "nickname", "profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale",
}

func profileScope() clientScope {
	mappers := []mapper{
		everywhere("full name", "oidc-full-name-mapper", map[string]string{}),
		ofUser("username", "preferred_username"), ofUser("firstName", "given_name"), ofUser("lastName", "family_name"),
	}
	for _, claim := range profileClaims {
		mappers = append(mappers, ofUser(claim, claim))
	}
	return newScope("profile", "see your name and profile", mappers...)
}

// inAccessToken returns a mapper of a claim that only access tokens have.
func inAccessToken(name, kind string, config map[string]string) mapper {
	config["access.token.claim"] = "true"
	config["id.token.claim"] = "false"
	config["introspection.token.claim"] = "true"
	return mapper{Name: name, Protocol: protocol, Mapper: kind, Config: config}
}

// inTokens returns a mapper of a claim that ID tokens have too.
func inTokens(name, kind string, config map[string]string) mapper {
	out := inAccessToken(name, kind, config)
	out.Config["id.token.claim"] = "true"
	return out
}

// everywhere returns a mapper of a claim that userinfo has too.
func everywhere(name, kind string, config map[string]string) mapper {
	out := inTokens(name, kind, config)
	out.Config["userinfo.token.claim"] = "true"
	return out
}

func ofUser(attribute, claim string) mapper {
	return everywhere(claim, "oidc-usermodel-attribute-mapper", map[string]string{
		"user.attribute": attribute, "claim.name": claim, "jsonType.label": "String",
	})
}

// mayAskFor returns the API scopes of the project that an app client may request. If it lists orders:*, that means all
// that begin with orders:.
func (s Source) mayAskFor(set *snapshot.ClientSettings) []string {
	out := []string{}
	for _, one := range s.Project.API.Scopes {
		covers := func(listed string) bool {
			family, isFamily := strings.CutSuffix(listed, "*")
			return listed == one.Name ||
				isFamily && strings.HasSuffix(family, ":") && strings.HasPrefix(one.Name, family)
		}
		if HasScope(one.Name) && slices.ContainsFunc(set.APIScopes, covers) {
			out = append(out, one.Name)
		}
	}
	return out
}

// scopesOf returns the client scopes that all tokens of an app client have, and those that it can request. A machine
// has all API scopes that it may request, as in a request that doesn't name any.
func (s Source) scopesOf(set *snapshot.ClientSettings) (always, optional []string) {
	api := s.mayAskFor(set)
	if hasLogins(set) {
		return alwaysScopes, slices.Concat(openIDScopes, api)
	}
	return slices.Concat(alwaysScopes, api), openIDScopes
}

// hasLogins reports whether people sign in to the app client.
func hasLogins(set *snapshot.ClientSettings) bool { return len(set.RedirectURIs) > 0 }
