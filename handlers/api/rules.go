package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/projects"
)

type ruleOutput struct {
	ID      string   `json:"id" example:"rul_01"`
	Methods []string `json:"methods" doc:"GET includes HEAD; * is all" example:"[\"GET\"]"`
	Path    string   `json:"path" doc:"Below the environment's address" example:"/orders/{id}"`
	Scopes  []string `json:"scopes,omitempty" doc:"The caller has all of them"`
	Groups  []string `json:"groups,omitempty" doc:"The caller is in one of them; nested groups count"`
	Role    string   `json:"role,omitempty" enum:"member,admin" doc:"In that group; without it any"`
	Mode    string   `json:"mode,omitempty" enum:"off,shadow,enforce" doc:"Without it that of the list"`

	Owner    string `json:"owner,omitempty" doc:"The caller owns this object" example:"order:{id}"`
	Remember string `json:"remember,omitempty" doc:"After a 2xx answer the caller owns this object" example:"order:{response.id}"`
	Forget   string `json:"forget,omitempty" doc:"After a 2xx answer nobody owns this object any more" example:"order:{id}"`
}

type ruleInput struct {
	ID       string   `json:"id,omitempty" doc:"Of a rule that exists; without it the rule gets one"`
	Methods  []string `json:"methods" doc:"GET includes HEAD; * is all" example:"[\"GET\"]"`
	Path     string   `json:"path" doc:"Below the environment's address; a name in braces is any one segment or a part of one, and a last ** is everything below" example:"/orders/{id}"`
	Scopes   []string `json:"scopes,omitempty" doc:"The caller has all of them; * and orders:* of callers count"`
	Groups   []string `json:"groups,omitempty" doc:"Names; the caller is in one of them, nested groups count"`
	Role     string   `json:"role,omitempty" enum:"member,admin" doc:"admin: as an admin of that group; without it any member"`
	Mode     string   `json:"mode,omitempty" enum:"off,shadow,enforce" doc:"Without it that of the list"`
	Owner    string   `json:"owner,omitempty" minLength:"1" doc:"The caller owns this object; names in braces are parameters of the path" example:"order:{id}"`
	Remember string   `json:"remember,omitempty" minLength:"1" doc:"With POST or PUT: after a 2xx answer the caller owns this object; response. begins a path into the answer's JSON" example:"order:{response.id}"`
	Forget   string   `json:"forget,omitempty" minLength:"1" doc:"With DELETE or POST: after a 2xx answer the object no longer has an owner" example:"order:{id}"`
}

type rulesOutput struct {
	Default         string       `json:"default" enum:"allow,deny" doc:"What routes without a rule get"`
	Mode            string       `json:"mode" enum:"off,shadow,enforce" doc:"Of default, read_write_scopes and rules without a mode"`
	ReadWriteScopes bool         `json:"read_write_scopes" doc:"Keys need the scope read for GET, HEAD and OPTIONS, write for other methods, where no rule names scopes"`
	Rules           []ruleOutput `json:"rules"`
	ETag            string       `json:"etag" doc:"Send as If-Match to replace them"`

	Warnings []warningOutput `json:"warnings,omitempty" doc:"Groups in rules that do not exist; in responses to changes also which key types the rules refuse"`
}

// ruleRoutes adds the rules of a version at a path.
func (h *Handler) ruleRoutes(api huma.API, at string) {
	route(h, api, "get-rules", "GET", at, 200, "Get what a version's routes require", h.getRules)
	route(h, api, "set-rules", "PUT", at, 200, "Replace what a version's routes require", h.setRules)
	route(h, api, "list-shadow-refusals", "GET", at+"/shadow", 200,
		"List the calls that rules in shadow would have refused", h.listShadowRefusals)
	route(h, api, "list-relation-misses", "GET", at+"/missed", 200,
		"List the answers of which rules could not remember or forget an object", h.listRelationMisses)
}

func taggedRules(found projects.Rules, err error) (*tagged[rulesOutput], error) {
	if err != nil {
		return nil, err
	}
	out := rulesOutput{
		Default:         string(found.Default),
		Mode:            string(found.Mode),
		ReadWriteScopes: found.ReadWriteScopes,
		Rules:           []ruleOutput{},
		ETag:            web.FormatETag(found.ETag),
		Warnings:        showWarnings(found.Warnings),
	}
	for _, rule := range found.List {
		out.Rules = append(out.Rules, showRule(rule))
	}
	return &tagged[rulesOutput]{out.ETag, out}, nil
}

func showRule(rule snapshot.Rule) ruleOutput {
	return ruleOutput{
		ID:      rule.ID,
		Methods: rule.Methods,
		Path:    rule.Path,
		Scopes:  rule.Scopes,
		Groups:  rule.Groups,
		Role:    rule.Role,
		Mode:    string(rule.Mode),

		Owner:    rule.Owner,
		Remember: rule.Remember,
		Forget:   rule.Forget,
	}
}

func (h *Handler) getRules(ctx context.Context, in *VersionRef) (*tagged[rulesOutput], error) {
	return taggedRules(h.Projects.Rules(ctx, web.Principal(ctx), in.Project, in.Version))
}

func (h *Handler) setRules(ctx context.Context, in *struct {
	VersionRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Default         string      `json:"default" enum:"allow,deny" doc:"What routes without a rule get"`
		Mode            string      `json:"mode" enum:"off,shadow,enforce" doc:"Of default, read_write_scopes and rules without a mode"`
		ReadWriteScopes bool        `json:"read_write_scopes" doc:"Keys need the scope read for GET, HEAD and OPTIONS, write for other methods, where no rule names scopes"`
		Rules           []ruleInput `json:"rules" doc:"All rules; the most specific path decides"`
	}
}) (*tagged[rulesOutput], error) {
	change := snapshot.Rules{
		Default:         snapshot.RuleDefault(in.Body.Default),
		Mode:            snapshot.RuleMode(in.Body.Mode),
		ReadWriteScopes: in.Body.ReadWriteScopes,
	}
	for _, rule := range in.Body.Rules {
		change.List = append(change.List, snapshot.Rule{
			ID:      rule.ID,
			Methods: rule.Methods,
			Path:    rule.Path,
			Scopes:  rule.Scopes,
			Groups:  rule.Groups,
			Role:    rule.Role,
			Mode:    snapshot.RuleMode(rule.Mode),

			Owner:    rule.Owner,
			Remember: rule.Remember,
			Forget:   rule.Forget,
		})
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedRules(h.Projects.SetRules(ctx, web.Principal(ctx), in.Project, in.Version, etag, change))
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
