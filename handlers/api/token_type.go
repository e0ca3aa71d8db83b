package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
)

// tokenType has the schema of contract.NewTokenType.
type tokenType contract.NewTokenType

// Schema implements huma.SchemaProvider. It only describes the forms; the service checks the values, with errors that
// say what to do.
func (t tokenType) Schema(huma.Registry) *huma.Schema {
	one := 1
	return &huma.Schema{
		OneOf: []*huma.Schema{
			{Type: huma.TypeString, MinLength: &one},
			{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
				"client": {Type: huma.TypeString, MinLength: &one, Description: "service or provider. Defaults to " +
					"service"},
				"upstream": {
					Type:        huma.TypeString,
					MinLength:   &one,
					Description: "service, provider_access_token, provider_id_token or none",
				},
			}},
		},
	}
}
