package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reference is the JSON API by tag, read from its OpenAPI document.
type Reference struct {
	Tags []Tag // by title
}

// Tag is a group of operations.
type Tag struct {
	Slug, Title string
	Operations  []Operation // by path, then in the order of methods
}

// Operation is one method of a path.
type Operation struct {
	ID, Method, Path, Summary, Description string

	Parameters []Field
	Body       []Field // of a JSON object
	BodyType   string  // media type, "" for no body
	Answers    []Answer
	Curl       string
}

// Field is a parameter or a member of an object. The members of a member are named with dots.
type Field struct {
	Name, In, Type, Doc string
	Required            bool
}

// Answer is what an operation answers with one status.
type Answer struct {
	Status, Doc string
	Fields      []Field
}

// Tag returns a tag by its slug, false if there is none.
func (r *Reference) Tag(slug string) (Tag, bool) {
	i := slices.IndexFunc(r.Tags, func(t Tag) bool { return t.Slug == slug })
	if i < 0 {
		return Tag{}, false
	}
	return r.Tags[i], true
}

// Search returns the operations whose path or summary contains every word of a query.
func (r *Reference) Search(query string) []Hit {
	var hits []Hit
	terms := strings.Fields(strings.ToLower(query))
	for _, tag := range r.Tags {
		for _, o := range tag.Operations {
			body := strings.ToLower(o.Method + " " + o.Path + " " + o.Summary)
			missing := func(term string) bool { return !strings.Contains(body, term) }
			if len(terms) == 0 || slices.ContainsFunc(terms, missing) || len(hits) == maxHits {
				continue
			}
			hits = append(hits, Hit{
				URL:     "/docs/reference/" + tag.Slug + "#" + o.ID,
				Page:    "API reference",
				Section: o.Summary,
				Excerpt: o.Method + " " + o.Path,
			})
		}
	}
	return hits
}

// ReadReference reads an OpenAPI 3.1 document. control is the address in the examples.
func ReadReference(document []byte, control string) (*Reference, error) {
	var d openAPI
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("docs: read the OpenAPI document: %w", err)
	}
	tags := map[string]*Tag{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			raw, ok := d.Paths[path][method]
			if !ok {
				continue
			}
			var in operation
			if err := json.Unmarshal(raw, &in); err != nil {
				return nil, fmt.Errorf("docs: read %s %s: %w", method, path, err)
			}
			title := "Other"
			if len(in.Tags) > 0 {
				title = in.Tags[0]
			}
			slug := strings.ReplaceAll(strings.ToLower(title), " ", "-")
			if tags[slug] == nil {
				tags[slug] = &Tag{Slug: slug, Title: title}
			}
			tags[slug].Operations = append(tags[slug].Operations,
				d.operation(strings.ToUpper(method), path, in, control))
		}
	}
	r := &Reference{}
	for _, slug := range slices.Sorted(maps.Keys(tags)) {
		r.Tags = append(r.Tags, *tags[slug])
	}
	return r, nil
}

func (d openAPI) operation(method, path string, in operation, control string) Operation {
	out := Operation{
		ID:          in.ID,
		Method:      method,
		Path:        path,
		Summary:     in.Summary,
		Description: in.Description,
	}
	for _, p := range in.Parameters {
		out.Parameters = append(out.Parameters, Field{
			Name:     p.Name,
			In:       p.In,
			Type:     d.typeOf(p.Schema),
			Doc:      p.Description,
			Required: p.Required,
		})
	}
	if in.Body != nil {
		for _, media := range slices.Sorted(maps.Keys(in.Body.Content)) {
			if out.BodyType == "" || media == mediaJSON {
				out.BodyType = media
				out.Body = d.fields(in.Body.Content[media].Schema, "", 0)
			}
		}
	}
	for _, status := range slices.Sorted(maps.Keys(in.Responses)) {
		response := in.Responses[status]
		if response.Ref != "" {
			response = d.Components.Responses[strings.TrimPrefix(response.Ref, "#/components/responses/")]
		}
		answer := Answer{Status: status, Doc: response.Description}
		if media, ok := response.Content[mediaJSON]; ok {
			answer.Fields = d.fields(media.Schema, "", 0)
		}
		if status == "default" {
			answer.Status, answer.Doc = "in other cases", "a problem (RFC 9457)"
		}
		out.Answers = append(out.Answers, answer)
	}
	out.Curl = d.curl(out, in, control)
	return out
}

const mediaJSON = "application/json"

// curl returns a call to paste into a shell.
func (d openAPI) curl(o Operation, in operation, control string) string {
	var out strings.Builder
	out.WriteString("curl")
	if o.Method != "GET" && (o.Method != "POST" || o.BodyType == "") {
		out.WriteString(" -X " + o.Method)
	}
	out.WriteString(" '" + control + o.Path + "'")
	if len(in.Security) > 0 {
		out.WriteString(` \` + "\n" + `  -H "Authorization: Bearer $POSTERN_TOKEN"`)
	}
	if o.BodyType == mediaJSON {
		example, err := json.Marshal(d.example(in.Body.Content[mediaJSON].Schema, 0))
		if err == nil {
			out.WriteString(` \` + "\n  -H 'content-type: application/json' -d '" +
				strings.ReplaceAll(string(example), "'", `'\''`) + "'")
		}
	}
	return out.String()
}
