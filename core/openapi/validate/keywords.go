package validate

import (
	"maps"
	"math"
	"slices"
)

// shape is what the value of a keyword must be.
type shape struct {
	says string // follows: must be
	fits func(value any) bool
}

var (
	isText     = shape{"a text", func(v any) bool { _, ok := v.(string); return ok }}
	isBoolean  = shape{"true or false", func(v any) bool { _, ok := v.(bool); return ok }}
	isFloat    = shape{"a number", func(v any) bool { return number(v) != nil }}
	isPositive = shape{"a number above 0", func(v any) bool { n := number(v); return n != nil && *n > 0 }}
	isCount    = shape{"a whole number of at least 0", func(v any) bool {
		n := number(v)
		return n != nil && *n >= 0 && *n == math.Trunc(*n)
	}}
	isTypes = shape{"a type of JSON Schema, or a list of them", func(v any) bool {
		if one, ok := v.(string); ok {
			return isType(one)
		}
		list, ok := v.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !isType(one) })
	}}
	isAny     = shape{"", func(any) bool { return true }}
	isList    = shape{"a list", func(v any) bool { _, ok := v.([]any); return ok }}
	isTexts   = shape{"a list of texts", hasTexts}
	isSchema  = shape{"a schema", func(v any) bool { return isBoolean.fits(v) || isMap.fits(v) }}
	isSchemas = shape{"a list of schemas", func(v any) bool {
		list, ok := v.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !isSchema.fits(one) })
	}}
	isMap        = shape{"an object", func(v any) bool { _, ok := v.(map[string]any); return ok }}
	isMapOfTexts = shape{"an object with lists of texts", func(v any) bool {
		object, ok := v.(map[string]any)
		for _, list := range object {
			ok = ok && hasTexts(list)
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

func hasTexts(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { return !isText.fits(one) })
}

// keyword is what the value of a keyword must be in OpenAPI 3.0 and in 3.1. Without a shape, the version does not have
// the keyword.
type keyword struct{ old, modern shape }

// The keywords that are read. Compilers get no others.
var (
	schemaKeywords = map[string]keyword{
		"$ref": {isText, isText},
		"type": {isTypes, isTypes}, "nullable": {old: isBoolean}, "enum": {isList, isList}, "const": {modern: isAny},
		"minimum": {isFloat, isFloat}, "maximum": {isFloat, isFloat}, "multipleOf": {isPositive, isPositive},
		"exclusiveMinimum": {isBoolean, isFloat}, "exclusiveMaximum": {isBoolean, isFloat},
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

// read returns the keywords of an object. Those whose values are not what they must be are left out, and noted.
func (c *compiler) read(object map[string]any, known map[string]keyword) map[string]any {
	out := make(map[string]any, min(len(object), len(known)))
	wrong := map[string]string{}
	c.Spend(len(object))
	for name, value := range object {
		of, there := known[name]
		must := of.old
		if c.modern {
			must = of.modern
		}
		switch {
		case !there:
		case must.fits == nil && c.modern:
			wrong[name] = "OpenAPI 3.1 does not have it"
		case must.fits == nil:
			wrong[name] = "OpenAPI 3.0 does not have it"
		case !must.fits(value):
			wrong[name] = "it must be " + must.says
		default:
			out[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		c.note("%s is not checked: %s.", name, wrong[name])
	}
	return out
}
