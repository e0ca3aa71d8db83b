package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/core/snapshot"
)

// limitsSchema is what the document says of a contract.Limits.
type limitsSchema struct{}

// Schema implements huma.SchemaProvider. It only describes windows and numbers; the
// service validates them, with errors that say what to do.
func (limitsSchema) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{
		Type: huma.TypeObject,
		Description: "Allowed calls in each window of the clock (UTC). A longer window must allow at least " +
			"as many as a shorter one.",
		Properties:           map[string]*huma.Schema{},
		AdditionalProperties: &huma.Schema{Type: huma.TypeInteger},
	}
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		schema.Properties[window.String()] = &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	}
	return schema
}

// projectLimitsInput changes limits: a member that is sent replaces them, empty or null
// removes them.
type projectLimitsInput struct {
	Key     nullable[contract.Limits] `json:"key,omitempty" doc:"Each key without limits of its own or its type"`
	Owner   nullable[contract.Limits] `json:"owner,omitempty" doc:"Each owner, all keys together"`
	IP      nullable[contract.Limits] `json:"ip,omitempty" doc:"Each client address"`
	Project nullable[contract.Limits] `json:"project,omitempty" doc:"All calls of the project"`
}

func (in *projectLimitsInput) rule() contract.ProjectLimitsChange {
	if in == nil {
		return contract.ProjectLimitsChange{}
	}
	return contract.ProjectLimitsChange{
		Key:     sentLimits(in.Key),
		Owner:   sentLimits(in.Owner),
		IP:      sentLimits(in.IP),
		Project: sentLimits(in.Project),
	}
}

// sentLimits returns nil for a member that was not sent.
func sentLimits(n nullable[contract.Limits]) *contract.Limits {
	if !n.sent {
		return nil
	}
	out := contract.Limits{}
	if n.value != nil {
		out = *n.value
	}
	return &out
}
