package validate

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// argument is one of a query or a form.
type argument struct{ name, value string }

// readArguments reads a query, without its question mark, or a form. An argument that is not escaped as it should be
// stays as it is written. It reads at most a number of arguments, and returns false if there are more.
func readArguments(query string, most int) (out []argument, all bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		if len(out) == most {
			return out, false
		}
		name, value, _ := strings.Cut(pair, "=")
		out = append(out, argument{unescapeArgument(name), unescapeArgument(value)})
	}
	return out, true
}

func unescapeArgument(value string) string {
	if strings.IndexByte(value, '%') < 0 && strings.IndexByte(value, '+') < 0 {
		return value
	}
	if plain, err := url.QueryUnescape(value); err == nil {
		return plain
	}
	return value
}

// arguments are those of a query.
type arguments struct {
	values   map[string][]string
	brackets map[string]*node // by what is in front of the first bracket
}

// arguments sorts the arguments of a query by name. literal are names that have brackets and are parameters of their
// own.
func (r *run) arguments(pairs []argument, literal map[string]bool) *arguments {
	out := &arguments{values: make(map[string][]string, len(pairs))}
	all := &node{}
	for _, one := range pairs {
		out.values[one.name] = append(out.values[one.name], one.value)
		if base, path, ok := r.inBrackets(one.name); ok && !literal[one.name] {
			all.member(base).add(path, one.value)
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

// node is what the arguments of a query or a form say of one value. It can be a list or an object only if its schema
// says so: names of members may be numbers.
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

// reading makes a value of arguments, which don't say of which types they are: each is read as the schemas describe it.
type reading struct {
	*run
	texts     bool // a text that schemas describe differently stays a text
	ambiguous bool // there is such a text
	refused   bool // the arguments contradict each other
}

// checkNode checks the value that arguments stand for.
func (r *run) checkNode(s *schema, of *node) {
	r.checkReading(s, func(b *reading) any { return b.value(of, []*schema{s}) })
}

func (r *run) checkReading(s *schema, read func(*reading) any) {
	typed := &reading{run: r}
	value := read(typed)
	if typed.refused {
		return
	}
	if typed.ambiguous && !r.matches(s, value) {
		if r.matches(s, read(&reading{run: r, texts: true})) {
			return
		}
	}
	r.check(s, value)
}

// checkForm checks an object whose members are arguments. What the schema has as a member stays whole; other names
// with brackets are those of members within members.
func (r *run) checkForm(s *schema, form []argument, separator map[string]string) {
	all, root := r.combinedIn([]*schema{s}), &node{}
	for _, one := range form {
		base, path, ok := r.inBrackets(one.name)
		switch {
		case r.stopped:
			return
		case !ok && strings.Count(one.name, "[") > maxBrackets:
			r.problem("must not have more than %d brackets in a name", maxBrackets)
			return
		}
		if ok && r.isNested(all, one.name, base) {
			root.member(base).add(path, one.value)
			continue
		}
		of := root.member(one.name)
		of.values = append(of.values, one.value)
	}
	for name, by := range separator {
		if of := root.members[name]; of != nil && len(of.values) == 1 {
			of.values = strings.Split(of.values[0], by)
			r.spend(len(of.values))
		}
	}
	r.checkReading(s, func(b *reading) any { return b.object(root, all) })
}

// isNested reports whether a name with brackets leads into the member base.
func (r *run) isNested(all []*schema, name, base string) bool {
	if _, described := r.property(all, name); described {
		return false
	}
	of, described := r.property(all, base)
	return described || mayBe(of)&(kindArray|kindObject) != 0
}

// maxSearched bounds the schemas that one combines in which members are looked for.
const maxSearched = 100

// combinedIn returns schemas and those that they combine.
func (r *run) combinedIn(of []*schema) []*schema {
	out := make([]*schema, 0, len(of))
	add := func(list []*schema) {
		for _, one := range list {
			if one != nil && len(out) < maxSearched && !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	add(of)
	for i := 0; i < len(out) && r.spend(1); i++ {
		add(out[i].allOf)
		add(out[i].anyOf)
		add(out[i].oneOf)
	}
	return out
}

// property returns the schemas of a member, those of additional members if none describes it.
func (r *run) property(all []*schema, name string) (found []*schema, described bool) {
	r.spend(len(all))
	add := func(one *schema) {
		if !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	for _, s := range all {
		if one, there := s.properties[name]; there {
			add(one)
		}
		for _, p := range s.patterned {
			if r.spend(1+len(name)*p.pattern.size/patternCost) && p.pattern.expression.MatchString(name) {
				add(p.schema)
			}
		}
	}
	if len(found) > 0 {
		return found, true
	}
	for _, s := range all {
		if s.additional != nil {
			add(s.additional)
		}
	}
	return found, false
}

// mayBe returns the types that one of the schemas may accept; all without one.
func mayBe(of []*schema) (may kinds) {
	if len(of) == 0 {
		return kindAny
	}
	for _, s := range of {
		may |= s.may()
	}
	return may
}

// value returns what a node stands for by schemas, any of which may describe it.
func (b *reading) value(n *node, of []*schema) any {
	b.depth++ // a list can be described as a list of itself
	defer func() { b.depth-- }()
	may := mayBe(of)
	if len(n.list) == 0 && len(n.names) == 0 {
		return b.plain(n.values, of, may)
	}
	if !b.spend(1) {
		return nil
	}
	all := b.combinedIn(of)
	items, isList := n.items()
	if !isList || len(n.names) > 0 && may&(kindArray|kindObject) == kindObject {
		return b.object(n, all)
	}
	list := b.list(items, all)
	if len(n.names) > 0 && may&kindObject != 0 && len(of) > 0 &&
		!slices.ContainsFunc(of, func(s *schema) bool { return b.matches(s, list) }) {
		return b.object(n, all)
	}
	return list
}

func (b *reading) list(items []*node, all []*schema) any {
	out := make([]any, 0, len(items))
	for i, item := range items {
		if !b.spend(1 + len(all)) {
			return nil
		}
		var of []*schema
		for _, s := range all {
			one := s.items
			if i < len(s.prefix) {
				one = s.prefix[i]
			}
			if one != nil && !slices.Contains(of, one) {
				of = append(of, one)
			}
		}
		out = append(out, b.value(item, of))
	}
	return out
}

func (b *reading) object(n *node, all []*schema) any {
	out := make(map[string]any, len(n.names))
	for _, name := range n.names {
		of, _ := b.property(all, name)
		if out[name] = b.value(n.members[name], of); b.stopped {
			return nil
		}
	}
	for i, item := range n.list { // next to members, they are members too
		of, _ := b.property(all, strconv.Itoa(i))
		out[strconv.Itoa(i)] = b.value(item, of)
	}
	if len(n.values) > 0 {
		b.problem("must not have a value of its own next to members in brackets")
		b.refused = true
	}
	return out
}

// plain returns what values without brackets stand for.
func (b *reading) plain(values []string, of []*schema, may kinds) any {
	if !b.spend(1 + len(values)) {
		return nil
	}
	if len(values) == 1 {
		value, isJSON := b.asJSON(values[0], of, may)
		if isJSON {
			return value
		}
		if may&kindArray == 0 || may&(kindString|kindNumber) != 0 {
			return b.text(values[0], of)
		}
	}
	items := make([]*node, 0, len(values))
	for _, value := range values {
		items = append(items, &node{values: []string{value}})
	}
	return b.list(items, b.combinedIn(of))
}

// asJSON returns a list or an object that is written as JSON, where one is expected.
func (b *reading) asJSON(text string, of []*schema, may kinds) (any, bool) {
	if len(of) == 0 || may&(kindArray|kindObject) == 0 || text == "" || text[0] != '{' && text[0] != '[' ||
		!b.spend(len(text)) {
		return nil, false
	}
	value, err := readJSON([]byte(text))
	if err != nil {
		return nil, false
	}
	if may&kindString == 0 {
		return value, true
	}
	return value, slices.ContainsFunc(of, func(s *schema) bool { return b.matches(s, value) })
}

// text returns what a text stands for.
func (b *reading) text(text string, of []*schema) any {
	var plain, typed any
	for _, s := range of {
		if value := s.valueOf(b.run, text); kindOf(value) == kindString {
			plain = value
		} else {
			typed = value
		}
	}
	b.ambiguous = b.ambiguous || plain != nil && typed != nil
	if typed == nil || b.texts && plain != nil {
		return text
	}
	return typed
}
