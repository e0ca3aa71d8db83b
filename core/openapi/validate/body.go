package validate

import (
	"strings"

	"postern/core/openapi"
	"postern/core/openapi/tree"
)

// requestBody is a document's description of the body of an operation.
type requestBody struct {
	required bool
	media    []media
}

// media is a content type of a body.
type media struct {
	name      string // lowercase; with * for any
	schema    *schema
	separator map[string]string // of a form: what separates the items of a member that is a list in one value
}

func (c *compiler) body(node map[string]any) *requestBody {
	c.inside = append(c.inside, InBody)
	defer func() { c.inside = c.inside[:0] }()
	out := &requestBody{}
	node = c.read(node, bodyKeywords)
	out.required, _ = node["required"].(bool)
	content, _ := node["content"].(map[string]any)
	seen := map[string]bool{}
	for name, of := range c.Members(content) {
		one := media{name: mediaType(name)}
		switch {
		case seen[one.name]:
			c.note("%s isn't checked, because it is the same type as another one.", name)
			continue
		case isJSON(one.name) || one.name == formType || strings.Contains(one.name, "*"):
			one.schema = c.media(of)
			one.separator = c.separators(of)
		default:
			c.note("Bodies of the type %s aren't checked.", one.name)
		}
		seen[one.name] = true
		if !c.Take(openapi.Memory, int64(perMedia+len(name))) {
			break
		}
		out.media = append(out.media, one)
	}
	return out
}

// media returns the schema of a media type.
func (c *compiler) media(node any) *schema {
	return c.whole(c.read(c.Resolve(c.document, node), mediaKeywords))
}

// whole returns the schema of a body or a parameter. It refuses one that is not in the document: nothing would be known
// of the body or the parameter.
func (c *compiler) whole(node map[string]any) *schema {
	at, _ := node["schema"].(map[string]any)
	if ref, refers := at["$ref"].(string); refers && c.LookUp(c.document, ref) == nil {
		c.Refuse("%s", openapi.UnresolvedRef(ref))
		return nil
	}
	return c.one(node, "schema")
}

// separators returns what separates the items of the lists in a form that are written as one value.
func (c *compiler) separators(media any) (out map[string]string) {
	encoding, _ := c.Resolve(c.document, media)["encoding"].(map[string]any)
	for name, of := range c.Members(encoding) {
		one := c.Resolve(c.document, of)
		style := tree.Text(one["style"])
		separator, known := map[string]string{
			"": ",", "form": ",", "spaceDelimited": " ", "pipeDelimited": "|",
		}[style]
		if !known || one["explode"] != false {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = separator
		c.Take(openapi.Memory, perMember)
	}
	return out
}
