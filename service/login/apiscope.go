package login

import (
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/appclients"
)

// maxResources bounds the audiences of one request.
const maxResources = 10

// errTarget is the error of RFC 8707, 2.
var errTarget = fault.New(fault.Malformed, "invalid_target", "the resource parameter doesn't name an API that this "+
	"application can get tokens for, or names one that wasn't requested at sign-in")

// apis are the projects that serve an app client's tenant and declare an audience or API
// scopes.
type apis []models.Project

func apisOf(tx *models.Tx, client models.AppClient) (apis, error) {
	return appclients.Declaring(tx, client)
}

// named returns the APIs that the audiences name, all for none, and whether every audience
// names one.
func (a apis) named(audiences []string) (apis, bool) {
	if len(audiences) == 0 {
		return a, true
	}
	var out apis
	for _, audience := range audiences {
		i := slices.IndexFunc(a, func(p models.Project) bool { return p.APIAudience == audience })
		if i < 0 {
			return nil, false
		}
		out = append(out, a[i])
	}
	return out, true
}

// declares returns the scope of that name, and whether one of the APIs declares it.
func (a apis) declares(scope string) (contract.APIScope, bool) {
	for _, project := range a {
		for _, one := range project.APIScopes {
			if one.Name == scope {
				return one, true
			}
		}
	}
	return contract.APIScope{}, false
}

// grant returns the scopes and audiences that a request is granted: the scopes of OpenID Connect in openID, and the API
// scopes that are declared and that the client may request. Any other scope is ignored, as OpenID Connect Core 1.0,
// 5.4, and RFC 6749, 3.3, allow: client libraries ask for scopes of other issuers. An unknown audience is
// invalid_target.
func (a apis) grant(client models.AppClient, scope string, audiences, openID []string) (string, error) {
	targets, known := a.named(audiences)
	if !known || len(audiences) > maxResources {
		return "", errTarget
	}
	var kept []string
	for _, one := range strings.Fields(scope) {
		_, declared := targets.declares(one)
		isGranted := slices.Contains(openID, one) || declared && appclients.MayAskFor(client.APIScopes, one)
		if isGranted && !slices.Contains(kept, one) {
			kept = append(kept, one)
		}
	}
	return strings.Join(kept, " "), nil
}

// still returns the scopes among those granted earlier that hold now: an API scope that is not declared any more, or
// that the client may not request any more, is in no new token.
func (a apis) still(client models.AppClient, scope string, audiences []string) string {
	targets, _ := a.named(audiences)
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(one string) bool {
		_, declared := targets.declares(one)
		holds := slices.Contains(scopes, one) || declared && appclients.MayAskFor(client.APIScopes, one)
		return !holds
	}), " ")
}

// audience returns aud of an access token: the audiences that were asked for, or else the
// client, for every API of its tenant, with those that declare one of the scopes (RFC 9068,
// 3).
func (a apis) audience(client models.AppClient, scope string, asked []string) jwt.Audience {
	if len(asked) > 0 {
		return slices.Clone(asked)
	}
	out := jwt.Audience{client.ID}
	for _, project := range a {
		ofProject := func(one contract.APIScope) bool { return granted(scope, one.Name) }
		if project.APIAudience != "" && slices.ContainsFunc(project.APIScopes, ofProject) {
			out = append(out, project.APIAudience)
		}
	}
	return out
}

// checkNarrowed refuses audiences of a token request that no API has, or that the login did
// not ask for when it asked for some (RFC 8707, 2.2).
func (a apis) checkNarrowed(was, asked []string) error {
	beyond := func(one string) bool { return len(was) > 0 && !slices.Contains(was, one) }
	if _, known := a.named(asked); !known || len(asked) > maxResources || slices.ContainsFunc(asked, beyond) {
		return errTarget
	}
	return nil
}

// names lists the API scopes that a client may request.
func (a apis) names(client models.AppClient) []string {
	var out []string
	for _, project := range a {
		for _, one := range project.APIScopes {
			if appclients.MayAskFor(client.APIScopes, one.Name) && !slices.Contains(out, one.Name) {
				out = append(out, one.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// isPermission reports whether a scope lets the client act at an API.
func isPermission(scope string) bool {
	return scope != providerScope && !slices.Contains(scopes, scope)
}

// describe sets the text of the API scopes among the shares of the consent page.
func (a apis) describe(list []Share, scope string) []Share {
	for i, one := range strings.Fields(scope) {
		if declared, _ := a.declares(one); isPermission(one) && declared.Description != "" {
			list[i].Text = declared.Description
		}
	}
	return list
}
