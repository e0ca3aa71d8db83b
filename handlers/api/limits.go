package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/projects"
)

// limits are the calls that each window admits, by the window's name.
type limits map[string]int64

// Schema implements huma.SchemaProvider. The rule judges names and numbers, with
// the mend; here they are described.
func (l limits) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{
		Type: huma.TypeObject,
		Description: "Calls that each window of the clock in UTC admits; a longer window admits no fewer " +
			"than a shorter one.",
		Properties:           map[string]*huma.Schema{},
		AdditionalProperties: &huma.Schema{Type: huma.TypeInteger},
	}
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		schema.Properties[window.String()] = &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	}
	return schema
}

// showLimits shows no limits as an empty object.
func showLimits(l models.Limits) limits {
	if l == nil {
		return limits{}
	}
	return limits(l)
}

type projectLimitsOutput struct {
	Key     limits `json:"key" doc:"Each key, unless it or its type has limits of its own"`
	Owner   limits `json:"owner" doc:"Each owner of keys, with all of their keys together"`
	IP      limits `json:"ip" doc:"Each address that calls come from"`
	Project limits `json:"project" doc:"All calls together"`
}

func showProjectLimits(l models.ProjectLimits) projectLimitsOutput {
	return projectLimitsOutput{
		Key:     showLimits(l.Key),
		Owner:   showLimits(l.Owner),
		IP:      showLimits(l.IP),
		Project: showLimits(l.Project),
	}
}

// projectLimitsInput names what changes: a member that is sent replaces what there
// is, empty or null takes it away.
type projectLimitsInput struct {
	Key     nullable[limits] `json:"key,omitempty" doc:"For each key, unless it or its type has limits of its own"`
	Owner   nullable[limits] `json:"owner,omitempty" doc:"For each owner of keys, with all of their keys together"`
	IP      nullable[limits] `json:"ip,omitempty" doc:"For each address that calls come from"`
	Project nullable[limits] `json:"project,omitempty" doc:"For all calls together"`
}

func (in *projectLimitsInput) rule() projects.LimitsChange {
	if in == nil {
		return projects.LimitsChange{}
	}
	return projects.LimitsChange{
		Key:     sentLimits(in.Key),
		Owner:   sentLimits(in.Owner),
		IP:      sentLimits(in.IP),
		Project: sentLimits(in.Project),
	}
}

// sentLimits is nil for what was not sent.
func sentLimits(n nullable[limits]) *map[string]int64 {
	if !n.sent {
		return nil
	}
	out := map[string]int64{}
	if n.value != nil {
		out = *n.value
	}
	return &out
}
