// Package reference reads an OpenAPI document's description of one operation, for people: parameters, bodies, responses
// and what callers need, with schemas as lists of members. Its result is bounded, whatever the document says.
package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"postern/core/openapi/tree"
)

// Bounds on a schema that is shown. The rest is left out.
const (
	maxDepth   = 6
	maxMembers = 200
	maxSteps   = 20_000
	maxExample = 4000 // bytes
	maxNote    = 500  // bytes of a description of a member
)

// Operation is a document's description of a method of a path.
type Operation struct {
	Method, Path, ID     string
	Summary, Description string
	Deprecated           bool
	Needs                []string // alternatives; none: no credential
	Parameters           []Member // with In
	Body                 []Content
	BodyRequired         bool
	Responses            []Response
}

// Response is a response of an operation.
type Response struct {
	Status, Description string
	Content             []Content
}

// Content is a body in one content type.
type Content struct {
	Type    string   // such as application/json
	Of      string   // type of the whole, such as array of Order
	Members []Member // of the objects in it
	Example string   // JSON or text; "": none
	Cut     bool     // there are more members
}

// Member is a parameter, or a member of an object.
type Member struct {
	In       string // of a parameter: path, query, header or cookie
	Name     string
	Depth    int
	Type     string
	Required bool
	Rules    string // such as at least 1; one of "a", "b"
	Note     string
}

// Read returns the description of an operation in a JSON document, or false if the document doesn't have the operation.
func Read(document []byte, method, path string) (out Operation, found bool, err error) {
	doc, err := tree.Read(document)
	if err != nil {
		return out, false, fmt.Errorf("reference: read the document: %w", err)
	}
	paths, _ := doc.Root["paths"].(map[string]any)
	item := doc.Resolve(paths[path])
	node := doc.Resolve(item[strings.ToLower(method)])
	if node == nil {
		return out, false, nil
	}
	r := &reader{doc: doc}
	out = Operation{
		Method:      method,
		Path:        path,
		ID:          tree.Text(node["operationId"]),
		Summary:     tree.Text(node["summary"]),
		Description: tree.Text(node["description"]),
		Needs:       r.needs(node),
	}
	out.Deprecated, _ = node["deprecated"].(bool)
	type parameter struct{ in, name string }
	seen := map[parameter]bool{}
	for _, p := range slices.Concat(doc.List(node["parameters"]), doc.List(item["parameters"])) {
		one := r.parameter(p)
		if name := (parameter{one.In, one.Name}); !seen[name] {
			seen[name] = true
			out.Parameters = append(out.Parameters, one)
		}
	}
	if body := doc.Resolve(node["requestBody"]); body != nil {
		out.BodyRequired, _ = body["required"].(bool)
		out.Body = r.content(body)
	}
	responses, _ := node["responses"].(map[string]any)
	for _, status := range tree.Keys(responses) {
		of := doc.Resolve(responses[status])
		out.Responses = append(out.Responses, Response{status, tree.Text(of["description"]), r.content(of)})
	}
	return out, true, nil
}

// namesOfStep is how many names of members are read and sorted in a step.
const namesOfStep = 10

type reader struct {
	doc   tree.Document
	steps int // schemas that were looked at
}

// needs returns the alternatives of what callers need, each with its scopes.
func (r *reader) needs(operation map[string]any) (out []string) {
	list, own := operation["security"].([]any)
	if !own {
		list, _ = r.doc.Root["security"].([]any)
	}
	for _, one := range list {
		schemes, _ := one.(map[string]any)
		var parts []string
		for _, name := range tree.Keys(schemes) {
			part := name
			scopes, _ := schemes[name].([]any)
			if len(scopes) > 0 {
				part += " (" + joined(scopes) + ")"
			}
			parts = append(parts, part)
		}
		if len(parts) == 0 {
			parts = []string{"no credential"}
		}
		out = append(out, strings.Join(parts, " and "))
	}
	return out
}

func joined(list []any) string {
	var out []string
	for _, one := range list {
		out = append(out, tree.Text(one))
	}
	return strings.Join(out, ", ")
}

func (r *reader) parameter(p map[string]any) Member {
	schema := r.doc.Resolve(p["schema"])
	if content, ok := p["content"].(map[string]any); ok {
		for _, media := range tree.Keys(content) {
			schema = r.doc.Resolve(r.doc.Resolve(content[media])["schema"])
		}
	}
	out := r.member(tree.Text(p["name"]), p["schema"], schema)
	out.In = tree.Text(p["in"])
	out.Required, _ = p["required"].(bool)
	if note := tree.Text(p["description"]); note != "" {
		out.Note = short(note)
	}
	return out
}

func (r *reader) content(of map[string]any) (out []Content) {
	content, _ := of["content"].(map[string]any)
	for _, media := range tree.Keys(content) {
		node := r.doc.Resolve(content[media])
		one := Content{Type: media, Of: r.typeOf(node["schema"]), Example: r.example(node)}
		r.members(&one, node["schema"], 0, nil)
		out = append(out, one)
	}
	return out
}

// example returns the example of a content, or of its schema.
func (r *reader) example(node map[string]any) string {
	value, there := node["example"]
	if examples, ok := node["examples"].(map[string]any); ok && !there {
		for _, name := range tree.Keys(examples) {
			if value, there = r.doc.Resolve(examples[name])["value"]; there {
				break
			}
		}
	}
	if !there {
		value, there = r.doc.Resolve(node["schema"])["example"]
	}
	if !there {
		return ""
	}
	if text, ok := value.(string); ok {
		return cut(text, maxExample)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(value) != nil {
		return ""
	}
	return cut(strings.TrimSpace(out.String()), maxExample)
}

// members adds the members of the objects in a schema. within are the schemas that it is in.
func (r *reader) members(to *Content, schema any, depth int, within []string) {
	if ref := refOf(schema); ref != "" {
		if slices.Contains(within, ref) {
			return
		}
		within = append(within[:len(within):len(within)], ref)
	}
	node := r.doc.Resolve(schema)
	if r.steps++; node == nil || depth > maxDepth || len(within) > 2*maxDepth || r.steps > maxSteps {
		return
	}
	for _, list := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := node[list].([]any)
		for _, part := range parts {
			if len(to.Members) < maxMembers {
				r.members(to, part, depth, append(within[:len(within):len(within)], list))
			}
		}
	}
	if node["items"] != nil {
		r.members(to, node["items"], depth, within)
	}
	list, _ := node["required"].([]any)
	properties, _ := node["properties"].(map[string]any)
	r.steps += (len(list) + len(properties)) / namesOfStep
	required := make(map[string]bool, len(list))
	for _, name := range list {
		if name, ok := name.(string); ok {
			required[name] = true
		}
	}
	for _, name := range tree.Keys(properties) {
		if len(to.Members) >= maxMembers {
			to.Cut = true
			return
		}
		one := r.member(name, properties[name], r.doc.Resolve(properties[name]))
		one.Depth, one.Required = depth, required[name]
		if !slices.ContainsFunc(to.Members,
			func(have Member) bool { return depth == 0 && have.Depth == 0 && have.Name == name }) {
			to.Members = append(to.Members, one)
			r.members(to, properties[name], depth+1, within)
		}
	}
}

func (r *reader) member(name string, schema any, node map[string]any) Member {
	return Member{Name: name, Type: r.typeOf(schema), Rules: rulesOf(node), Note: short(tree.Text(node["description"]))}
}

func refOf(schema any) string {
	node, _ := schema.(map[string]any)
	return tree.Text(node["$ref"])
}

// typeOf names the type of a schema: that of OpenAPI, or the name of a schema among the components.
func (r *reader) typeOf(schema any) string {
	if ref := refOf(schema); ref != "" {
		if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok {
			return name
		}
	}
	node := r.doc.Resolve(schema)
	if node == nil {
		return "any"
	}
	if node["items"] != nil {
		item := r.doc.Resolve(node["items"])
		name := tree.Text(item["type"])
		if ref, ok := strings.CutPrefix(refOf(node["items"]), "#/components/schemas/"); ok {
			name = ref
		}
		if name == "" {
			return "array"
		}
		return "array of " + name
	}
	name := tree.Text(node["type"])
	if names, ok := node["type"].([]any); ok {
		name = strings.ReplaceAll(joined(names), ", ", " or ")
	}
	for _, list := range []string{"allOf", "oneOf", "anyOf"} {
		parts, ok := node[list].([]any)
		if !ok || name != "" {
			continue
		}
		var names []string
		for _, part := range parts[:min(len(parts), 4)] {
			if ref, ok := strings.CutPrefix(refOf(part), "#/components/schemas/"); ok {
				names = append(names, ref)
			}
		}
		name = strings.Join(names, map[bool]string{true: " and ", false: " or "}[list == "allOf"])
	}
	if format := tree.Text(node["format"]); format != "" && name != "" {
		name += " (" + format + ")"
	}
	if name == "" {
		return "any"
	}
	return name
}

// rulesOf lists a schema's requirements on a value in addition to its type.
func rulesOf(node map[string]any) string {
	var out []string
	for _, rule := range []struct{ keyword, text string }{
		{"minimum", "at least %v"}, {"maximum", "at most %v"}, {"minLength", "at least %v characters"},
		{"maxLength", "at most %v characters"}, {"minItems", "at least %v items"}, {"maxItems", "at most %v items"},
		{"pattern", "matches %v"}, {"default", "%v by default"},
	} {
		switch value := node[rule.keyword].(type) {
		case string, json.Number, bool:
			out = append(out, cut(fmt.Sprintf(rule.text, value), 120))
		}
	}
	list, _ := node["enum"].([]any)
	if len(list) > 0 {
		var texts []string
		for _, value := range list[:min(len(list), 20)] {
			texts = append(texts, fmt.Sprint(value))
		}
		if len(list) > 20 {
			texts = append(texts, fmt.Sprintf("… (%d)", len(list)))
		}
		out = append(out, "one of "+cut(strings.Join(texts, ", "), 400))
	}
	return strings.Join(out, "; ")
}

func short(text string) string { return cut(strings.TrimSpace(text), maxNote) }

func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "") + "…"
}
