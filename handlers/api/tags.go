package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// tags are the groups of operations in the OpenAPI document, by the nouns of paths.
var tags = map[string]string{
	"account":            "Account",
	"api-scopes":         "API scopes",
	"app-clients":        "App clients",
	"approvals":          "Users",
	"audit":              "Audit",
	"call-signing":       "Upstreams",
	"claim":              "Projects",
	"client-certificate": "Upstreams",
	"consents":           "Users",
	"cors":               "CORS",
	"deliveries":         "Webhooks",
	"domains":            "Domains",
	"entry":              "Tenants",
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

// describeTags gives every operation its tag.
func describeTags(document *huma.OpenAPI) {
	for path, item := range document.Paths {
		for _, operation := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if tag := tagOf(path); operation != nil && tag != "" {
				operation.Tags = []string{tag}
			}
		}
	}
}
