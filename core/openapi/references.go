package openapi

import (
	"strings"

	"postern/core/openapi/tree"
)

// references checks that all references lead into the document, and are not chains of others. What is an example, a
// default or an extension is not read, so that it can have anything.
func (r *reader) references() {
	checked := map[string]bool{}
	r.eachReference(r.doc.Root, false, func(ref string) {
		if checked[ref] {
			return
		}
		checked[ref] = true
		if !strings.HasPrefix(ref, "#") {
			r.refuse("", "the document refers to another file, "+cut(ref)+", which is not read. Bundle it into one "+
				"document.")
			return
		}
		r.At = "The reference " + cut(ref)
		r.Resolve(r.doc, map[string]any{"$ref": ref})
		r.At = ""
	})
}

// cut returns a text that is short enough for a refusal.
func cut(text string) string {
	if len(text) <= 200 {
		return text
	}
	return strings.ToValidUTF8(text[:200], "") + "…"
}

// named are the members whose own members have names that the document chooses.
var named = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true,
	"schemas": true, "responses": true, "parameters": true, "headers": true, "requestBodies": true, "content": true,
	"securitySchemes": true, "links": true, "callbacks": true, "pathItems": true, "paths": true, "webhooks": true,
	"examples": true, "encoding": true, "variables": true,
}

// unread are the members of which nothing is read.
var unread = map[string]bool{"example": true, "examples": true, "default": true, "enum": true, "const": true}

// eachReference calls fn with the references in a value. names says that the members of an object are named by the
// document, so that no name has a meaning.
func (r *reader) eachReference(value any, names bool, fn func(ref string)) {
	switch node := value.(type) {
	case map[string]any:
		if !r.Spend(1 + len(node)) {
			return
		}
		if ref, refers := node["$ref"].(string); refers && !names {
			fn(ref)
		}
		for _, name := range tree.Keys(node) { // sorted: a document is always refused for the same reason
			if names || !unread[name] && !strings.HasPrefix(name, "x-") {
				r.eachReference(node[name], !names && named[name], fn)
			}
		}
	case []any:
		if !r.Spend(1 + len(node)) {
			return
		}
		for _, child := range node {
			r.eachReference(child, false, fn)
		}
	}
}
