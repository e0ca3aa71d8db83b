package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// tags are the groups of operations in the OpenAPI document, by the nouns of paths.
var tags = map[string]string{
	"account":            "Account",
	"api-scopes":         "API scopes",
	"app-clients":        "App clients",
	"approvals":          "Tenants",
	"audit":              "Audit log",
	"call-signing":       "Upstreams",
	"claim":              "Projects",
	"client-certificate": "Upstreams",
	"consents":           "Users",
	"cors":               "CORS",
	"deliveries":         "Webhooks",
	"domains":            "Domains",
	"check":              "Upstreams",
	"environments":       "Versions",
	"explain":            "Rules",
	"exports":            "Exports",
	"group-mappings":     "Providers",
	"groups":             "Groups",
	"imports":            "Imports",
	"invitations":        "Teams",
	"key-types":          "Key types",
	"keys":               "Keys",
	"members":            "Teams",
	"openapi":            "OpenAPI",
	"products":           "Products",
	"projects":           "Projects",
	"providers":          "Providers",
	"proxy":              "Projects",
	"requests":           "Usage",
	"rules":              "Rules",
	"sessions":           "Sessions",
	"signup":             "Tenants",
	"teams":              "Teams",
	"tenants":            "Tenants",
	"tokens":             "Tokens",
	"transforms":         "Transforms",
	"upstream-headers":   "Upstreams",
	"usage":              "Usage",
	"users":              "Users",
	"versions":           "Versions",
	"webhooks":           "Webhooks",
	"whoami":             "Account",
}

// tagOf returns the tag of a path's last noun that has one, "" for none.
func tagOf(path string) string {
	path = strings.TrimPrefix(path, "/api/v1/")
	if strings.HasPrefix(path, "groups/") { // members are also those of teams
		return tags["groups"]
	}
	segments := strings.Split(path, "/")
	for i := len(segments) - 1; i >= 0; i-- {
		if tag := tags[segments[i]]; tag != "" {
			return tag
		}
	}
	return ""
}

// tagTexts describes the operations of each tag.
var tagTexts = map[string]string{
	"API scopes":  "Scopes that app clients can request, and the audience of a project's tokens.",
	"Account":     "Your account.",
	"App clients": "Applications that users sign in to with OpenID Connect.",
	"Audit log":   "Actions that were performed or refused, each with its actor and time.",
	"CORS":        "Web pages that can call a project from a browser.",
	"Domains":     "Custom domains of environments.",
	"Exports":     "Zips of a project, as data or to run on Kong, each with a ledger.",
	"Groups":      "Groups of users, and their members.",
	"Imports":     "Projects imported from exported zips, and from files of other gateways.",
	"Key types":   "Kinds of API keys: their scopes, limits and lifetimes.",
	"Keys":        "API keys that callers of a project use.",
	"OpenAPI":     "OpenAPI documents of versions, with request validation and publication.",
	"Products":    "Groups of projects that share API keys.",
	"Projects":    "APIs behind the gateway, with their versions and environments.",
	"Providers":   "Identity providers that users sign in with, and mappings from their claims to groups.",
	"Rules":       "Scopes, groups and owners that the routes of a version require.",
	"Sessions":    "Browsers where your account is signed in.",
	"Teams":       "Teams, their members and invitations.",
	"Tenants":     "Separate sets of users, groups and app clients, each with a sign-up policy.",
	"Tokens":      "Access tokens for this API.",
	"Transforms":  "Changes that the gateway makes to requests and responses.",
	"Upstreams":   "Headers, client certificates and signatures that the gateway sends to upstreams.",
	"Usage":       "Call counts and the request log.",
	"Users":       "Users of tenants, with their sessions and consents.",
	"Versions":    "Versions of a project, with their environments.",
	"Webhooks":    "Webhooks that receive a team's events, and their deliveries.",
}

// describeTags gives every operation its tag.
func describeTags(document *huma.OpenAPI) {
	used := map[string]bool{}
	forOperations(document, func(path string, operation *huma.Operation) {
		if tag := tagOf(path); tag != "" {
			operation.Tags, used[tag] = []string{tag}, true
		}
	})
	for _, tag := range slices.Sorted(maps.Keys(used)) {
		document.Tags = append(document.Tags, &huma.Tag{Name: tag, Description: tagTexts[tag]})
	}
}
