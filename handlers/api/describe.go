package api

import (
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/handlers/web"
)

// describeProblems says of every operation that its errors are problems. Programs that read the document differ in
// which of the two they look at.
func describeProblems(document *huma.OpenAPI) {
	problem := document.Components.Schemas.Schema(reflect.TypeFor[web.Problem](), true, "Problem")
	document.Components.Responses = map[string]*huma.Response{"Problem": {
		Description: "The request was refused or failed",
		Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: problem}},
	}}
	forOperations(document, func(_ string, operation *huma.Operation) {
		for _, status := range []string{"4XX", "default"} {
			operation.Responses[status] = &huma.Response{Ref: "#/components/responses/Problem"}
		}
	})
}

func forOperations(document *huma.OpenAPI, do func(path string, operation *huma.Operation)) {
	for path, item := range document.Paths {
		for _, operation := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if operation != nil {
				do(path, operation)
			}
		}
	}
}

// describeRaw says of JSON that handlers read and write themselves, as bytes, that it is JSON and not a text.
func describeRaw(document *huma.OpenAPI) {
	any := func(content map[string]*huma.MediaType) {
		if media := content["application/json"]; media != nil && media.Schema.Type == huma.TypeString {
			media.Schema = &huma.Schema{Description: media.Schema.Description}
		}
	}
	forOperations(document, func(_ string, operation *huma.Operation) {
		if operation.RequestBody != nil {
			any(operation.RequestBody.Content)
		}
		for _, response := range operation.Responses {
			any(response.Content)
		}
	})
}

// describeNulls says which objects in answers may be null: those that are pointers in Go and always there. huma says so
// of other types. In requests null is refused where it isn't declared, see oneOperation.
func describeNulls(document *huma.OpenAPI) {
	schemas := document.Components.Schemas
	sent := map[string]bool{} // schemas that are in requests
	forOperations(document, func(_ string, operation *huma.Operation) {
		if operation.RequestBody != nil {
			for _, media := range operation.RequestBody.Content {
				addReferred(schemas, media.Schema, sent)
			}
		}
	})
	for name, schema := range schemas.Map() {
		of := schemas.TypeFromRef("#/components/schemas/" + name)
		if sent["#/components/schemas/"+name] || of == nil || of.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(of) {
			member, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := schema.Properties[member]
			if property == nil || field.Type.Kind() != reflect.Pointer || strings.Contains(options, "omitempty") ||
				field.Type.Elem() == reflect.TypeFor[time.Time]() {
				continue
			}
			switch {
			case property.Ref != "":
				schema.Properties[member] = &huma.Schema{
					Description: property.Description,
					OneOf:       []*huma.Schema{{Ref: property.Ref}, {Type: "null"}},
				}
			case property.Type == huma.TypeObject:
				property.Nullable = true
			}
		}
	}
}

// addReferred adds the schemas that one refers to, at any depth.
func addReferred(schemas huma.Registry, schema *huma.Schema, found map[string]bool) {
	if schema == nil {
		return
	}
	if schema.Ref != "" {
		if found[schema.Ref] {
			return
		}
		found[schema.Ref] = true
		schema = schemas.SchemaFromRef(schema.Ref)
	}
	for _, property := range schema.Properties {
		addReferred(schemas, property, found)
	}
	addReferred(schemas, schema.Items, found)
	if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		addReferred(schemas, values, found)
	}
	for _, one := range schema.OneOf {
		addReferred(schemas, one, found)
	}
}
