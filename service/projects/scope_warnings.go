package projects

import (
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// The codes of the warnings about key types whose keys rules refuse.
const (
	WarnReadWriteScopes = "read_write_scopes"
	WarnRuleScopes      = "rule_scopes"
)

// KeyTypeWarnings returns warnings about the key types that a version (a name or ID) refuses: by ReadWriteScopes, or by
// every rule that names scopes and isn't off.
func (p Project) KeyTypeWarnings(version string) []contract.Warning {
	var out []contract.Warning
	for _, v := range p.Versions {
		if v.Name != version && v.ID != version || !v.takesKeys() {
			continue
		}
		out = append(out, v.readWriteWarnings(p.KeyTypes)...)
		rules := slices.DeleteFunc(slices.Clone(v.Rules.List), func(rule snapshot.Rule) bool {
			return len(rule.Scopes) == 0 || v.Rules.ModeOf(&rule) == snapshot.RulesOff
		})
		for _, t := range p.KeyTypes {
			if refused := refusing(rules, t); len(refused) > 0 && len(refused) == len(rules) {
				out = append(out, ruleScopesWarning(t, refused[0], fmt.Sprintf("In version %s, all rules "+
					"that name scopes refuse keys of the type %s", v.Name, t.Name)))
			}
		}
	}
	return out
}

// proposalWarnings says which key types proposed rules for a version, named by name or id, would refuse, and which it
// refuses before and after by ReadWriteScopes.
func (p Project) proposalWarnings(version string, proposed []snapshot.Rule) (out []contract.Warning) {
	i := slices.IndexFunc(p.Versions, func(v Version) bool { return v.Name == version || v.ID == version })
	if i < 0 || !p.Versions[i].takesKeys() {
		return nil
	}
	out = p.Versions[i].readWriteWarnings(p.KeyTypes)
	for _, t := range p.KeyTypes {
		refused := refusing(proposed, t)
		if len(refused) == 0 {
			continue
		}
		which := "the proposed rule"
		if len(proposed) > 1 {
			which = fmt.Sprintf("%d of the %d proposed rules", len(refused), len(proposed))
		}
		out = append(out, ruleScopesWarning(t, refused[0],
			"Once enforced, "+which+" will refuse keys of the type "+t.Name))
	}
	return out
}

func (v Version) takesKeys() bool {
	return v.RequestsAuth.Mode == snapshot.Authenticate &&
		v.RequestsAuth.Allows(snapshot.APIKey)
}

// readWriteWarnings warns of the key types that have neither of the scopes read and write where the version
// enforces them. It does nowhere if no route is left that has no rule or one without scopes.
func (v Version) readWriteWarnings(types []contract.KeyType) []contract.Warning {
	if !v.Rules.ReadWriteScopes || v.Rules.ModeOf(&snapshot.Rule{}) != snapshot.RulesEnforce {
		return nil
	}
	open := func(rule snapshot.Rule) bool {
		return len(rule.Scopes) == 0 && v.Rules.ModeOf(&rule) == snapshot.RulesEnforce
	}
	if v.Rules.Default == snapshot.RulesDeny && !slices.ContainsFunc(v.Rules.List, open) {
		return nil
	}
	var names []string
	for _, t := range types {
		if !policy.HasScope(t.Scopes, policy.ScopeRead) && !policy.HasScope(t.Scopes, policy.ScopeWrite) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	of, has := "type "+names[0], "the type has"
	if len(names) > 1 {
		of, has = "types "+strings.Join(names, ", "), "these types have"
	}
	return []contract.Warning{{Code: WarnReadWriteScopes, Detail: fmt.Sprintf("Version %s refuses keys of the %s with "+
		"insufficient_scope on routes where no enforced rule names scopes. With read_write_scopes, it requires read "+
		"for GET, HEAD and OPTIONS and write for other methods, but %s neither scope. Add these scopes, or turn off "+
		"read_write_scopes in the version's rules.", v.Name, of, has)}}
}

// refusing returns the rules that require scopes which a key type does not have.
func refusing(rules []snapshot.Rule, t contract.KeyType) (out []snapshot.Rule) {
	for _, rule := range rules {
		lacks := func(scope string) bool { return !policy.HasScope(t.Scopes, scope) }
		if slices.ContainsFunc(rule.Scopes, lacks) {
			out = append(out, rule)
		}
	}
	return out
}

func ruleScopesWarning(t contract.KeyType, such snapshot.Rule, text string) contract.Warning {
	do := "Give the type the scopes that its callers need."
	if t.BuiltIn {
		do = "The type is built in. Create a type with the scopes that callers need, and create keys of that type."
	}
	return contract.Warning{Code: WarnRuleScopes, Detail: fmt.Sprintf(
		"%s, for example the rule for %s %s, which requires %s. %s", text, strings.Join(such.Methods, ","), such.Path,
		strings.Join(such.Scopes, ", "), do,
	)}
}
