package ascode

import (
	"cmp"
	"net/url"
	"slices"
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
		Operation: contract.ListAppClients.ID, Command: "app-clients list TENANT", Query: listQuery("name"),
		Params: map[string]string{"tenant": "TENANT"},
		Note:   "TENANT is one of the project's tenants. To list them, run postern tenants list.",
	}}},
	clientRoute:                 shows(contract.GetAppClient).alsoShows(contract.ListProviders),
	clientRoute + "/secret":     shows(contract.GetAppClient),
	clientRoute + "/providers":  shows(contract.ListProviders),
	providerRoute:               shows(contract.GetProvider),
	mappingsRoute:               shows(contract.GetGroupMappings),
	mappingsRoute + "/:mapping": shows(contract.GetGroupMappings),
}

var loginForms = map[string][]Call{
	"/projects/:project/login": submits(contract.CreateAppClient, "name", "redirect_uris", "confidential"),
	clientRoute: carriesOut(contract.UpdateAppClient, slices.Concat(
		fieldsOf(contract.UpdateAppClient, "name", "redirect_uris", "logout_uris", "backchannel_logout_uri"),
		[]Field{
			Number("access_minutes", "access_token_seconds", "--access-token", 60, "m"),
			Number("refresh_days", "refresh_token_seconds", "--refresh-token", 24*60*60, "d"),
		},
		fieldsOf(contract.UpdateAppClient, "algorithm"),
		[]Field{Text("pkce", "pkce", "--pkce")}, // only confidential ones have the field
	)...),
	clientRoute + "/access":   submits(contract.UpdateAppClient, "grant_types", "api_scopes"),
	clientRoute + "/branding": submits(contract.UpdateAppClient, "title", "color", "welcome", "logo_url"),
	clientRoute + "/secret": {
		carriesOut(contract.UpdateAppClient, Fixed("confidential", false, "--confidential=false"))[0].
			when(is("kind", "public")),
		carriesOut(contract.UpdateAppClient, Fixed("confidential", true, "--confidential"))[0],
	},
	clientRoute + "/freeze":       submits(contract.FreezeAppClient),
	clientRoute + "/unfreeze":     submits(contract.UnfreezeAppClient),
	clientRoute + "/signing-keys": submits(contract.RotateAppClientKey),
	clientRoute + "/delete":       submits(contract.DeleteAppClient),
	clientRoute + "/preview":      nil, // it draws the sign-in page
	clientRoute + "/test":         nil, // it signs a person in at a provider

	clientRoute + "/providers": submits(contract.CreateProvider, "type", "managed", "issuer"),
	providerRoute: carriesOut(contract.UpdateProvider, slices.Concat(
		fieldsOf(contract.UpdateProvider, "client_id", "client_secret", "scopes", "label", "sign_in_domains"),
		[]Field{ // only some types have these two
			Text("audience", "audience", "--audience"), Text("response_mode", "response_mode", "--response-mode"),
		},
		fieldsOf(contract.UpdateProvider, "authoritative_domains"),
		[]Field{
			Text("client_token", "token_type.client", "--client-token"),
			Text("upstream_token", "token_type.upstream", "--upstream-token"),
		},
		fieldsOf(contract.UpdateProvider, "enabled"),
	)...),
	providerRoute + "/switch": submits(contract.UpdateProvider, "enabled"),
	providerRoute + "/test":   submits(contract.TestProvider),
	providerRoute + "/delete": submits(contract.DeleteProvider),
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
		Note: "Replace CLAIM, VALUE and GROUP with the mapping's claim, value and group.",
	}},
}

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
