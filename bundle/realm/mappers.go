package realm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"postern/core/snapshot"
)

// providerMapper is an IdentityProviderMapperRepresentation.
type providerMapper struct {
	Name   string            `json:"name"`
	Alias  string            `json:"identityProviderAlias"`
	Mapper string            `json:"identityProviderMapper"`
	Config map[string]string `json:"config"`

	rule int // its place among the provider's group mappings; -1 for a mapper of another kind
}

// identityProviderMappers give users who sign in for the first time the tenant of the provider's app client, if
// everyone may join it, and put users into groups by the provider's claims.
func (s Source) identityProviderMappers() []providerMapper {
	out := []providerMapper{}
	paths := map[string]map[string][]string{}
	for _, t := range s.Tenants {
		paths[t.ID] = pathsByName(t)
	}
	for _, c := range s.Project.Clients {
		for _, p := range c.Providers {
			if slices.Contains(s.Joinable, c.TenantID) {
				out = append(out, providerMapper{
					Name: "postern tenant", Alias: p.ID, Mapper: "hardcoded-attribute-idp-mapper", rule: -1,
					Config: map[string]string{
						"attribute": attribute, "attribute.value": c.TenantID, "syncMode": "IMPORT",
					},
				})
			}
			out = append(out, groupMappers(p, paths[c.TenantID])...)
		}
	}
	return out
}

// pathsByName returns, by the name of each group, the groups that its members are put into.
func pathsByName(t snapshot.Tenant) map[string][]string {
	byID, out := pathsOf(t), map[string][]string{}
	for _, g := range t.Directory.Groups {
		out[g.Name] = byID[g.ID]
	}
	return out
}

// groupMappers returns the mappers by which Keycloak evaluates the rules of a provider at each sign-in.
func groupMappers(p snapshot.Provider, paths map[string][]string) []providerMapper {
	var out []providerMapper
	if p.Settings == nil {
		return nil
	}
	for n, rule := range p.Settings.Mappings {
		if !readsClaim(p, rule.Claim) {
			continue
		}
		for i, path := range paths[rule.Group] {
			out = append(out, providerMapper{
				Name: fmt.Sprintf("postern group %d.%d", n+1, i+1), Alias: p.ID,
				Mapper: "oidc-advanced-group-idp-mapper",
				Config: groupConfig(rule, path), rule: n,
			})
		}
	}
	return out
}

// groupConfig compares a claim with the rule's whole value, or with a Java regular expression for texts that begin with
// it.
func groupConfig(rule snapshot.GroupMapping, path string) map[string]string {
	value, isPattern := rule.Value, "false"
	if rule.Match == "prefix" {
		value, isPattern = "(?s)"+literal(rule.Value)+".*", "true"
	}
	// Invalid UTF-8 becomes U+FFFD here, as in every file, and not an escaped U+FFFD.
	value = string([]rune(value))
	text, err := json.Marshal([]struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}{{string([]rune(claimPath(rule.Claim))), value}})
	if err != nil {
		panic(err) // strings have a JSON form
	}
	return map[string]string{
		"claims": string(text), "are.claim.values.regex": isPattern, "group": path, "syncMode": "FORCE",
	}
}

var special = regexp.MustCompile(`[^\pL\pN]`)

// literal returns a regular expression that matches only the text.
func literal(text string) string {
	return special.ReplaceAllStringFunc(text, func(one string) string {
		if one[0] >= 0x80 {
			return one
		}
		return fmt.Sprintf(`\x%02x`, one[0])
	})
}

// claimPath returns the path of a claim as Keycloak reads it. A claim whose name is a URL is one name with escaped
// dots.
func claimPath(claim string) string {
	if strings.Contains(claim, "://") {
		return strings.ReplaceAll(claim, ".", `\.`)
	}
	return claim
}

// readsClaim reports whether Keycloak can compare the claim of a provider. It reads ID tokens and userinfo only of
// generic OpenID providers. It doesn't check whether an email address is verified, so any user of a careless provider
// could claim one. A backslash has a meaning only before a dot.
func readsClaim(p snapshot.Provider, claim string) bool {
	plain := strings.ReplaceAll(claim, `\.`, "")
	return (p.Type == "oidc" || p.Type == "auth0") && claim != "email" && !strings.Contains(plain, `\`)
}

// GroupMappers returns the place in the realm of the first mapper of each group mapping, by the provider's ID and the
// mapping's index. A mapping that Keycloak can't evaluate has no place.
func (s Source) GroupMappers() map[string]map[int]int {
	out := map[string]map[int]int{}
	for place, one := range s.identityProviderMappers() {
		if one.rule < 0 {
			continue
		}
		if out[one.Alias] == nil {
			out[one.Alias] = map[int]int{}
		}
		if _, earlier := out[one.Alias][one.rule]; !earlier {
			out[one.Alias][one.rule] = place
		}
	}
	return out
}
