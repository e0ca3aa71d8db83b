package openapi

import "postern/core/openapi/tree"

// body returns the request body that parameters describe.
func (c *converter) body(parameters []map[string]any, consumes []string) any {
	first := parameters[0]
	if first["in"] != "body" {
		return c.form(parameters, consumes)
	}
	if len(parameters) > 1 {
		c.Refuse("there is more than one description of the request body")
	}
	out := c.rest(first, "name", "in", "schema", "required")
	if first["required"] == true {
		out["required"] = true
	}
	if len(consumes) == 0 {
		consumes = []string{"*/*"} // Swagger leaves the type open
	}
	out["content"] = c.content(consumes, c.schema(first["schema"]), nil)
	return out
}

// content describes the same in several types.
func (c *converter) content(types []string, schema any, examples map[string]any) map[string]any {
	out := map[string]any{}
	for i, name := range types {
		c.produced += int64(len(name) + 6)
		if !c.Spend(stepsOfValue+len(name)/bytesOfStep) || !c.Fits(c.size, c.produced) {
			return nil
		}
		media := map[string]any{}
		if schema != nil {
			media["schema"] = schema
		}
		if example, there := examples[name]; there {
			media["example"] = example
		}
		if out[name] = media; i > 0 {
			c.repeated(schema)
		}
	}
	return out
}

// repeated counts what is written again.
func (c *converter) repeated(value any) {
	if c.produced += 4; !c.Spend(stepsOfValue) || !c.Fits(c.size, c.produced) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, one := range c.Members(value) {
			c.produced += int64(len(name))
			c.repeated(one)
		}
	case []any:
		for _, one := range c.Each(value) {
			c.repeated(one)
		}
	case string:
		c.produced += int64(len(value))
	}
}

const (
	urlencoded = "application/x-www-form-urlencoded"
	multipart  = "multipart/form-data"
)

// form returns the request body that the parameters of a form describe.
func (c *converter) form(parameters []map[string]any, consumes []string) any {
	properties, encoding := map[string]any{}, map[string]any{}
	var required []any
	var types []string
	for _, name := range consumes {
		if c.Spend(1) && (name == urlencoded || name == multipart) {
			types = append(types, name)
		}
	}
	for _, p := range parameters {
		name := tree.Text(p["name"])
		if p["in"] != "formData" {
			c.Refuse("there is both a body and form fields")
		}
		if name == "" || properties[name] != nil {
			c.Refuse("a form field has no name, or the same name as another field")
		}
		if p["type"] == "file" {
			types = []string{multipart}
		}
		if p["required"] == true {
			required = append(required, name)
		}
		schema := c.typed(p, "name", "in", "required", "collectionFormat", "allowEmptyValue")
		properties[name] = schema
		if style, explode := c.style(p); p["type"] == "array" && !explode && style != "" {
			encoding[name] = map[string]any{"style": style, "explode": false}
		}
	}
	if len(types) == 0 {
		types = []string{urlencoded}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	out := map[string]any{}
	if len(required) > 0 {
		schema["required"], out["required"] = required, true
	}
	content := c.content(types, schema, nil)
	if media, _ := content[urlencoded].(map[string]any); media != nil && len(encoding) > 0 {
		media["encoding"] = encoding
	}
	out["content"] = content
	return out
}

// operationParameters returns the parameters of an operation: those in the body, with the ones of its path that it
// doesn't replace, and the others, converted.
func (c *converter) operationParameters(list []any, ofPath []map[string]any) (bodies []map[string]any, others []any) {
	type field struct{ in, name string }
	of := func(p map[string]any) field { return field{tree.Text(p["in"]), tree.Text(p["name"])} }
	own := map[field]int{} // where it is in bodies
	for _, one := range c.Each(list) {
		p := c.Resolve(c.doc, one)
		if reference, _ := one.(map[string]any); reference["$ref"] != nil {
			c.repeated(p)
		}
		if !inBody(p) {
			others = append(others, c.parameter(one))
			continue
		}
		if at, twice := own[of(p)]; twice {
			bodies[at] = p
			continue
		}
		own[of(p)] = len(bodies)
		bodies = append(bodies, p)
	}
	for _, p := range ofPath {
		c.repeated(p)
		if _, replaced := own[of(p)]; !replaced {
			bodies = append(bodies, p)
		}
	}
	return bodies, others
}

// parameters converts the shared parameters. Parameters in bodies are written out where they are referenced.
func (c *converter) parameters(of any) any {
	all, _ := of.(map[string]any)
	kept := make(map[string]any, len(all))
	for name, one := range c.Members(all) {
		if !inBody(c.Resolve(c.doc, one)) {
			kept[name] = one
		}
	}
	return c.each(kept, nil, c.parameter)
}

// parameter converts one in path, query or header, or a reference to one.
func (c *converter) parameter(of any) any {
	p, isObject := of.(map[string]any)
	if to, refers := p["$ref"].(string); refers || !isObject {
		if refers {
			return map[string]any{"$ref": ref(to)}
		}
		return of
	}
	out := map[string]any{}
	for _, name := range []string{"name", "in", "description", "required", "allowEmptyValue"} {
		if value, there := p[name]; there {
			out[name] = value
		}
	}
	out["schema"] = c.typed(p, "name", "in", "description", "required", "allowEmptyValue", "collectionFormat")
	if p["type"] == "array" {
		style, explode := c.style(p)
		switch {
		case p["in"] == "query" && style != "":
			out["style"], out["explode"] = style, explode
		case p["in"] != "query" && (style != "form" || explode):
			c.notes.add(flawTabs, withPlace(c.At, tree.Text(p["name"])))
			out["schema"] = map[string]any{}
		case style == "":
			out["schema"] = map[string]any{}
		}
	}
	return out
}

// style returns the style of a list, and whether each item is sent separately (explode).
func (c *converter) style(p map[string]any) (style string, explode bool) {
	switch p["collectionFormat"] {
	case nil, "csv":
		return "form", false
	case "multi":
		return "form", true
	case "ssv":
		return "spaceDelimited", false
	case "pipes":
		return "pipeDelimited", false
	}
	c.notes.add(flawTabs, withPlace(c.At, tree.Text(p["name"])))
	return "", false
}

// typed returns the schema of a parameter, a header or an item of a list, which is written next to other members.
func (c *converter) typed(of map[string]any, without ...string) map[string]any {
	schema, _ := c.schema(c.rest(of, without...)).(map[string]any)
	if items, _ := of["items"].(map[string]any); items["collectionFormat"] != nil {
		c.notes.add(flawTabs, withPlace(c.At, tree.Text(of["name"])))
		schema["items"] = map[string]any{}
	}
	return schema
}
