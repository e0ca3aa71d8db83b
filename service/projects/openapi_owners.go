package projects

import (
	"slices"
	"strings"

	"postern/core/openapi"
	"postern/core/snapshot"
)

// addOwners adds owners to proposed rules: where POST of a collection such as /orders answers an id, and
// there are operations of its items such as /orders/{id}, creating remembers the owner, the items ask
// for it, and deleting forgets it.
func addOwners(proposal RuleProposal, doc *openapi.Summary) RuleProposal {
	for _, create := range doc.Operations {
		if create.Method != "POST" || !create.AnswersID {
			continue
		}
		item, parameter := itemOf(create.Path, doc)
		kind := objectType(create.Path)
		if item == "" || kind == "" {
			continue
		}
		object := kind + ":{" + parameter + "}"
		proposal.change("POST", create.Path, func(r *snapshot.Rule) { r.Remember = kind + ":{response.id}" })
		for _, op := range doc.Operations {
			if op.Path != item && !strings.HasPrefix(op.Path, item+"/") {
				continue
			}
			proposal.change(op.Method, op.Path, func(r *snapshot.Rule) {
				r.Owner = object
				if op.Method == "DELETE" && op.Path == item {
					r.Forget = object
				}
			})
		}
	}
	return proposal
}

// itemOf returns the path of a collection's items and the name of their parameter.
func itemOf(collection string, doc *openapi.Summary) (path, parameter string) {
	for _, op := range doc.Operations {
		last, below := strings.CutPrefix(op.Path, strings.TrimSuffix(collection, "/")+"/{")
		if name, closed := strings.CutSuffix(last, "}"); below && closed && !strings.ContainsAny(name, "{}/") {
			return op.Path, name
		}
	}
	return "", ""
}

// objectType names the objects of a collection after its last segment: order for /shops/{shop}/orders.
func objectType(collection string) string {
	segments := strings.Split(strings.Trim(collection, "/"), "/")
	name := strings.ToLower(segments[len(segments)-1])
	switch {
	case strings.HasSuffix(name, "ies") && len(name) > 4:
		name = name[:len(name)-3] + "y"
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && len(name) > 2:
		name = name[:len(name)-1]
	}
	wrong := checkRuleObjects(&snapshot.Rule{Methods: []string{"GET"}, Path: "/", Owner: name + ":x"})
	if len(wrong) > 0 {
		return ""
	}
	return name
}

// change changes the rule of a method and path, which becomes one of its own. A new rule is made where
// the document asks for no scopes.
func (r *RuleProposal) change(method, path string, fn func(*snapshot.Rule)) {
	at := slices.IndexFunc(r.Rules, func(have snapshot.Rule) bool {
		return have.Path == path && slices.Contains(have.Methods, method)
	})
	if at >= 0 && len(r.Rules[at].Methods) == 1 {
		fn(&r.Rules[at])
		return
	}
	rule := snapshot.Rule{Methods: []string{method}, Path: path}
	if at >= 0 {
		rule.Scopes = slices.Clone(r.Rules[at].Scopes)
	}
	fn(&rule)
	if len(r.Rules) == maxRules || len(checkRule(&rule)) > 0 {
		return
	}
	if at >= 0 {
		other := func(one string) bool { return one == method }
		r.Rules[at].Methods = slices.DeleteFunc(slices.Clone(r.Rules[at].Methods), other)
	}
	r.Rules = slices.Insert(r.Rules, at+1, rule)
}
