package validate

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reading converts arguments to a value. Arguments don't have types, so each is read as the schemas describe it.
type reading struct {
	*run
	texts     bool // a text that schemas describe differently stays a text
	ambiguous bool // there is such a text
	refused   bool // the arguments contradict each other
}

// checkNode checks the value that arguments encode.
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

// checkForm checks an object whose members are arguments, in each way in which an upstream may read them. A member of
// the schema stays whole; other names with brackets are those of members within members.
func (r *run) checkForm(s *schema, form []argument, text string, separator map[string]string) {
	if slices.ContainsFunc(form, func(one argument) bool { return one.brokenName || one.brokenText }) {
		r.problem("has %s", brokenEscape)
		return
	}
	all := r.combinedIn([]*schema{s})
	r.checkArguments(s, all, form, separator)
	isOther := func(one argument) bool {
		base, _, _ := strings.Cut(one.name, "[")
		r.spend(len(all))
		return !utf8.ValidString(one.value) ||
			!slices.ContainsFunc(all, func(s *schema) bool { return s.properties[base] != nil })
	}
	if len(r.problems) > 0 || !strings.Contains(text, ";") && !slices.ContainsFunc(form, isOther) {
		return
	}
	if loose, differs := r.loosely(text, r.looseNamesOf(all), maxForm); differs {
		r.checkArguments(s, all, loose, separator)
	}
}

// looseNamesOf returns the names of the members that one of the schemas has.
func (r *run) looseNamesOf(all []*schema) looseNames {
	out := looseNames{}
	for _, one := range all {
		for _, name := range one.propertyNames {
			if !r.spend(stepsOfLoose + len(name)/bytesOfStep) {
				return nil
			}
			out.add(name, looseName(name))
		}
	}
	return out
}

// checkArguments checks an object in one reading of its arguments. all are its schemas, with those that they combine.
func (r *run) checkArguments(s *schema, all []*schema, form []argument, separator map[string]string) {
	root := &node{}
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

// comparedInStep is how many schemas a search compares in a step.
const comparedInStep = 200

// property returns the schemas of a member, those of additional members if none describes it.
func (r *run) property(all []*schema, name string) (found []*schema, described bool) {
	r.spend(len(all))
	add := func(one *schema) {
		if r.spend(1+len(found)/comparedInStep) && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	for _, s := range all {
		if !r.spend(len(name) / bytesHashed) {
			return nil, false
		}
		if one, there := s.properties[name]; there {
			add(one)
		}
		for _, p := range s.patterned {
			if r.spend(p.pattern.cost(name)) && p.pattern.expression.MatchString(name) {
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

// value returns the value of a node according to schemas, any of which may describe it.
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
		b.problem("must not be sent both as a plain value and with brackets")
		b.refused = true
	}
	return out
}

// plain returns the value that values without brackets encode.
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
		!b.spend(stepsOfJSON*len(text)) {
		return nil, false
	}
	value, err := readJSON(b.work, []byte(text))
	if err != nil {
		return nil, false
	}
	if may&kindString == 0 {
		return value, true
	}
	return value, slices.ContainsFunc(of, func(s *schema) bool { return b.matches(s, value) })
}

// text returns the value that a text encodes.
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
