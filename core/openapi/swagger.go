package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/openapi/tree"
)

// convertedTo is the version that Swagger 2.0 is converted to.
const convertedTo = "3.0.3"

// Flaws of a conversion.
var (
	flawTabs = &flaw{
		"swagger_collection_format",
		"A list has a collectionFormat that OpenAPI 3 doesn't support, so the list isn't checked",
	}
	flawSchemes = &flaw{
		"swagger_schemes",
		"An operation sets its own schemes, which are ignored. Calls go to the environment's target",
	}
)

// converter converts a document of Swagger 2.0 to OpenAPI 3.0. What is the same in both is shared, not copied.
type converter struct {
	*Budget

	doc      tree.Document
	notes    notes
	produced int64 // about how many bytes

	consumes, produces []string // of operations that don't have their own
}

// convert returns a document of Swagger 2.0 as one of OpenAPI 3.0, with warnings about what is lost.
func convert(b *Budget, root map[string]any, size int) (text []byte, _ map[string]any, _ []contract.Warning, _ error) {
	c := &converter{Budget: b, doc: tree.Document{Root: root}, produced: int64(size)}
	c.consumes, c.produces = c.texts(root["consumes"]), c.texts(root["produces"])
	out := c.rest(root, "swagger", "host", "basePath", "schemes", "consumes", "produces", "definitions", "parameters",
		"responses", "securityDefinitions")
	out["openapi"] = convertedTo
	if servers := c.servers(); servers != nil {
		out["servers"] = servers
	}
	out["paths"] = c.each(root["paths"], isExtension, c.path)
	components := map[string]any{}
	for name, made := range map[string]any{ // plain: there are four
		"schemas":         c.each(root["definitions"], nil, c.schema),
		"responses":       c.each(root["responses"], nil, func(of any) any { return c.response(of, c.produces) }),
		"parameters":      c.parameters(root["parameters"]),
		"securitySchemes": c.each(root["securityDefinitions"], nil, c.securityScheme),
	} {
		if object, _ := made.(map[string]any); len(object) > 0 {
			components[name] = made
		}
	}
	if len(components) > 0 {
		out["components"] = components
	}
	c.At = ""
	if b.Spend(int(c.produced) / bytesOfStep); b.Err() != nil {
		return nil, nil, nil, b.Err()
	}
	var to bytes.Buffer
	encoder := json.NewEncoder(&to)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return nil, nil, nil, err
	}
	if int64(to.Len()) > Expansion.Most*int64(size) {
		b.refuse("", "as OpenAPI 3, the document is more than 20 times as large, because content types are repeated. "+
			"Use fewer content types in consumes and produces.")
		return nil, nil, nil, b.Err()
	}
	warnings := []contract.Warning{{Code: "swagger_converted", Detail: "The document is Swagger 2.0. It was " +
		"converted to OpenAPI " + convertedTo + ", and is stored and exported in that version."}}
	return bytes.TrimSpace(to.Bytes()), out, append(warnings, c.notes.list()...), nil
}

// rest returns the members of an object without some.
func (c *converter) rest(of map[string]any, without ...string) map[string]any {
	out := make(map[string]any, len(of))
	for name, value := range c.Members(of) {
		if !slices.Contains(without, name) {
			out[name] = value
		}
	}
	return out
}

// isExtension reports whether a path or the status of a response is an extension. Names of components can be anything.
func isExtension(name string) bool { return strings.HasPrefix(name, "x-") }

// each converts the members of an object, without those to skip.
func (c *converter) each(of any, skip func(name string) bool, one func(any) any) any {
	members, isObject := of.(map[string]any)
	if !isObject {
		return of
	}
	out := make(map[string]any, len(members))
	for name, member := range c.Members(members) {
		if !c.Spend(stepsOfValue) {
			return nil
		}
		if out[name] = member; skip == nil || !skip(name) {
			c.At = "Swagger, " + cut(name)
			out[name] = one(member)
		}
	}
	return out
}

// servers returns the server URLs of a document.
func (c *converter) servers() (out []any) {
	root := c.doc.Root
	host, base := tree.Text(root["host"]), strings.TrimSuffix(tree.Text(root["basePath"]), "/")
	if host == "" {
		if base == "" {
			return nil
		}
		return []any{map[string]any{"url": base}}
	}
	schemes := c.texts(root["schemes"])
	if len(schemes) == 0 {
		schemes = []string{"https"}
	}
	for _, scheme := range schemes {
		if scheme == "http" && slices.Contains(schemes, "https") || scheme != "http" && scheme != "https" {
			continue
		}
		out = append(out, map[string]any{"url": scheme + "://" + host + base})
	}
	return out
}

// texts returns the texts in a list, each once.
func (c *converter) texts(of any) (out []string) {
	list, _ := of.([]any)
	seen := map[string]bool{"": true}
	for _, one := range c.Each(list) {
		text := tree.Text(one)
		if c.Spend(1+len(text)/bytesOfStep) && !seen[text] {
			seen[text], out = true, append(out, text)
		}
	}
	return out
}

// ref returns a reference to where its target is after the conversion.
func ref(of string) string {
	for from, to := range map[string]string{
		"#/definitions/": "#/components/schemas/", "#/parameters/": "#/components/parameters/",
		"#/responses/": "#/components/responses/",
	} {
		if name, is := strings.CutPrefix(of, from); is {
			return to + name
		}
	}
	return of
}

func (c *converter) path(of any) any {
	item, isObject := of.(map[string]any)
	if !isObject {
		return of
	}
	at := c.At
	out := c.rest(item, "parameters")
	shared, _ := item["parameters"].([]any)
	var bodies []map[string]any // parameters of all operations that are in the body
	var others []any
	for _, one := range c.Each(shared) {
		if p := c.Resolve(c.doc, one); inBody(p) {
			bodies = append(bodies, p)
		} else {
			others = append(others, c.parameter(one))
		}
	}
	if len(others) > 0 {
		out["parameters"] = others
	}
	for name, one := range c.Members(item) {
		if parts[pathPart][name].of == operationPart {
			c.At = at + ", " + name
			out[name] = c.operation(one, bodies)
		}
	}
	return out
}

func inBody(p map[string]any) bool { return p["in"] == "body" || p["in"] == "formData" }

func (c *converter) operation(of any, bodies []map[string]any) any {
	op, isObject := of.(map[string]any)
	if !isObject {
		return of
	}
	out := c.rest(op, "parameters", "consumes", "produces", "schemes", "responses")
	if op["schemes"] != nil {
		c.notes.add(flawSchemes, c.At)
	}
	list, isList := op["parameters"].([]any)
	if op["parameters"] != nil && !isList {
		c.Refuse("parameters must be a list")
	}
	bodies, others := c.operationParameters(list, bodies)
	if len(others) > 0 {
		out["parameters"] = others
	}
	consumes, produces := c.consumes, c.produces
	if op["consumes"] != nil {
		consumes = c.texts(op["consumes"])
	}
	if op["produces"] != nil {
		produces = c.texts(op["produces"])
	}
	if len(bodies) > 0 {
		out["requestBody"] = c.body(bodies, consumes)
	}
	at := c.At
	out["responses"] = c.each(op["responses"], isExtension, func(of any) any { return c.response(of, produces) })
	c.At = at
	return out
}

// schema converts a schema and those in it.
func (c *converter) schema(of any) any {
	node, isObject := of.(map[string]any)
	if !isObject || !c.Spend(stepsOfValue) {
		return of
	}
	if to, refers := node["$ref"].(string); refers {
		return map[string]any{"$ref": ref(to)}
	}
	out := make(map[string]any, len(node))
	for name, value := range c.Members(node) {
		switch within, isPart := parts[schemaPart][name]; {
		case isPart && within.many == "names":
			members, _ := value.(map[string]any)
			made := make(map[string]any, len(members))
			for token, one := range c.Members(members) {
				made[token] = c.schema(one)
			}
			value = made
		case isPart && within.many == "list":
			list, _ := value.([]any)
			made := make([]any, len(list))
			for i, one := range c.Each(list) {
				made[i] = c.schema(one)
			}
			value = made
		case isPart:
			value = c.schema(value)
		case name == "discriminator" && tree.Text(value) != "":
			value = map[string]any{"propertyName": value}
		case name == "type" && value == "file":
			value, out["format"] = "string", "binary"
		case name == "x-nullable":
			name = "nullable"
		case name == "format" && node["type"] == "file":
			continue
		}
		out[name] = value
	}
	return out
}

func (c *converter) response(of any, produces []string) any {
	node, isObject := of.(map[string]any)
	if !isObject {
		return of
	}
	if to, refers := node["$ref"].(string); refers {
		return map[string]any{"$ref": ref(to)}
	}
	out := c.rest(node, "schema", "examples", "headers")
	if headers, _ := node["headers"].(map[string]any); len(headers) > 0 {
		made := make(map[string]any, len(headers))
		for name, of := range c.Members(headers) {
			one, _ := of.(map[string]any)
			header := map[string]any{"schema": c.typed(one, "description", "collectionFormat")}
			if text := tree.Text(one["description"]); text != "" {
				header["description"] = text
			}
			made[name] = header
		}
		out["headers"] = made
	}
	if len(produces) == 0 {
		produces = []string{"application/json"}
	}
	examples, _ := node["examples"].(map[string]any)
	if node["schema"] != nil || len(examples) > 0 {
		out["content"] = c.content(produces, c.schema(node["schema"]), examples)
	}
	return out
}

// flows are those of OAuth 2.0, by their names in Swagger.
var flows = map[string]string{
	"implicit": "implicit", "password": "password", "application": "clientCredentials",
	"accessCode": "authorizationCode",
}

func (c *converter) securityScheme(of any) any {
	node, _ := of.(map[string]any)
	switch node["type"] {
	case "basic":
		out := c.rest(node, "type")
		out["type"], out["scheme"] = "http", "basic"
		return out
	case "oauth2":
		out := c.rest(node, "flow", "authorizationUrl", "tokenUrl", "scopes")
		flow := map[string]any{"scopes": map[string]any{}}
		for _, name := range []string{"authorizationUrl", "tokenUrl", "scopes"} {
			if node[name] != nil {
				flow[name] = node[name]
			}
		}
		if name := flows[tree.Text(node["flow"])]; name != "" {
			out["flows"] = map[string]any{name: flow}
		}
		return out
	}
	return of
}
