package movein

import (
	"slices"
	"strings"

	"postern/core/contract"
)

// setAccess sets who may call a version, and the rules for its operations.
func (p *awsPlanner) setAccess(a *api, f *family, v *contract.PlannedVersion) {
	needs := slices.ContainsFunc(f.operations, func(o *operation) bool { return o.needs })
	open := slices.ContainsFunc(f.operations, func(o *operation) bool { return !o.needs })
	v.RequestsAuth = contract.RequestsAuth{
		Mode: contract.Authenticate, Methods: []string{contract.MethodAPIKey}, Keyless: contract.KeylessReject,
	}
	switch {
	case !needs:
		v.RequestsAuth.Mode, v.RequestsAuth.Methods = contract.Passthrough, []string{}
	case open:
		v.RequestsAuth.Mode = contract.Passthrough
	}
	rules := ruleList{places: map[string]int{}, rules: []contract.Rule{}}
	removed := segmentsOf(f.target.removed)
	for _, o := range f.operations {
		o.mixed = needs && !o.needs
		rule := contract.Rule{Methods: slices.Clone(o.methods), Path: rulePath(o.path[len(removed):])}
		if o.needs {
			rule.Groups = a.groups
			switch {
			case len(a.groups) > 0:
			case len(p.files.Plans) == 0: // owners of other imports have keys too
				p.say(o.Entity, "operation.no_plans")
				p.addGroup(awsKeys, "Callers of operations that require an API key")
				rule.Groups = []string{awsKeys}
			default:
				code := "operation.no_plan"
				if a.ID == "" {
					code = "operation.unknown_api"
				}
				p.say(o.Entity, code)
				p.addClosedGroup()
				rule.Groups = []string{awsClosed}
			}
		}
		rules.add(rule)
	}
	for _, denial := range a.denials(f, removed) {
		p.addClosedGroup()
		rules.add(denial)
	}
	v.Rules = contract.Rules{Default: contract.RulesDeny, Mode: contract.RulesEnforce, List: rules.rules}
}

// ruleList are rules with one for each path and groups.
type ruleList struct {
	rules  []contract.Rule
	places map[string]int
}

// add adds a rule, or its methods to one with the same path and groups.
func (l *ruleList) add(rule contract.Rule) {
	key := rule.Path + "\x00" + strings.Join(rule.Groups, "\x00")
	at, known := l.places[key]
	if !known {
		l.places[key] = len(l.rules)
		l.rules = append(l.rules, rule)
		return
	}
	methods := slices.Concat(l.rules[at].Methods, rule.Methods)
	slices.Sort(methods)
	l.rules[at].Methods = slices.Compact(methods)
}

// denials returns the rules that refuse calls to operations of an API that aren't of a family, if a wider path of the
// family would also match them, and to the methods that a path of a REST API doesn't have.
func (a *api) denials(f *family, removed []string) (rules []contract.Rule) {
	own := map[string][]string{} // methods of the family by path
	var wide []*operation        // those whose calls can be of another operation
	for _, o := range f.operations {
		own[o.shape] = append(own[o.shape], o.methods...)
		if slices.ContainsFunc(o.path, isParameter) {
			wide = append(wide, o)
		}
	}
	for _, other := range a.paths {
		path := other.path
		if len(path) < len(removed) || !slices.Equal(path[:len(removed)], removed) {
			continue
		}
		reached := slices.Clone(own[other.shape]) // methods that rules for this path and others let through
		for _, o := range wide {
			if o.shape != other.shape && o.reaches(other) {
				reached = append(reached, o.methods...)
			}
		}
		if len(reached) == 0 || !isRulePath(path[len(removed):]) {
			continue
		}
		if slices.Contains(reached, "GET") {
			reached = append(reached, "HEAD") // rules for GET include it
		}
		var denied []string
		for _, method := range awsMethods {
			// Calls of other methods come to a wider path.
			falls := a.IsHTTP && !slices.Contains(a.byPath[other.shape], method) && method != "HEAD"
			if slices.Contains(reached, method) && !slices.Contains(own[other.shape], method) && !falls {
				denied = append(denied, method)
			}
		}
		if len(denied) > 0 {
			rules = append(rules, contract.Rule{
				Methods: denied, Path: rulePath(path[len(removed):]), Groups: []string{awsClosed},
			})
		}
	}
	return rules
}
