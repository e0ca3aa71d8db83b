// Package tree navigates a document that was read as JSON: references, lists and texts. It doesn't validate the
// document. Pointers are those of RFC 6901, section 6.
package tree

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Document is a JSON document whose references lead into itself.
type Document struct{ Root map[string]any }

// Read reads a document. Its numbers are json.Number.
func Read(document []byte) (out Document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	return out, decoder.Decode(&out.Root)
}

// List returns the objects in a list, with references resolved.
func (d Document) List(of any) (out []map[string]any) {
	list, _ := of.([]any)
	for _, one := range list {
		if node := d.Resolve(one); node != nil {
			out = append(out, node)
		}
	}
	return out
}

// maxReferences bounds a chain of references that only lead to each other. Package openapi refuses documents that have
// longer ones.
const maxReferences = 16

// Resolve returns an object of the document, or the object that it refers to; nil if there is none.
func (d Document) Resolve(node any) map[string]any {
	for range maxReferences + 1 {
		object, _ := node.(map[string]any)
		ref, refers := object["$ref"].(string)
		if !refers {
			return object
		}
		node = d.LookUp(ref)
	}
	return nil
}

// LookUp returns the value at a pointer into the document (RFC 6901, section 6), or nil if there is none.
func (d Document) LookUp(ref string) any {
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local {
		if ref == "#" {
			return d.Root
		}
		return nil
	}
	var at any = d.Root
	for token := range strings.SplitSeq(pointer, "/") {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch node := at.(type) {
		case map[string]any:
			at = node[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			at = node[i]
		default:
			return nil
		}
	}
	return at
}

// Text returns a text; "" for anything else.
func Text(of any) string {
	s, _ := of.(string)
	return s
}

// Scalar returns a text. It also accepts scalars that YAML reads as numbers or booleans, such as version: 1.0.
func Scalar(of any) string {
	switch value := of.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	}
	return ""
}

// Keys returns the names of an object's members, sorted.
func Keys(of map[string]any) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
