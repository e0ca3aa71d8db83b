package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// openAPI is what the reference reads of an OpenAPI 3.1 document.
type openAPI struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas   map[string]*schema `json:"schemas"`
		Responses map[string]content `json:"responses"`
	} `json:"components"`
}

type operation struct {
	ID          string   `json:"operationId"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Parameters  []struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Description string  `json:"description"`
		Required    bool    `json:"required"`
		Schema      *schema `json:"schema"`
	} `json:"parameters"`
	Body      *content              `json:"requestBody"`
	Responses map[string]content    `json:"responses"`
	Security  []map[string][]string `json:"security"`
}

type content struct {
	Ref         string `json:"$ref"` // to a response of the components, which has the rest
	Description string `json:"description"`
	Content     map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

// schema is a JSON Schema. Type is a text or a list with "null".
type schema struct {
	Ref         string             `json:"$ref"`
	Type        any                `json:"type"`
	Format      string             `json:"format"`
	Description string             `json:"description"`
	Enum        []any              `json:"enum"`
	Examples    []any              `json:"examples"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Additional  json.RawMessage    `json:"additionalProperties"`
}

// maxDepth bounds how deep members of members are listed.
const maxDepth = 3

func (d openAPI) resolve(s *schema) *schema {
	for range maxDepth {
		if s == nil || s.Ref == "" {
			return s
		}
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// kind returns the type of a schema without null.
func (s *schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if text, ok := one.(string); ok && text != "null" {
				return text
			}
		}
	}
	return ""
}

func (d openAPI) typeOf(s *schema) string {
	s = d.resolve(s)
	switch {
	case s == nil:
		return "any"
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
		}
		return strings.Join(values, ", ")
	case s.kind() == "array":
		return "list of " + d.typeOf(s.Items)
	case s.Format == "date-time":
		return "time"
	case s.kind() == "":
		return "any"
	}
	return s.kind()
}

// fields lists the members of an object, each followed by its own ones.
func (d openAPI) fields(s *schema, prefix string, depth int) []Field {
	if s = d.resolve(s); s == nil || depth == maxDepth {
		return nil
	}
	if s.kind() == "array" {
		return d.fields(s.Items, prefix, depth)
	}
	var out []Field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == "$schema" {
			continue
		}
		member := s.Properties[name]
		doc := member.Description
		if resolved := d.resolve(member); doc == "" && resolved != nil {
			doc = resolved.Description
		}
		out = append(out, Field{
			Name:     prefix + name,
			Type:     d.typeOf(member),
			Doc:      doc,
			Required: slices.Contains(s.Required, name),
		})
		out = append(out, d.fields(d.within(member), prefix+name+".", depth+1)...)
	}
	return out
}

// within returns the schema whose members are listed below a member: its own, that of its items, or that of a
// map's values.
func (d openAPI) within(s *schema) *schema {
	s = d.resolve(s)
	for range maxDepth {
		if s == nil || s.kind() != "array" {
			break
		}
		s = d.resolve(s.Items)
	}
	return s
}

// example returns a value with the required members of a schema, with all of them if none is.
func (d openAPI) example(s *schema, depth int) any {
	s = d.resolve(s)
	switch {
	case s == nil || depth > maxDepth:
		return nil
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.kind() {
	case "object":
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = d.example(s.Properties[name], depth+1)
		}
		return out
	case "array":
		return []any{d.example(s.Items, depth+1)}
	case "string":
		if s.Format == "date-time" {
			return "2030-01-31T12:00:00Z"
		}
		return "…"
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	return nil
}
