package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
)

// retryCondition has the schema of contract.RetryCondition.
type retryCondition contract.RetryCondition

// Schema implements huma.SchemaProvider. It only describes the forms; the service checks the values, with errors that
// say what to do.
func (retryCondition) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "502, 503, 504 or timeout",
		OneOf:       []*huma.Schema{{Type: huma.TypeInteger}, {Type: huma.TypeString}},
	}
}
