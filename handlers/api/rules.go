package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/handlers/web"
)

// ruleRoutes adds the rules of a version, whose path is at.
func (h *Handler) ruleRoutes(api huma.API, at string) {
	serve(h, api, contract.GetRules, h.Projects.Rules)
	serve(h, api, contract.SetRules, h.Projects.SetRules)
	route(h, api, "list-shadow-refusals", "GET", at+"/shadow", 200,
		"List the calls that rules in shadow would have refused", h.listShadowRefusals)
	route(h, api, "list-relation-misses", "GET", at+"/missed", 200,
		"List the answers of which rules could not remember or forget an object", h.listRelationMisses)
}

type relationMissOutput struct {
	Rule   string    `json:"rule" doc:"Id of the rule with remember or forget"`
	Reason string    `json:"reason" enum:"not_json,encoded,too_large,no_body,incomplete,no_value,unusable,too_many_wait"`
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
}

func (h *Handler) listRelationMisses(ctx context.Context, in *VersionRef) (*body[list[relationMissOutput]], error) {
	found, err := h.Usage.RelationMisses(ctx, web.Principal(ctx), in.Project, in.Version)
	if err != nil {
		return nil, err
	}
	out := list[relationMissOutput]{Items: []relationMissOutput{}}
	for _, one := range found {
		out.Items = append(out.Items, relationMissOutput(one))
	}
	return &body[list[relationMissOutput]]{out}, nil
}

type shadowRefusalOutput struct {
	Rule   string    `json:"rule" doc:"Id of the rule; default: the route has no rule; read_write_scopes: that switch"`
	Code   string    `json:"code" enum:"insufficient_scope,not_in_group,not_owner,no_rule"`
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
}

func (h *Handler) listShadowRefusals(ctx context.Context, in *VersionRef) (*body[list[shadowRefusalOutput]], error) {
	found, err := h.Usage.ShadowRefusals(ctx, web.Principal(ctx), in.Project, in.Version)
	if err != nil {
		return nil, err
	}
	out := list[shadowRefusalOutput]{Items: []shadowRefusalOutput{}}
	for _, one := range found {
		out.Items = append(out.Items, shadowRefusalOutput(one))
	}
	return &body[list[shadowRefusalOutput]]{out}, nil
}
