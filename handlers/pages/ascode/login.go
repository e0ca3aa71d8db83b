package ascode

import (
	"cmp"
	"net/url"
	"strings"

	"postern/core/contract"
)

const (
	clientRoute   = "/projects/:project/login/:client"
	providerRoute = clientRoute + "/providers/:provider"
	mappingsRoute = providerRoute + "/group-mappings"
)

var loginPages = map[string]Page{
	"/projects/:project/login": {Reads: []Call{{
		Operation: "list-app-clients", Command: "app-clients list TENANT", Query: listQuery("name"),
		Params: map[string]string{"tenant": "TENANT"},
		Note:   "TENANT is a tenant of the project: postern tenants list.",
	}}},
	clientRoute:                 reads("get-app-client", "").and("list-providers", "providers list {client}"),
	clientRoute + "/secret":     reads("get-app-client", ""),
	clientRoute + "/providers":  reads("list-providers", "providers list {client}"),
	providerRoute:               reads("list-providers", "providers list {client}"),
	mappingsRoute:               shows(contract.GetGroupMappings),
	mappingsRoute + "/:mapping": shows(contract.GetGroupMappings),
}

var loginForms = map[string][]Call{
	"/projects/:project/login": does("create-app-client", "app-clients create {tenant}",
		Text("name", "name", "--name").Need(), PerLine("redirect_uris", "redirect_uris", "--redirect-uri"),
		Bool("confidential", "confidential", "--confidential")),
	clientRoute: does("update-app-client", "app-clients update {client}", Text("name", "name", "--name"),
		PerLine("redirect_uris", "redirect_uris", "--redirect-uri").Keep(),
		PerLine("logout_uris", "logout_uris", "--logout-uri").Keep(),
		Text("backchannel_logout_uri", "backchannel_logout_uri", "--backchannel-logout-uri").Keep(),
		Number("access_minutes", "access_token_seconds", "--access-token", 60, "m"),
		Number("refresh_days", "refresh_token_seconds", "--refresh-token", 24*60*60, "d"),
		Text("algorithm", "algorithm", "--algorithm"), Text("pkce", "pkce", "--pkce")),
	clientRoute + "/access": does("update-app-client", "app-clients update {client}",
		Several("grant_types", "grant_types", "--grant-type").Keep(),
		PerLine("api_scopes", "api_scopes", "--api-scope").Keep()),
	clientRoute + "/branding": does("update-app-client", "app-clients update {client}",
		Text("title", "branding.title", "--title").Keep(), Text("color", "branding.color", "--color").Keep(),
		Text("welcome", "branding.welcome", "--welcome").Keep(),
		Text("logo_url", "branding.logo_url", "--logo-url").Keep()),
	clientRoute + "/secret": {
		{
			When: is("kind", "public"), Operation: "update-app-client", Command: "app-clients update {client}",
			Fields: []Field{Fixed("confidential", false, "--confidential=false")},
		},
		{
			Operation: "update-app-client", Command: "app-clients update {client}",
			Fields: []Field{Fixed("confidential", true, "--confidential")},
		},
	},
	clientRoute + "/freeze":       does("freeze-app-client", "app-clients freeze {client}"),
	clientRoute + "/unfreeze":     does("unfreeze-app-client", "app-clients unfreeze {client}"),
	clientRoute + "/signing-keys": does("rotate-app-client-key", "app-clients rotate-signing-key {client}"),
	clientRoute + "/delete":       does("delete-app-client", "app-clients delete {client}"),
	clientRoute + "/preview":      nil, // it draws the sign-in page
	clientRoute + "/test":         nil, // it signs a person in at a provider

	clientRoute + "/providers": does("create-provider", "providers add {client} {type}", Text("type", "type", ""),
		Bool("managed", "managed", "--managed"), Text("issuer", "issuer", "--issuer")),
	providerRoute: does("update-provider", "providers update {provider}",
		Text("client_id", "client_id", "--client-id").Keep(),
		Secret("client_secret", "client_secret", "--client-secret-file"),
		PerLine("scopes", "scopes", "--scopes").Keep(), Text("label", "label", "--label").Keep(),
		PerLine("sign_in_domains", "sign_in_domains", "--sign-in-domain").Keep(),
		Text("audience", "audience", "--audience"), Text("response_mode", "response_mode", "--response-mode"),
		PerLine("authoritative_domains", "authoritative_domains", "--authoritative-domain").Keep(),
		tokenTypes, Bool("enabled", "enabled", "--on", "--off").Keep()),
	providerRoute + "/switch": does("update-provider", "providers update {provider}",
		Bool("enabled", "enabled", "--on", "--off").Keep()),
	providerRoute + "/test":   does("test-provider", "providers test {provider}"),
	providerRoute + "/delete": does("delete-provider", "providers remove {provider}"),
	mappingsRoute: {{
		Operation: contract.SetGroupMappings.ID, Command: "group-mappings add {provider} {claim} {claim_value} {group}",
		Fields: []Field{prefixFlag},
		Edit: func(form url.Values) string {
			return "{mappings: ([.mappings[] | {claim, match, value, group}] + [" + mapping(form) + "])}"
		},
	}},
	mappingsRoute + "/:mapping/remove": {{
		Operation: contract.SetGroupMappings.ID, Command: "group-mappings remove {provider} CLAIM VALUE GROUP",
		Edit: func(url.Values) string {
			return `{mappings: [.mappings[] | {claim, match, value, group} | select(.claim != "CLAIM" or ` +
				`.value != "VALUE" or .group != "GROUP")]}`
		},
		Note: "CLAIM, VALUE and GROUP are those of the mapping.",
	}},
}

// tokenTypes is what the application and the upstream get.
var tokenTypes = Func("client_token", "token_type", func(form url.Values) (any, [][]string) {
	client, upstream := form.Get("client_token"), form.Get("upstream_token")
	if client == "" || upstream == "" {
		return nil, nil
	}
	types := &Object{}
	types.Set("client", client)
	types.Set("upstream", upstream)
	return types, [][]string{{"--client-token", client}, {"--upstream-token", upstream}}
})

var prefixFlag = Func("match", "", func(form url.Values) (any, [][]string) {
	if form.Get("match") != "prefix" {
		return nil, nil
	}
	return nil, [][]string{{"--prefix"}}
})

func mapping(form url.Values) string {
	one := &Object{}
	for _, f := range []struct{ member, field string }{
		{"claim", "claim"}, {"match", "match"}, {"value", "claim_value"}, {"group", "group"},
	} {
		one.Set(f.member, cmp.Or(strings.TrimSpace(form.Get(f.field)), Placeholder(f.field)))
	}
	return jsonText(one)
}
