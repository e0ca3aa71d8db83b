package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
)

// upstreamBalance has the schema of contract.UpstreamBalance.
type upstreamBalance contract.UpstreamBalance

// Schema implements huma.SchemaProvider. It only describes the forms; the service checks the values, with errors that
// say what to do.
func (upstreamBalance) Schema(huma.Registry) *huma.Schema {
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
	object := func(member string, of *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Required: []string{member},
			Properties: map[string]*huma.Schema{member: of}}
	}
	return &huma.Schema{
		Description: "round_robin, least_connections, or a hash: calls with the same key, owner, ip or header go to " +
			"the same target",
		OneOf: []*huma.Schema{
			text(), object("hash", &huma.Schema{OneOf: []*huma.Schema{text(), object("header", text())}}),
		},
	}
}

// statusRange has the schema of contract.StatusRange.
type statusRange contract.StatusRange

// Schema implements huma.SchemaProvider.
func (statusRange) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A status, or a range such as 200-399",
		OneOf:       []*huma.Schema{{Type: huma.TypeInteger}, {Type: huma.TypeString}},
	}
}
