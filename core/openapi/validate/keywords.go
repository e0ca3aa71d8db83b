package validate

import "encoding/json"

// shape is the required type of a keyword's value.
type shape struct {
	says string // follows: must be
	fits func(c *compiler, value any) bool
}

var (
	isText     = shape{"a string", func(_ *compiler, v any) bool { _, ok := v.(string); return ok }}
	isBoolean  = shape{"true or false", func(_ *compiler, v any) bool { _, ok := v.(bool); return ok }}
	isNumber   = shape{"a number", func(_ *compiler, v any) bool { _, ok := v.(json.Number); return ok }}
	isPositive = shape{"a number above 0 with at most 18 digits", func(_ *compiler, v any) bool {
		n, ok := v.(json.Number)
		d := readDecimal(n)
		return ok && d.sign() > 0 && len(d.digits) <= maxDivisor
	}}
	isCount = shape{"a whole number of 0 or more", func(_ *compiler, v any) bool {
		n, ok := v.(json.Number)
		d := readDecimal(n)
		return ok && d.sign() >= 0 && d.isWhole()
	}}
	isTypes = shape{"a JSON Schema type or a list of types", func(c *compiler, v any) bool {
		if one, ok := v.(string); ok {
			return isType(one)
		}
		list, ok := v.([]any)
		return ok && len(list) > 0 && c.allFit(list, isType)
	}}
	isAny     = shape{"", func(*compiler, any) bool { return true }}
	isList    = shape{"a list", func(_ *compiler, v any) bool { _, ok := v.([]any); return ok }}
	isTexts   = shape{"a list of strings", hasTexts}
	isSchema  = shape{"a schema", func(_ *compiler, v any) bool { return maybeSchema(v) }}
	isSchemas = shape{"a list of schemas", func(c *compiler, v any) bool {
		list, ok := v.([]any)
		return ok && len(list) > 0 && c.allFit(list, maybeSchema)
	}}
	isMap        = shape{"an object", func(_ *compiler, v any) bool { _, ok := v.(map[string]any); return ok }}
	isMapOfTexts = shape{"an object with lists of strings", func(c *compiler, v any) bool {
		object, ok := v.(map[string]any)
		for _, list := range c.Members(object) {
			ok = ok && hasTexts(c, list)
		}
		return ok
	}}
)

func isType(name any) bool {
	for _, known := range kindNames {
		if name == known.name {
			return true
		}
	}
	return false
}

func maybeSchema(v any) bool {
	switch v.(type) {
	case bool, map[string]any:
		return true
	}
	return false
}

func hasTexts(c *compiler, v any) bool {
	list, ok := v.([]any)
	return ok && c.allFit(list, func(one any) bool { return isText.fits(c, one) })
}

// allFit reports whether all items of a list are as they must be.
func (c *compiler) allFit(list []any, fit func(any) bool) bool {
	for _, one := range c.Each(list) {
		if !fit(one) {
			return false
		}
	}
	return true
}

// keyword has the required type of a keyword's value in OpenAPI 3.0 and in 3.1. Without a shape, the version does not
// have the keyword.
type keyword struct{ old, modern shape }

// The keywords that are read. Compilers get no others.
var (
	schemaKeywords = map[string]keyword{
		"$ref": {isText, isText},
		"type": {isTypes, isTypes}, "nullable": {old: isBoolean}, "enum": {isList, isList}, "const": {modern: isAny},
		"minimum": {isNumber, isNumber}, "maximum": {isNumber, isNumber}, "multipleOf": {isPositive, isPositive},
		"exclusiveMinimum": {isBoolean, isNumber}, "exclusiveMaximum": {isBoolean, isNumber},
		"minLength": {isCount, isCount}, "maxLength": {isCount, isCount},
		"pattern": {isText, isText}, "format": {isText, isText},
		"minItems": {isCount, isCount}, "maxItems": {isCount, isCount}, "uniqueItems": {isBoolean, isBoolean},
		"items": {isSchema, isSchema}, "prefixItems": {modern: isSchemas},
		"contains": {isSchema, isSchema}, "minContains": {isCount, isCount}, "maxContains": {isCount, isCount},
		"properties": {isMap, isMap}, "patternProperties": {isMap, isMap}, "propertyNames": {isSchema, isSchema},
		"additionalProperties": {isSchema, isSchema}, "required": {isTexts, isTexts},
		"readOnly":      {isBoolean, isBoolean},
		"minProperties": {isCount, isCount}, "maxProperties": {isCount, isCount},
		"dependentRequired": {isMapOfTexts, isMapOfTexts}, "dependentSchemas": {modern: isMap},
		"allOf": {isSchemas, isSchemas}, "anyOf": {isSchemas, isSchemas}, "oneOf": {isSchemas, isSchemas},
		"not": {isSchema, isSchema},
		"if":  {modern: isSchema}, "then": {modern: isSchema}, "else": {modern: isSchema},
	}
	parameterKeywords = map[string]keyword{
		"name": {isText, isText}, "in": {isText, isText}, "style": {isText, isText},
		"required": {isBoolean, isBoolean}, "allowEmptyValue": {isBoolean, isBoolean},
		"explode": {isBoolean, isBoolean},
		"schema":  {isSchema, isSchema}, "content": {isMap, isMap},
	}
	bodyKeywords  = map[string]keyword{"required": {isBoolean, isBoolean}, "content": {isMap, isMap}}
	mediaKeywords = map[string]keyword{"schema": {isSchema, isSchema}}
)

// stepsOfKeywords are those of an object without its members.
const stepsOfKeywords = 2

// read returns the keywords of an object. Keywords with a value of the wrong type are left out, and noted.
func (c *compiler) read(object map[string]any, known map[string]keyword) map[string]any {
	out := make(map[string]any, min(len(object), len(known)))
	wrong := func(name, why string) { c.note("%s isn't checked: %s.", name, why) }
	c.Spend(stepsOfKeywords)
	for name, value := range c.Members(object) {
		of, there := known[name]
		must := of.old
		if c.modern {
			must = of.modern
		}
		switch {
		case !there:
		case must.fits == nil && c.modern:
			wrong(name, "OpenAPI 3.1 doesn't have it")
		case must.fits == nil:
			wrong(name, "OpenAPI 3.0 doesn't have it")
		case !must.fits(c, value):
			wrong(name, "it must be "+must.says)
		default:
			out[name] = value
		}
	}
	return out
}
