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

// identityProviderMappers give users who sign in for the first time the tenant of the app
// client that the provider belongs to, if whoever signs in may join it, and put users into
// groups by the provider's claims.
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

// pathsByName returns the groups that a member of each group is put into, by its name.
func pathsByName(t snapshot.Tenant) map[string][]string {
	byID, out := pathsOf(t), map[string][]string{}
	for _, g := range t.Directory.Groups {
		out[g.Name] = byID[g.ID]
	}
	return out
}

// groupMappers make Keycloak evaluate the rules of a provider at each sign-in.
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

// groupConfig compares a claim with the rule's value as a whole, or with a regular
// expression of Java for what begins with it.
func groupConfig(rule snapshot.GroupMapping, path string) map[string]string {
	value, isPattern := rule.Value, "false"
	if rule.Match == "prefix" {
		value, isPattern = "(?s)"+literal(rule.Value)+".*", "true"
	}
	// What is no UTF-8 becomes U+FFFD here, as in every file, and not the escape of one.
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

// literal returns a regular expression that matches the text alone.
func literal(text string) string {
	return special.ReplaceAllStringFunc(text, func(one string) string {
		if one[0] >= 0x80 {
			return one
		}
		return fmt.Sprintf(`\x%02x`, one[0])
	})
}

// claimPath returns the path of a claim as Keycloak reads it: a claim that a URL names is
// one name, the dots of which are escaped.
func claimPath(claim string) string {
	if strings.Contains(claim, "://") {
		return strings.ReplaceAll(claim, ".", `\.`)
	}
	return claim
}

// readsClaim reports whether Keycloak can compare the claim of a provider. It reads ID tokens
// and userinfo of OpenID providers that it has no program of its own for. It does not look
// at whether an address has been verified, so that any user of a careless provider could
// claim one. A backslash has a meaning only before a dot.
func readsClaim(p snapshot.Provider, claim string) bool {
	plain := strings.ReplaceAll(claim, `\.`, "")
	return (p.Type == "oidc" || p.Type == "auth0") && claim != "email" && !strings.Contains(plain, `\`)
}

// GroupMappers returns the places of the first mapper of each group mapping in the realm, by
// the provider's id and the mapping's place there. A mapping that Keycloak cannot
// evaluate has none.
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
