package projects

import (
	"slices"
	"strings"

	"postern/core/openapi"
	"postern/core/snapshot"
)

// addOwners adds owners to the rules: where POST of a collection such as /orders answers an id, and there
// are operations of its items such as /orders/{id}, creating remembers the owner, the items ask for it,
// and deleting forgets it.
func (p *proposer) addOwners(doc *openapi.Summary) {
	items := itemsOf(doc)
	below := slices.Clone(doc.Operations) // sorted, so that those below an item are one run
	slices.SortStableFunc(below, func(a, b openapi.Operation) int {
		return strings.Compare(bare(a.Path), bare(b.Path))
	})
	for _, create := range doc.Operations {
		if create.Method != "POST" || !create.AnswersID {
			continue
		}
		item := items[bare(create.Path)]
		kind := objectType(create.Path)
		if item.path == "" || kind == "" {
			continue
		}
		object := kind + ":{" + item.parameter + "}"
		p.change("POST", create.Path, func(r *snapshot.Rule) { r.Remember = kind + ":{response.id}" })
		from, _ := slices.BinarySearchFunc(below, item.path, func(op openapi.Operation, path string) int {
			return strings.Compare(bare(op.Path), path)
		})
		for _, op := range below[from:] {
			path := bare(op.Path)
			if !strings.HasPrefix(path, item.path) {
				break
			}
			if path != item.path && path[len(item.path)] != '/' {
				continue
			}
			p.change(op.Method, op.Path, func(r *snapshot.Rule) {
				r.Owner = object
				if op.Method == "DELETE" && path == item.path {
					r.Forget = object
				}
			})
		}
	}
}

// bare returns a path without a slash at its end, which does not count in rules.
func bare(path string) string { return strings.TrimSuffix(path, "/") }

// collectionItem is the path of a collection's items, and the name of their parameter.
type collectionItem struct{ path, parameter string }

// itemsOf returns the items of collections, by the paths of these.
func itemsOf(doc *openapi.Summary) map[string]collectionItem {
	out := map[string]collectionItem{}
	for _, op := range doc.Operations {
		path := bare(op.Path)
		at := strings.LastIndexByte(path, '/')
		if at < 0 {
			continue
		}
		name, opened := strings.CutPrefix(path[at+1:], "{")
		name, closed := strings.CutSuffix(name, "}")
		if _, have := out[path[:at]]; opened && closed && !have && !strings.ContainsAny(name, "{}") {
			out[path[:at]] = collectionItem{path, name}
		}
	}
	return out
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

// change changes the rule of a method and path, which becomes a separate rule. A new rule is created where
// the document requires no scopes.
func (p *proposer) change(method, path string, fn func(*snapshot.Rule)) {
	rules := p.paths[p.at[path]].rules
	at := ruleFor(rules, method)
	if at >= 0 && len(rules[at].Methods) == 1 {
		fn(&rules[at])
		return
	}
	rule := snapshot.Rule{Methods: []string{method}, Path: path}
	if at >= 0 {
		rule.Scopes = slices.Clone(rules[at].Scopes)
	}
	if fn(&rule); !p.fits(method, &rule) {
		return
	}
	before := p.count
	if p.insert(at+1, rule); p.count == before || at < 0 {
		return
	}
	shared := &p.paths[p.at[path]].rules[at]
	shared.Methods = slices.DeleteFunc(slices.Clone(shared.Methods), func(one string) bool { return one == method })
}
