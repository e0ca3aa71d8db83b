package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"postern/handlers/web"
)

// oneOperation is the API of one operation. It decodes null only where the schema of the operation's body accepts it.
// huma accepts null for a member that may be left out, whatever its schema says, so that the handler can't tell one
// from the other.
type oneOperation struct {
	huma.API
	declared *huma.Operation
}

// misplacedNull replaces a null in a decoded body that the schema does not accept. It is a value of no type, so that
// the validator refuses it by its name.
type misplacedNull struct{}

// declaredIn returns the operation that a path has for a method.
func declaredIn(path *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: path.Get, http.MethodPost: path.Post, http.MethodPut: path.Put, http.MethodPatch: path.Patch,
		http.MethodDelete: path.Delete,
	}[method]
}

// body returns the schema of the operation's body, nil if it doesn't have one in JSON.
func (o *oneOperation) body() *huma.Schema {
	if o.declared.RequestBody == nil || o.declared.RequestBody.Content["application/json"] == nil {
		return nil
	}
	return o.resolved(o.declared.RequestBody.Content["application/json"].Schema)
}

// resolved returns the schema that a schema refers to, or itself.
func (o *oneOperation) resolved(schema *huma.Schema) *huma.Schema {
	for schema != nil && schema.Ref != "" {
		schema = o.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}

// Unmarshal implements huma.API.
func (o *oneOperation) Unmarshal(contentType string, data []byte, into any) error {
	err := o.API.Unmarshal(contentType, data, into)
	if validated, ok := into.(*any); ok && err == nil {
		*validated = o.mark(o.body(), *validated)
	}
	return err
}

// mark returns a value with each null replaced that its schema does not accept.
func (o *oneOperation) mark(schema *huma.Schema, value any) any {
	if schema = o.resolved(schema); schema == nil {
		return value
	}
	switch of := value.(type) {
	case nil:
		if (schema.Type != "" || len(schema.OneOf) > 0) && !schema.Nullable {
			return misplacedNull{}
		}
	case []any:
		for i, one := range of {
			of[i] = o.mark(schema.Items, one)
		}
	case map[string]any:
		values, _ := schema.AdditionalProperties.(*huma.Schema)
		for name, one := range of {
			if member := schema.Properties[name]; member != nil {
				of[name] = o.mark(member, one)
			} else {
				of[name] = o.mark(values, one)
			}
		}
	}
	for _, one := range schema.OneOf {
		o.mark(one, value)
	}
	return value
}

// place sets where the fields of a problem are. Rules name a field by its pointer alone.
func (o *oneOperation) place(problem *web.Problem) {
	for i := range problem.Errors {
		if field := &problem.Errors[i]; field.In == "" {
			field.In = o.placeOf(field.Pointer)
		}
	}
}

func (o *oneOperation) placeOf(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if schema := o.body(); schema != nil && schema.Properties[name] != nil {
		return inBody
	}
	for _, p := range o.declared.Parameters {
		if p.Name == name {
			return p.In
		}
	}
	return inBody
}
