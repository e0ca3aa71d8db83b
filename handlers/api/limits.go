package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
)

// limits holds the allowed calls by window.
type limits map[string]int64

// Schema implements huma.SchemaProvider. It only describes windows and numbers; the
// service validates them, with errors that say what to do.
func (l limits) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{
		Type: huma.TypeObject,
		Description: "Allowed calls in each clock window (UTC). A longer window must allow at least as many calls as " +
			"a shorter one.",
		Properties:           map[string]*huma.Schema{},
		AdditionalProperties: &huma.Schema{Type: huma.TypeInteger},
	}
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		schema.Properties[window.String()] = &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	}
	return schema
}

// metadata is any object.
type metadata struct{}

// Schema implements huma.SchemaProvider.
func (metadata) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type:                 huma.TypeObject,
		Description:          "Your own data, a JSON object of at most 4 KB",
		AdditionalProperties: true,
	}
}
