package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/core/policy"
)

// explainStep has the schema of contract.ExplainStep.
type explainStep contract.ExplainStep

// Schema implements huma.SchemaProvider.
func (explainStep) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, step := range policy.ExplainSteps() {
		schema.Enum = append(schema.Enum, step.Name)
	}
	return schema
}
