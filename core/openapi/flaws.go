package openapi

import (
	"strconv"
	"strings"
)

// part is the kind of thing that an object of a document describes.
type part int

const (
	otherPart part = iota // references only
	documentPart
	componentsPart
	pathPart
	operationPart
	callbackPart
	parameterPart // and headers
	bodyPart
	responsePart
	mediaPart
	encodingPart
	schemaPart
)

// member is a part within another one.
type member struct {
	of   part
	many string // "names": an object with a part for each name; "list": a list; "": one
}

// parts are the members of each part that are parts themselves. Examples, defaults and extensions are not: they can
// have anything.
var parts = map[part]map[string]member{
	documentPart: {
		"paths": {pathPart, "names"}, "webhooks": {pathPart, "names"}, "components": {componentsPart, ""},
	},
	componentsPart: {
		"schemas": {schemaPart, "names"}, "responses": {responsePart, "names"}, "parameters": {parameterPart, "names"},
		"examples": {otherPart, "names"}, "requestBodies": {bodyPart, "names"}, "headers": {parameterPart, "names"},
		"securitySchemes": {otherPart, "names"}, "links": {otherPart, "names"}, "callbacks": {callbackPart, "names"},
		"pathItems": {pathPart, "names"},
	},
	pathPart: {
		"parameters": {parameterPart, "list"}, "get": {operationPart, ""}, "put": {operationPart, ""},
		"post": {operationPart, ""}, "delete": {operationPart, ""}, "options": {operationPart, ""},
		"head": {operationPart, ""}, "patch": {operationPart, ""}, "trace": {operationPart, ""},
	},
	operationPart: {
		"parameters": {parameterPart, "list"}, "requestBody": {bodyPart, ""}, "responses": {responsePart, "names"},
		"callbacks": {callbackPart, "names"},
	},
	parameterPart: {"schema": {schemaPart, ""}, "content": {mediaPart, "names"}},
	bodyPart:      {"content": {mediaPart, "names"}},
	responsePart: {
		"headers": {parameterPart, "names"}, "content": {mediaPart, "names"}, "links": {otherPart, "names"},
	},
	mediaPart:    {"schema": {schemaPart, ""}, "encoding": {encodingPart, "names"}},
	encodingPart: {"headers": {parameterPart, "names"}},
	schemaPart: {
		"items": {schemaPart, ""}, "additionalItems": {schemaPart, ""}, "prefixItems": {schemaPart, "list"},
		"contains": {schemaPart, ""}, "properties": {schemaPart, "names"}, "patternProperties": {schemaPart, "names"},
		"additionalProperties": {schemaPart, ""}, "propertyNames": {schemaPart, ""}, "$defs": {schemaPart, "names"},
		"definitions": {schemaPart, "names"}, "dependentSchemas": {schemaPart, "names"},
		"unevaluatedItems": {schemaPart, ""}, "unevaluatedProperties": {schemaPart, ""},
		"contentSchema": {schemaPart, ""}, "allOf": {schemaPart, "list"}, "anyOf": {schemaPart, "list"},
		"oneOf": {schemaPart, "list"}, "not": {schemaPart, ""}, "if": {schemaPart, ""}, "then": {schemaPart, ""},
		"else": {schemaPart, ""},
	},
}

// otherKeywords are those of schemas, of OpenAPI 3.0 or of 3.1, that are not schemas themselves.
var otherKeywords = strings.Fields(`$ref $id $schema $anchor $dynamicRef $dynamicAnchor $comment $vocabulary
	type nullable enum const title description format default example examples deprecated readOnly writeOnly
	externalDocs xml discriminator multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength
	pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required
	dependentRequired dependencies contentEncoding contentMediaType`)

// flawFinder finds mistakes that are accepted.
type flawFinder struct {
	*reader
	resolved map[string]bool // references, and whether they lead to something
	keywords map[string]bool
	at       []string // reference tokens
}

// flaws looks for flaws, and for references in chains that are too long.
func (r *reader) flaws() {
	f := &flawFinder{reader: r, resolved: map[string]bool{}, keywords: map[string]bool{}}
	for _, name := range otherKeywords {
		f.keywords[name] = true
	}
	components, _ := r.doc.Root["components"].(map[string]any)
	if components["pathItems"] != nil && strings.HasPrefix(r.out.Spec+".", "3.0.") {
		r.warn(flawPathItems, "#/components/pathItems")
	}
	for kind, of := range r.Members(components) {
		named, _ := of.(map[string]any)
		for name := range r.Members(named) {
			if !strings.HasPrefix(kind, "x-") && strings.ContainsFunc(name, notInNames) {
				r.warn(flawComponent, "#/components/"+kind+"/"+escape(name))
			}
		}
	}
	f.visit(r.doc.Root, documentPart)
}

// notInNames reports whether names of components can't have a character.
func notInNames(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' && c != '-' && c != '_'
}

// escape returns a reference token in the form for a pointer (RFC 6901, section 3).
func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func (f *flawFinder) visit(value any, is part) {
	node, isObject := value.(map[string]any)
	if !isObject || !f.Spend(1) {
		if is == responsePart && !isObject && value != nil {
			f.note(flawResponse, "")
		}
		return
	}
	if ref, refers := node["$ref"].(string); refers {
		f.reference(ref)
	} else if is == schemaPart {
		f.schema(node)
	}
	for name, one := range f.Members(node) { // sorted: a document always has the same warnings
		of, known := parts[is][name]
		if is == callbackPart {
			of, known = member{pathPart, ""}, !strings.HasPrefix(name, "x-")
		}
		if known {
			f.members(name, one, of)
		}
	}
}

func (f *flawFinder) members(name string, value any, of member) {
	f.at = append(f.at, name)
	defer func() { f.at = f.at[:len(f.at)-1] }()
	within := func(token string, one any) {
		f.at = append(f.at, token)
		f.visit(one, of.of)
		f.at = f.at[:len(f.at)-1]
	}
	switch of.many {
	case "names":
		named, _ := value.(map[string]any)
		if value != nil && named == nil && of.of == responsePart {
			f.note(flawResponse, "")
		}
		for token, one := range f.Members(named) {
			if of.of == schemaPart || !strings.HasPrefix(token, "x-") {
				within(token, one)
			}
		}
	case "list":
		list, _ := value.([]any)
		for i, one := range f.Each(list) {
			within(strconv.Itoa(i), one)
		}
	default:
		f.visit(value, of.of)
	}
}

// reference records a reference that doesn't resolve. One of a parameter or a request body is refused where it is read.
func (f *flawFinder) reference(ref string) {
	leads, known := f.resolved[ref]
	if !known {
		f.At = "The reference " + cut(ref)
		target := f.LookUp(f.doc, ref)
		for hops := int64(1); f.Fits(References, hops); hops++ {
			node, _ := target.(map[string]any)
			next, refers := node["$ref"].(string)
			if !refers {
				break
			}
			target = f.LookUp(f.doc, next)
		}
		leads = target != nil
		f.At, f.resolved[ref] = "", leads
	}
	if !leads {
		f.note(flawReferences, " to "+cut(ref))
	}
}

func (f *flawFinder) schema(node map[string]any) {
	required, _ := node["required"].([]any)
	seen := make(map[any]bool, len(required))
	for _, name := range f.Each(required) {
		text, isText := name.(string)
		if isText && seen[text] {
			f.note(flawRequired, " has "+cut(text))
		}
		if isText {
			seen[text] = true
		}
	}
	old := strings.HasPrefix(f.out.Spec+".", "3.0.")
	if node["type"] == "array" && node["items"] == nil && old {
		f.note(flawItems, "")
	}
	for name := range f.Members(node) {
		_, isPart := parts[schemaPart][name]
		if !isPart && !f.keywords[name] && !strings.HasPrefix(name, "x-") && !old {
			f.note(flawKeyword, " has "+cut(name))
		}
	}
}

// note records a flaw of the part that is being visited.
func (f *flawFinder) note(of *flaw, more string) {
	place := ""
	if f.notes.lists(of) {
		place = f.place() + more
	}
	f.warn(of, place)
}

// place returns where the finder is, such as GET /orders: responses/200.
func (f *flawFinder) place() string {
	at := f.at
	if len(at) < 3 || at[0] != "paths" || parts[pathPart][at[2]].of != operationPart {
		return "#/" + pointer(at)
	}
	operation := strings.ToUpper(at[2]) + " " + cut(at[1])
	if len(at) == 3 {
		return operation
	}
	return withPlace(operation, pointer(at[3:]))
}

func pointer(tokens []string) string {
	escaped := make([]string, 0, len(tokens))
	for _, token := range tokens {
		escaped = append(escaped, escape(cut(token)))
	}
	return strings.Join(escaped, "/")
}
