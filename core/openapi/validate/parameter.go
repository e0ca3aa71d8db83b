package validate

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"postern/core/openapi/tree"
)

// The places of a Problem.
const (
	InPath   = "path"
	InQuery  = "query"
	InHeader = "header"
	InBody   = "body"
)

// parameter is a parameter of an operation.
type parameter struct {
	name, in string
	required bool
	empty    bool   // may be there without a value
	list     string // what separates the items of a list in one value; "": items have values of their own
	deep     bool   // an object as name[member]=value
	json     bool   // the value is JSON
	schema   *schema
}

// parameter adds a parameter to an operation.
func (c *compiler) parameter(op *Operation, all map[string]any) {
	p := parameter{name: tree.Text(all["name"]), in: tree.Text(all["in"])}
	c.inside = append(c.inside, p.in+" "+p.name)
	defer func() { c.inside = c.inside[:0] }()
	node := c.read(all, parameterKeywords)
	p.required, _ = node["required"].(bool)
	p.empty, _ = node["allowEmptyValue"].(bool)
	if !c.style(&p, node) {
		return
	}
	content, _ := node["content"].(map[string]any)
	for _, media := range tree.Keys(content) {
		if !isJSON(media) {
			c.note("The parameter is not checked: it is of the type %s.", media)
			return
		}
		p.json, p.schema = true, c.media(content[media])
	}
	if len(content) == 0 {
		p.schema = c.one(node, "schema")
	}
	_, hasSchema := all["schema"]
	_, hasContent := all["content"]
	if !hasSchema && (!hasContent || node["content"] != nil && len(content) == 0) {
		c.note("The parameter is not checked: it has no schema.")
	}
	c.Spend(len(op.Name) / bytesOfStep)
	if p.in == InPath && !strings.Contains(op.Name, "{"+p.name+"}") {
		c.note("The parameter is not checked: the path does not have it.")
	}
	op.parameters = append(op.parameters, p)
}

// styles are those that are checked, by place, with what separates the items of a list in one value.
var styles = map[string]map[string]string{
	InPath: {"simple": ","}, InHeader: {"simple": ","},
	InQuery: {"form": "", "spaceDelimited": " ", "pipeDelimited": "|", "deepObject": ""},
}

// style reads how a parameter is written. It returns false for one that is not checked.
func (c *compiler) style(p *parameter, node map[string]any) bool {
	ignored := []string{"accept", "content-type", "authorization"}
	if p.in == InHeader && slices.Contains(ignored, strings.ToLower(p.name)) {
		return false // OpenAPI says so
	}
	style, own := node["style"].(string)
	known, ok := styles[p.in]
	switch {
	case !ok:
		c.note("The parameter is not checked: cookies are not.")
		return false
	case !own && p.in == InQuery:
		style = "form"
	case !own:
		style = "simple"
	}
	if p.list, ok = known[style]; !ok {
		c.note("The parameter is not checked: its style is %s.", style)
		return false
	}
	if style == "form" && node["explode"] == false {
		p.list = ","
	}
	p.deep = style == "deepObject"
	return true
}

// isObject reports whether a parameter is an object in a style that is not checked. It notes that.
func (c *compiler) isObject(p parameter) bool {
	if p.schema.may()&^kindNull != kindObject || p.deep || p.json {
		return false
	}
	c.inside = append(c.inside, p.in+" "+p.name)
	c.note("The parameter is not checked: objects are, in the style deepObject.")
	c.inside = c.inside[:0]
	return true
}

// check checks the values that a request has of a parameter; none if it does not have it.
func (p *parameter) check(r *run, values []string) {
	r.in, r.at = p.in, append(r.at[:0], p.name)
	switch {
	case len(values) == 0 && p.required:
		r.problem("is required")
	case len(values) == 0:
	case p.empty && len(values) == 1 && values[0] == "":
	case p.json:
		value, err := readJSON(r.work, []byte(values[0]))
		switch {
		case len(values) > 1:
			r.problem("must be there once")
		case err != nil:
			r.problem("%s", err)
		default:
			r.check(p.schema, value)
		}
	case p.isList():
		p.checkList(r, values)
	case len(values) > 1:
		r.problem("must be there once")
	default:
		p.schema.checkText(r, values[0])
	}
}

func (p *parameter) isList() bool {
	may := p.schema.may()
	return may&kindArray != 0 && may&^(kindArray|kindNull) == 0
}

func (p *parameter) checkList(r *run, values []string) {
	if p.list != "" {
		if len(values) > 1 {
			r.problem("must be there once")
			return
		}
		values = strings.Split(values[0], p.list)
	}
	items := p.schema.itemSchema()
	list := make([]any, len(values))
	for i, value := range values {
		if p.in == InHeader {
			value = strings.TrimSpace(value)
		}
		list[i] = items.valueOf(r, value)
	}
	r.check(p.schema, list)
}

// may returns the types that a schema may accept.
func (s *schema) may() kinds {
	if s == nil {
		return kindAny
	}
	return s.mayBe
}

// itemSchema returns the schema of the items of a list; nil if they can be anything.
func (s *schema) itemSchema() *schema {
	if s == nil {
		return nil
	}
	return s.itemsMayBe
}

// settle sets what follows from the schemas that a schema combines: mayBe and itemsMayBe. Deeper than requests are
// validated, it can be anything.
func (s *schema) settle(depth int) {
	if s == nil || s.settled || depth > maxDepth {
		return
	}
	s.settled = true // a schema within itself can be anything
	s.mayBe, s.itemsMayBe = kindAny, s.items
	may := kindAny
	if s.kinds != 0 {
		may = s.kinds
	}
	for _, one := range s.allOf {
		one.settle(depth + 1)
		may &= one.may()
	}
	for _, list := range [][]*schema{s.anyOf, s.oneOf} {
		union := kinds(0)
		for _, one := range list {
			one.settle(depth + 1)
			union |= one.may()
		}
		if len(list) > 0 {
			may &= union
		}
	}
	s.mayBe = may
	for _, one := range slices.Concat(s.allOf, s.anyOf, s.oneOf) {
		if s.itemsMayBe == nil {
			s.itemsMayBe = one.itemSchema()
		}
	}
}

// readings returns what a text can stand for, the most specific first.
func (s *schema) readings(value string) []any {
	may := s.may()
	var out []any
	if may&(kindNumber|kindInteger) != 0 && isNumber(value) {
		out = append(out, json.Number(value))
	}
	if may&kindBoolean != 0 && (value == "true" || value == "false") {
		out = append(out, value == "true")
	}
	if may&kindString != 0 || len(out) == 0 {
		out = append(out, value)
	}
	return out
}

// isNumber reports whether a text is a number of JSON.
func isNumber(value string) bool {
	return value != "" && len(value) <= 400 && strings.IndexByte("-0123456789", value[0]) >= 0 &&
		json.Valid([]byte(value))
}

// valueOf returns what a text stands for: the first reading that matches, or else the first one.
func (s *schema) valueOf(r *run, value string) any {
	readings := s.readings(value)
	for _, one := range readings[:len(readings)-1] {
		if r.matches(s, one) {
			return one
		}
	}
	if len(readings) > 1 && !r.matches(s, readings[len(readings)-1]) {
		return readings[0]
	}
	return readings[len(readings)-1]
}

func (s *schema) checkText(r *run, value string) { r.check(s, s.valueOf(r, value)) }

// arguments are those of a query or a form: the values by name, and the names in the order of the first value of each.
type arguments struct {
	values map[string][]string
	names  []string
}

// readArguments reads a query, without its question mark, or a form. An argument that is not escaped as it should be
// stays as it is written. It reads at most a number of arguments, and returns false if there are more.
func readArguments(query string, most int) (out arguments, all bool) {
	out.values = map[string][]string{}
	n := 0
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		if n++; n > most {
			return out, false
		}
		name, value, _ := strings.Cut(pair, "=")
		out.add(unescapeArgument(name), unescapeArgument(value))
	}
	return out, true
}

func (a *arguments) add(name string, values ...string) {
	if _, there := a.values[name]; !there {
		a.names = append(a.names, name)
	}
	a.values[name] = append(a.values[name], values...)
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

// checkDeep checks an object that a query has as name[member]=value. Objects within it are not checked.
func (p *parameter) checkDeep(r *run, query arguments) {
	r.in, r.at = p.in, append(r.at[:0], p.name)
	own := arguments{values: map[string][]string{}}
	r.spend(len(query.names))
	for _, name := range query.names {
		member, ok := strings.CutPrefix(name, p.name+"[")
		if !ok {
			continue
		}
		if member, ok = strings.CutSuffix(member, "]"); !ok || strings.Contains(member, "[") {
			return
		}
		own.add(member, query.values[name]...)
	}
	switch {
	case len(own.names) > 0:
		p.schema.checkForm(r, own)
	case p.required:
		r.problem("is required")
	}
}

// checkForm checks an object whose members are arguments.
func (s *schema) checkForm(r *run, form arguments) {
	object := map[string]any{}
	for _, name := range form.names {
		searched := 0
		property, values := s.property(name, &searched), form.values[name]
		if !r.spend(searched + len(values)) {
			return
		}
		if may := property.may(); len(values) > 1 || may&kindArray != 0 && may&(kindString|kindNumber) == 0 {
			items, list := property.itemSchema(), []any{}
			for _, value := range values {
				list = append(list, items.valueOf(r, value))
			}
			object[name] = list
			continue
		}
		object[name] = property.valueOf(r, values[0])
	}
	r.check(s, object)
}

// maxSearched bounds in how many combined schemas a member is looked for.
const maxSearched = 100

// property returns the schema of a member; nil if it can be anything.
func (s *schema) property(name string, searched *int) *schema {
	if *searched++; s == nil || *searched > maxSearched {
		return nil
	}
	if property := s.properties[name]; property != nil {
		return property
	}
	for _, list := range [][]*schema{s.allOf, s.anyOf, s.oneOf} {
		for _, one := range list {
			if property := one.property(name, searched); property != nil {
				return property
			}
		}
	}
	return s.additional
}
