package validate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"postern/core/openapi"
	"postern/core/openapi/tree"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindInteger
	kindNumber // has kindInteger too
	kindString
	kindArray
	kindObject

	kindAny kinds = 1<<iota - 1
)

var kindNames = []struct {
	kind kinds
	name string
}{
	{kindString, "string"}, {kindNumber, "number"}, {kindInteger, "integer"}, {kindBoolean, "boolean"},
	{kindArray, "array"}, {kindObject, "object"}, {kindNull, "null"},
}

// names says which types are in the set.
func (k kinds) names() string {
	var out []string
	for _, one := range kindNames {
		if k&one.kind == 0 || one.kind == kindInteger && k&kindNumber != 0 {
			continue
		}
		article := "a "
		switch one.kind {
		case kindInteger, kindArray, kindObject:
			article = "an "
		case kindNull:
			article = ""
		}
		out = append(out, article+one.name)
	}
	return strings.Join(out, " or ")
}

// schema is a compiled schema. A nil schema accepts every value.
type schema struct {
	never    bool  // accepts no value
	nullable bool  // of OpenAPI 3.0: accepts null whatever else it says
	kinds    kinds // 0: all

	enum      map[string]bool // canonical values; nil: all
	composite bool            // enum has arrays or objects
	enumTexts string          // for who is refused; "": too many

	numeric                        bool // it has one of these, or a format of numbers
	minimum, maximum, above, below *bound
	multipleOf                     *bound
	minLength, maxLength           int // -1: none
	pattern                        *pattern
	format                         string

	minItems, maxItems int // -1: none
	unique             bool
	items              *schema
	prefix             []*schema
	contains           *schema // nil: any item
	minContains        int     // 0: none has to be as contains says
	maxContains        int     // -1: none

	properties         map[string]*schema
	propertyNames      []string // sorted
	required           []string
	additional         *schema // of members that are not in properties and match no pattern
	patterned          []patternedProperty
	names              *schema
	dependent          map[string][]string
	dependentSchemas   map[string]*schema
	dependentNames     []string // of dependentSchemas, sorted
	minMembers, maxMem int      // -1: none

	allOf, anyOf, oneOf    []*schema
	not                    *schema
	condition, then, other *schema // a nil condition accepts everything, if conditional
	conditional            bool

	// Set by settle.
	settled    bool
	mayBe      kinds
	itemsMayBe *schema
	saysList   bool
}

type patternedProperty struct {
	pattern *pattern
	schema  *schema
}

// schema compiles the schema at reference tokens below what is read; nil for one that accepts everything. Referenced
// schemas are compiled once, by finish.
func (c *compiler) schema(node any, tokens ...string) *schema {
	if !c.Spend(1) {
		return nil
	}
	c.inside = append(c.inside, tokens...)
	defer func() { c.inside = c.inside[:len(c.inside)-len(tokens)] }()
	switch s := node.(type) {
	case bool:
		if s {
			return nil
		}
		out := c.empty()
		out.never = true
		return out
	case map[string]any:
		ref, refers := s["$ref"].(string)
		if !refers {
			return c.object(s)
		}
		referred := c.referred(ref)
		if !c.modern || len(s) == 1 {
			return referred
		}
		siblings := c.object(s)
		if siblings != nil {
			siblings.allOf = append(siblings.allOf, referred)
		}
		return siblings
	}
	c.note("It isn't checked, because a schema must be an object.")
	return nil
}

// one compiles the schema of a keyword; nil if it is not there.
func (c *compiler) one(s map[string]any, keyword string) *schema {
	node, there := s[keyword]
	if !there {
		return nil
	}
	return c.schema(node, keyword)
}

// named compiles the schemas of a keyword that have names.
func (c *compiler) named(s map[string]any, keyword string) map[string]*schema {
	nodes, _ := s[keyword].(map[string]any)
	if len(nodes) == 0 {
		return nil
	}
	if !c.Take(openapi.Memory, int64(perMember*len(nodes))) {
		return nil
	}
	out := make(map[string]*schema, len(nodes))
	for name, one := range c.Members(nodes) {
		out[name] = c.schema(one, keyword, name)
	}
	return out
}

// referred is a schema that is compiled later, so that schemas can contain themselves and chains of them don't nest.
type referred struct {
	to   *schema
	node any
	ref  string
}

func (c *compiler) referred(ref string) *schema {
	c.Spend(1 + len(ref)/bytesOfStep)
	if known, there := c.schemas[ref]; there {
		return known
	}
	target, last := c.LookUp(c.document, ref), ref
	for hops := int64(1); c.Fits(openapi.References, hops); hops++ {
		node, _ := target.(map[string]any)
		next, refers := node["$ref"].(string)
		if !refers || c.modern && len(node) > 1 {
			break
		}
		target, last = c.LookUp(c.document, next), next
	}
	if target == nil {
		c.note("It isn't checked: %s.", openapi.UnresolvedRef(last))
		return nil
	}
	made := c.empty()
	c.schemas[ref] = made
	c.pending = append(c.pending, referred{made, target, cut(ref, maxPlace)})
	return made
}

// finish compiles the schemas that were referred to.
func (c *compiler) finish() {
	for len(c.pending) > 0 {
		next := c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		c.At = next.ref
		if compiled := c.schema(next.node); compiled != nil {
			*next.to = *compiled
		}
	}
	c.At = ""
}

// empty returns a schema that accepts everything, which settle sees.
func (c *compiler) empty() *schema {
	out := &schema{
		minLength: -1, maxLength: -1, minItems: -1, maxItems: -1, minMembers: -1, maxMem: -1, maxContains: -1,
		mayBe: kindAny,
	}
	c.made = append(c.made, out)
	c.Take(openapi.Memory, perSchema)
	return out
}

// notChecked are keywords that change what is valid and that the validator ignores; docs/openapi.md lists them.
var notChecked = []string{
	"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$id", "dependencies", "additionalItems",
}

// stepsOfSchema are those of a schema without its members.
const stepsOfSchema = 20

func (c *compiler) object(all map[string]any) *schema {
	out := c.empty()
	c.Spend(stepsOfSchema)
	s := c.read(all, schemaKeywords)
	out.kinds = c.kindsOf(s["type"])
	out.nullable, _ = s["nullable"].(bool)
	c.values(out, s)
	c.numbers(out, s)
	out.minLength, out.maxLength = count(s["minLength"]), count(s["maxLength"])
	if expression, ok := s["pattern"].(string); ok {
		out.pattern = c.pattern(expression)
	}
	out.minItems, out.maxItems = count(s["minItems"]), count(s["maxItems"])
	out.unique, _ = s["uniqueItems"].(bool)
	out.items, out.contains = c.one(s, "items"), c.one(s, "contains")
	if _, there := s["contains"]; there {
		if out.minContains, out.maxContains = count(s["minContains"]), count(s["maxContains"]); out.minContains < 0 {
			out.minContains = 1
		}
	}
	c.members(out, s)
	out.prefix, out.allOf = c.all(s, "prefixItems"), c.all(s, "allOf")
	out.anyOf, out.oneOf = c.all(s, "anyOf"), c.all(s, "oneOf")
	if _, there := s["not"]; there {
		out.not = c.one(s, "not")
		out.never = out.not == nil
	}
	_, out.conditional = s["if"]
	out.condition, out.then, out.other = c.one(s, "if"), c.one(s, "then"), c.one(s, "else")
	for _, keyword := range notChecked {
		if _, there := all[keyword]; there {
			c.note("%s isn't checked.", keyword)
		}
	}
	return out
}

// all compiles the schemas in a list.
func (c *compiler) all(s map[string]any, keyword string) []*schema {
	list, _ := s[keyword].([]any)
	if !c.Take(openapi.Memory, int64(perItem*len(list))) {
		return nil
	}
	out := make([]*schema, 0, len(list))
	for i, one := range c.Each(list) {
		out = append(out, c.schema(one, keyword, strconv.Itoa(i)))
	}
	return out
}

func (c *compiler) kindsOf(of any) (out kinds) {
	names, _ := of.([]any)
	if name, ok := of.(string); ok {
		names = []any{name}
	}
	for _, name := range c.Each(names) {
		for _, known := range kindNames {
			if known.name == name {
				out |= known.kind
			}
		}
	}
	if out&kindNumber != 0 {
		out |= kindInteger
	}
	return out
}

func (c *compiler) numbers(out *schema, s map[string]any) {
	out.minimum, out.maximum = c.bound(s["minimum"]), c.bound(s["maximum"])
	if exclusive, _ := s["exclusiveMinimum"].(bool); exclusive {
		out.minimum, out.above = nil, out.minimum
	}
	if exclusive, _ := s["exclusiveMaximum"].(bool); exclusive {
		out.maximum, out.below = nil, out.maximum
	}
	if c.modern {
		out.above, out.below = c.bound(s["exclusiveMinimum"]), c.bound(s["exclusiveMaximum"])
	}
	out.multipleOf = c.bound(s["multipleOf"])
	out.format = tree.Text(s["format"])
	out.numeric = out.minimum != nil || out.maximum != nil || out.above != nil || out.below != nil ||
		out.multipleOf != nil || out.format == "int32" || out.format == "int64"
}

func (c *compiler) members(out *schema, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	readOnly := map[string]bool{}
	out.properties = c.named(s, "properties")
	out.propertyNames = slices.Sorted(maps.Keys(out.properties))
	for name, property := range c.Members(properties) {
		if only, _ := c.Resolve(c.document, property)["readOnly"].(bool); only {
			readOnly[name] = true
		}
	}
	required, _ := s["required"].([]any)
	c.Spend(2 * len(required)) // to sort them
	c.Take(openapi.Memory, int64(perName*len(required)))
	for _, name := range c.Each(required) {
		// For a member that is only in responses, required is about responses.
		if name, ok := name.(string); ok && !readOnly[name] {
			out.required = append(out.required, name)
		}
	}
	slices.Sort(out.required)
	out.additional, out.names = c.one(s, "additionalProperties"), c.one(s, "propertyNames")
	patterned := c.named(s, "patternProperties")
	for _, expression := range slices.Sorted(maps.Keys(patterned)) {
		if p := c.pattern(expression); p != nil {
			out.patterned = append(out.patterned, patternedProperty{p, patterned[expression]})
		}
	}
	out.dependentSchemas = c.named(s, "dependentSchemas")
	out.dependentNames = slices.Sorted(maps.Keys(out.dependentSchemas))
	out.minMembers, out.maxMem = count(s["minProperties"]), count(s["maxProperties"])
	dependent, _ := s["dependentRequired"].(map[string]any)
	for name, list := range c.Members(dependent) {
		names, _ := list.([]any)
		c.Take(openapi.Memory, int64(perMember+perName*len(names)))
		for _, other := range c.Each(names) {
			if out.dependent == nil {
				out.dependent = map[string][]string{}
			}
			out.dependent[name] = append(out.dependent[name], tree.Text(other))
		}
	}
}

// count returns a number of characters, items or members; -1 for none. Bodies have less than the largest one.
func count(of any) int {
	n, ok := of.(json.Number)
	if !ok {
		return -1
	}
	f, _ := strconv.ParseFloat(n.String(), 64) // out of range it is infinite
	return int(min(f, 1<<31))
}
