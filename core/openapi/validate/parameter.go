package validate

import (
	"encoding/json"
	"slices"
	"strings"

	"postern/core/openapi"
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
	list     string // what separates the items of a list in one value; "": items have separate values
	deep     bool   // an object or a list in brackets, as name[member]=value
	json     bool   // the value is JSON
	schema   *schema
}

// parameter adds a parameter to an operation.
func (c *compiler) parameter(op *Operation, all map[string]any) {
	p := parameter{name: tree.Text(all["name"]), in: tree.Text(all["in"])}
	c.Spend(1 + len(p.name)/bytesOfStep)
	c.inside = append(c.inside, p.in+" "+p.name)
	defer func() { c.inside = c.inside[:0] }()
	node := c.read(all, parameterKeywords)
	p.required, _ = node["required"].(bool)
	p.empty, _ = node["allowEmptyValue"].(bool)
	if !c.style(&p, node) {
		return
	}
	content, _ := node["content"].(map[string]any)
	for media, of := range c.Members(content) {
		if !isJSON(media) {
			c.note("The parameter isn't checked, because it has the type %s.", media)
			return
		}
		p.json, p.schema = true, c.media(of)
	}
	if len(content) == 0 {
		p.schema = c.whole(node)
	}
	_, hasSchema := all["schema"]
	_, hasContent := all["content"]
	if !hasSchema && (!hasContent || node["content"] != nil && len(content) == 0) {
		c.note("The parameter isn't checked, because it has no schema.")
	}
	c.Spend(len(op.Name) / bytesOfStep)
	if p.in == InPath && !strings.Contains(op.Name, "{"+p.name+"}") {
		c.note("The parameter isn't checked, because it isn't in the path.")
	}
	if p.in == InQuery {
		c.Spend(stepsOfLoose)
		c.Take(openapi.Memory, int64(2*perMember+len(p.name)))
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
		c.note("The parameter isn't checked, because it is a cookie.")
		return false
	case !own && p.in == InQuery:
		style = "form"
	case !own:
		style = "simple"
	}
	if p.list, ok = known[style]; !ok {
		c.note("The parameter isn't checked, because its style is %s.", style)
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
	c.note("The parameter isn't checked, because objects are checked only in the style deepObject.")
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
	case p.json && !r.spend(stepsOfJSON*len(values[0])):
	case p.json:
		value, err := readJSON(r.work, []byte(values[0]))
		switch {
		case len(values) > 1:
			r.problem("must appear once")
		case err != nil:
			r.problem("%s", err)
		default:
			r.check(p.schema, value)
		}
	case p.isList() || len(values) > 1 && p.in == InQuery && p.list == "" && p.schema.mayRepeat():
		p.checkList(r, values)
	case len(values) > 1:
		r.problem("must appear once")
	default:
		p.schema.checkText(r, values[0])
	}
}

// checkQuery checks a parameter's values in a query, including those in brackets.
func (p *parameter) checkQuery(r *run, query *arguments) {
	values, inBrackets := query.values[p.name], query.brackets[p.name]
	plain := p.json || !p.deep && p.schema.may()&(kindArray|kindObject) == 0
	if plain && query.opened[p.name] { // PHP and Rack read it as a list or an object, also next to a plain value
		r.in, r.at = p.in, append(r.at[:0], p.name)
		r.problem("must not be sent with brackets")
		return
	}
	if plain || inBrackets == nil {
		p.check(r, values)
		return
	}
	r.in, r.at = p.in, append(r.at[:0], p.name)
	r.checkNode(p.schema, &node{
		values: values, list: inBrackets.list, names: inBrackets.names, members: inBrackets.members,
	})
}

func (p *parameter) isList() bool {
	may := p.schema.may()
	return may&kindArray != 0 && may&^(kindArray|kindNull) == 0
}

func (p *parameter) checkList(r *run, values []string) {
	if p.list != "" {
		if len(values) > 1 {
			r.problem("must appear once")
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

// mayRepeat reports whether a value that is there several times may be a list of them. It may not where a schema says
// something else of the value, and nothing of lists.
func (s *schema) mayRepeat() bool { return s == nil || s.mayBe&kindArray != 0 && s.saysList }

// itemSchema returns the schema of the items of a list; nil if they can be anything.
func (s *schema) itemSchema() *schema {
	if s == nil {
		return nil
	}
	return s.itemsMayBe
}

// settle sets what follows from the schemas that a schema combines: mayBe, itemsMayBe and saysList. Deeper than
// requests are validated, it can be anything.
func (s *schema) settle(depth int) {
	if s == nil || s.settled || depth > maxDepth {
		return
	}
	s.settled = true // a schema within itself can be anything
	s.mayBe, s.itemsMayBe, s.saysList = kindAny, s.items, true
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
	s.mayBe, s.saysList = may, s.hasListKeyword()
	for _, one := range slices.Concat(s.allOf, s.anyOf, s.oneOf) {
		s.saysList = s.saysList || one.mayRepeat()
		if s.itemsMayBe == nil {
			s.itemsMayBe = one.itemSchema()
		}
	}
}

// hasListKeyword reports whether a schema itself says something of lists.
func (s *schema) hasListKeyword() bool {
	return s.kinds&kindArray != 0 || s.items != nil || len(s.prefix) > 0 || s.contains != nil || s.unique ||
		s.minItems >= 0 || s.maxItems >= 0 || s.composite || s.conditional
}

// readings returns the values that a text can encode, the most specific first.
func (s *schema) readings(value string) []any {
	may := s.may()
	var out []any
	if may&(kindNumber|kindInteger) != 0 && looksNumeric(value) {
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

// looksNumeric reports whether a text is a number of JSON.
func looksNumeric(value string) bool {
	return value != "" && len(value) <= 400 && strings.IndexByte("-0123456789", value[0]) >= 0 &&
		isDigit(value[len(value)-1]) && json.Valid([]byte(value)) // which allows white space around it
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// valueOf returns the value that a text encodes: the first reading that matches, or else the first one.
func (s *schema) valueOf(r *run, value string) any {
	readings := s.readings(value)
	for _, one := range readings[:len(readings)-1] { // plain: of a call
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
