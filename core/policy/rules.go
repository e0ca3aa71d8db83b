package policy

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"postern/core/snapshot"
)

// The values of RuleOutcome.By for calls that no single rule decided.
const (
	ByDefault         = "default"           // the route has no rule
	ByReadWriteScopes = "read_write_scopes" // see snapshot.Rules
)

// The scopes that snapshot.Rules.ReadWriteScopes requires.
const (
	ScopeRead  = "read"
	ScopeWrite = "write"
)

// Rules are the rules of a version, compiled. A nil Rules requires nothing.
type Rules struct {
	enforced *ruleSet // nil: nothing is enforced
	shadow   *ruleSet // the enforced rules and those in shadow; nil: none is in shadow
}

// ruleSet decides calls by rules that all have the same effect.
type ruleSet struct {
	tree      ruleTree
	deny      bool // routes without a rule are refused
	tracks    bool // a rule remembers or forgets relations
	readWrite bool // see snapshot.Rules
}

// RuleOutcome is the rules' decision about a call.
type RuleOutcome struct {
	Denial Denial // zero: the call is allowed
	By     string // id of the rule, ByDefault or ByReadWriteScopes; "": nothing applied
	Scope  string // that the caller lacks; "" for denials other than InsufficientScope and TokenScope
}

// CompileRules returns the rules of a version; nil if they require nothing. An unknown mode, default or role is an
// error: ignoring it would open routes that are meant to be closed.
func CompileRules(of *snapshot.Rules) (*Rules, error) {
	if err := checkRules(of); err != nil {
		return nil, err
	}
	out := &Rules{}
	if hasMode(of, snapshot.RulesEnforce) {
		out.enforced = compileRuleSet(of, func(m snapshot.RuleMode) bool { return m == snapshot.RulesEnforce })
	}
	if hasMode(of, snapshot.RulesShadow) {
		out.shadow = compileRuleSet(of, func(m snapshot.RuleMode) bool { return m != snapshot.RulesOff })
	}
	if out.enforced == nil && out.shadow == nil {
		return nil, nil //nolint:nilnil // a nil Rules requires nothing
	}
	return out, nil
}

func checkRules(of *snapshot.Rules) error {
	switch of.Default {
	case "", snapshot.RulesAllow, snapshot.RulesDeny:
	default:
		return fmt.Errorf("rules: default %q is not known", of.Default)
	}
	modes := []snapshot.RuleMode{of.Mode}
	for i := range of.List {
		rule := &of.List[i]
		modes = append(modes, rule.Mode)
		if rule.Role != "" && rule.Role != snapshot.RoleMember && rule.Role != snapshot.RoleAdmin {
			return fmt.Errorf("rule %s: role %q is not known", rule.ID, rule.Role)
		}
		if err := CheckRulePath(rule.Path); err != nil {
			return fmt.Errorf("rule %s: path %q %w", rule.ID, rule.Path, err)
		}
		if _, err := compileRule(rule); err != nil {
			return fmt.Errorf("rule %s: object: %w", rule.ID, err)
		}
	}
	for _, mode := range modes {
		switch mode {
		case "", snapshot.RulesOff, snapshot.RulesShadow, snapshot.RulesEnforce:
		default:
			return fmt.Errorf("rules: mode %q is not known", mode)
		}
	}
	if a, b, tied := TiedRules(of.List); tied {
		return fmt.Errorf("rules %s and %s are for the same route", of.List[a].ID, of.List[b].ID)
	}
	return nil
}

// hasMode reports whether something that restricts calls has the mode.
func hasMode(of *snapshot.Rules, mode snapshot.RuleMode) bool {
	if (of.Default == snapshot.RulesDeny || of.ReadWriteScopes) && of.ModeOf(&snapshot.Rule{}) == mode {
		return true
	}
	return slices.ContainsFunc(of.List, func(rule snapshot.Rule) bool { return of.ModeOf(&rule) == mode })
}

func compileRuleSet(of *snapshot.Rules, has func(snapshot.RuleMode) bool) *ruleSet {
	out := &ruleSet{}
	if has(of.ModeOf(&snapshot.Rule{})) {
		out.deny, out.readWrite = of.Default == snapshot.RulesDeny, of.ReadWriteScopes
	}
	for i := range of.List {
		if one := &of.List[i]; has(of.ModeOf(one)) {
			compiled, _ := compileRule(one) // it was checked
			out.tree.add(compiled)
			out.tracks = out.tracks || compiled.tracking != nil
		}
	}
	return out
}

// decide returns what the rules enforce for an admitted call, and what the rules in shadow would
// have decided; the zero RuleOutcome if that is the same. Decide is called after authentication and
// does not allocate, except for very long paths with escapes.
func (r *Rules) decide(c *Call, id *Identity) (enforced, shadow RuleOutcome) {
	if r == nil {
		return RuleOutcome{}, RuleOutcome{}
	}
	if r.enforced != nil {
		enforced = r.enforced.decide(c, id)
	}
	if r.shadow == nil || enforced.Denial != (Denial{}) {
		return enforced, RuleOutcome{}
	}
	if shadow = r.shadow.decide(c, id); shadow.Denial == (Denial{}) {
		return enforced, RuleOutcome{}
	}
	return enforced, shadow
}

// decide decides a call for each way in which an upstream may read its path. If the call is refused for one of them, it
// is refused.
func (s *ruleSet) decide(c *Call, id *Identity) RuleOutcome {
	rule := s.tree.find(c.Path, c.Method, true)
	out := s.judge(c, id, rule, c.Path, true)
	if out.Denial != (Denial{}) || !hasReadings(c.Path) {
		return out
	}
	var scratch [512]byte
	for as := range readings {
		path := as.of(scratch[:0], c.Path)
		other := s.tree.findBytes(path, c.Method)
		if other == rule && (rule == nil || rule.owner == nil) {
			continue
		}
		read := unsafe.String(unsafe.SliceData(path), len(path)) //nolint:gosec // it is only read
		if refused := s.judge(c, id, other, read, false); refused.Denial != (Denial{}) {
			return refused
		}
	}
	return out
}

// judge applies the rule of a call's route (nil for none) to a reading of its path, whose segments are decoded unless
// it is escaped.
func (s *ruleSet) judge(c *Call, id *Identity, rule *rule, path string, escaped bool) RuleOutcome {
	switch {
	case rule == nil && s.deny:
		return RuleOutcome{Denial: NoRule, By: ByDefault}
	case s.readWrite && id.CredentialID != "" && (rule == nil || len(rule.Scopes) == 0) &&
		!HasScope(id.Scopes, scopeOf(c.Method)):
		return RuleOutcome{scopeDenial(c, id), ByReadWriteScopes, scopeOf(c.Method)}
	case rule == nil:
		return RuleOutcome{}
	}
	for _, scope := range rule.Scopes {
		if !HasScope(id.Scopes, scope) {
			return RuleOutcome{scopeDenial(c, id), rule.ID, scope}
		}
	}
	if len(rule.Groups) > 0 && !c.isIn(id, rule.Groups, rule.Role == snapshot.RoleAdmin) {
		return RuleOutcome{Denial: NotInGroup, By: rule.ID}
	}
	if rule.owner != nil && !c.owns(id, rule.owner, path, escaped) {
		return RuleOutcome{Denial: NotOwner, By: rule.ID}
	}
	return RuleOutcome{By: rule.ID}
}

// scopeOf returns the scope that a method requires (RFC 9110, 9.2.1; TRACE is not forwarded).
func scopeOf(method string) string {
	switch method {
	case "GET", "HEAD", "OPTIONS":
		return ScopeRead
	}
	return ScopeWrite
}

// scopeDenial returns TokenScope if the scopes are those of a token, which needs a challenge
// (RFC 6750, 3.1).
func scopeDenial(c *Call, id *Identity) Denial {
	if c.Token != nil && id.CredentialID == "" {
		return TokenScope
	}
	return InsufficientScope
}

// HasScope reports whether the scopes satisfy one: by its name, by a wildcard such as orders:* for orders:read, or by
// *, which satisfies all.
func HasScope(scopes []string, one string) bool {
	for _, have := range scopes {
		if have == one || have == "*" {
			return true
		}
		if n := len(have); n > 2 && have[n-2:] == ":*" && strings.HasPrefix(one, have[:n-1]) {
			return true
		}
	}
	return false
}

// isIn reports whether the caller is in one of the groups of the call's tenant: the user of the token, or, for a call
// with a key alone, the user or app that owns the key. A caller without a credential is in no group. The directory
// decides, and not the token, which may name only some of the groups and those of an earlier time.
func (c *Call) isIn(id *Identity, groups []string, admin bool) bool {
	var user string
	switch {
	case c.Token != nil && c.Token.Client != "" && !c.Token.isMachine():
		user = c.Token.Subject
	case c.Token == nil && id.CredentialID != "":
		user = id.Owner
	}
	found := c.Realm.members[memberKey{id.TenantID, user}]
	if found == nil {
		return false
	}
	in := found.In
	if admin {
		in = found.Admin
	}
	for _, group := range groups {
		if slices.Contains(in, group) {
			return true
		}
	}
	return false
}
