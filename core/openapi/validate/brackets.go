package validate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"postern/core/openapi"
)

// arguments are those of a query.
type arguments struct {
	values   map[string][]string
	brackets map[string]*node // by what is in front of the first bracket
	opened   map[string]bool  // names before a bracket, whatever follows it
}

// arguments sorts the arguments of a query by name. literal are names that have brackets and are parameters of their
// own.
func (r *run) arguments(pairs []argument, literal map[string]bool) *arguments {
	out := &arguments{values: make(map[string][]string, len(pairs)), opened: map[string]bool{}}
	all := &node{}
	for _, one := range pairs {
		out.values[one.name] = append(out.values[one.name], one.value)
		if literal[one.name] {
			continue
		}
		if base, path, ok := r.inBrackets(one.name); ok {
			all.member(base).add(path, one.value)
		}
		if base, _, ok := strings.Cut(one.name, "["); ok {
			out.opened[base] = true
		}
	}
	out.brackets = all.members
	return out
}

// bracketed returns the names of parameters in the query that have brackets themselves.
func bracketed(parameters []parameter) (out map[string]bool) {
	for i := range parameters {
		if p := &parameters[i]; p.in == InQuery && strings.Contains(p.name, "[") {
			if out == nil {
				out = map[string]bool{}
			}
			out[p.name] = true
		}
	}
	return out
}

// inQuery returns the names of the parameters in the query. Operations share what it makes of a name.
func (c *compiler) inQuery(parameters []parameter) looseNames {
	out := looseNames{}
	for i := range parameters {
		if p := &parameters[i]; p.in == InQuery {
			loose, known := c.loose[p.name]
			if !known && c.Spend(stepsOfLoose+len(p.name)/bytesOfLoose) &&
				c.Take(openapi.Memory, int64(2*len(p.name))) {
				loose = looseName(p.name)
				c.loose[p.name] = loose
			}
			out.add(p.name, loose)
		}
	}
	return out
}

// maxBrackets bounds the brackets of a name.
const maxBrackets = 64

// inBrackets splits a name such as items[0][price] into items and what is in the brackets. It returns false for a name
// that is written otherwise.
func (r *run) inBrackets(name string) (base string, path []string, ok bool) {
	if !r.spend(1 + len(name)/bytesOfStep) {
		return "", nil, false
	}
	open := strings.IndexByte(name, '[')
	if open <= 0 || name[len(name)-1] != ']' {
		return "", nil, false
	}
	for rest := name[open:]; rest != ""; {
		token, more, closed := strings.Cut(rest[1:], "]")
		if rest[0] != '[' || !closed || strings.Contains(token, "[") {
			return "", nil, false
		}
		path, rest = append(path, token), more
	}
	return name[:open], path, len(path) <= maxBrackets && r.spend(len(path))
}

// node has the arguments of a query or a form that belong to one value. It can be a list or an object only if its
// schema says so: names of members may be numbers.
type node struct {
	values  []string // without brackets
	list    []*node  // of empty brackets
	names   []string // of members, in the order of the request
	members map[string]*node
}

func (n *node) member(name string) *node {
	if known := n.members[name]; known != nil {
		return known
	}
	if n.members == nil {
		n.members = map[string]*node{}
	}
	n.names, n.members[name] = append(n.names, name), &node{}
	return n.members[name]
}

// add adds a value below what is in brackets. Empty brackets begin a new item if the last one has the member already,
// as in items[][price]=1&items[][amount]=2&items[][price]=3.
func (n *node) add(path []string, value string) {
	for ; len(path) > 0; path = path[1:] {
		if path[0] != "" {
			n = n.member(path[0])
			continue
		}
		if last := len(n.list) - 1; last < 0 || len(path) == 1 || n.list[last].has(path[1:]) {
			n.list = append(n.list, &node{})
		}
		n = n.list[len(n.list)-1]
	}
	n.values = append(n.values, value)
}

func (n *node) has(path []string) bool {
	for _, token := range path {
		switch {
		case token != "":
			n = n.members[token]
		case len(n.list) == 0:
			return false
		default:
			n = n.list[len(n.list)-1]
		}
		if n == nil {
			return false
		}
	}
	return path[len(path)-1] != ""
}

// items returns the items of a list; false if a name is not an index.
func (n *node) items() (out []*node, ok bool) {
	for _, value := range n.values {
		out = append(out, &node{values: []string{value}})
	}
	out = append(out, n.list...)
	type item struct {
		index int
		of    *node
	}
	var indexed []item
	for _, name := range n.names {
		index, err := strconv.ParseUint(name, 10, 31)
		if err != nil {
			return nil, false
		}
		indexed = append(indexed, item{int(index), n.members[name]})
	}
	slices.SortStableFunc(indexed, func(a, b item) int { return cmp.Compare(a.index, b.index) })
	for _, one := range indexed {
		out = append(out, one.of)
	}
	return out, true
}
